import { enumerations } from '../../service/contract/enumerations.js';
import { vehicleRecord } from '../record/vehicle.js';
import { DAY, HOUR, type Instant, MINUTE } from '../world/instants.js';
import { lifeOfId } from '../world/life.js';
import { perWorld } from '../world.js';
import type { Question, Values } from './question.js';
import { badRequest, noAccess } from './refusal.js';

/** Values of the parameters of `/search`, which has all filters. */
type Wanted = Required<Values<'search'>>;

/** A vehicle's record or one of its lots. */
type Json = unknown;

/** By parameter, whether a record shows what is wanted; of a lot, the vehicle is known too. */
type Filters = {
  readonly [name in keyof Wanted]?: (
    record: Json,
    wanted: NonNullable<Wanted[name]>,
    clock: Instant,
    vehicle: Json,
  ) => boolean;
};

/** The value at a path such as `odometer.km`; undefined where there is none. */
const at = (value: Json, path: string): unknown =>
  path
    .split('.')
    .reduce<unknown>(
      (inner, name) => (typeof inner === 'object' && inner !== null ? Reflect.get(inner, name) : undefined),
      value,
    );

const listAt = (value: Json, path: string): readonly unknown[] => {
  const list = at(value, path);
  return Array.isArray(list) ? list : [];
};

/** Makes a filter on the values at some paths, one of which has to pass. */
const by =
  <W>(passes: (value: unknown, wanted: W) => boolean) =>
  (...paths: readonly string[]) =>
  (record: Json, wanted: W): boolean =>
    paths.some((path) => passes(at(record, path), wanted));

const lower = (value: unknown): string => String(value ?? '').toLowerCase();

const same = by((value, wanted: unknown) => value === wanted);
const among = by((value, wanted: readonly unknown[]) => wanted.includes(value));
const sameText = by((value, wanted: string) => lower(value) === wanted.toLowerCase());
const holds = by((value, part: string) => lower(value).includes(part.toLowerCase()));
const atLeast = by((value, low: number) => typeof value === 'number' && value >= low);
const atMost = by((value, high: number) => typeof value === 'number' && value <= high);

const anyListing = (flag: string) => (vehicle: Json, wanted: boolean) =>
  listAt(vehicle, 'listings').some((listing) => same(flag)(listing, wanted));

/** The Buy Now price of a lot; not a number where there is none, which 0 means, too (field-notes.md). */
const buyNowOf = (lot: Json): number => Number(at(lot, 'buy_now') || Number.NaN);

/** When a lot is auctioned; not a number, and so neither before nor after anything, where no date is set. */
const saleAt = (lot: Json): Instant => Date.parse(String(at(lot, 'sale_date')));

/** `_` at the end asks for a beginning, at the start for an end, at both for a part. */
function hasVin(record: Json, wanted: string): boolean {
  const known = at(record, 'vin');
  if (known === null) return false;
  const [vin, part] = [lower(known), wanted.replaceAll(/^_|_$/g, '').toLowerCase()];
  const [open, close] = [wanted.startsWith('_'), wanted.endsWith('_')];
  if (open && close) return vin.includes(part);
  if (open) return vin.endsWith(part);
  return close ? vin.startsWith(part) : vin === part;
}

/** Filters on the vehicle (service.md, `/cars`; reports.md): what its record has to show for a wanted value. */
const vehicleFilters: Filters = {
  manufacturer_id: among('manufacturer.id'),
  model_id: same('model.id'),
  generation_id: same('generation.id'),
  from_year: atLeast('year'),
  to_year: atMost('year'),
  year: same('year'),
  vehicle_type: same('vehicle_type.id'),
  vin: hasVin,
  name: holds('title'),
  cylinders: same('cylinders'),
  engine_name: holds('engine.name'),
  body_type: same('body_type.id'),
  color: same('color.id'),
  transmission: same('transmission.id'),
  drive_wheel: same('drive_wheel.id'),
  fuel_type: same('fuel.id'),
  seats: same('seats'),
  has_inspections: same('has_inspections'),
  has_history_reports: same('has_history_reports'),
  'listings[].has_history_reports': anyListing('has_history_reports'),
  'listings[].is_manufacturer_certified': anyListing('is_manufacturer_certified'),
};

/**
 * Filters on a lot (service.md, `/cars`), bounds included and dates not. A lot without an auction date passes a filter
 * on the date only where that is said.
 */
const lotFilters: Filters = {
  search_query: (lot, wanted, _, vehicle) => at(lot, 'lot') === wanted || sameText('vin')(vehicle, wanted),
  status: same('status.id'),
  'status[]': among('status.id'),
  document_title: holds('title.name'),
  condition: same('condition.id'),
  country: sameText('location.country.iso'),
  state_code: sameText('location.state.code'),
  damage: holds('damage.main.name', 'damage.second.name'),
  buy_now: (lot, on) => !on || !Number.isNaN(buyNowOf(lot)),
  odometer_from_km: atLeast('odometer.km'),
  odometer_to_km: atMost('odometer.km'),
  odometer_from_mi: atLeast('odometer.mi'),
  odometer_to_mi: atMost('odometer.mi'),
  buy_now_price_from: (lot, low) => buyNowOf(lot) >= low,
  buy_now_price_to: (lot, high) => buyNowOf(lot) <= high,
  bid_price_from: atLeast('bid'),
  bid_price_to: atMost('bid'),
  without_sale_date: (lot, on) => !on || Number.isNaN(saleAt(lot)),
  sale_date_in_days: (lot, days, clock) => saleAt(lot) > clock - days * DAY,
  sale_date_from: (lot, from) => saleAt(lot) > Date.parse(`${from}Z`),
  sale_date_to: (lot, to) => saleAt(lot) < Date.parse(`${to}Z`),
  exclude_expired_auctions: (lot, on, clock) => !on || !(saleAt(lot) <= clock),
  next_hours_auction: (lot, hours, clock) => saleAt(lot) > clock && saleAt(lot) <= clock + hours * HOUR,
};

const recordsOf = perWorld(() => new Map<number, object>());

/** The record that filters look at; each is made once a world. */
function recordOf({ world }: Question, id: number): object {
  const known = recordsOf(world).get(id);
  const life = lifeOfId(world, id);
  if (known !== undefined || life === undefined) return known ?? {};
  const record = vehicleRecord(world, life, world.clock.getTime(), { shape: 'compact' });
  recordsOf(world).set(id, record);
  return record;
}

/** The sources that exist (service.md, enumerations). */
export const allDomains: readonly number[] = Object.keys(enumerations.domain).map(Number);

/** Checks a source; throws a 401 for one that the key is not enabled for. */
export function domainOf(id: number, { access }: Question): number {
  if (!access.domains.includes(id)) throw noAccess(id);
  return id;
}

/** Start of the window that `minutes` names, or undefined without it. */
export const sinceOf = (minutes: number | undefined, { world }: Question): Date | undefined =>
  minutes === undefined ? undefined : new Date(world.clock.getTime() - minutes * MINUTE);

/**
 * Ids of the vehicles in the feed that meet all filters: those of the vehicle, and those of lots together on one lot
 * that is not archived and stands on a source that was asked for. Throws a 400 or 401 for what cannot be asked.
 */
export function selectedIds(question: Question, values: Partial<Values<'cars'>>): readonly number[] {
  const { world, access } = question;
  if (values.status !== undefined && values['status[]'] !== undefined) {
    throw badRequest('status', 'The status must not be combined with status[].');
  }
  const domains = values.domain_id === undefined ? access.domains : [domainOf(values.domain_id, question)];
  const candidates = candidateIds(question, domains, sinceOf(values.minutes, question));
  const meets = conditionOf(values, domains, world.clock.getTime());
  const ids = meets === undefined ? candidates : candidates.filter((id) => meets(recordOf(question, id)));
  return values.sortDirection === 'desc' ? ids.toReversed() : ids;
}

function candidateIds(
  { world, access }: Question,
  domains: readonly number[],
  since: Date | undefined,
): readonly number[] {
  const one = (source?: number): readonly number[] =>
    since === undefined ? world.activeIds(source) : world.changedIds(since, source);
  if (domains === access.domains && domains.length === allDomains.length) return one();
  return [...new Set(domains.flatMap(one))].sort((a, b) => a - b);
}

type Condition = (record: Json, clock: Instant, vehicle: Json) => boolean;

/** The filters of a table that the request names. `sale_date_from` takes priority over `sale_date_in_days` (service.md). */
function conditionsOf(table: Filters, values: object): Condition[] {
  const isFrom = Reflect.get(values, 'sale_date_from') !== undefined;
  return Object.entries(table).flatMap(([name, keeps]) => {
    const wanted: unknown = Reflect.get(values, name);
    if (wanted === undefined || (isFrom && name === 'sale_date_in_days')) return [];
    // Name and value belong together, which the compiler cannot see.
    return (record: Json, clock: Instant, vehicle: Json) => keeps(record, wanted as never, clock, vehicle);
  });
}

/** Whether a vehicle meets all filters, or undefined where none is named. */
function conditionOf(
  values: object,
  domains: readonly number[],
  clock: Instant,
): ((vehicle: Json) => boolean) | undefined {
  const ofVehicle = conditionsOf(vehicleFilters, values);
  const ofLot = conditionsOf(lotFilters, values);
  if (ofVehicle.length + ofLot.length === 0) return undefined;
  const isOpen = (lot: Json): boolean =>
    at(lot, 'archived') !== true && domains.includes(Number(at(lot, 'domain.id')));
  return (vehicle) =>
    ofVehicle.every((meets) => meets(vehicle, clock, vehicle)) &&
    listAt(vehicle, 'lots').some((lot) => isOpen(lot) && ofLot.every((meets) => meets(lot, clock, vehicle)));
}
