import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { jsonIn } from '../../base/config/json.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, replaceFile } from '../../base/config/owned.js';
import { printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { layoutOf } from '../../core/lake/layout.js';
import { findPublished, olderThan } from '../../core/lake/snapshots.js';
import { ask, failOlder } from './ask.js';
import { readLake, withDatabase } from './open-lake.js';

/** Cars that can be followed at once. */
const MOST = 1000;

const id = z.string().trim().toUpperCase().min(1).max(100);

const carSchema = z
  .strictObject({
    vin: id.optional(),
    /** Number of one of its lots, and the source that it is of; of any source without one. */
    lot: id.optional(),
    domain_id: z.int().optional(),
  })
  .refine(({ vin, lot }) => (vin === undefined) !== (lot === undefined));

/** A car that is followed: by its VIN, or by the number of one of its lots. */
export type Followed = z.output<typeof carSchema>;

/** The cars that are followed, in a file that people may edit. Throws QUERY_PLACE for a file that is not a list of them. */
export function followedCars(config: Config): readonly Followed[] {
  const { followed: path } = layoutOf(config.output);
  if (!existsSync(path)) return [];
  const found = z
    .array(carSchema)
    .max(MOST)
    .safeParse(jsonIn(readFileSync(path, 'utf8')));
  if (found.success) return found.data;
  throw new LotlakeError('QUERY_PLACE', `${path} is no list of at most ${MOST} cars`, {
    outcome: 'usage',
    hint: 'each car is {"vin": "…"}, or {"lot": "…"} with or without "domain_id"; correct the file, or remove it to follow none',
  });
}

/**
 * Follows a car from now on, or no longer: a lot number without a source ends it for every source. Returns whether that changed
 * anything. Throws QUERY_PLACE, also for a VIN or number that is none.
 */
export function follow(config: Config, given: Followed, isFollowed: boolean): boolean {
  const car = carSchema.safeParse(given).data;
  if (car === undefined)
    throw new LotlakeError('QUERY_PLACE', `${carText(given)} cannot be followed`, {
      outcome: 'usage',
      hint: 'give a VIN or a lot number of 1 to 100 characters',
    });
  const before = followedCars(config);
  const isSame = (each: Followed): boolean =>
    each.vin === car.vin &&
    each.lot === car.lot &&
    (each.domain_id === car.domain_id || (!isFollowed && car.domain_id === undefined));
  const others = before.filter((each) => !isSame(each));
  if (others.length < before.length === isFollowed) return false;
  if (isFollowed && others.length >= MOST)
    throw new LotlakeError('QUERY_PLACE', `${MOST} cars are followed already`, {
      outcome: 'usage',
      hint: 'lotlake watch lists them; --stop ends one',
    });
  const { output, followed } = layoutOf(config.output);
  makeFolder(output);
  replaceFile(followed, `${JSON.stringify(isFollowed ? [...others, car] : others, null, 1)}\n`);
  return true;
}

/** A car as it is asked for, such as `lot 61234567 of source 3`. */
export const carText = ({ vin, lot, domain_id }: Followed): string =>
  vin === undefined ? `lot ${lot}${domain_id === undefined ? '' : ` of source ${domain_id}`}` : `VIN ${vin}`;

/** Those of the cars that mean a vehicle of the lake, by its VIN or by one of its lots. */
export const meaning = (
  cars: readonly Followed[],
  vin: string | null,
  lots: readonly Pick<CarLot, 'lot' | 'domain_id'>[],
): readonly Followed[] =>
  cars.filter((car) =>
    car.vin === undefined
      ? lots.some(
          ({ lot, domain_id }) =>
            lot.toUpperCase() === car.lot && (car.domain_id === undefined || car.domain_id === domain_id),
        )
      : vin?.toUpperCase() === car.vin,
  );

/** What can happen to a car that is followed. */
type Happening =
  | 'listed'
  | 'on_offer_again'
  | 'date_set'
  | 'date_moved'
  | 'date_taken_back'
  | 'bid'
  | 'buy_now'
  | 'buy_now_taken_back'
  | 'result'
  | 'left';

/** Something that happened to a lot of a car between two snapshots. */
export interface CarEvent {
  readonly event: Happening;
  readonly lot_id: number;
  readonly lot: string;
  readonly domain_name: string | null;
  /** Page of the lot at its source; null if it has none. */
  readonly link: string | null;
  /** What happened, in words. */
  readonly text: string;
}

/** A lot of a followed car in a snapshot. Amounts are in the currency of the lot, instants in ISO 8601, in UTC. */
export interface CarLot {
  readonly lot_id: number;
  readonly lot: string;
  readonly domain_id: number | null;
  readonly domain_name: string | null;
  readonly link: string | null;
  readonly archived: boolean;
  readonly sale_date: string | null;
  readonly bid: number | null;
  readonly buy_now: number | null;
  readonly currency: string | null;
  /** `sold`, `not_sold` or `on_approval`, of its last auction with a result; null if none has one. */
  readonly outcome: string | null;
  readonly amount: number | null;
  /** Date of that auction. */
  readonly sold_at: string | null;
}

/** A car that is followed, and what happened to it since an earlier snapshot. */
export interface FollowedCar {
  /** How it is followed, such as `VIN 1HGCM82633A004352`. */
  readonly car: string;
  /** Year, make and model; null for a car that the lake does not know. */
  readonly name: string | null;
  readonly vehicle_ids: readonly number[];
  /** The snapshot that it is compared with; null if there is none. */
  readonly since: string | null;
  readonly events: readonly CarEvent[];
  readonly lots: readonly CarLot[];
}

/**
 * Compares the cars that are followed with an earlier snapshot, by default the newest one that was current. Throws
 * QUERY_NO_SNAPSHOT, LAKE_NO_SNAPSHOT for one that is not kept, and QUERY_PLACE.
 */
export async function readFollowed(
  config: Config,
  {
    since,
    cars = followedCars(config),
    signal,
  }: {
    readonly since?: string | undefined;
    readonly cars?: readonly Followed[];
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<FollowedCar[]> {
  if (cars.length === 0) return [];
  const asked = cars.map((car, place) => ({ place, ...car }));
  const { id, lots } = await lotsIn(config, asked, undefined, signal);
  const before = since ?? (await newestBefore(config, id, signal));
  // A lot may have been unknown then, and its car known.
  const ids = [...lots].flatMap(([place, found]) =>
    vehiclesOf(found).map((vehicle_id) => ({ place, vehicle_id })),
  );
  const then = before === undefined ? undefined : await lotsIn(config, [...asked, ...ids], before, signal);
  const told = new Set<number>();
  return cars.map((car, place) => {
    const [now, past] = [lots.get(place) ?? [], then?.lots.get(place)];
    // A car that is followed by its VIN and by a lot is told once.
    const events = then === undefined ? [] : eventsOf(lotsOf(past ?? []), lotsOf(now), then.created);
    const fresh = events.filter(({ lot_id }) => !told.has(lot_id));
    for (const { lot_id } of fresh) told.add(lot_id);
    return {
      car: carText(car),
      name: printable(now[0]?.name ?? past?.[0]?.name) || null,
      vehicle_ids: vehiclesOf(now),
      since: before ?? null,
      events: fresh,
      lots: lotsOf(now),
    };
  });
}

const vehiclesOf = (found: readonly Row[]): number[] => [
  ...new Set(found.map(({ vehicle_id }) => Number(vehicle_id))),
];

/** The newest snapshot that was current before one. */
const newestBefore = (
  config: Config,
  id: string,
  signal: AbortSignal | undefined,
): Promise<string | undefined> =>
  withDatabase(config, signal, async ({ session: { connection } }) => {
    const { kept } = await findPublished(connection, layoutOf(config.output));
    return olderThan(kept, id).at(-1)?.id;
  });

/** The rows of the cars in a snapshot, by the place of the car, and when it was made. */
async function lotsIn(
  config: Config,
  asked: readonly object[],
  snapshot: string | undefined,
  signal: AbortSignal | undefined,
): Promise<{
  readonly id: string;
  readonly created: string;
  readonly lots: ReadonlyMap<number, readonly Row[]>;
}> {
  const reading = { named: 'vehicles vin_facts lots lot_groups sales', choice: { snapshot }, signal };
  return readLake(config, reading, async ({ session: { connection }, manifest }) => {
    const found = await ask(connection, 'cli/followed', { followed: JSON.stringify(asked) }).catch(failOlder);
    const lots = new Map<number, Row[]>();
    for (const row of found) lots.set(Number(row.place), [...(lots.get(Number(row.place)) ?? []), row]);
    return { id: manifest.snapshot_id, created: manifest.created_at, lots };
  });
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);

const lotsOf = (found: readonly Row[]): CarLot[] =>
  found
    .filter(({ lot_id }) => lot_id !== null)
    .map((row) => ({
      lot_id: Number(row.lot_id),
      lot: printable(row.lot),
      domain_id: typeof row.domain_id === 'number' ? row.domain_id : null,
      domain_name: textOrNull(row.domain_name),
      link: textOrNull(row.link),
      archived: row.archived === true,
      sale_date: row.sale_date instanceof Date ? row.sale_date.toISOString() : null,
      bid: amountOf(row.bid),
      buy_now: amountOf(row.buy_now),
      currency: textOrNull(row.currency),
      outcome: textOrNull(row.outcome),
      amount: amountOf(row.amount),
      sold_at: row.sold_at instanceof Date ? row.sold_at.toISOString() : null,
    }));

/** An amount; 0 is none. */
const amountOf = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

/**
 * What happened to the lots of a car between two states.
 * @param since when the earlier one was, in ISO 8601
 */
export function eventsOf(then: readonly CarLot[], now: readonly CarLot[], since: string): CarEvent[] {
  const past = new Map(then.map((lot) => [lot.lot_id, lot]));
  const present = new Set(now.map(({ lot_id }) => lot_id));
  return [
    ...now.flatMap((lot) => changesOf(past.get(lot.lot_id), lot, { isKnown: then.length > 0, since })),
    ...then
      .filter(({ lot_id, archived }) => !archived && !present.has(lot_id))
      .map((lot) => eventOf('left', lot, 'the lake has it under this car no more')),
  ];
}

const eventOf = (event: Happening, { lot_id, lot, domain_name, link }: CarLot, text: string): CarEvent => ({
  event,
  lot_id,
  lot,
  domain_name,
  link,
  text,
});

/** What happened to one lot. */
function changesOf(
  then: CarLot | undefined,
  now: CarLot,
  { isKnown, since }: { readonly isKnown: boolean; readonly since: string },
): CarEvent[] {
  const money = (amount: number): string =>
    `${Math.round(amount).toLocaleString('en')}${now.currency === null ? '' : ` ${now.currency}`}`;
  const price = now.domain_id === 12 ? 'asking price' : 'Buy Now';
  const found: CarEvent[] = [];
  const add = (event: Happening, text: string): void => void found.push(eventOf(event, now, text));
  const isBack = !now.archived && (then === undefined || then.archived);
  if (isBack) {
    const facts = [
      now.sale_date === null ? '' : `auction ${timeText(now.sale_date)}`,
      now.bid === null ? '' : `bid ${money(now.bid)}`,
      now.buy_now === null ? '' : `${price} ${money(now.buy_now)}`,
    ].filter((fact) => fact !== '');
    const isAgain = then !== undefined || isKnown;
    add(isAgain ? 'on_offer_again' : 'listed', [isAgain ? 'on offer again' : 'listed', ...facts].join(', '));
  } else if (!now.archived && then !== undefined) {
    const [was, is] = [then.sale_date, now.sale_date];
    if (was === null && is !== null) add('date_set', `auction set for ${timeText(is)}`);
    else if (was !== null && is === null)
      add('date_taken_back', `no auction any more; it was ${timeText(was)}`);
    else if (was !== null && is !== null && was !== is)
      add('date_moved', `auction moved to ${timeText(is)}, from ${timeText(was)}`);
    if (now.bid !== null && now.bid !== then.bid)
      add('bid', `bid ${money(now.bid)}${then.bid === null ? '' : `, was ${money(then.bid)}`}`);
    if (now.buy_now !== null && now.buy_now !== then.buy_now)
      add(
        'buy_now',
        `${price} ${money(now.buy_now)}${then.buy_now === null ? '' : `, was ${money(then.buy_now)}`}`,
      );
    if (now.buy_now === null && then.buy_now !== null)
      add('buy_now_taken_back', `no ${price} any more; it was ${money(then.buy_now)}`);
  }
  // A lot that comes with an old result is no news.
  const isOld = then === undefined && (now.sold_at ?? '') < daysBefore(since);
  const isOther =
    now.outcome !== then?.outcome ||
    now.amount !== then?.amount ||
    dayOf(now.sold_at) !== dayOf(then?.sold_at);
  if (now.outcome !== null && isOther && !isOld) add('result', resultText(now, money));
  if (now.archived && then?.archived === false) add('left', 'no longer listed');
  return found;
}

const dayOf = (instant: string | null | undefined): string | undefined => instant?.slice(0, 10);

/** Three days before an instant: an auction and its result are that far apart. */
const daysBefore = (instant: string): string => new Date(Date.parse(instant) - 3 * 86_400_000).toISOString();

function resultText({ outcome, amount }: CarLot, money: (amount: number) => string): string {
  if (outcome === 'sold') return amount === null ? 'sold, for an unknown price' : `sold for ${money(amount)}`;
  const bid = amount === null ? '' : ` at ${money(amount)}`;
  return outcome === 'on_approval' ? `on approval${bid}` : `not sold${bid}`;
}

const timeText = (instant: string): string => `${instant.slice(0, 16).replace('T', ' ')} UTC`;

/** What happened to a lot of a car in a line, for a person. */
export const eventText = ({ lot, domain_name, text }: CarEvent): string =>
  `${text} (lot ${lot}${domain_name === null ? '' : ` of ${domain_name}`})`;

/** A followed car in a line, such as `2019 Toyota Camry, VIN …: 2 events`. */
export const followedText = ({ car, name }: FollowedCar): string =>
  [name, car].filter((part) => part !== null).join(', ');
