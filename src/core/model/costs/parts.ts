import { baseOf, rangeOf } from './check-rows.js';
import { ANY, type CostRow, cell, plainName, sourceOf } from './columns.js';
import { centsOf, type Factor, factorOf, times } from './money.js';
import { type Destination, orderedTaxes, type Rate, SAME, type Schedule } from './schedule.js';

/** A lot or car as the tables of costs ask for it; null for what is not known. */
export interface CostCar {
  /** Number of the source. */
  readonly source: number | null;
  /** Currency of its amounts. */
  readonly currency: string | null;
  readonly branch: string | null;
  readonly postal: string | null;
  readonly state: string | null;
  /** Brand of the title. */
  readonly title: string | null;
  readonly vehicleType: string | null;
  readonly bodyType: string | null;
  readonly fuel: string | null;
  /** Volume of the engine. */
  readonly cm3: number | null;
  /** Model year. */
  readonly year: number | null;
}

/** Amounts of bands by the amount that they are compared with, all in cents of one currency. */
export interface Bands {
  readonly rows: readonly CostRow[];
  readonly from: Float64Array;
  /** End of the last band. */
  readonly end: number;
  readonly fixed: Float64Array;
  readonly share: readonly Factor[];
  readonly minimum: Float64Array;
  /** For each band, the lowest amount with which a later one begins; a price that no band has costs too much. */
  readonly least: Float64Array;
  /** For each band, the highest amount with which an earlier one ends. */
  readonly most: Float64Array;
  /** Whether the bands begin at 0, and none of them below where the one before it ends. */
  readonly isRising: boolean;
}

/** A part whose amount follows the price: a fee, or a tax. */
export interface MovingPart {
  readonly name: string;
  readonly currency: string;
  readonly bands: Bands;
  /** From the currency of the lot, or of the destination for a tax, into that of the rows. */
  readonly into: Rate;
  /** From the currency of the rows into that of the destination. */
  readonly back: Rate;
}

/** A tax with what its base sums. */
export interface Tax extends MovingPart {
  /** Cents of the charges of the base. */
  readonly charges: number;
  readonly hasPrice: boolean;
  readonly hasInland: boolean;
  readonly hasOcean: boolean;
  /** Places of fees and of taxes before it. */
  readonly fees: readonly number[];
  readonly taxes: readonly number[];
}

/** A part with one amount: a charge, the tow, or the ship. */
export interface FixedPart {
  readonly part: 'charges' | 'inland' | 'ocean';
  readonly name: string | null;
  readonly row: CostRow;
  readonly currency: string;
  /** Cents, in its currency and in that of the destination. */
  readonly amount: number;
  readonly converted: number;
  readonly rate: Rate;
}

/** Parts, or what is missing for them. */
export interface Known<T> {
  readonly parts: T;
  readonly missing: readonly string[];
}

const textOf = (value: string | number | null): string => (value === null ? 'unknown' : String(value));

/** Words of a rate that is missing. */
const missingRate = (from: string, to: string): string => `exchange: no rate from ${from} to ${to}`;

/**
 * The bands of rows that differ in a band alone.
 * @param more cents that are added to `fixed` and `minimum` of a row
 */
function bandsOf(
  rows: readonly CostRow[],
  band: string,
  more = (_: CostRow): [number, number] => [0, 0],
): Bands {
  const inCents = (value: number): number => (value === Infinity ? value : centsOf(String(value)));
  const sorted = [...rows].sort((a, b) => rangeOf(a, band)[0] - rangeOf(b, band)[0]);
  const last = sorted.at(-1);
  const bands = {
    rows: sorted,
    from: Float64Array.from(sorted, (row) => inCents(rangeOf(row, band)[0])),
    end: last === undefined ? 0 : inCents(rangeOf(last, band)[1]),
    fixed: Float64Array.from(sorted, (row) => centsOf(cell(row, 'fixed')) + more(row)[0]),
    share: sorted.map((row) => factorOf(cell(row, 'share'))),
    minimum: Float64Array.from(sorted, (row) => centsOf(cell(row, 'minimum')) + more(row)[1]),
  };
  const isRising = bands.from.every((from, at) =>
    at === 0 ? from === 0 : amountIn(bands, at, from) >= amountIn(bands, at - 1, from - 1),
  );
  return { ...bands, ...limitsOf(bands), isRising };
}

/** What amounts of other bands bound those of a band, see {@link Bands}. */
function limitsOf(bands: Pick<Bands, 'from' | 'fixed' | 'share' | 'minimum'>) {
  const { from } = bands;
  const least = new Float64Array(from.length).fill(Infinity);
  const most = new Float64Array(from.length);
  for (let at = from.length - 2; at >= 0; at -= 1)
    least[at] = Math.min(least[at + 1] ?? Infinity, amountIn(bands, at + 1, from[at + 1] ?? 0));
  most[0] = (from[0] ?? 0) > 0 ? Infinity : 0;
  for (let at = 1; at < from.length; at += 1)
    most[at] = Math.max(most[at - 1] ?? 0, amountIn(bands, at - 1, (from[at] ?? 0) - 1));
  return { least, most };
}

/** The last band that begins at an amount or below; -1 beyond the end of the last one, and before the first one. */
export function bandAt({ from, end }: Bands, amount: number): number {
  if (amount >= end) return -1;
  let low = 0;
  let high = from.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((from[middle] ?? 0) <= amount) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

const NONE: Factor = { digits: 0, power: 1 };

/** The amount of a band; NaN without one. */
export function amountIn(
  { fixed, share, minimum }: Pick<Bands, 'fixed' | 'share' | 'minimum'>,
  band: number,
  base: number,
): number {
  if (band < 0) return Number.NaN;
  const amount = (fixed[band] ?? 0) + times(base, share[band] ?? NONE);
  return Math.max(amount, minimum[band] ?? 0);
}

/**
 * A bound of the amount that rises with its base: `least` is no amount above it at this base or a higher one, `most` none below it at this
 * base or a lower one.
 */
export type Bound = 'least' | 'most';

/** The bound of the amount of a band; Infinity where it is unbounded, and at a base that costs too much. */
export function boundIn(bound: Bound, bands: Bands, band: number, base: number): number {
  if (bound === 'most')
    return band < 0 ? Infinity : Math.max(amountIn(bands, band, base), bands.most[band] ?? 0);
  if (base >= bands.end) return Infinity;
  // Before the first band, the bound is that of its beginning.
  if (band < 0) return boundIn(bound, bands, 0, bands.from[0] ?? 0);
  return Math.min(amountIn(bands, band, base), bands.least[band] ?? Infinity);
}

/** Cents in another currency. */
export const converted = (cents: number, { factor, row }: Rate): number =>
  row === undefined ? cents : times(cents, factor);

/** The size class of a car; null if no row has its types. */
export const sizeOf = ({ choices }: Schedule, { vehicleType, bodyType }: CostCar): string | null => {
  const [row] = choices('sizes', [])?.([vehicleType, bodyType]) ?? [];
  return row === undefined ? null : cell(row, 'size');
};

/** The fees of a lot. */
export function feesOf(
  schedule: Schedule,
  car: CostCar,
  { member, currency }: Destination,
): Known<MovingPart[]> {
  const missing: string[] = [];
  const parts: MovingPart[] = [];
  if (car.source === null) return { parts, missing: ['buyer_fees: the source is not known'] };
  const source = String(car.source);
  let isNamed = false;
  for (const first of schedule.series('buyer_fees')) {
    const name = cell(first, 'fee');
    const named = schedule.rowsOf('buyer_fees', [name]);
    const applies = named.some((row) => isAmong(row, 'source', [source]));
    isNamed ||= applies;
    if (!applies) continue;
    const rows = schedule.choices('buyer_fees', [name])?.([source, member, car.title]);
    const [row] = rows ?? [];
    if (rows === undefined || row === undefined) {
      const of = member === '' ? '' : ` and member ${member}`;
      missing.push(`buyer_fees: no row of ${name} for source ${source}, title ${textOf(car.title)}${of}`);
      continue;
    }
    const own = cell(row, 'currency');
    const into = car.currency === null ? undefined : schedule.rate(car.currency, own);
    const back = schedule.rate(own, currency);
    if (into === undefined && car.currency !== null) missing.push(missingRate(car.currency, own));
    if (back === undefined) missing.push(missingRate(own, currency));
    if (into !== undefined && back !== undefined)
      parts.push({ name, currency: own, bands: bandsOf(rows, ''), into, back });
  }
  if (!isNamed) missing.push(`buyer_fees: no row for source ${source}`);
  return { parts, missing };
}

/** Whether a row names one of some texts, or `*`. */
const isAmong = (
  row: CostRow,
  column: 'source' | 'destination' | 'size',
  texts: readonly (string | null)[],
): boolean => {
  const name = column === 'source' ? sourceOf(cell(row, column)) : plainName(cell(row, column));
  return name === ANY || texts.some((text) => text !== null && plainName(text) === name);
};

/** A part with one amount, in the currency of the destination. */
function fixedPart(
  { rate }: Schedule,
  row: CostRow,
  part: FixedPart['part'],
  name: string | null,
  to: string,
): FixedPart | string {
  const currency = cell(row, 'currency');
  const found = rate(currency, to);
  if (found === undefined) return missingRate(currency, to);
  const amount = centsOf(cell(row, 'amount'));
  return { part, name, row, currency, amount, converted: times(amount, found.factor), rate: found };
}

/** The charges of a lot. */
export function chargesOf(
  schedule: Schedule,
  { source }: CostCar,
  size: string | null,
  destination: Destination,
): Known<FixedPart[]> {
  const found = schedule.series('charges').flatMap((first) => {
    const name = cell(first, 'charge');
    const names = [source === null ? null : String(source), destination.name, size];
    const [row] = schedule.choices('charges', [name])?.(names) ?? [];
    return row === undefined ? [] : [fixedPart(schedule, row, 'charges', name, destination.currency)];
  });
  return {
    parts: found.filter((part) => typeof part !== 'string'),
    missing: found.filter((part) => typeof part === 'string'),
  };
}

/** The cheapest way of a lot to a destination: a tow, and a ship where it needs one. */
export function wayOf(
  schedule: Schedule,
  car: CostCar,
  size: string | null,
  destination: Destination,
): Known<FixedPart[]> {
  const { source, branch, postal, state } = car;
  const names = [branch, postal, state, source === null ? null : String(source), size];
  const rates = new Set<string>();
  const ports: string[] = [];
  let best: { readonly sum: number; readonly port: string; readonly parts: FixedPart[] } | undefined;
  for (const first of schedule.series('inland')) {
    const to = cell(first, 'to');
    const [tow] = schedule.choices('inland', [to])?.(names) ?? [];
    if (tow === undefined) continue;
    ports.push(to);
    const isThere = plainName(to) === plainName(destination.name);
    const ship = isThere ? undefined : shipOf(schedule, to, size, destination);
    if (!isThere && ship === undefined) continue;
    const legs = [
      fixedPart(schedule, tow, 'inland', to, destination.currency),
      ...(ship === undefined
        ? []
        : [fixedPart(schedule, ship, 'ocean', cell(ship, 'to'), destination.currency)]),
    ];
    const parts = legs.filter((leg) => typeof leg !== 'string');
    for (const leg of legs) if (typeof leg === 'string') rates.add(leg);
    if (parts.length < legs.length) continue;
    const sum = sumOf(parts);
    const port = plainName(to);
    if (best === undefined || sum < best.sum || (sum === best.sum && port < best.port))
      best = { sum, port, parts };
  }
  // A way whose amount is not known could be the cheapest one.
  if (rates.size > 0) return { parts: [], missing: [...rates] };
  if (best !== undefined) return { parts: best.parts, missing: [] };
  const place = [branch, postal, state].filter((each) => each !== null).join(', ') || 'an unknown place';
  const of = size === null ? '' : ` for the size ${size}`;
  return {
    parts: [],
    missing: [
      ports.length === 0
        ? `inland: no row from ${place}, source ${textOf(source)}${of}`
        : `ocean: no row from ${[...new Set(ports)].join(' or ')} to ${destination.arrives || destination.country}${of}`,
    ],
  };
}

function shipOf(
  { choices }: Schedule,
  from: string,
  size: string | null,
  { arrives, country }: Destination,
): CostRow | undefined {
  for (const to of [arrives, country]) {
    const [row] = choices('ocean', [from, to])?.([size]) ?? [];
    if (row !== undefined) return row;
  }
  return undefined;
}

/** The taxes of a car in a country, in the order in which they are computed. */
export function taxesOf(
  schedule: Schedule,
  car: CostCar,
  destination: Destination,
  others: { readonly fees: readonly MovingPart[]; readonly charges: readonly FixedPart[] },
): Known<Tax[]> {
  const { country, currency } = destination;
  const missing: string[] = [];
  const parts: Tax[] = [];
  const ordered = orderedTaxes(schedule, country);
  for (const first of ordered) {
    const name = cell(first, 'tax');
    const rows = ratedRows(schedule, car, country, name);
    if (typeof rows === 'string') {
      missing.push(`taxes: ${rows}`);
      continue;
    }
    const { row } = rows;
    const own = cell(row, 'currency');
    const base = baseOf(row);
    // Without a base there is nothing to convert.
    const into = base.length === 0 ? SAME : schedule.rate(currency, own);
    const back = schedule.rate(own, currency);
    if (into === undefined) missing.push(missingRate(currency, own));
    if (back === undefined) missing.push(missingRate(own, currency));
    if (into === undefined || back === undefined) continue;
    const sums = (all: string, one: string | null): boolean =>
      base.includes(all) || (one !== null && base.includes(plainName(one)));
    parts.push({
      name,
      currency: own,
      bands: bandsOf(rows.rows, 'value', rows.more),
      into,
      back,
      charges: sumOf(others.charges.filter((part) => sums('charges', part.name))),
      hasPrice: base.includes('price'),
      hasInland: base.includes('inland'),
      hasOcean: base.includes('ocean'),
      fees: others.fees.flatMap((fee, i) => (sums('fees', fee.name) ? [i] : [])),
      taxes: parts.flatMap((tax, i) => (base.includes(plainName(tax.name)) ? [i] : [])),
    });
  }
  if (ordered.length === 0) missing.push(`taxes: no row for the country ${country}`);
  return { parts, missing };
}

/** The rows of a tax that a car has and the first of them, with what they add for its engine; or what is missing. */
interface RatedRows {
  readonly row: CostRow;
  readonly rows: readonly CostRow[];
  readonly more: (row: CostRow) => [number, number];
}

/** Sum of the converted amounts of parts. */
export const sumOf = (parts: readonly FixedPart[]): number =>
  parts.reduce((sum, part) => sum + part.converted, 0);

function ratedRows(
  schedule: Schedule,
  { fuel, cm3, year }: CostCar,
  country: string,
  tax: string,
): string | RatedRows {
  const all = schedule.rowsOf('taxes', [country, tax]);
  if (fuel === null && all.some((row) => cell(row, 'fuel') !== ANY)) return `${tax} needs the fuel`;
  const rows = schedule.choices('taxes', [country, tax])?.([fuel]);
  if (rows === undefined) return `no row of ${tax} for the fuel ${textOf(fuel)}`;
  const uses = (columns: readonly string[]): boolean =>
    rows.some((row) => columns.some((column) => Number(cell(row, column)) > 0));
  const bounds = (band: string): boolean =>
    rows.some((row) => rangeOf(row, band)[0] > 0 || rangeOf(row, band)[1] < Infinity);
  if (year === null && (bounds('age') || uses(['per_cm3_year']))) return `${tax} needs the model year`;
  if (cm3 === null && (bounds('cm3') || uses(['per_cm3', 'per_cm3_year', 'minimum_per_cm3'])))
    return `${tax} needs the volume of the engine`;
  const age = year === null ? 0 : Math.max(0, Number(schedule.day.slice(0, 4)) - year);
  const volume = cm3 ?? 0;
  const fits = rows.filter((row) => inBand(row, 'age', age) && inBand(row, 'cm3', volume));
  const [row] = fits;
  if (row === undefined)
    return `no row of ${tax} for a car of ${age} years${cm3 === null ? '' : ` with ${cm3} cm3`}`;
  return {
    row,
    rows: fits,
    more: (row) => [
      times(volume * 100, factorOf(cell(row, 'per_cm3'))) +
        times(volume * age * 100, factorOf(cell(row, 'per_cm3_year'))),
      times(volume * 100, factorOf(cell(row, 'minimum_per_cm3'))),
    ],
  };
}

const inBand = (row: CostRow, band: string, value: number): boolean => {
  const [from, to] = rangeOf(row, band);
  return from <= value && value < to;
};
