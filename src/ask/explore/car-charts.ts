import * as Plot from '@observablehq/plot';
import { count, counted, numberOrNull, printable, words } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { draw } from '../page/draw.js';
import { dateOf } from '../page/format.js';
import { type Html, html } from '../page/html.js';
import type { Value } from '../query/valuation.js';

/** A dated figure of an event. */
interface Point {
  readonly at: Date;
  readonly value: number;
  readonly text: string;
  readonly event: string;
  readonly marked: boolean;
}

/** When an event was, on the axis of UTC. A local time without its offset is shown as it is, wherever the machine stands. */
function instantOf({ occurred_local: local, occurred_at }: Row): Date {
  if (local === null || local === undefined) return dateOf(occurred_at);
  const text = String(local).replace(' ', 'T');
  return new Date(/T[\d:.]+$/.test(text) ? `${text}Z` : text);
}

/** The events that have a date and a figure. */
function pointsOf(timeline: readonly Row[], column: 'amount' | 'odometer_km'): Point[] {
  return timeline.flatMap((event) => {
    const value = numberOrNull(event[column]);
    const at = instantOf(event);
    if (value === null || value <= 0 || Number.isNaN(at.getTime())) return [];
    const unit = column === 'amount' ? printable(event.currency) : 'km';
    const kind = words(event.event);
    const text = `${at.toISOString().slice(0, 10)}, ${kind}: ${count(value)} ${unit}`;
    return [
      { at, value, text, event: kind, marked: column === 'odometer_km' && event.odometer_rollback === true },
    ];
  });
}

const SPACE = { height: 260, marginLeft: 64, marginRight: 24, marginTop: 30, marginBottom: 32 } as const;

/** The axis of time; a single day gets a month around it. */
function timeAxis(points: readonly Point[], isNarrow: boolean) {
  const times = points.map(({ at }) => at.getTime());
  const [first, last] = [Math.min(...times), Math.max(...times)];
  const around = last - first < DAY ? 15 * DAY : 0;
  const domain = [new Date(first - around), new Date(last + around)];
  return { type: 'utc', label: null, ticks: isNarrow ? 3 : 6, nice: around === 0, domain } as const;
}

const DAY = 86_400_000;

/**
 * Amounts at auctions and asked for, in one currency, with the estimate and its interval. Amounts whose currency is not known are
 * shown by themselves.
 */
export function amountsOf(timeline: readonly Row[], given: Value | undefined): Html {
  const value = given?.is_currency_known === false ? undefined : given;
  const currency =
    given === undefined
      ? (timeline.find((event) => event.currency !== null)?.currency ?? null)
      : (value?.currency ?? null);
  const amounts = timeline.filter(({ amount, lot }) => (numberOrNull(amount) ?? 0) > 0 && lot !== null);
  const market = amounts.filter((event) => event.currency === currency);
  const others = amounts.length - market.length;
  const points = pointsOf(market, 'amount');
  const last = points.at(-1);
  if (last === undefined) return html`<p class="words">No amount of this car has a date.</p>`;
  const estimate = value?.estimate ?? null;
  const band = value?.low_80 == null ? [] : [{ low: value.low_80, high: value.high_80 }];
  const described = `${points.map(({ text }) => text).join('; ')}.${estimate === null ? '' : ` Estimate ${count(estimate)}.`}`;
  const left =
    others > 0 &&
    html`<p class="note">${counted(others, 'amount')} in another currency, or in one that is not known, ${others === 1 ? 'is' : 'are'} not drawn; the timeline has ${others === 1 ? 'it' : 'them'}.</p>`;
  return html`${left}${draw(
    { chart: { id: 'prices', small: false }, title: 'Prices' },
    described,
    ({ hasTips, isNarrow }) => ({
      ...SPACE,
      x: timeAxis(points, isNarrow),
      y: { label: String(currency ?? ''), zero: true, nice: true, tickFormat: count, ticks: 5 },
      marks: [
        Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        Plot.rectY(band, { y1: 'low', y2: 'high', fill: 'var(--below)', fillOpacity: 0.5 }),
        Plot.ruleY(estimate === null ? [] : [estimate], { stroke: 'var(--mark)', strokeDasharray: '4 3' }),
        // What it was sold for lies above the last bid, which is often the same.
        Plot.dot(
          [...points].sort((a, b) => Number(a.event === 'sold') - Number(b.event === 'sold')),
          {
            x: 'at',
            y: 'value',
            r: 4,
            fill: ({ event }: Point) => (event === 'sold' ? 'var(--c1)' : 'var(--c0)'),
            symbol: ({ event }: Point) => (event === 'sold' ? 'square' : 'circle'),
            title: hasTips ? 'text' : null,
          },
        ),
      ],
      symbol: { type: 'identity' },
      color: { type: 'identity' },
    }),
    [
      { name: 'sold for', fill: 'var(--c1)', symbol: 'square' },
      { name: 'bid, asked, or the reserve of the seller', fill: 'var(--c0)', symbol: 'circle' },
    ],
  )}`;
}

/** Kilometres that a reading may lie below an earlier one and count as the same. */
const TOLERATED = 1000;

/** Readings of the odometer; those that lie well below an earlier one are marked. */
export function readingsOf(timeline: readonly Row[]): Html {
  const points = pointsOf(timeline, 'odometer_km');
  const values = points.map(({ value }) => value);
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (points.length === 0) return html`<p class="words">No reading of this car has a date.</p>`;
  if (new Set(values).size === 1)
    return html`<p class="words">${points.length === 1 ? 'One reading,' : `${points.length} readings, all of`} ${count(most)} km: nothing to compare.</p>`;
  const back = timeline.filter((event) => event.odometer_rollback === true);
  const [first] = back;
  const isLower = points.some(({ value }, i) =>
    points.slice(0, i).some((earlier) => value < earlier.value - TOLERATED),
  );
  const verdict =
    first === undefined
      ? `No reading that counts lies more than ${count(TOLERATED)} km below an earlier one (${points.length} readings, ${count(least)} to ${count(most)} km).${isLower ? ' Two readings that are drawn contradict each other. One of them does not count: its source replaced it, or it may be in miles.' : ''}`
      : `Rolled back: ${count(first.odometer_km)} km, after ${count(first.odometer_highest_km)} km before, so by at least ${count(Number(first.odometer_highest_km) - Number(first.odometer_km))} km.${back.length > 1 ? ` ${counted(back.length - 1, 'other reading')} ${back.length === 2 ? 'is' : 'are'} as low.` : ''}`;
  const described = `${points.map(({ text }) => text).join('; ')}.`;
  return html`<p class="${back.length > 0 ? 'alarm' : 'note'}">${verdict}</p>${draw(
    { chart: { id: 'odometer', small: false }, title: 'Odometer' },
    described,
    ({ hasTips, isNarrow }) => ({
      ...SPACE,
      x: timeAxis(points, isNarrow),
      y: { label: 'km', zero: true, nice: true, tickFormat: count, ticks: 5 },
      marks: [
        Plot.gridY({ stroke: 'var(--line)', strokeOpacity: 1 }),
        Plot.line(points, { x: 'at', y: 'value', stroke: 'var(--mark)' }),
        Plot.dot(points, {
          x: 'at',
          y: 'value',
          r: ({ marked }: Point) => (marked ? 5 : 3),
          fill: ({ marked }: Point) => (marked ? 'var(--alarm)' : 'var(--mark)'),
          title: hasTips ? 'text' : null,
        }),
      ],
      r: { type: 'identity' },
      color: { type: 'identity' },
    }),
  )}`;
}

/** Outline of a car from above, front up, in a box of 100 by 100. */
const OUTLINE =
  'M34 8 Q50 2 66 8 Q70 12 70 22 L71 80 Q70 92 64 95 Q50 98 36 95 Q30 92 29 80 L30 22 Q30 12 34 8Z M34 30 Q50 24 66 30 L64 40 Q50 36 36 40Z M36 74 Q50 78 64 74 L66 84 Q50 89 34 84Z M35 42 L35 72 M65 42 L65 72';

/** Issues on drawings of the car, one for each map that the report names. Places are in percent of the map, from top left. */
export function carMap(items: readonly Row[]): Html {
  const placed = items.filter(
    ({ visual_x, visual_y }) => numberOrNull(visual_x) !== null && numberOrNull(visual_y) !== null,
  );
  const maps = [...new Set(placed.map(({ visual_map_id }) => printable(visual_map_id)))];
  return html`<div class="maps">${maps.map((map) => {
    const own = placed.filter(({ visual_map_id }) => printable(visual_map_id) === map);
    const name = map.replace(/^map-/, '') || 'car';
    const marks = own.map((item) => {
      const named = [item.part, item.place, item.issues]
        .map(words)
        .filter((part) => part !== '')
        .join(', ');
      return html`<g transform="translate(${item.visual_x} ${item.visual_y})"><circle r="3.2"/><text dy="1.4">${printable(item.visual_marker_label).slice(0, 2)}</text><title>${named}</title></g>`;
    });
    return html`<figure><svg class="car" viewBox="-4 -4 108 108" role="img" aria-label="${`Places of ${own.length} findings on the map ${name}`}"><path d="${OUTLINE}"/>${marks}</svg><figcaption>Map ${name}, from the report’s places; the outline is only a picture of a car.</figcaption></figure>`;
  })}</div>`;
}
