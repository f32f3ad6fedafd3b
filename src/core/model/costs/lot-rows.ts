import type { CostRow } from './columns.js';
import {
  type CarCosts,
  carCosts,
  missingAt,
  mostToBid,
  type SharedParts,
  totalAt,
  type Way,
  wayTo,
} from './landing.js';
import { unitsOf } from './money.js';
import { type CostCar, converted, type FixedPart, type MovingPart } from './parts.js';
import type { Destination, Schedule } from './schedule.js';
import { type MedianOf, type Target, type TargetCar, targetOf } from './target.js';

/** Columns of `costs.landed` after the number of the destination, and their places in a row of numbers. */
export const COLUMNS = {
  lot: 0,
  car: 1,
  way: 2,
  kind: 3,
  cost: 4,
  cost_estimate: 5,
  cost_low_80: 6,
  cost_high_80: 7,
  cost_buy_now: 8,
  price: 9,
  fees: 10,
  taxes: 11,
  fees_own: 12,
  taxes_own: 13,
  cost_rows: 14,
  most_to_bid: 15,
  missing: 16,
  bid_missing: 17,
} as const;

/** Columns of the tables of the database `costs` with what many lots of a destination share, by their number there. */
export const SHARED = {
  car_costs: {
    lot_currency: 'varchar',
    charges: 'double',
    charges_own: 'double',
    charges_currency: 'varchar',
    fees_currency: 'varchar',
    taxes_currency: 'varchar',
  },
  ways: {
    inland: 'double',
    inland_own: 'double',
    inland_currency: 'varchar',
    ocean: 'double',
    ocean_own: 'double',
    ocean_currency: 'varchar',
    port: 'varchar',
  },
  limits: { target: 'double', target_row: 'bigint', bid_missing: 'varchar' },
} as const;

/** A row of a table of SHARED. */
type SharedRow = Readonly<Record<string, string | number | null>>;

/** A text with its number. */
export interface NumberedText {
  readonly number: number;
  readonly text: string;
}

/** Gives each text that many lots have a number. */
export function numberTexts() {
  const numbers = new Map<string, number>();
  return {
    of(text: string): number {
      const known = numbers.get(text);
      if (known !== undefined) return known;
      numbers.set(text, numbers.size);
      return numbers.size - 1;
    },
    all: (): NumberedText[] => [...numbers].map(([text, number]) => ({ number, text })),
  };
}

type NumberText = ReturnType<typeof numberTexts>['of'];

/** Gives the number of each row of costs in `cost_rows`. */
export type RowNumber = (row: CostRow) => number;

/** Places, cars and kinds of lots by their numbers. */
export interface Coded {
  readonly places: readonly CostCar[];
  readonly cars: readonly CostCar[];
  readonly kinds: readonly TargetCar[];
  readonly medianOf: MedianOf;
  /** Currencies of market prices. */
  readonly currencies: readonly string[];
}

/** Numbers of a lot: itself, its place, car and kind, what it is likely to go for, the estimate, the ends of its interval of 80 %, and the Buy Now price. */
export const LOT_NUMBERS = 9;

/** Places of the first and last price among the numbers of a lot. */
const [LIKELY, BUY_NOW] = [4, 8];

/** A kind of car, its number, and the numbers of the rows that all its lots have. */
interface NumberedCar {
  readonly costs: CarCosts;
  readonly number: number;
  readonly rows: string;
  readonly size: string | null;
  readonly sizeNumber: number;
}

/** A way, its number, and the numbers of its rows. */
interface NumberedWay {
  readonly way: Way;
  readonly number: number;
  readonly rows: string;
}

/** What writes the lots of one destination. */
export interface Writing {
  readonly schedule: Schedule;
  readonly coded: Coded;
  readonly destination: Destination;
  /** Numbers of texts, and of lists of rows. */
  readonly numberOf: NumberText;
  readonly numberOfRows: NumberText;
  readonly numberOfRow: RowNumber;
}

/** The currency that all parts have; null without parts, and if they have several. */
const currencyOf = (parts: readonly (FixedPart | MovingPart)[]): string | null => {
  const [currency = null, ...others] = new Set(parts.map((part) => part.currency));
  return others.length > 0 ? null : currency;
};

const rowNumbers = (rows: readonly (CostRow | undefined)[], numberOfRow: RowNumber): string =>
  rows.flatMap((row) => (row === undefined ? [] : [numberOfRow(row)])).join(' ');

function carRow({ currency, charges, chargesSum, fees, taxes }: CarCosts): SharedRow {
  return {
    lot_currency: currency,
    charges: unitsOf(chargesSum),
    charges_own: unitsOf(charges.reduce((sum, { amount }) => sum + amount, 0)),
    charges_currency: currencyOf(charges),
    fees_currency: currencyOf(fees),
    taxes_currency: currencyOf(taxes),
  };
}

function wayRow({ parts: [tow, ship], inland, ocean }: Way): SharedRow {
  return {
    inland: unitsOf(inland),
    inland_own: unitsOf(tow?.amount ?? 0),
    inland_currency: tow?.currency ?? null,
    ocean: unitsOf(ocean),
    ocean_own: unitsOf(ship?.amount ?? 0),
    ocean_currency: ship?.currency ?? null,
    port: tow?.name ?? null,
  };
}

/** What the lots of a destination share, as it is found. */
function sharedOf(writing: Writing) {
  const { schedule, destination, numberOfRow } = writing;
  const { places, cars, kinds, medianOf } = writing.coded;
  const like: SharedParts = new Map();
  const ofCars: NumberedCar[] = [];
  /** Ways by the number of a size, and by place. */
  const ways: NumberedWay[][] = [];
  const sizes = new Map<string | null, number>();
  const targets: (Target | string | null)[] = [];
  const rows: Record<keyof typeof SHARED, SharedRow[]> = { car_costs: [], ways: [], limits: [] };
  return {
    rows,
    carAt(at: number): NumberedCar {
      const known = ofCars[at];
      if (known !== undefined) return known;
      const costs = carCosts(schedule, cars[at] ?? NO_CAR, destination, like);
      const moving = [...costs.fees, ...costs.taxes].flatMap(({ into, back }) => [into.row, back.row]);
      const fixed = costs.charges.flatMap(({ row, rate }) => [row, rate.row]);
      const found = {
        costs,
        number: rows.car_costs.length,
        rows: rowNumbers([costs.rate?.row, ...fixed, ...moving], numberOfRow),
        size: costs.size,
        sizeNumber: sizes.get(costs.size) ?? sizes.size,
      };
      sizes.set(costs.size, found.sizeNumber);
      rows.car_costs.push(carRow(costs));
      ofCars[at] = found;
      return found;
    },
    wayAt(at: number, { size, sizeNumber }: NumberedCar): NumberedWay {
      const ofSize = ways[sizeNumber] ?? [];
      ways[sizeNumber] = ofSize;
      const known = ofSize[at];
      if (known !== undefined) return known;
      const way = wayTo(schedule, places[at] ?? NO_CAR, size, destination);
      const legs = way.parts.flatMap(({ row, rate }) => [row, rate.row]);
      const found = { way, number: rows.ways.length, rows: rowNumbers(legs, numberOfRow) };
      rows.ways.push(wayRow(way));
      ofSize[at] = found;
      return found;
    },
    /** The limit of a kind; NaN without one. A limit has the number of its kind. */
    limitAt(at: number): number {
      let target = targets[at];
      if (target === undefined) {
        target = targetOf(schedule, kinds[at] ?? NO_KIND, destination, medianOf) ?? null;
        targets[at] = target;
        const known = typeof target === 'object' ? target : null;
        rows.limits[at] = {
          target: known === null ? null : unitsOf(known.limit),
          target_row: known === null ? null : numberOfRow(known.row),
          bid_missing: typeof target === 'string' ? target : null,
        };
      }
      return target !== null && typeof target === 'object' ? target.limit : Number.NaN;
    },
  };
}

/**
 * Gives the row of COLUMNS of a lot from its numbers, which the next lot overwrites, and what lots share, which is computed once.
 * @param lots numbers of lots, one after the other
 */
export function rowsFor(writing: Writing) {
  const { rows, carAt, wayAt, limitAt } = sharedOf(writing);
  const row: number[] = [];
  return {
    /** Rows of the tables of SHARED. */
    shared: rows,
    rowOf(lots: Float64Array, at: number): readonly number[] {
      const [place = 0, number = 0, kind = 0] = [lots[at + 1], lots[at + 2], lots[at + 3]];
      const car = carAt(number);
      const way = wayAt(place, car);
      row[COLUMNS.lot] = lots[at] ?? 0;
      row[COLUMNS.car] = car.number;
      row[COLUMNS.way] = way.number;
      row[COLUMNS.kind] = kind;
      setTotals(row, car, way, { lots, at }, writing);
      setBid(row, car, way, limitAt(kind), writing);
      return row;
    },
  };
}

/** Numbers of lots, and where those of one lot begin. */
interface LotAt {
  readonly lots: Float64Array;
  readonly at: number;
}

/** A price of a lot; NaN without one. */
const priceOf = ({ lots, at }: LotAt, place: number): number => lots[at + place] ?? Number.NaN;

/** Sets the totals at the prices of a lot, the parts, and what is missing. */
function setTotals(row: number[], car: NumberedCar, way: NumberedWay, lot: LotAt, writing: Writing): void {
  const { costs } = car;
  let isMissing = Number.isNaN(priceOf(lot, LIKELY));
  // The likely price comes last, since the parts are those of the last total.
  for (let i = BUY_NOW; i >= LIKELY; i -= 1) {
    const price = priceOf(lot, i);
    const total = Number.isNaN(price) ? price : totalAt(costs, way.way, centsOfPrice(price));
    isMissing ||= Number.isNaN(total) && !Number.isNaN(price);
    row[COLUMNS.cost + i - LIKELY] = unitsOf(total);
  }
  for (let column: number = COLUMNS.price; column <= COLUMNS.cost_rows; column += 1) row[column] = Number.NaN;
  if (!Number.isNaN(row[COLUMNS.cost] ?? Number.NaN))
    setParts(row, car, way, centsOfPrice(priceOf(lot, LIKELY)), writing);
  row[COLUMNS.missing] = isMissing ? writing.numberOf(missingOf(costs, way.way, lot)) : Number.NaN;
}

/** Sets the parts at a price in cents, whose total was the last one that was computed. */
function setParts(
  row: number[],
  car: NumberedCar,
  way: NumberedWay,
  price: number,
  { numberOfRows, numberOfRow }: Writing,
): void {
  const { fees, taxes, last, rate } = car.costs;
  let [ofFees, ofTaxes, feesOwn, taxesOwn] = [0, 0, 0, 0];
  let rows = `${car.rows} ${way.rows}`;
  for (let i = 0; i < last.amounts.length; i += 1) {
    const [amount = 0, own = 0] = [last.amounts[i], last.own[i]];
    if (i < fees.length) {
      ofFees += amount;
      feesOwn += own;
    } else {
      ofTaxes += amount;
      taxesOwn += own;
    }
    const part = fees[i] ?? taxes[i - fees.length];
    const ofBand = part?.bands.rows[last.bands[i] ?? 0];
    if (ofBand !== undefined) rows += ` ${numberOfRow(ofBand)}`;
  }
  row[COLUMNS.price] = rate === undefined ? Number.NaN : unitsOf(converted(price, rate));
  row[COLUMNS.fees] = unitsOf(ofFees);
  row[COLUMNS.taxes] = unitsOf(ofTaxes);
  row[COLUMNS.fees_own] = unitsOf(feesOwn);
  row[COLUMNS.taxes_own] = unitsOf(taxesOwn);
  row[COLUMNS.cost_rows] = numberOfRows(rows.trim());
}

/** Sets the most to bid. @param limit cents that its total may not exceed; NaN without a target */
function setBid(
  row: number[],
  { costs }: NumberedCar,
  { way }: NumberedWay,
  limit: number,
  writing: Writing,
): void {
  const most = Number.isNaN(limit) ? undefined : mostToBid(costs, way, limit);
  row[COLUMNS.most_to_bid] = unitsOf(most ?? Number.NaN);
  const isTooLow =
    !Number.isNaN(limit) && most === undefined && costs.missing.length + way.missing.length === 0;
  row[COLUMNS.bid_missing] = isTooLow ? writing.numberOf('no bid is low enough') : Number.NaN;
}

/** A price of the lake in cents. */
export const centsOfPrice = (price: number): number => Math.round(price * 100);

/** A car of which nothing is known. */
export const NO_CAR: CostCar = {
  source: null,
  currency: null,
  branch: null,
  postal: null,
  state: null,
  title: null,
  vehicleType: null,
  bodyType: null,
  fuel: null,
  cm3: null,
  year: null,
};

const NO_KIND: TargetCar = { make: null, model: null, modelId: null, year: null };

/** What is missing for the totals at the prices of a lot, as a text. */
function missingOf(car: CarCosts, way: Way, lot: LotAt): string {
  const missing = new Set(
    Number.isNaN(priceOf(lot, LIKELY)) ? ['the lot has no estimate, bid or Buy Now price'] : [],
  );
  for (const what of [...car.missing, ...way.missing]) missing.add(what);
  const isAll = car.missing.length + way.missing.length > 0;
  for (let i = LIKELY; i <= BUY_NOW && !isAll; i += 1) {
    const price = priceOf(lot, i);
    if (!Number.isNaN(price)) for (const what of missingAt(car, way, centsOfPrice(price))) missing.add(what);
  }
  return [...missing].join('; ');
}
