import { enumerations } from '../../core/service/contract/enumerations.js';
import { filters } from '../../core/service/endpoints.js';
import { vehicleRecord } from '../record/vehicle.js';
import { DAY, HOUR, type Instant, MINUTE } from '../world/instants.js';
import { lifeOfId } from '../world/life.js';
import { perWorld } from '../world.js';
import type { Question, Values } from './question.js';
import { badRequest, Refusal } from './refusal.js';

/** A vehicle's record, in which `lots` is one of its lots. */
type Json = unknown;

/** The values at a path, which passes through each entry of a list. */
const valuesAt = (record: Json, path: readonly string[]): readonly unknown[] =>
  path.reduce<readonly unknown[]>(
    (values, name) => values.flatMap((inner) => Reflect.get(Object(inner), name)),
    [record],
  );

const lower = (value: unknown): string => String(value ?? '').toLowerCase();

const atLeast = (value: unknown, low: number): boolean => typeof value === 'number' && value >= low;
const atMost = (value: unknown, high: number): boolean => typeof value === 'number' && value <= high;

/** When a lot is auctioned; without a date NaN, which is neither before nor after anything. */
const saleAt = (date: unknown): Instant => Date.parse(String(date));

/** `_` at the end asks for a prefix, at the start for a suffix, at both for a part. */
function hasVin(value: unknown, wanted: string): boolean {
  if (value === null) return false;
  const [vin, part] = [lower(value), wanted.replaceAll(/^_|_$/g, '').toLowerCase()];
  const [open, close] = [wanted.startsWith('_'), wanted.endsWith('_')];
  if (open && close) return vin.includes(part);
  if (open) return vin.endsWith(part);
  return close ? vin.startsWith(part) : vin === part;
}

/**
 * The tests that `filters.json` names: whether a value of a record meets a filter at a clock. Bounds are inclusive,
 * dates exclusive. A Buy Now price of 0 means that there is none (service.md#values). A lot without an auction date
 * passes only `isUndated` and `isNotPast`.
 */
const tests = {
  same: (value, wanted: unknown) => value === wanted,
  among: (value, wanted: readonly unknown[]) => wanted.includes(value),
  sameText: (value, wanted: string) => lower(value) === wanted.toLowerCase(),
  holds: (value, part: string) => lower(value).includes(part.toLowerCase()),
  vin: hasVin,
  atLeast,
  atMost,
  isPriced: (price, on: boolean) => !on || Boolean(price),
  costsAtLeast: (price, low: number) => Boolean(price) && atLeast(price, low),
  costsAtMost: (price, high: number) => Boolean(price) && atMost(price, high),
  isUndated: (date, on: boolean) => !on || Number.isNaN(saleAt(date)),
  inDays: (date, days: number, clock) => saleAt(date) > clock - days * DAY,
  after: (date, from: string) => saleAt(date) > Date.parse(`${from}Z`),
  before: (date, to: string) => saleAt(date) < Date.parse(`${to}Z`),
  isNotPast: (date, on: boolean, clock) => !on || !(saleAt(date) <= clock),
  inHours: (date, hours: number, clock) => saleAt(date) > clock && saleAt(date) <= clock + hours * HOUR,
} satisfies Readonly<Record<string, (value: unknown, wanted: never, clock: Instant) => boolean>>;

const recordsOf = perWorld(() => new Map<number, object>());

/** The record that filters look at. It is made once for each world. */
function recordOf({ world }: Question, id: number): object {
  const known = recordsOf(world).get(id);
  const life = lifeOfId(world, id);
  if (known !== undefined || life === undefined) return known ?? {};
  const record = vehicleRecord(world, life, { shape: 'compact' });
  recordsOf(world).set(id, record);
  return record;
}

/** The sources that exist (service.md#enumerations). */
export const allDomains: readonly number[] = Object.keys(enumerations.domain).map(Number);

/** Checks a source; throws a 401 for one that the key is not enabled for. */
export function domainOf(id: number, { access }: Question): number {
  if (access.domains.includes(id)) return id;
  throw new Refusal(401, { error: `source ${id} is not enabled for this key` });
}

/** Start of the window of `minutes`; without it, the start of all time. */
export const sinceOf = (minutes: number | undefined, { world }: Question): Instant =>
  minutes === undefined ? 0 : world.now - minutes * MINUTE;

/**
 * Ids of the vehicles in the feed that meet all filters. One lot must meet all filters on lots; it must not be archived
 * and be on a requested source. Throws a 400 or 401 for filters that are not allowed.
 */
export function selectedIds(question: Question, values: Partial<Values<'cars'>>): readonly number[] {
  const { world, access } = question;
  if (values.status !== undefined && values['status[]'] !== undefined) {
    throw badRequest('status', 'The status must not be combined with status[].');
  }
  const domains = values.domain_id === undefined ? access.domains : [domainOf(values.domain_id, question)];
  const isEveryDomain = domains.length === allDomains.length;
  const candidates = world.activeIds(isEveryDomain ? undefined : domains, sinceOf(values.minutes, question));
  const conditions = conditionsOf('vehicles', values, world.now);
  const isOpen = (lot: Json): boolean =>
    valuesAt(lot, ['archived'])[0] !== true && domains.includes(Number(valuesAt(lot, ['domain', 'id'])[0]));
  const meets = (vehicle: object): boolean =>
    valuesAt(vehicle, ['lots'])
      .filter(isOpen)
      .some((lots) => conditions.every((passes) => passes({ ...vehicle, lots })));
  const ids = conditions.length === 0 ? candidates : candidates.filter((id) => meets(recordOf(question, id)));
  return values.sortDirection === 'desc' ? ids.toReversed() : ids;
}

type Condition = (record: Json) => boolean;

/** The filters of a request. `sale_date_from` takes priority over `sale_date_in_days` (service.md#filters). */
export function conditionsOf(list: keyof typeof filters, values: object, clock: Instant): Condition[] {
  const isFrom = Reflect.get(values, 'sale_date_from') !== undefined;
  const table: Readonly<Record<string, { test: string; at: readonly string[] }>> = filters[list];
  return Object.entries(table).flatMap(([name, { test, at }]) => {
    const wanted: unknown = Reflect.get(values, name);
    if (wanted === undefined || (isFrom && name === 'sale_date_in_days')) return [];
    // The document's test and the kind of its parameter belong together, which the compiler cannot see.
    const passes = tests[test as keyof typeof tests];
    const paths = at.map((path) => path.split('.'));
    return (record: Json) =>
      paths.some((path) => valuesAt(record, path).some((value) => passes(value, wanted as never, clock)));
  });
}
