/** A small world of the service that moves at random: what it holds, and what can happen in it. */
import type { ArchivedLotRecord, LotRecord, PriceRecord, ReportRecord, VehicleRecord } from '../../served.js';

/** A vehicle; its lots are `null` if the service withholds them. */
export type Vehicle = VehicleRecord<LotRecord[] | null>;

/** A record of `/archived-lots` in its older form. */
export interface Archiving extends ArchivedLotRecord {
  readonly bid: number | null;
  readonly sale_date: string | null;
  readonly final_bid: number | null;
}

/** A vehicle, the time of its last change, and whether its record or some of its values are unreadable at present. */
export interface Entry {
  readonly vehicle: Vehicle;
  updated: number;
  broken: boolean;
  /** The unreadable values, as bits; see `SPOILS`. */
  spoiled: number;
}

/** Everything that the service knows. */
export interface World {
  readonly feed: Map<number, Entry>;
  /** Vehicles that left the feed and may come back. */
  readonly left: Map<number, Entry>;
  readonly archive: Archiving[];
  /** Lots that several vehicles have listed at the same time. */
  readonly shared: Set<number>;
  /** Returns an id that no record has had. */
  next(): number;
}

/** What can happen. The numbers of a {@link Happening} choose the vehicle, the lot and the value. */
export const HAPPENINGS = [
  'appear',
  'change',
  'price',
  'prices',
  'images',
  'report',
  'listing',
  'add-lot',
  'drop-lot',
  'move-lot',
  'share-lot',
  'leave',
  'leave-named',
  'name-lot',
  'back',
  'archived',
  'sell',
  'break',
  'spoil',
  'withhold-lots',
] as const;

/** One thing that happens. Its numbers are taken modulo the number of choices. */
export interface Happening {
  readonly what: (typeof HAPPENINGS)[number];
  readonly who: number;
  readonly which: number;
  readonly value: number;
}

const SOURCES = [1, 3, 12] as const;

const iso = (time: number): string => new Date(time).toISOString();
const pick = <T>(list: readonly T[], number: number): T | undefined => list[number % list.length];

/** Values that their columns cannot hold, as services write them. */
export const UNREADABLE: ReadonlySet<unknown> = new Set(['1,234.50', '0000-00-00 00:00:00', '', 12.7, 'new']);

/** Each bit makes some values of a record unreadable. */
const SPOILS: readonly ((vehicle: Vehicle) => void)[] = [
  (vehicle) => Object.assign(vehicle, { year: 'new' }),
  ofLots((lot) => Object.assign(lot, { bid: '1,234.50' })),
  ofLots((lot) => Object.assign(lot, { sale_date: '0000-00-00 00:00:00', created_at: '' })),
  ofLots((lot) => Object.assign(lot.odometer ?? {}, { km: 12.7 })),
  ofLots((lot) => {
    for (const price of lot.prices ?? []) Object.assign(price, { bid: '1,234.50', sale_date: '' });
    if (lot.images) Object.assign(lot.images, { id: 'new' });
  }),
  (vehicle) => {
    for (const report of vehicle.inspections ?? []) report.created_at = '';
  },
];

function ofLots(damage: (lot: LotRecord) => void): (vehicle: Vehicle) => void {
  return ({ lots }) => lots?.forEach(damage);
}

/** Makes values of a vehicle unreadable. */
export function spoil(vehicle: Vehicle, spoiled: number): Vehicle {
  const damaged = structuredClone(vehicle);
  for (const [bit, damage] of SPOILS.entries()) if ((spoiled & (1 << bit)) !== 0) damage(damaged);
  return damaged;
}

/** A world with some vehicles that have been there for a while. */
export function createWorld(size: number, mix: number, now: number): World {
  let id = 100;
  const world: World = { feed: new Map(), left: new Map(), archive: [], shared: new Set(), next: () => id++ };
  for (let i = 0; i < size; i++) appear(world, i * 7 + mix, now - 86_400_000);
  return world;
}

/** Lets something happen to the world. It is skipped if there is no vehicle that it could happen to. */
export function happen(world: World, happening: Happening, now: number): void {
  const entry = pick([...world.feed.values()], happening.who);
  if (happening.what === 'appear') appear(world, happening.value, now);
  else if (happening.what === 'back') comeBack(world, happening.who, now);
  else if (entry !== undefined) happenTo(world, entry, happening, now);
}

function happenTo(world: World, entry: Entry, happening: Happening, now: number): void {
  const { what, which, value } = happening;
  const { vehicle } = entry;
  entry.updated = now;
  if (what === 'leave' || what === 'leave-named') leave(world, entry, what === 'leave-named', now);
  else if (what === 'break') entry.broken = !entry.broken;
  else if (what === 'spoil') entry.spoiled = entry.spoiled > 0 && which > 0 ? 0 : 1 + (value % 63);
  else if (what === 'withhold-lots') vehicle.lots = null;
  else if (what === 'report') changeReports(world, vehicle, which, value, now);
  else if (what === 'listing') changeListings(vehicle, value);
  else if (what === 'add-lot') vehicle.lots = [...(vehicle.lots ?? []), newLot(world, value, now)];
  else happenToLot(world, entry, happening, now);
}

function appear(world: World, value: number, now: number): void {
  const id = world.next();
  const lots = Array.from({ length: [1, 1, 1, 2, 3, 0][value % 6] ?? 1 }, (_, i) =>
    newLot(world, value + i * 5, now),
  );
  const vehicle: Vehicle = { id, title: `vehicle ${id}`, year: 2000 + (value % 25), lots };
  if (lots.some((lot) => lot.domain.id === 12)) {
    vehicle.listings = [{ has_history_reports: value % 2 === 0 }];
    vehicle.inspections = value % 3 === 0 ? [newReport(world, value, now)] : [];
    vehicle.vehicle_history_reports = value % 4 === 0 ? [newReport(world, value, now)] : [];
  }
  world.feed.set(id, { vehicle, updated: now, broken: false, spoiled: 0 });
}

function newLot(world: World, value: number, now: number): LotRecord {
  const id = world.next();
  const lot: LotRecord = {
    id,
    domain: { id: pick(SOURCES, value) ?? 1 },
    lot: String(5000 + id),
    status: { id: 3 },
    bid: 100 + (value % 50),
    sale_date: value % 2 === 0 ? iso(now + 3 * 86_400_000) : null,
    odometer: { km: 16_000 + value, mi: 10_000 + value },
    location: {
      country: { iso: 'US' },
      state: { code: 'FL' },
      city: { name: 'Miami' },
      location: { name: `yard ${value % 3}` },
    },
    created_at: value % 2 === 0 ? '2026-10-05T00:00:00Z' : '2026-11-05T00:00:00Z',
  };
  if (value % 3 !== 0) lot.images = { id, small: [`https://images.example/${id}-1.jpg`] };
  if (value % 4 !== 0)
    lot.prices = Array.from({ length: value % 4 === 2 ? 0 : 2 }, (_, i) => newPrice(world, value + i));
  return lot;
}

function newPrice(world: World, value: number): PriceRecord {
  return {
    id: world.next(),
    status: { id: value % 3 === 0 ? 6 : 7 },
    bid: 50 + (value % 40),
    sale_date: value % 2 === 0 ? '2026-10-20T15:00:00Z' : '2026-11-10T15:00:00Z',
  };
}

function newReport(world: World, value: number, now: number): ReportRecord {
  const id = world.next();
  return {
    report_id: `r${id}`,
    vehicle_ref: { domain_id: 12, listing_id: String(9000 + id) },
    created_at: iso(now),
    language: 'ko',
    checked_items: Array.from({ length: value % 3 }, (_, i) => ({ id: `i${i}`, part_key: `part ${value}` })),
  };
}

function leave({ feed, left, archive }: World, entry: Entry, isNamed: boolean, now: number): void {
  feed.delete(entry.vehicle.id);
  left.set(entry.vehicle.id, entry);
  if (isNamed) for (const lot of entry.vehicle.lots ?? []) archive.push(archiving(lot, entry.vehicle, now));
}

const archiving = (lot: LotRecord, vehicle: Vehicle, now: number): Archiving => ({
  lot_id: lot.id,
  car_id: vehicle.id,
  archived_at: iso(now),
  domain: lot.domain,
  bid: lot.bid,
  status: lot.status,
  sale_date: lot.sale_date ?? null,
  final_bid: lot.final_bid ?? null,
});

function comeBack({ feed, left }: World, who: number, now: number): void {
  const entry = pick([...left.values()], who);
  if (entry === undefined) return;
  left.delete(entry.vehicle.id);
  feed.set(entry.vehicle.id, { ...entry, updated: now });
}

function changeReports(world: World, vehicle: Vehicle, which: number, value: number, now: number): void {
  const member = which % 2 === 0 ? 'inspections' : 'vehicle_history_reports';
  const reports = vehicle[member] ?? [];
  if (value % 6 === 5) vehicle[member] = null;
  else if (value % 3 === 0) vehicle[member] = [...reports, newReport(world, value, now)];
  else if (value % 3 === 1) vehicle[member] = reports.slice(1);
  else vehicle[member] = reports.map((report) => ({ ...report, language: `l${value}`, checked_items: [] }));
}

function changeListings(vehicle: Vehicle, value: number): void {
  const listings = vehicle.listings ?? [];
  if (value % 4 === 0) vehicle.listings = [...listings, { has_history_reports: true }];
  else if (value % 4 === 1) vehicle.listings = listings.slice(1);
  else if (value % 4 === 2) vehicle.listings = listings.map(() => ({ has_history_reports: value % 8 === 2 }));
  else vehicle.listings = null;
}

function happenToLot(world: World, entry: Entry, { what, which, value }: Happening, now: number): void {
  const { vehicle } = entry;
  const lot = pick(vehicle.lots ?? [], which);
  if (lot === undefined) return;
  if (what === 'change') changeLot(vehicle, lot, value);
  else if (what === 'price') changePrices(world, lot, value);
  else if (what === 'prices') lot.prices = value % 2 === 0 ? null : [];
  else if (what === 'images')
    lot.images = value % 4 === 3 ? null : { id: value, small: [`https://images.example/${value}.jpg`] };
  else if (what === 'archived') markArchived(lot, value, now);
  else if (what === 'sell') sell(world, vehicle, lot, value, now);
  else if (what === 'share-lot') share(world, pick([...world.feed.values()], value) ?? entry, lot, now);
  else {
    vehicle.lots = (vehicle.lots ?? []).filter((other) => other !== lot);
    if (what === 'name-lot') world.archive.push(archiving(lot, vehicle, now));
    if (what === 'move-lot') moveTo(pick([...world.feed.values()], value) ?? entry, lot, now);
  }
}

/** Sells the lot. The archive feed may confirm it, and the vehicle may soon be offered again. */
function sell(world: World, vehicle: Vehicle, lot: LotRecord, value: number, now: number): void {
  const [status, final_bid] = [{ id: 6 }, 1000 + value];
  Object.assign(lot, { status, final_bid, sale_date: iso(now - (value % 4) * 7 * 3_600_000) });
  if (value % 7 === 0) lot.buy_now = final_bid;
  if (value % 3 === 0) world.archive.push(archiving(lot, vehicle, now));
  if (value % 5 < 2) vehicle.lots = [...(vehicle.lots ?? []), newLot(world, value, now)];
}

/** Another vehicle lists the lot as well. */
function share({ shared }: World, entry: Entry, lot: LotRecord, now: number): void {
  if (entry.vehicle.lots?.includes(lot) === true) return;
  shared.add(lot.id);
  moveTo(entry, lot, now);
}

function moveTo(entry: Entry, lot: LotRecord, now: number): void {
  entry.vehicle.lots = [...(entry.vehicle.lots ?? []), lot];
  entry.updated = now;
}

function changePrices(world: World, lot: LotRecord, value: number): void {
  const prices = lot.prices ?? [];
  if (value % 3 === 0) lot.prices = [newPrice(world, value), ...prices];
  else if (value % 3 === 1) lot.prices = prices.slice(1);
  else lot.prices = prices.map((price) => ({ ...price, bid: value }));
}

function changeLot(vehicle: Vehicle, lot: LotRecord, value: number): void {
  const changes: readonly Partial<LotRecord>[] = [
    { bid: value },
    { status: { id: 1 + (value % 10) } },
    { buy_now: value % 2 === 0 ? value : null },
    { final_bid: value },
    { seller_reserve: value % 2 === 0 ? { price: value } : null },
    { sale_date: value % 3 === 0 ? null : iso(Date.UTC(2026, 10, 1 + (value % 28), 15)) },
    { odometer: value % 5 === 0 ? null : { km: value * 16, mi: value * 10 } },
    { location: { ...lot.location, state: { code: `S${value}` } } },
    { location: { ...lot.location, city: { name: `city ${value}` } } },
    { bid: null },
  ];
  Object.assign(lot, pick(changes, value));
  if (value % 12 === 0) vehicle.title = `vehicle of ${value}`;
}

function markArchived(lot: LotRecord, value: number, now: number): void {
  delete lot.archived_at;
  if (value % 5 === 4) delete lot.archived;
  else lot.archived = [true, true, false, null][value % 5] ?? null;
  if (value % 8 === 0) lot.archived_at = iso(now);
}
