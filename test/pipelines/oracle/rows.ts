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
    if (vehicle.listings) children.listings.owners.add(vehicle_id);
    for (const [i, { has_history_reports }] of (vehicle.listings ?? []).entries())
      put('listings', `${vehicle_id} ${i + 1}`, { vehicle_id, position: i + 1, has_history_reports });
    if (vehicle.inspections)
      for (const name of ['inspections', 'checked_items'] as const) children[name].owners.add(vehicle_id);
    if (vehicle.vehicle_history_reports) children.history_reports.owners.add(vehicle_id);
    for (const [i, report] of (vehicle.inspections ?? []).entries()) {
      const key = reportKey(report);
      put('inspections', key.text, {
        ...key.columns,
        vehicle_id,
        position: i + 1,
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
        position: i + 1,
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
  if (lot.prices) children.prices.owners.add(lot.id);
  for (const [i, price] of (lot.prices ?? []).entries())
    put('prices', String(price.id), {
      price_id: String(price.id),
      ...parent,
      position: i + 1,
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
