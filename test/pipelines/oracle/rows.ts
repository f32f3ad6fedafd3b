/** The rows that records become, by table and key. */
import type { LotRecord, ReportRecord } from '../../served.js';
import type { Fresh, Row, Values } from './knowledge.js';
import { type Archiving, UNREADABLE, type Vehicle } from './world.js';

/** An instant of a record as the model writes it. An unreadable instant stays as it came. */
export const iso = (text: string | null | undefined): string | null => {
  if (text === null || text === undefined) return null;
  return UNREADABLE.has(text) ? text : new Date(text).toISOString();
};
/** The latest of some instants. */
export const later = (...times: readonly (string | undefined)[]): string =>
  times
    .filter((time) => time !== undefined)
    .sort()
    .at(-1) ?? '';

/** A row of a list with its place there, from 1. */
const numbered = <T>(list: readonly T[] | null | undefined): readonly (T & { readonly position: number })[] =>
  (list ?? []).map((row, i) => ({ ...row, position: i + 1 }));

/** The place of a row in the record that brought it. */
const placeOf = (row: object, i: number): number => Number(Reflect.get(row, 'position') ?? i + 1);

/** Of the rows of several lists, the last of each key; null if there is no list. */
function unitedBy<T>(
  lists: readonly (readonly T[] | null | undefined)[],
  keyOf: (row: T) => unknown,
): T[] | null {
  if (lists.every((list) => (list ?? null) === null)) return null;
  return [...new Map(lists.flatMap((list) => numbered(list)).map((row) => [keyOf(row), row])).values()];
}

/** The last of several lists that has rows. */
const lastOf = <T>(lists: readonly (readonly T[] | null | undefined)[]): readonly T[] | null | undefined =>
  lists.findLast((list) => (list?.length ?? 0) > 0) ?? lists.find((list) => (list ?? null) !== null);

/** Lots and vehicles that came in several copies: none of their rows is gone, since another copy may have had it. */
const repeated = new WeakSet<object>();

/** All copies of a vehicle together, in the order in which they came. Rows without an id come from the last of them. */
export function united(copies: readonly Vehicle[]): Vehicle {
  const last = copies.at(-1);
  if (last === undefined) throw new TypeError('a vehicle has no copy');
  const lotsOf = copies.map(({ lots }) => lots);
  const lots = unitedBy(lotsOf, ({ id }) => id)?.map((lot) => {
    const own = lotsOf.flatMap((each) => (each ?? []).filter(({ id }) => id === lot.id));
    const whole = {
      ...lot,
      prices: unitedBy(
        own.map(({ prices }) => prices),
        ({ id }) => id,
      ),
      images: own.findLast(({ images }) => (images ?? null) !== null)?.images ?? null,
    };
    if (own.length > 1) repeated.add(whole);
    return whole;
  });
  const reports = copies.flatMap(({ inspections }) => inspections ?? []);
  const inspections = unitedBy(
    copies.map((copy) => copy.inspections),
    (report) => reportKey(report).text,
  )?.map((report) => ({
    ...report,
    checked_items: lastOf(
      reports
        .filter((each) => reportKey(each).text === reportKey(report).text)
        .map((each) => each.checked_items),
    ),
  }));
  const vehicle = {
    ...last,
    lots: lots ?? null,
    listings: lastOf(copies.map(({ listings }) => listings)),
    inspections: inspections ?? null,
    vehicle_history_reports: unitedBy(
      copies.map((copy) => copy.vehicle_history_reports),
      (report) => reportKey(report).text,
    ),
  } as Vehicle;
  if (copies.length > 1) repeated.add(vehicle);
  return vehicle;
}

interface Children {
  readonly fresh: Fresh;
  /** Whether a known row that was not delivered is gone: its parent came with the list that should have it. */
  readonly isGone: (row: Row) => boolean;
}

/** Rows below vehicles and lots. A missing or null list changes nothing. An empty list means that there are no rows. */
export function childrenOf(current: readonly Vehicle[]) {
  const empty = (): Children & { readonly owners: Set<unknown> } => {
    const owners = new Set<unknown>();
    return {
      fresh: new Map(),
      owners,
      isGone: (row) => owners.has(row.content[row.content.lot_id === undefined ? 'vehicle_id' : 'lot_id']),
    };
  };
  const children = {
    prices: empty(),
    lot_images: { ...empty(), isGone: () => false },
    listings: empty(),
    inspections: empty(),
    checked_items: empty(),
    history_reports: empty(),
  };
  const put = (table: keyof typeof children, key: string, content: Values): void => {
    children[table].fresh.set(key, { content, state: table === 'lot_images' ? {} : { gone_at: null } });
  };
  for (const vehicle of current) {
    const vehicle_id = vehicle.id;
    for (const lot of vehicle.lots ?? []) putLot(children, put, vehicle_id, lot);
    const isAlone = !repeated.has(vehicle);
    if (vehicle.listings && isAlone) children.listings.owners.add(vehicle_id);
    for (const [i, { has_history_reports }] of (vehicle.listings ?? []).entries())
      put('listings', `${vehicle_id} ${i + 1}`, { vehicle_id, position: i + 1, has_history_reports });
    if (vehicle.inspections && isAlone)
      for (const name of ['inspections', 'checked_items'] as const) children[name].owners.add(vehicle_id);
    if (vehicle.vehicle_history_reports && isAlone) children.history_reports.owners.add(vehicle_id);
    for (const [i, report] of (vehicle.inspections ?? []).entries()) {
      const key = reportKey(report);
      put('inspections', key.text, {
        ...key.columns,
        vehicle_id,
        position: placeOf(report, i),
        language: report.language,
      });
      for (const [j, item] of (report.checked_items ?? []).entries())
        put('checked_items', `${key.text} ${j + 1}`, {
          ...key.columns,
          vehicle_id,
          position: j + 1,
          part_key: item.part_key,
        });
    }
    for (const [i, report] of (vehicle.vehicle_history_reports ?? []).entries()) {
      const key = reportKey(report);
      put('history_reports', key.text, {
        ...key.columns,
        vehicle_id,
        position: placeOf(report, i),
        language: report.language,
      });
    }
  }
  return children;
}

function putLot(
  children: { readonly prices: { readonly owners: Set<unknown> } },
  put: (table: 'prices' | 'lot_images', key: string, content: Values) => void,
  vehicle_id: number,
  lot: LotRecord,
): void {
  const parent = { lot_id: lot.id, vehicle_id, domain_id: lot.domain.id };
  if (lot.prices && !repeated.has(lot)) children.prices.owners.add(lot.id);
  for (const [i, price] of (lot.prices ?? []).entries())
    put('prices', `${lot.id} ${price.id}`, {
      price_id: String(price.id),
      ...parent,
      position: placeOf(price, i),
      status_id: price.status.id,
      bid: price.bid,
      sale_date: iso(price.sale_date),
    });
  if (lot.images)
    put('lot_images', String(lot.id), { ...parent, images_id: lot.images.id, small: lot.images.small });
}

function reportKey({ vehicle_ref, report_id }: ReportRecord): {
  readonly text: string;
  readonly columns: Values;
} {
  const columns = { domain_id: vehicle_ref.domain_id, listing_id: vehicle_ref.listing_id, report_id };
  return { columns, text: Object.values(columns).join(' ') };
}

/** Columns of a lot and their values. */
export function lotContent(vehicle: Vehicle, lot: LotRecord): Values {
  return {
    lot_id: lot.id,
    vehicle_id: vehicle.id,
    domain_id: lot.domain.id,
    lot: lot.lot,
    position: lot.position,
    status_id: lot.status.id,
    bid: lot.bid,
    buy_now: lot.buy_now ?? null,
    final_bid: lot.final_bid ?? null,
    seller_reserve_price: lot.seller_reserve?.price ?? null,
    sale_date: iso(lot.sale_date),
    odometer_km: lot.odometer?.km ?? null,
    odometer_mi: lot.odometer?.mi ?? null,
    location_country_iso: lot.location.country.iso,
    location_state_code: lot.location.state?.code,
    location_city_name: lot.location.city.name,
    location_location_name: lot.location.location?.name,
    created_at: iso(lot.created_at),
  };
}

/** Rows of the archive feed: one for each time that a lot was archived. */
export function archiveRows(archive: readonly Archiving[]): Fresh {
  return new Map(
    archive.map(({ lot_id, archived_at, car_id, domain, bid, status, sale_date, final_bid }) => [
      `${lot_id} ${iso(archived_at)}`,
      {
        content: {
          ...{ lot_id, archived_at: iso(archived_at), vehicle_id: car_id, domain_id: domain.id, bid },
          ...{ status_id: status.id, sale_date: iso(sale_date), final_bid },
        },
        state: {},
      },
    ]),
  );
}
