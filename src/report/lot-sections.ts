import { count, day, instant, NONE, orTooFew, percent, plural, ratio, shortRatio } from './format.js';
import { lines } from './line-charts.js';
import { type Figure, legendOf, type Section } from './page.js';
import type { Health } from './read-health.js';
import type { InventoryDay } from './read-lots.js';
import type { ClaimType, Discount, Part } from './read-reports.js';
import { bars, ranges } from './row-charts.js';

/** What inspectors find. */
export function inspectionSection(parts: readonly Part[]): Section {
  const title = 'Parts on which issues are found most often';
  const head = ['Part', '>Looked at', '>Issues', '>Share', '>Not checked or unknown', 'Most frequent issue'];
  const rows = parts.map((part) => [
    part.name,
    count(part.lookedAt),
    count(part.found),
    orTooFew(part.share, part.lookedAt, percent),
    count(part.unknown),
    part.issues === '' ? NONE : part.issues,
  ]);
  const known = parts.filter(({ share }) => share !== null);
  const figure: Figure =
    known.length === 0
      ? { title, words: 'Too few parts were inspected yet.' }
      : {
          title,
          note: 'Of those that were looked at. A part that nobody checked is not counted as sound.',
          chart: bars(
            known.map(({ name, share, lookedAt }) => ({
              name,
              value: share,
              text: `${percent(share)} of ${count(lookedAt)}`,
            })),
            {
              id: 'chart-inspections',
              title,
              description: known.map(({ name, share }) => `${name}: ${percent(share)}.`).join(' '),
            },
          ),
          numbers: { head, rows },
        };
  return {
    id: 'inspections',
    title: 'Inspections',
    lead: 'What inspectors find on the cars of sources that publish reports, part by part.',
    figures: [figure],
  };
}

/** What history reports tell, and what it takes off the price. */
export function claimSection(claims: readonly ClaimType[], discounts: readonly Discount[]): Section {
  return {
    id: 'claims',
    title: 'Claims and history',
    lead: 'What history reports list. Amounts stay in the currency of the source; they are neither converted nor added across currencies.',
    figures: [events(claims), discount(discounts)],
  };
}

function events(claims: readonly ClaimType[]): Figure {
  const title = 'Events in history reports, by type and currency';
  if (claims.length === 0) return { title, words: 'No history report lists an event yet.' };
  const name = ({ type, currency }: ClaimType): string =>
    currency === null ? type : `${type} (${currency})`;
  const sources = new Set(claims.map(({ source }) => source));
  return {
    title,
    chart: bars(
      claims.map((claim) => ({
        name: sources.size === 1 ? name(claim) : `${name(claim)}, ${claim.source}`,
        value: claim.events,
        text: count(claim.events),
      })),
      {
        id: 'chart-claims',
        title,
        description: claims
          .map((claim) => `${name(claim)} at ${claim.source}: ${count(claim.events)}.`)
          .join(' '),
      },
    ),
    numbers: {
      head: ['Event', 'Source', '>Events', '>With amount', 'Currency', '>Sum', '>Median'],
      rows: claims.map((claim) => [
        claim.type,
        claim.source,
        count(claim.events),
        count(claim.withAmount),
        claim.currency ?? NONE,
        rounded(claim.amount),
        claim.withAmount === 0 ? NONE : orTooFew(claim.median, claim.withAmount, rounded),
      ]),
    },
  };
}

const rounded = (amount: number | null): string => count(amount === null ? null : Math.round(amount));

function discount(discounts: readonly Discount[]): Figure {
  const title = 'Price by claims and accident, against cars with neither';
  const kinds = new Set(discounts.map(({ kind }) => kind));
  if (discounts.every((row) => row.ratio === null))
    return { title, words: 'Too few inspected cars can be compared yet.' };
  return {
    title,
    note: 'Against cars of the same model year and source without claim and accident; the accident as an inspector concludes.',
    chart: ranges(
      discounts.map((row) => ({
        name: kinds.size === 1 ? row.name : `${row.name}, ${row.kind}`,
        middle: row.ratio,
        text: row.ratio === null ? orTooFew(null, row.compared, ratio) : plural(row.compared, 'car'),
      })),
      {
        id: 'chart-discount',
        title,
        description: discounts
          .map((row) => `${row.name}, ${row.kind}: ${orTooFew(row.ratio, row.compared, ratio)}.`)
          .join(' '),
        format: shortRatio,
        reference: 1,
        axis: 'price, where cars with neither are 1',
      },
    ),
    numbers: {
      head: ['Claims and accident', 'Price', '>Cars', '>Compared', '>Ratio'],
      rows: discounts.map((row) => [
        row.name,
        row.kind,
        count(row.lots),
        count(row.compared),
        orTooFew(row.ratio, row.compared, ratio),
      ]),
    },
  };
}

/** What is in the feed, day by day. */
export function inventorySection(inventory: readonly InventoryDay[]): Section {
  const title = 'Lots in the feed at the end of each day';
  const dates = new Set(inventory.map((row) => row.day.getTime()));
  const sources = [...new Set(inventory.map(({ source }) => source))];
  const numbers = {
    head: ['Day', 'Source', '>Active', '>New', '>Left', '>Returned', '>Offered again'],
    rows: inventory
      .toSorted((a, b) => b.day.getTime() - a.day.getTime())
      .map((row) => [
        day(row.day),
        row.source,
        count(row.active),
        count(row.arrived),
        count(row.archived),
        count(row.returned),
        count(row.relisted),
      ]),
  };
  const figure: Figure =
    dates.size < 2
      ? {
          title,
          words: 'The lake has seen one day so far. A line begins with the second.',
          numbers: inventory.length === 0 ? undefined : numbers,
        }
      : {
          title,
          legend: legendOf(sources),
          chart: lines(
            inventory.map((row) => ({ series: row.source, at: row.day, value: row.active })),
            {
              id: 'chart-inventory',
              title,
              description: sources
                .map((name) => {
                  const last = inventory.filter(({ source }) => source === name).at(-1);
                  return `${name}: ${count(last?.active ?? null)} on the last day.`;
                })
                .join(' '),
              format: (value) => count(value),
              unit: 'day',
            },
          ),
          numbers,
        };
  return {
    id: 'inventory',
    title: 'Inventory',
    lead: 'What is known and not archived, by source. On the first day of a source all its lots are new, so that none is counted as such.',
    figures: [figure],
  };
}

/** Whether the data can be relied on. */
export function healthSection(health: Health): Section {
  return {
    id: 'health',
    title: 'Data health',
    lead: 'Whether the figures above rest on whole and fresh data.',
    figures: [
      {
        title: 'What came in the last run, by stream',
        note: 'The age is that of the last complete pass when the run began.',
        numbers: {
          head: ['Stream', '>Age in hours', '>Records', '>Rejected', '>Unknown members'],
          rows: health.streams.map((row) => [
            row.stream.replaceAll('_', ' '),
            row.ageHours === null ? NONE : row.ageHours.toFixed(1),
            count(row.records),
            count(row.rejected),
            count(row.drifted),
          ]),
        },
      },
      {
        title: 'The last runs',
        numbers: {
          head: ['Run', 'Pipeline', '>Minutes', '>Warnings', '>Held before', '>Alarms'],
          rows: health.runs.map((row) => [
            instant(row.startedAt),
            row.pipeline,
            row.minutes === null ? NONE : row.minutes.toFixed(1),
            count(row.warnings),
            count(row.held),
            count(row.alarms),
          ]),
        },
      },
      {
        title: 'Rows without a value, by column',
        numbers: {
          isFolded: true,
          head: ['Column', '>Empty'],
          rows: health.empties.map(({ column, share }) => [column, percent(share)]),
        },
      },
    ],
  };
}
