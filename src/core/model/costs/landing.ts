import type { CostRow } from './columns.js';
import {
  amountIn,
  type Bound,
  bandAt,
  boundIn,
  type CostCar,
  chargesOf,
  converted,
  type FixedPart,
  feesOf,
  type MovingPart,
  sizeOf,
  sumOf,
  type Tax,
  taxesOf,
  wayOf,
} from './parts.js';
import type { Destination, Rate, Schedule } from './schedule.js';

/** A part of a total. Amounts are in cents. */
export interface Part {
  readonly part: 'price' | 'fees' | 'charges' | 'inland' | 'ocean' | 'taxes';
  /** Name of the fee, charge or tax, or where a way leads; null for the price. */
  readonly name: string | null;
  /** The row that gave it; undefined for the price. */
  readonly row: CostRow | undefined;
  readonly currency: string;
  /** In its own currency, and in that of the destination. */
  readonly amount: number;
  readonly converted: number;
}

/** What a kind of car costs at a destination, without its way. */
export interface CarCosts {
  readonly destination: Destination;
  readonly currency: string | null;
  readonly size: string | null;
  readonly fees: readonly MovingPart[];
  readonly charges: readonly FixedPart[];
  readonly chargesSum: number;
  readonly taxes: readonly Tax[];
  /** From the currency of the lot; undefined if it is not known. */
  readonly rate: Rate | undefined;
  readonly missing: readonly string[];
  /** Whether no fee or tax falls at an edge of its bands. */
  readonly isRising: boolean;
  /** Amounts of fees and taxes, in their own currency and converted, and their bands, as {@link totalAt} computed them last. */
  readonly last: { readonly own: Float64Array; readonly amounts: Float64Array; readonly bands: Int32Array };
}

/** The way of a lot to a destination. Sums are in cents of the destination's currency. */
export interface Way {
  readonly parts: readonly FixedPart[];
  readonly inland: number;
  readonly ocean: number;
  readonly missing: readonly string[];
}

/** What cars that are alike share at one destination, so that a million lots have few bands in memory. */
export type SharedParts = Map<string, CarCosts | ReturnType<typeof feesOf>>;

/**
 * What a car costs at a destination without its way.
 * @param shared what earlier cars at the destination have
 */
export function carCosts(
  schedule: Schedule,
  car: CostCar,
  destination: Destination,
  shared: SharedParts = new Map(),
): CarCosts {
  const size = schedule.needsSize ? sizeOf(schedule, car) : null;
  const { source, currency, title, fuel, cm3, year } = car;
  const feeKey = JSON.stringify([source, currency, title]);
  const key = JSON.stringify([
    source,
    currency,
    title,
    size ?? [car.vehicleType, car.bodyType],
    fuel,
    cm3,
    year,
  ]);
  const known = shared.get(key);
  if (known !== undefined && 'fees' in known) return known;
  const ofFees = shared.get(feeKey);
  const fees = ofFees !== undefined && 'parts' in ofFees ? ofFees : feesOf(schedule, car, destination);
  const found = costsOf(schedule, car, destination, size, fees);
  shared.set(feeKey, fees).set(key, found);
  return found;
}

function costsOf(
  schedule: Schedule,
  car: CostCar,
  destination: Destination,
  size: string | null,
  fees: ReturnType<typeof feesOf>,
): CarCosts {
  const charges = chargesOf(schedule, car, size, destination);
  const taxes = taxesOf(schedule, car, destination, { fees: fees.parts, charges: charges.parts });
  const rate = car.currency === null ? undefined : schedule.rate(car.currency, destination.currency);
  const types = `${car.vehicleType ?? 'an unknown type'}, ${car.bodyType ?? 'an unknown body'}`;
  const missing = [
    ...(car.currency === null ? ['the currency of the lot is not known'] : []),
    ...(car.currency !== null && rate === undefined
      ? [`exchange: no rate from ${car.currency} to ${destination.currency}`]
      : []),
    ...(schedule.needsSize && size === null ? [`sizes: no row for ${types}`] : []),
    ...[fees, charges, taxes].flatMap((part) => part.missing),
  ];
  const moving = [...fees.parts, ...taxes.parts];
  return {
    destination,
    currency: car.currency,
    size,
    fees: fees.parts,
    charges: charges.parts,
    chargesSum: sumOf(charges.parts),
    taxes: taxes.parts,
    rate,
    missing: [...new Set(missing)],
    isRising: moving.every(({ bands }) => bands.isRising),
    last: {
      own: new Float64Array(moving.length),
      amounts: new Float64Array(moving.length),
      bands: new Int32Array(moving.length),
    },
  };
}

/** The cheapest way of a car of a size from a place. A size that is needed and not known is missing elsewhere. */
export function wayTo(schedule: Schedule, car: CostCar, size: string | null, destination: Destination): Way {
  const { parts, missing } =
    schedule.needsSize && size === null
      ? { parts: [], missing: [] }
      : wayOf(schedule, car, size, destination);
  const sumFor = (part: FixedPart['part']): number => sumOf(parts.filter((leg) => leg.part === part));
  return { parts, missing, inland: sumFor('inland'), ocean: sumFor('ocean') };
}

/**
 * The total at a price in cents of the lot's currency, in cents of the destination's; NaN if a part of it is not known.
 * @param bound a bound of the total that rises with the price, in place of the total
 */
export function totalAt(car: CarCosts, way: Way, price: number, bound?: Bound): number {
  const { rate, fees, taxes, last } = car;
  if (rate === undefined || car.missing.length > 0 || way.missing.length > 0) return Number.NaN;
  const { own: ofRows, amounts, bands } = last;
  const own = converted(price, rate);
  let total = own + car.chargesSum + way.inland + way.ocean;
  for (let i = 0; i < fees.length; i += 1) {
    const fee = fees[i];
    if (fee === undefined) continue;
    const inRow = converted(price, fee.into);
    const band = bandAt(fee.bands, inRow);
    const ofRow =
      bound === undefined ? amountIn(fee.bands, band, inRow) : boundIn(bound, fee.bands, band, inRow);
    if (ofRow === Infinity) return ofRow;
    const amount = converted(ofRow, fee.back);
    ofRows[i] = ofRow;
    amounts[i] = amount;
    bands[i] = band;
    total += amount;
  }
  for (let i = 0; i < taxes.length; i += 1) {
    const tax = taxes[i];
    if (tax === undefined) continue;
    const inRow = converted(baseAt(tax, car, way, own), tax.into);
    const band = bandAt(tax.bands, inRow);
    const ofRow =
      bound === undefined ? amountIn(tax.bands, band, inRow) : boundIn(bound, tax.bands, band, inRow);
    if (ofRow === Infinity) return ofRow;
    const amount = converted(ofRow, tax.back);
    ofRows[fees.length + i] = ofRow;
    amounts[fees.length + i] = amount;
    bands[fees.length + i] = band;
    total += amount;
  }
  return total;
}

/** The base of a tax after what {@link totalAt} computed before it. */
function baseAt(tax: Tax, { fees, last: { amounts } }: CarCosts, way: Way, own: number): number {
  let base = tax.charges;
  if (tax.hasPrice) base += own;
  if (tax.hasInland) base += way.inland;
  if (tax.hasOcean) base += way.ocean;
  for (const fee of tax.fees) base += amounts[fee] ?? 0;
  for (const other of tax.taxes) base += amounts[fees.length + other] ?? 0;
  return base;
}

/** The fees and taxes that have no band for the price of the last {@link totalAt}. */
function missingBands({ fees, taxes, last: { bands } }: CarCosts): string[] {
  return [...fees, ...taxes].flatMap(({ name }, i) =>
    bands[i] === -1 ? [`${i < fees.length ? 'buyer_fees' : 'taxes'}: no band of ${name} for the price`] : [],
  );
}

/** What is missing for a total at a price; empty if it is known. */
export function missingAt(car: CarCosts, way: Way, price: number): string[] {
  const missing = [...car.missing, ...way.missing];
  if (missing.length > 0) return missing;
  return Number.isNaN(totalAt(car, way, price)) ? missingBands(car) : [];
}

/** The parts that are known at a price, in the order in which they arise. */
export function partsAt(car: CarCosts, way: Way, price: number): Part[] {
  const { rate, currency, fees, taxes, charges, last } = car;
  totalAt(car, way, price);
  const own = rate === undefined || currency === null ? undefined : converted(price, rate);
  const isKnown = car.missing.length + way.missing.length === 0;
  const moving = (
    part: 'fees' | 'taxes',
    { name, currency: ofRow, bands }: MovingPart,
    i: number,
  ): Part[] => {
    const row = isKnown ? bands.rows[last.bands[i] ?? -1] : undefined;
    if (row === undefined) return [];
    const [amount = 0, inTotal = 0] = [last.own[i], last.amounts[i]];
    return [{ part, name, row, currency: ofRow, amount, converted: inTotal }];
  };
  return [
    ...(own === undefined || currency === null
      ? []
      : [{ part: 'price' as const, name: null, row: undefined, currency, amount: price, converted: own }]),
    ...fees.flatMap((fee, i) => moving('fees', fee, i)),
    ...[...charges, ...way.parts].map(({ rate: _, ...part }) => part),
    ...taxes.flatMap((tax, i) => moving('taxes', tax, fees.length + i)),
  ];
}

/**
 * The highest price, in cents of the lot's currency, whose total does not exceed a limit in cents of the destination's; undefined if no
 * price of a cent or more does so, and if a part is missing.
 */
export function mostToBid(car: CarCosts, way: Way, limit: number): number | undefined {
  const { rate } = car;
  if (rate === undefined || car.missing.length > 0 || way.missing.length > 0) return undefined;
  const left = limit - car.chargesSum - way.inland - way.ocean;
  if (left < 0) return undefined;
  // No part is below 0, so that no price converts to more than what is left.
  const { digits, power } = rate.factor;
  const high = Math.floor(((left + 1) * power) / digits) + 2;
  const within = (to: number, bound?: Bound) => lastWithin(car, way, limit, { from: 0, to, bound });
  if (car.isRising) return within(high);
  const most = within(high, 'least');
  if (most === undefined || totalAt(car, way, most) <= limit) return most;
  // Both bounds are the total but near an edge where it falls.
  return search(car, way, limit, within(most, 'most') ?? 1, most - 1);
}

/**
 * The highest price within a limit, from one that is within it, or 0, to another; totals rise in between, and NaN counts as too much.
 * It follows the line between both ends, which is near where no edge lies between, and halves every fourth time.
 */
function lastWithin(
  car: CarCosts,
  way: Way,
  limit: number,
  { from, to, bound }: { readonly from: number; readonly to: number; readonly bound?: Bound | undefined },
): number | undefined {
  let [low, high] = [from, to];
  let below = totalAt(car, way, low, bound);
  if (low === 0 && below > limit) return undefined;
  let above = totalAt(car, way, high, bound);
  if (above <= limit) return high;
  for (let turn = 1; high - low > 1; turn += 1) {
    const along = low + Math.floor(((limit - below) * (high - low)) / (above - below));
    const isAlong = turn % 4 > 0 && Number.isFinite(above - below);
    const middle = isAlong ? Math.min(Math.max(along, low + 1), high - 1) : Math.floor((low + high) / 2);
    const total = totalAt(car, way, middle, bound);
    if (total <= limit) [low, below] = [middle, total];
    else [high, above] = [middle, total];
  }
  return low === 0 ? undefined : low;
}

/** The highest price between two whose total is within the limit, where totals may fall at edges of bands: the upper half first. */
function search(car: CarCosts, way: Way, limit: number, from: number, to: number): number | undefined {
  if (from > to) return undefined;
  const [first, bandsFirst] = [totalAt(car, way, from), car.last.bands.join()];
  const [last, bandsLast] = [totalAt(car, way, to), car.last.bands.join()];
  if (last <= limit) return to;
  if (bandsFirst === bandsLast) {
    // Totals rise where no band changes.
    if (!(first <= limit)) return undefined;
    return lastWithin(car, way, limit, { from, to });
  }
  const middle = Math.floor((from + to) / 2);
  return (
    search(car, way, limit, middle + 1, to) ??
    (middle > from ? search(car, way, limit, from, middle) : first <= limit ? from : undefined)
  );
}
