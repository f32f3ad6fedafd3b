import { damageSection } from './damage-section.js';
import { count, day, instant, list, type Maybe, money, NONE, percent, plural } from './format.js';
import { claimSection, healthSection, inspectionSection, inventorySection } from './lot-sections.js';
import type { Page, Tile } from './page.js';
import { placeSection } from './place-section.js';
import { sayAlarm, sayDrift, sayRejected } from './read-alarms.js';
import { type Headline, WINDOW_DAYS } from './read-headline.js';
import { POOLED_GROUPS } from './read-market.js';
import type { ReportData } from './read-report.js';
import { sellingSection, sinceWhen } from './selling-section.js';
import { trendsSection } from './trends-section.js';

/**
 * Puts what the marts say into words and pictures.
 * @param dictionary address of the pages on tables and columns, where there are some
 */
export function compose(data: ReportData, dictionary?: string): Page {
  const { headline, before, health, manifest, standing } = data;
  const alarms = standing.alarms.length;
  const [rejected, drift] = [sayRejected(standing), sayDrift(standing)];
  const since =
    before === undefined ? 'first run that is kept' : `compared with the run of ${instant(before.at)}`;
  return {
    title: 'Vehicle auction report',
    meta: [
      `As of ${instant(headline.at)}, ${since}. Snapshot ${manifest.snapshot_id}, ${manifest.pipeline}.`,
    ],
    alarms: standing.alarms.map((alarm) => `${sayAlarm(alarm)}.`),
    notes: [
      ...(rejected === undefined ? [] : [`Rejected and not loaded: ${rejected}.`]),
      ...(drift === undefined ? [] : [`New in the feed and unknown to lotlake: ${drift}.`]),
    ],
    state: alarms === 0 ? 'No alarms in the data.' : `${plural(alarms, 'alarm')} in the data.`,
    tiles: tilesOf(headline, before),
    sections: [
      trendsSection(data.trends, headline.at),
      sellingSection(data, headline.at),
      damageSection(data.damages, data.titles),
      placeSection(data.regions),
      inspectionSection(data.parts),
      claimSection(data.claims, data.discounts),
      inventorySection(data.inventory),
      healthSection(health),
    ],
    dictionary,
    reading: readingOf(data),
  };
}

function tilesOf(now: Headline, before: Headline | undefined): Tile[] {
  const short = (at: Date): string => day(at).replace(/ \d{4}$/, '');
  const arrived = `New on ${short(now.at)}`;
  const since = now.observedFrom === undefined ? undefined : `since ${short(now.observedFrom)}`;
  return [
    tile('Active lots', count(now.activeLots), change(now.activeLots, before?.activeLots, counted)),
    now.newLots === null
      ? { name: arrived, value: 'first day', isWord: true, change: 'all lots are new' }
      : tile(arrived, count(now.newLots), `and ${count(now.leftLots)} left`),
    tile(
      `Sold ${since ?? `in ${WINDOW_DAYS} days`}`,
      count(now.sold),
      change(now.sold, before?.sold, counted),
    ),
    rated(
      `Sell-through${since === undefined ? `, ${WINDOW_DAYS} days` : ` ${since}`}`,
      now.sellThrough,
      percent,
      plural(now.offered, 'lot'),
      change(now.sellThrough, before?.sellThrough, points),
    ),
    rated(
      `Median price, ${WINDOW_DAYS} days`,
      now.priceMedian,
      (median) => inCurrency(median, now),
      plural(now.priced, 'price'),
      now.currency === before?.currency
        ? change(now.priceMedian, before?.priceMedian, (difference) => priceChange(difference, now))
        : '',
    ),
    tile('Auctions to come', count(now.upcoming), change(now.upcoming, before?.upcoming, counted)),
  ];
}

const tile = (name: string, value: string, change: string): Tile => ({ name, value, isWord: false, change });

function rated(
  name: string,
  value: Maybe,
  format: (value: Maybe) => string,
  basis: string,
  change: string,
): Tile {
  return value === null
    ? { name, value: 'too few', isWord: true, change: basis }
    : { name, value: format(value), isWord: false, change };
}

/** How a figure moved since the run before, or nothing where that is not known. */
function change(now: Maybe, before: Maybe | undefined, format: (difference: number) => string): string {
  if (now === null || before === null || before === undefined) return '';
  return now === before ? 'unchanged' : format(now - before);
}

const sign = (difference: number): string => (difference < 0 ? '−' : '+');

const counted = (difference: number): string => `${sign(difference)}${count(Math.abs(difference))}`;
const inCurrency = (value: Maybe, { currency }: Headline): string =>
  currency === null ? NONE : money(value, currency);
const priceChange = (difference: number, headline: Headline): string =>
  `${sign(difference)}${inCurrency(Math.abs(difference), headline)}`;
const points = (difference: number): string =>
  `${sign(difference)}${(Math.abs(difference) * 100).toFixed(1)} points`;

/** Which currencies the amounts are in, and that this is an assumption. */
function currenciesOf({ currencies }: ReportData): string {
  const known = currencies.flatMap(({ currency }) => currency ?? []);
  const unknown = currencies.find(({ currency }) => currency === null)?.lots ?? 0;
  const rest =
    unknown === 0
      ? ''
      : ` The currency of ${plural(unknown, 'lot')} is not known: they count, and are in no price.`;
  return `The service names no currency for prices. That they are in ${list(known) || 'none'} is an assumption of lotlake by source and country, which the table currencies gives with its reasons; no figure mixes two currencies.${rest}`;
}

const readingOf = (data: ReportData): string[] => [
  `Sources: ${list([...new Set(data.inventory.map(({ source }) => source))]) || 'none yet'}. encar.com lists cars at asking prices, which count as no price but under claims, where it is said.`,
  currenciesOf(data),
  'Everything here is read from one snapshot of the lake, which a run published whole. Days and months are those of UTC, and “now” is the start of that run.',
  'A price is what a lot was sold for, and counts only once the result is settled: 12 hours after the auction, when the archive feed confirms it, or at the Buy Now price. A sale that a later auction undid, an amount of zero and a bid so far are no prices.',
  `${sinceWhen(data.observed)} Lots that were sold before had left the feed by then, and those that were not had stayed. So shares and counts of sold lots rest on auctions that were observed; a month of which nothing was is left out. A sale after which the vehicle was soon offered again did not hold.`,
  `A statistic of fewer than ${data.headline.minimumGroup} values is not shown: “too few” stands in its place, with their number. A ratio to sound lots over all models together needs ${data.headline.minimumGroup * POOLED_GROUPS} prices. A dash says that nothing is known.`,
  'The command lotlake describe lists the columns of each table behind these figures, lotlake query answers questions to them, and docs/marts.md of lotlake has the rules in full.',
];
