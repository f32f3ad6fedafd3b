/**
 * What a lake should know, as plain data and plain rules. They are written from
 * docs/change/architecture.md and the decisions, and not from the code. Comments state the rules that those leave open.
 */
import { archiveRows, childrenOf, united } from './rows.js';
import { absentLots, isTooMuch, lotsAfter, vehiclesAfter } from './state.js';
import { type Archiving, UNREADABLE, type Vehicle } from './world.js';

/** Values of a row by column; instants as ISO texts with milliseconds. */
export type Values = Readonly<Record<string, unknown>>;

/** A row of a table: its values from the feed, its state, and when it changed. */
export interface Row {
  readonly content: Values;
  /** `archived` and its companions, or `gone_at`; empty for tables whose rows are only replaced or kept. */
  readonly state: Values;
  /** Columns whose last values could not be read. */
  readonly rejected: readonly string[];
  readonly first_seen_at: string;
  readonly changed_at: string;
}

export type Rows = ReadonlyMap<string, Row>;

/** Tables that the model follows. */
export const MODELLED = [
  'vehicles',
  'lots',
  'prices',
  'lot_images',
  'listings',
  'inspections',
  'checked_items',
  'history_reports',
  'archived_lots',
] as const;

export type Modelled = (typeof MODELLED)[number];

/** Columns of lots whose every change is kept. */
const TRACKED = [
  'vehicle_id',
  'status_id',
  'bid',
  'buy_now',
  'final_bid',
  'seller_reserve_price',
  'sale_date',
  'odometer_km',
  'odometer_mi',
  'location_country_iso',
  'location_state_code',
  'location_city_name',
  'location_location_name',
];

/** All that a lake knows. */
export interface Knowledge {
  readonly tables: Readonly<Record<Modelled, Rows>>;
  readonly lotChanges: readonly Values[];
  readonly rejects: readonly Values[];
  /** Time at which the own record of each `vehicle 7` and each `lot 5` was last delivered and loaded. */
  readonly sightings: ReadonlyMap<string, Values>;
}

/** A lake that knows nothing. */
export const NOTHING: Knowledge = {
  tables: {
    vehicles: new Map(),
    lots: new Map(),
    prices: new Map(),
    lot_images: new Map(),
    listings: new Map(),
    inspections: new Map(),
    checked_items: new Map(),
    history_reports: new Map(),
    archived_lots: new Map(),
  },
  lotChanges: [],
  rejects: [],
  sightings: new Map(),
};

/** A vehicle as one list delivered it. */
interface Receipt {
  readonly list: string;
  readonly vehicle: Vehicle;
}

/** What a run delivered, and what the lake may conclude from it. */
export interface Evidence {
  /** Start of the pass over `/cars`, which its rows get as the time at which they were seen. */
  readonly seenAt: string;
  readonly kind: 'full' | 'window' | 'lookup';
  /** Valid records in the order of their receipt. */
  readonly delivered: readonly Receipt[];
  /** Ids of vehicles whose records break the contract: they count as present. */
  readonly rejected: ReadonlySet<number>;
  /** Lots in the rejected records. */
  readonly rejectedLots: ReadonlySet<number>;
  readonly rejects: readonly Values[];
  /** Whether the pass shows absence: it is full and complete, and delivered at least one record. */
  readonly provesAbsence: boolean;
  /** Sources that were requested one by one and walked whole; undefined if one request covered all sources. */
  readonly sources: readonly number[] | undefined;
  /** Sources that the key lacked when a run of the pass started, or at the end of the pass. */
  readonly hidden: readonly number[];
  /** Exclusive ranges of ids about which the pass proves nothing. */
  readonly unproven: readonly (readonly [number, number])[];
  readonly archive: readonly Archiving[];
  readonly guard: number;
  /** Vehicles that another run has seen since the pass began. They count as present and stay as they are. */
  readonly seenLater?: ReadonlySet<number>;
  /** Sources of their active lots. */
  readonly sourcesSeenLater?: ReadonlySet<number>;
}

/** What a run should do: publish this knowledge, or hold. */
export type Verdict = { readonly held: true } | { readonly held: false; readonly knowledge: Knowledge };

/** Rows that a run changes or confirms, by key. A row that was not delivered keeps its list of rejected columns. */
export type Fresh = Map<string, Pick<Row, 'content' | 'state'> & Partial<Pick<Row, 'rejected'>>>;

/** Merges what a run delivered into what was known. */
export function learn(known: Knowledge, given: Evidence): Verdict {
  const later = seenLater(known, given);
  const current = currentOf(given.delivered, later);
  const evidence = { ...given, seenLater: later.vehicles, sourcesSeenLater: later.sources };
  const absent = absentLots(known, evidence, current);
  if (evidence.provesAbsence && isTooMuch(known.tables.lots, absent, evidence.guard)) return { held: true };
  const { seenAt, kind } = evidence;
  const lots = merge(known.tables.lots, lotsAfter(known, evidence, current, absent), seenAt);
  const vehicles = merge(known.tables.vehicles, vehiclesAfter(known, evidence, current, lots), seenAt);
  const children = childrenOf(current);
  // A lookup does not show that rows are gone. Neither does a pass whose key lacked their source.
  const mayBeGone = ({ content }: Row): boolean =>
    kind !== 'lookup' && !evidence.hidden.includes(Number(content.domain_id));
  const child = (name: keyof typeof children): Rows => {
    const { fresh, isGone } = children[name];
    return merge(known.tables[name], fresh, seenAt, (row) => mayBeGone(row) && isGone(row));
  };
  const tables = {
    vehicles,
    lots,
    prices: child('prices'),
    lot_images: child('lot_images'),
    listings: child('listings'),
    inspections: child('inspections'),
    checked_items: child('checked_items'),
    history_reports: child('history_reports'),
    archived_lots: merge(known.tables.archived_lots, archiveRows(evidence.archive), seenAt),
  };
  return {
    held: false,
    knowledge: {
      tables,
      lotChanges: [...known.lotChanges, ...changesBetween(known.tables.lots, lots, seenAt)],
      rejects: [...known.rejects, ...evidence.rejects],
      sightings: sightingsAfter(known, evidence, current, later),
    },
  };
}

/**
 * The vehicles that came. All copies of a vehicle count together: of a lot, price or report that is in several of them, the
 * last. If two vehicles list a lot, one whose last copy lists it owns it, and of these the one that came last.
 */
function currentOf(all: readonly Receipt[], later: SeenLater): readonly Vehicle[] {
  const delivered = all.filter(({ vehicle }) => !later.vehicles.has(vehicle.id));
  const copiesOf = new Map<number, Receipt[]>();
  for (const copy of delivered)
    copiesOf.set(copy.vehicle.id, [...(copiesOf.get(copy.vehicle.id) ?? []), copy]);
  const lists = ({ vehicle }: Receipt, lot: number): boolean =>
    (vehicle.lots ?? []).some(({ id }) => id === lot);
  const claims = [...copiesOf].flatMap(([id, copies]) =>
    [...new Set(copies.flatMap(({ vehicle }) => (vehicle.lots ?? []).map((lot) => lot.id)))].map((lot) => ({
      ...{ lot, id },
      isListed: copies.slice(-1).some((copy) => lists(copy, lot)),
      place: Math.max(...copies.filter((copy) => lists(copy, lot)).map((copy) => delivered.indexOf(copy))),
    })),
  );
  claims.sort((a, b) => Number(a.isListed) - Number(b.isListed) || a.place - b.place);
  const ownerOf = new Map(claims.map(({ lot, id }) => [lot, id]));
  return [...copiesOf.values()].map((copies) => {
    const vehicle = united(copies.map((copy) => copy.vehicle));
    const lots = vehicle.lots?.filter((lot) => ownerOf.get(lot.id) === vehicle.id && !later.lots.has(lot.id));
    // The same object, which is known to have come in several copies.
    return Object.assign(vehicle, { lots: lots ?? null });
  });
}

/** Vehicles, and the lots that they listed, that another run has seen since this pass began; see `seenLater`. */
interface SeenLater {
  readonly vehicles: ReadonlySet<number>;
  readonly lots: ReadonlySet<number>;
  readonly sources: ReadonlySet<number>;
}

/** What another run has seen since this pass began. It is newer than the records of this pass. */
function seenLater({ sightings, tables }: Knowledge, { seenAt }: Evidence): SeenLater {
  const timeOf = (key: string): string => String(sightings.get(key)?.seen_at ?? '');
  const vehicles = [...tables.vehicles.keys()].filter((id) => timeOf(`vehicle ${id}`) > seenAt).map(Number);
  const lots = [...tables.lots].filter(
    ([id, { content }]) =>
      vehicles.includes(Number(content.vehicle_id)) &&
      timeOf(`lot ${id}`) === timeOf(`vehicle ${content.vehicle_id}`),
  );
  return {
    vehicles: new Set(vehicles),
    lots: new Set(lots.map(([id]) => Number(id))),
    sources: new Set(
      [...tables.lots.values()]
        .filter(
          ({ content, state }) => state.archived !== true && vehicles.includes(Number(content.vehicle_id)),
        )
        .map(({ content }) => Number(content.domain_id)),
    ),
  };
}

const NEVER = (): boolean => false;

/**
 * Merges rows by key. A row changes only if its record or its state changed. A row that is gone is kept and marked. If
 * a value cannot be read, the last readable value stays, which is not a change, and the row names the column.
 */
function merge(old: Rows, fresh: Fresh, seenAt: string, isGone: (row: Row) => boolean = NEVER): Rows {
  const merged = new Map(old);
  for (const [key, { content: given, state, rejected: standing }] of fresh) {
    const was = old.get(key);
    const bad = Object.keys(given)
      .filter((name) => UNREADABLE.has(given[name]))
      .sort();
    const last = bad.map((name) => [name, was?.content[name] ?? null]);
    const content = { ...given, ...Object.fromEntries(last) };
    const rejected = standing ?? bad;
    if (was !== undefined && isSame(was.content, content) && isSame(was.state, state))
      merged.set(key, { ...was, rejected });
    else {
      const first_seen_at = was?.first_seen_at ?? seenAt;
      merged.set(key, { content, state, rejected, first_seen_at, changed_at: seenAt });
    }
  }
  for (const [key, row] of old)
    if (!fresh.has(key) && row.state.gone_at === null && isGone(row))
      merged.set(key, { ...row, state: { gone_at: seenAt }, changed_at: seenAt });
  return merged;
}

const isSame = (a: Values, b: Values): boolean =>
  Object.keys(b).every((name) => JSON.stringify(a[name]) === JSON.stringify(b[name]));

/** A change for every tracked field that differs. A new lot has no changes. */
function changesBetween(before: Rows, after: Rows, seen_at: string): Values[] {
  return [...after].flatMap(([key, row]) => {
    const was = before.get(key);
    if (was === undefined) return [];
    const { lot_id, vehicle_id, domain_id } = row.content;
    const fields = [...TRACKED, 'archived', 'archived_at', 'archived_by'];
    return fields.flatMap((field) => {
      const [old_value, new_value] = [was, row].map(
        ({ content, state }) => ({ ...content, ...state })[field],
      );
      return old_value === new_value
        ? []
        : [{ lot_id, vehicle_id, domain_id, field, old_value, new_value, seen_at }];
    });
  });
}

/**
 * A record that was delivered and loaded is seen, whether it changed or not. A rejected record is not seen, and is
 * marked as rejected until it is seen again.
 */
function sightingsAfter(
  known: Knowledge,
  { rejected, rejectedLots, seenAt, kind }: Evidence,
  current: readonly Vehicle[],
  later: SeenLater,
): Knowledge['sightings'] {
  const after = new Map(known.sightings);
  const reject = (key: string): Map<string, Values> =>
    after.set(key, { ...after.get(key), rejected_at: seenAt });
  for (const id of rejected) if (after.has(`vehicle ${id}`)) reject(`vehicle ${id}`);
  for (const [key, { content }] of known.tables.lots)
    if (rejected.has(Number(content.vehicle_id)) || rejectedLots.has(Number(key))) reject(`lot ${key}`);
  const seen = { seen_at: seenAt, seen_by: kind, rejected_at: null };
  for (const { id, lots } of current) {
    after.set(`vehicle ${id}`, seen);
    for (const lot of lots ?? []) after.set(`lot ${lot.id}`, seen);
  }
  for (const key of [
    ...[...later.vehicles].map((id) => `vehicle ${id}`),
    ...[...later.lots].map((id) => `lot ${id}`),
  ])
    after.set(key, { ...after.get(key), rejected_at: null });
  return after;
}
