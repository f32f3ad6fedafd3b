/** The rules of docs/ask/costs.md, computed slowly with integers: amounts in cents, decimals as fractions. */

/** One row of a table of costs. Its line counts from 1, the header. */
export interface CostRow {
  readonly table: string;
  readonly line: number;
  readonly values: Readonly<Record<string, string>>;
}

/** What the rules need to know of a lot. `currency` is that of its amounts. */
export interface Car {
  readonly source: number;
  readonly sourceName: string;
  readonly currency: string | null;
  readonly title: string;
  readonly branch: string | null;
  readonly postal: string | null;
  readonly state: string | null;
  readonly vehicleType: string | null;
  readonly bodyType: string | null;
  readonly fuel: string | null;
  readonly cm3: number | null;
  readonly year: number | null;
  readonly make: string | null;
  readonly model: string | null;
}

/** An amount, the row that it comes from, and the same in the currency of the destination. Both in cents. */
export interface Part {
  readonly part: string;
  readonly name: string | null;
  readonly table: string;
  readonly line: number;
  readonly currency: string;
  readonly amount: bigint;
  readonly converted: bigint;
}

export interface Landed {
  readonly parts: Part[];
  readonly total: bigint | null;
  readonly isMissing: boolean;
}

/** The median of the market of a source and country for the model and year of the car; price in cents. */
export type Medians = (source: number, country: string) => { price: bigint; currency: string } | null;

/** What a lot costs at a price in cents of its currency. Parts that cannot be computed are left out, and the total is null. */
export function landed(
  rows: readonly CostRow[],
  car: Car,
  destination: string,
  day: string,
  price: bigint,
): Landed {
  const chosen = choose(rows, car, destination, day);
  if (chosen === null) return { parts: [], total: null, isMissing: true };
  const { parts, total } = assess(chosen, price);
  return { parts, total, isMissing: total === null };
}

/** The highest amount, in cents of the lot's currency, whose total does not exceed the limit; null if there is none. */
export function mostToBid(
  rows: readonly CostRow[],
  car: Car,
  destination: string,
  day: string,
  limit: bigint,
): bigint | null {
  const chosen = choose(rows, car, destination, day);
  if (chosen === null || chosen.isMissing) return null;
  const isLow = (price: bigint): boolean => {
    const { total } = assess(chosen, price);
    return total !== null && total <= limit;
  };
  // A total is never below the converted price.
  const isTooHigh = (price: bigint): boolean =>
    (chosen.convert(price, car.currency, chosen.currency) ?? 0n) > limit;
  let top = 1n;
  while (!isTooHigh(top)) top *= 2n;
  top = firstOf(1n, top, isTooHigh) - 1n;
  while (top >= 1n) {
    const bottom = startOfPiece(chosen, top);
    if (isLow(bottom)) return firstOf(bottom, top + 1n, (price) => price > top || !isLow(price)) - 1n;
    top = bottom - 1n;
  }
  return null;
}

/**
 * The lowest price from which on, up to `top`, every fee and tax stays in its band. The fees depend on the price alone. While
 * they stay in their bands the base of the first tax only rises, while that stays in its band the base of the second, and so on.
 * So each band is left once, and from the result to `top` the total only rises.
 */
function startOfPiece(chosen: Chosen, top: bigint): bigint {
  const bands = assess(chosen, top).bands;
  let bottom = 1n;
  for (const [place, band] of bands.entries()) {
    bottom = firstOf(bottom, top, (price) => assess(chosen, price).bands[place] === band);
  }
  return bottom;
}

/** The first number from `low` on for which `isTrue`; once true it stays true, and at `high` it is. */
function firstOf(low: bigint, high: bigint, isTrue: (value: bigint) => boolean): bigint {
  let [first, last] = [low, high];
  while (first < last) {
    const middle = (first + last) / 2n;
    if (isTrue(middle)) last = middle;
    else first = middle + 1n;
  }
  return first;
}

/** What the car may cost at most, in cents of the destination's currency; null without a target. */
export function targetOf(
  rows: readonly CostRow[],
  car: Car,
  destination: string,
  day: string,
  medians: Medians,
): bigint | null {
  const home = destinationOf(rows, destination, day);
  if (home === undefined) return null;
  const convert = exchangeOf(rows, day);
  const named = mostSpecific(validRows(rows, 'targets', day), [
    names('destination', destination),
    names('make', car.make),
    names('model', car.model),
  ]);
  const row = onlyRow(named.filter((each) => hasYear(each, car.year)));
  if (row === null) return null;
  const currency = cell(row, 'currency');
  const price = cell(row, 'price') === '' ? marketPrice(row, convert, medians) : cents(row, 'price');
  if (price === null) return null;
  const margins = product(price, cell(row, 'margin_share')) + cents(row, 'margin');
  return convert(price > margins ? price - margins : 0n, currency, cell(home, 'currency'));
}

/** `year_from` and `year_to` both belong to it. */
function hasYear(row: CostRow, year: number | null): boolean {
  const [from, to] = [cell(row, 'year_from'), cell(row, 'year_to')];
  if (year === null) return from === '' && to === '';
  return (from === '' || BigInt(year) >= BigInt(from)) && (to === '' || BigInt(year) <= BigInt(to));
}

const SOURCES = ['iaai_com', 'copart_com', 'encar_com'];
const SOURCE_IDS = [1, 3, 12];

/** The median in the currency of the row. */
function marketPrice(row: CostRow, convert: Convert, medians: Medians): bigint | null {
  const source = nameOf(cell(row, 'market_source'));
  const id = SOURCE_IDS[SOURCES.indexOf(source)] ?? Number(source);
  const median = medians(id, cell(row, 'market_country').toUpperCase());
  return median === null ? null : convert(median.price, median.currency, cell(row, 'currency'));
}

/** The rows that count for a car, whatever its price. */
interface Chosen {
  readonly car: Car;
  readonly currency: string;
  readonly convert: Convert;
  /** Each fee that applies: the bands of its most specific names. */
  readonly fees: ReadonlyMap<string, readonly CostRow[]>;
  readonly charges: ReadonlyMap<string, Part>;
  /** `inland`, and `ocean` if the way has a ship. */
  readonly way: readonly Part[] | null;
  /** Each tax in the order of computation. Its bands of value are null if nothing fits the car. */
  readonly taxes: readonly Tax[];
  readonly age: bigint | null;
  /** Something is missing at every price. */
  readonly isMissing: boolean;
}

interface Tax {
  readonly name: string;
  readonly base: readonly string[];
  readonly line: number;
  readonly rows: readonly CostRow[] | null;
}

/** Null if the destination has no row that day. */
function choose(rows: readonly CostRow[], car: Car, destination: string, day: string): Chosen | null {
  const home = destinationOf(rows, destination, day);
  if (home === undefined) return null;
  const currency = cell(home, 'currency');
  const convert = exchangeOf(rows, day);
  const valid = (table: string): CostRow[] => validRows(rows, table, day);

  const sizes = mostSpecific(valid('sizes'), [
    names('vehicle_type', car.vehicleType),
    names('body_type', car.bodyType),
  ]);
  const sizeRow = onlyRow(sizes);
  const size = sizeRow === null ? null : cell(sizeRow, 'size');
  const needsSize = ['charges', 'inland', 'ocean'].some((table) =>
    valid(table).some((row) => cell(row, 'size') !== '*'),
  );
  const source = names('source', String(car.source), car.sourceName);

  const fees = new Map<string, readonly CostRow[]>();
  for (const [name, group] of groups(valid('buyer_fees'), 'fee')) {
    if (!group.some((row) => source(row) !== null)) continue;
    fees.set(
      name,
      mostSpecific(group, [source, names('member', cell(home, 'member')), names('title', car.title)]),
    );
  }

  const charges = new Map<string, Part>();
  let isUnconverted = false;
  for (const [name, group] of groups(valid('charges'), 'charge')) {
    const row = onlyRow(
      mostSpecific(group, [source, names('destination', destination), names('size', size)]),
    );
    if (row === null) continue;
    const part = partOf('charges', name, row, cents(row, 'amount'), convert, currency);
    if (part === null) isUnconverted = true;
    else charges.set(name, part);
  }

  const way = wayOf(
    valid('inland'),
    valid('ocean'),
    [
      names('branch', car.branch),
      beginning('postal', car.postal),
      names('state', car.state),
      source,
      names('size', size),
    ],
    home,
    size,
    (part, row) => partOf(part, null, row, cents(row, 'amount'), convert, currency),
  );

  const years = car.year === null ? null : BigInt(day.slice(0, 4)) - BigInt(car.year);
  const age = years !== null && years < 0n ? 0n : years;
  const ofCountry = valid('taxes').filter((row) => isName(cell(row, 'country'), cell(home, 'country')));
  const taxes = inOrder([...groups(ofCountry, 'tax')].map(([name, group]) => taxOf(name, group, car, age)));

  const isMissing =
    isUnconverted ||
    car.currency === null ||
    convert(0n, car.currency, currency) === null ||
    (needsSize && size === null) ||
    fees.size === 0 ||
    [...fees.values()].some((group) => group.length === 0) ||
    way === null ||
    taxes.length === 0 ||
    taxes.some((tax) => tax.rows === null);
  return { car, currency, convert, fees, charges, way, taxes, age, isMissing };
}

/** Of all ways the cheapest, then the first by name. A way whose sum is not known leaves the cheapest one unknown. */
function wayOf(
  inland: readonly CostRow[],
  ocean: readonly CostRow[],
  ranks: readonly Rank[],
  home: CostRow,
  size: string | null,
  partFor: (part: string, row: CostRow) => Part | null,
): Part[] | null {
  const toRank: Rank = (row) => {
    if (cell(home, 'arrives') !== '' && isName(cell(row, 'to'), cell(home, 'arrives'))) return 2;
    return isName(cell(row, 'to'), cell(home, 'country')) ? 1 : null;
  };
  const ways: { name: string; parts: (Part | null)[] }[] = [];
  for (const [name, group] of groups(inland, 'to')) {
    const tow = onlyRow(mostSpecific(group, ranks));
    if (tow === null) continue;
    const first = partFor('inland', tow);
    if (isName(name, cell(home, 'destination'))) ways.push({ name, parts: [first] });
    const ships = ocean.filter((row) => isName(cell(row, 'from'), name));
    const ship = onlyRow(mostSpecific(ships, [toRank, names('size', size)]));
    if (ship !== null) ways.push({ name, parts: [first, partFor('ocean', ship)] });
  }
  const known = ways.flatMap(({ name, parts }) => {
    const all = parts.flatMap((part) => part ?? []);
    return all.length === parts.length ? [{ name, parts: all, sum: sum(all) }] : [];
  });
  if (known.length < ways.length) return null;
  known.sort((a, b) => (a.sum === b.sum ? (a.name < b.name ? -1 : 1) : a.sum < b.sum ? -1 : 1));
  return known[0]?.parts ?? null;
}

/** The rows of a tax that fit the fuel, age and volume of a car. */
function taxOf(name: string, group: readonly CostRow[], car: Car, age: bigint | null): Tax {
  const base = [...new Set(group.flatMap((row) => cell(row, 'base').split('+')))].map(nameOf);
  const line = Math.min(...group.map((row) => row.line));
  const tax = { name, base: base.filter((part) => part !== ''), line };
  const isFuelNeeded = group.some((row) => cell(row, 'fuel') !== '*');
  const rows = mostSpecific(group, [names('fuel', car.fuel)]);
  const needsAge = rows.some((row) => hasBand(row, 'age') || !isZero(row, 'per_cm3_year'));
  const needsCm3 = rows.some(
    (row) =>
      hasBand(row, 'cm3') ||
      ['per_cm3', 'per_cm3_year', 'minimum_per_cm3'].some((column) => !isZero(row, column)),
  );
  const isUnknown =
    (isFuelNeeded && car.fuel === null) || (needsAge && age === null) || (needsCm3 && car.cm3 === null);
  if (isUnknown) return { ...tax, rows: null };
  const fitting = rows.filter(
    (row) =>
      (!needsAge || isIn(row, 'age_', (age ?? 0n) * 100n)) &&
      (!needsCm3 || isIn(row, 'cm3_', BigInt(car.cm3 ?? 0) * 100n)),
  );
  return { ...tax, rows: fitting.length === 0 ? null : fitting };
}

/** A tax comes after those that its base names; else the order of the file counts. */
function inOrder(taxes: readonly Tax[]): Tax[] {
  const left = [...taxes].sort((a, b) => a.line - b.line);
  const done: Tax[] = [];
  while (left.length > 0) {
    const next = left.findIndex((tax) => !left.some((other) => tax.base.includes(other.name)));
    if (next < 0) throw new Error('the bases of taxes name each other in a circle');
    done.push(...left.splice(next, 1));
  }
  return done;
}

/**
 * All parts at a price. `bands` says of each fee, then of each tax in order, how many edges of its bands lie at or below the price
 * or the base; -1 if the base is not known.
 */
function assess(chosen: Chosen, price: bigint): { parts: Part[]; total: bigint | null; bands: number[] } {
  const { car, convert, currency, way } = chosen;
  const parts: Part[] = [];
  const bands: number[] = [];
  let isMissing = chosen.isMissing;
  /** The amounts that a base may name, in the currency of the destination; null if not known. */
  const named = new Map<string, bigint | null>();
  const add = (part: Part | null): void => {
    if (part === null) isMissing = true;
    else parts.push(part);
  };

  const converted = car.currency === null ? null : convert(price, car.currency, currency);
  named.set('price', converted);
  if (car.currency !== null && converted !== null) {
    const from = { table: '', line: 0, currency: car.currency };
    parts.push({ part: 'price', name: null, ...from, amount: price, converted });
  }

  for (const [name, rows] of chosen.fees) {
    const [first] = rows;
    const inRow =
      first === undefined || car.currency === null
        ? null
        : convert(price, car.currency, cell(first, 'currency'));
    bands.push(inRow === null ? -1 : edgesUpTo(rows, '', inRow));
    const row = inRow === null ? null : onlyRow(rows.filter((each) => isIn(each, '', inRow)));
    const part =
      row === null || inRow === null
        ? null
        : partOf(
            'fees',
            name,
            row,
            larger(cents(row, 'fixed') + product(inRow, cell(row, 'share')), cents(row, 'minimum')),
            convert,
            currency,
          );
    named.set(name, part?.converted ?? null);
    add(part);
  }
  named.set('fees', sumOrNull([...chosen.fees.keys()].map((name) => named.get(name) ?? null)));

  for (const [name, part] of chosen.charges) {
    named.set(name, part.converted);
    parts.push(part);
  }
  named.set('charges', sum([...chosen.charges.values()]));

  parts.push(...(way ?? []));
  named.set('inland', way === null ? null : sum(way.slice(0, 1)));
  named.set('ocean', way === null ? null : sum(way.slice(1)));

  for (const { name, base, rows } of chosen.taxes) {
    // A name without an amount is a fee, charge or tax that does not apply.
    const sumOfBase = sumOrNull(base.map((part) => (named.has(part) ? (named.get(part) ?? null) : 0n)));
    const [first] = rows ?? [];
    // A tax without a base needs no rate for it.
    const inRow = base.length === 0 ? 0n : convertBase(sumOfBase, first, chosen);
    bands.push(inRow === null ? -1 : edgesUpTo(rows ?? [], 'value_', inRow));
    const row = inRow === null ? null : onlyRow((rows ?? []).filter((each) => isIn(each, 'value_', inRow)));
    const part =
      row === null || inRow === null
        ? null
        : partOf('taxes', name, row, taxAmount(row, inRow, chosen), convert, currency);
    named.set(name, part?.converted ?? null);
    add(part);
  }
  return { parts, total: isMissing ? null : sum(parts), bands };
}

/** The base in the currency of the rows of a tax; null if it, its rate or the rows are missing. */
function convertBase(
  base: bigint | null,
  row: CostRow | undefined,
  { convert, currency }: Chosen,
): bigint | null {
  return base === null || row === undefined ? null : convert(base, currency, cell(row, 'currency'));
}

function taxAmount(row: CostRow, base: bigint, { car, age }: Chosen): bigint {
  // A row that multiplies by the volume or age was chosen only if both are known.
  const cm3 = BigInt(car.cm3 ?? 0) * 100n;
  const amount =
    cents(row, 'fixed') +
    product(base, cell(row, 'share')) +
    product(cm3, cell(row, 'per_cm3')) +
    product(cm3 * (age ?? 0n), cell(row, 'per_cm3_year'));
  return larger(amount, cents(row, 'minimum') + product(cm3, cell(row, 'minimum_per_cm3')));
}

/** An amount of a row in its own currency and in that of the destination; null without a rate. */
function partOf(
  part: string,
  name: string | null,
  row: CostRow,
  amount: bigint,
  convert: Convert,
  to: string,
): Part | null {
  const currency = cell(row, 'currency');
  const converted = convert(amount, currency, to);
  if (converted === null) return null;
  return { part, name, table: row.table, line: row.line, currency, amount, converted };
}

const sum = (parts: readonly Part[]): bigint => parts.reduce((total, part) => total + part.converted, 0n);

const sumOrNull = (amounts: readonly (bigint | null)[]): bigint | null =>
  amounts.reduce((total, amount) => (total === null || amount === null ? null : total + amount), 0n);

const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);

/** How well a row names the car in one column: 0 for `*`, more if it names it, null if it names another. */
type Rank = (row: CostRow) => number | null;

const names =
  (column: string, ...own: readonly (string | null)[]): Rank =>
  (row) => {
    if (cell(row, column) === '*') return 0;
    return own.some((name) => name !== null && isName(cell(row, column), name)) ? 1 : null;
  };

/** A column that names the beginning of a code; a longer one names it better. */
const beginning =
  (column: string, own: string | null): Rank =>
  (row) => {
    const start = nameOf(cell(row, column));
    if (start === '*') return 0;
    return own !== null && nameOf(own).startsWith(start) ? start.length : null;
  };

/** Of the rows that match in all columns, those that rank best in the first, of these those best in the second, and so on. */
function mostSpecific(rows: readonly CostRow[], ranks: readonly Rank[]): CostRow[] {
  let left = rows.filter((row) => ranks.every((rank) => rank(row) !== null));
  for (const rank of ranks) {
    const best = Math.max(...left.map((row) => rank(row) ?? 0));
    left = left.filter((row) => rank(row) === best);
  }
  return left;
}

function onlyRow(rows: readonly CostRow[]): CostRow | null {
  if (rows.length > 1) throw new Error(`lines ${rows.map(({ line }) => line)} of ${rows[0]?.table} conflict`);
  return rows[0] ?? null;
}

function groups(rows: readonly CostRow[], column: string): Map<string, CostRow[]> {
  const result = new Map<string, CostRow[]>();
  for (const row of rows) {
    const name = nameOf(cell(row, column));
    result.set(name, [...(result.get(name) ?? []), row]);
  }
  return result;
}

/** A band has its `from` and not its `to`. The value is in hundredths. */
function isIn(row: CostRow, prefix: string, value: bigint): boolean {
  const to = cell(row, `${prefix}to`);
  return value >= cents(row, `${prefix}from`) && (to === '' || value < hundredths(to));
}

function edgesUpTo(rows: readonly CostRow[], prefix: string, value: bigint): number {
  const edges = rows.flatMap((row) => [cell(row, `${prefix}from`), cell(row, `${prefix}to`)]);
  return edges.filter((edge) => edge !== '' && hundredths(edge) <= value).length;
}

const hasBand = (row: CostRow, column: string): boolean =>
  !isZero(row, `${column}_from`) || cell(row, `${column}_to`) !== '';

const isZero = (row: CostRow, column: string): boolean => decimal(cell(row, column)).top === 0n;

const cell = (row: CostRow, column: string): string => (row.values[column] ?? '').trim();
const nameOf = remembered((text) => text.trim().toLowerCase());
const isName = (a: string, b: string): boolean => nameOf(a) === nameOf(b);

function destinationOf(rows: readonly CostRow[], destination: string, day: string): CostRow | undefined {
  return validRows(rows, 'destinations', day).find((row) => isName(cell(row, 'destination'), destination));
}

function validRows(rows: readonly CostRow[], table: string, day: string): CostRow[] {
  return rows.filter((row) => {
    const [from, to] = [cell(row, 'valid_from'), cell(row, 'valid_to')];
    return row.table === table && (from === '' || from <= day) && (to === '' || day <= to);
  });
}

/** Cents of one currency in cents of another; null if a currency or its rate is not known. */
type Convert = (amount: bigint, from: string | null, to: string) => bigint | null;

function exchangeOf(rows: readonly CostRow[], day: string): Convert {
  const come = rows.filter((row) => row.table === 'exchange' && cell(row, 'day') <= day);
  const newestFirst = come.sort((a, b) => (cell(a, 'day') < cell(b, 'day') ? 1 : -1));
  const pairOf = (from: string, to: string): string => `${nameOf(from)} ${nameOf(to)}`;
  const rates = new Map<string, string>();
  for (const row of newestFirst) {
    const pair = pairOf(cell(row, 'from'), cell(row, 'to'));
    if (!rates.has(pair)) rates.set(pair, cell(row, 'rate'));
  }
  return (amount, from, to) => {
    if (from === null) return null;
    if (isName(from, to)) return amount;
    const rate = rates.get(pairOf(from, to));
    return rate === undefined ? null : product(amount, rate);
  };
}

/** The results for the texts that there were, since the same ones are read over and over. */
function remembered<T>(compute: (text: string) => T): (text: string) => T {
  const results = new Map<string, T>();
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

/** A decimal as a fraction; an empty one is 0. */
const decimal = remembered((text) => {
  const [whole = '', rest = ''] = text.split('.');
  return { top: BigInt(whole + rest || '0'), bottom: 10n ** BigInt(rest.length) };
});

const hundredths = remembered((text) => {
  const { top, bottom } = decimal(text);
  if ((top * 100n) % bottom !== 0n) throw new Error(`${text} has more than two decimals`);
  return (top * 100n) / bottom;
});

/** An amount in cents. */
const cents = (row: CostRow, column: string): bigint => hundredths(cell(row, column));

/** Cents times a decimal, rounded to the cent, half a cent up. */
function product(amount: bigint, factor: string): bigint {
  const { top, bottom } = decimal(factor);
  return floorOf(2n * amount * top + bottom, 2n * bottom);
}

/** The largest integer that is not above the fraction. */
function floorOf(top: bigint, bottom: bigint): bigint {
  const quotient = top / bottom;
  return quotient * bottom > top ? quotient - 1n : quotient;
}
