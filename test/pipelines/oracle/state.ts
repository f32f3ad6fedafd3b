/**
 * What is archived and why (docs/decisions/0004-page-backwards-from-totals.md and the .yml of the rules), and what must hold independently of these
 * rules.
 */
import type { LotRecord } from '../../served.js';
import type { Evidence, Fresh, Knowledge, Row, Rows, Values } from './knowledge.js';
import { iso, later, lotContent } from './rows.js';
import type { Vehicle } from './world.js';

/**
 * Reasons for which a lot stays active although the pass lacks it. A rule of absence adds a line: `absentLots` follows it,
 * `wronglyActive` allows it, and `noteStates` counts the lots that it keeps.
 */
const REASONS: Readonly<Record<string, (row: Row, evidence: Evidence, vehicleCame: boolean) => boolean>> = {
  'their source was not asked for': ({ content }, { sources }) =>
    sources !== undefined && !sources.includes(Number(content.domain_id)),
  'their source was refused': ({ content }, { hidden }) => hidden.includes(Number(content.domain_id)),
};

const isKept = (row: Row, evidence: Evidence, vehicleCame: boolean): boolean =>
  Object.values(REASONS).some((keeps) => keeps(row, evidence, vehicleCame));

/**
 * Active lots that the run shows to be gone. A pass shows nothing about a source of which it got no record, but a feed
 * without any lot lacks the lots of all sources. A lot is gone in two cases, unless one of the reasons keeps it. Its
 * vehicle came with a list of lots without it; a missing or null list does not count. Or its vehicle did not come, was
 * not rejected and is in no unproven range. The lots of a rejected record count as present, whichever vehicle had them
 * before.
 */
export function absentLots(
  known: Knowledge,
  evidence: Evidence,
  current: readonly Vehicle[],
): ReadonlySet<string> {
  const { seenLater = new Set(), sourcesSeenLater = new Set() } = evidence;
  if (!evidence.provesAbsence || (current.length === 0 && seenLater.size === 0)) return new Set();
  const came = new Set(current.map((vehicle) => vehicle.id));
  const withLots = new Set(current.filter(({ lots }) => (lots ?? null) !== null).map(({ id }) => id));
  const lots = current.flatMap((vehicle) => vehicle.lots ?? []);
  const present = new Set([...lots.map((lot) => lot.id), ...evidence.rejectedLots]);
  const seen = new Set([...lots.map((lot) => lot.domain.id), ...sourcesSeenLater]);
  const isAbsent = (row: Row): boolean => {
    const { content, state } = row;
    const [lot = 0, vehicle = 0, source = 0] = [content.lot_id, content.vehicle_id, content.domain_id].map(
      Number,
    );
    if (state.archived === true || present.has(lot) || seenLater.has(vehicle)) return false;
    if (seen.size > 0 && !seen.has(source)) return false;
    if (isKept(row, evidence, came.has(vehicle))) return false;
    return came.has(vehicle) ? withLots.has(vehicle) : isLacked(evidence, vehicle);
  };
  return new Set([...known.tables.lots].filter(([, row]) => isAbsent(row)).map(([key]) => key));
}

const isProven = ({ unproven }: Evidence, id: number): boolean =>
  !unproven.some(([low, high]) => id > low && id < high);

/** Whether the absence of a vehicle from the pass shows that the feed lacks it. */
const isLacked = (evidence: Evidence, vehicle: number): boolean =>
  !evidence.rejected.has(vehicle) && isProven(evidence, vehicle);

/** Whether the share of absent lots among the active lots of some source exceeds the guard. */
export function isTooMuch(lots: Rows, absent: ReadonlySet<string>, guard: number): boolean {
  const counts = new Map<unknown, { active: number; absent: number }>();
  for (const [key, { content, state }] of lots) {
    if (state.archived === true) continue;
    const count = counts.get(content.domain_id) ?? { active: 0, absent: 0 };
    counts.set(content.domain_id, {
      active: count.active + 1,
      absent: count.absent + (absent.has(key) ? 1 : 0),
    });
  }
  return [...counts.values()].some((count) => count.absent / count.active > guard);
}

const ACTIVE: Values = { archived: false, archived_at: null, archived_by: null, last_seen_at: null };

/** When the own record of a `lot 5` or a `vehicle 7` was last delivered and loaded. */
const lastSeen = ({ sightings }: Knowledge, key: string): string => String(sightings.get(key)?.seen_at);

/** The lots that a run changes or confirms: delivered lots and lots that are gone. */
export function lotsAfter(
  known: Knowledge,
  evidence: Evidence,
  current: readonly Vehicle[],
  absent: ReadonlySet<string>,
): Fresh {
  const named = new Map<number, string>();
  for (const { lot_id, archived_at } of evidence.archive)
    named.set(lot_id, later(iso(archived_at) ?? '', named.get(lot_id)));
  const fresh: Fresh = new Map();
  for (const vehicle of current) {
    for (const lot of vehicle.lots ?? []) {
      const content = lotContent(vehicle, lot);
      const old = known.tables.lots.get(String(lot.id));
      fresh.set(String(lot.id), { content, state: deliveredState(lot, old, named.get(lot.id), evidence) });
    }
  }
  for (const [key, row] of known.tables.lots) {
    if (row.state.archived === true || fresh.has(key)) continue;
    const seen = lastSeen(known, `lot ${key}`);
    const archivedAt = named.get(Number(row.content.lot_id));
    // The archive feed counts if the lot was not seen since.
    const isNamed = archivedAt !== undefined && archivedAt > seen;
    if (!isNamed && !absent.has(key)) continue;
    const state = {
      archived: true,
      archived_at: isNamed ? archivedAt : evidence.seenAt,
      archived_by: isNamed ? 'archive-feed' : 'absence',
      last_seen_at: seen,
    };
    fresh.set(key, { content: row.content, state, rejected: row.rejected });
  }
  return fresh;
}

/**
 * The state of a delivered lot. The flag of the feed counts first. If it is missing, an earlier flag stays. A state
 * that was concluded from absence or from the archive ends when a pass lists the lot, but not when a lookup finds it.
 * The archive counts if its time is after the lot was seen.
 */
function deliveredState(
  lot: LotRecord,
  old: Row | undefined,
  named: string | undefined,
  evidence: Evidence,
): Values {
  const { seenAt, kind } = evidence;
  const was = old?.state.archived === true ? old.state : undefined;
  const stands = was !== undefined && (kind === 'lookup' || was.archived_by === 'feed') ? was : undefined;
  const last_seen_at = was?.last_seen_at ?? seenAt;
  const at = iso(lot.archived_at);
  // If the feed sends only a time of archiving, the lot is archived.
  const says = lot.archived ?? (at === null ? undefined : true);
  if (says ?? stands !== undefined) {
    return {
      archived: true,
      archived_at: at ?? stands?.archived_at ?? seenAt,
      archived_by: says ? 'feed' : stands?.archived_by,
      last_seen_at,
    };
  }
  const before = was?.archived_by === 'archive-feed' ? String(was.archived_at) : '';
  const last = later(named, before);
  if (last <= seenAt) return ACTIVE;
  return { archived: true, archived_at: last, archived_by: 'archive-feed', last_seen_at };
}

/**
 * Vehicles after a run. A vehicle that the feed lists is active. A vehicle that did not come is archived with the last
 * of its lots. If none of its lots was archived in this run, the feed may still list it: only a complete full pass
 * shows that it does not, and not within its unproven ranges. A vehicle without lots is archived by a complete full
 * pass over all sources, under the same condition. A lookup keeps an archived vehicle archived unless it brings an
 * active lot.
 */
export function vehiclesAfter(
  known: Knowledge,
  evidence: Evidence,
  current: readonly Vehicle[],
  lots: Rows,
): Fresh {
  const { seenAt, kind } = evidence;
  const fresh: Fresh = new Map();
  const lotsOf = new Map<unknown, Row[]>();
  for (const row of lots.values())
    lotsOf.set(row.content.vehicle_id, [...(lotsOf.get(row.content.vehicle_id) ?? []), row]);
  for (const vehicle of current) {
    const content = { vehicle_id: vehicle.id, title: vehicle.title, year: vehicle.year };
    const old = known.tables.vehicles.get(String(vehicle.id));
    const own = lotsOf.get(vehicle.id) ?? [];
    const looked = own.length === 0 ? (old?.state ?? ACTIVE) : (stateOfLots(own) ?? ACTIVE);
    fresh.set(String(vehicle.id), { content, state: kind === 'lookup' ? looked : ACTIVE });
  }
  for (const [key, row] of known.tables.vehicles) {
    const id = Number(row.content.vehicle_id);
    if (row.state.archived === true || fresh.has(key) || evidence.rejected.has(id)) continue;
    if (evidence.seenLater?.has(id) === true) continue;
    const own = lotsOf.get(id) ?? [];
    const isLacked = evidence.provesAbsence && isProven(evidence, id);
    const absence = {
      archived: true,
      archived_at: seenAt,
      archived_by: 'absence',
      last_seen_at: lastSeen(known, `vehicle ${id}`),
    };
    const isNews = own.some(
      (lot) => known.tables.lots.get(String(lot.content.lot_id))?.state.archived !== true,
    );
    const ofLots = isLacked || isNews ? stateOfLots(own) : undefined;
    const isLackedByAll = isLacked && evidence.sources === undefined;
    const state = own.length === 0 ? (isLackedByAll ? absence : undefined) : ofLots;
    if (state !== undefined) fresh.set(key, { content: row.content, state, rejected: row.rejected });
  }
  return fresh;
}

/** The state of a vehicle that follows from its lots: archived with the last of them, or undefined. */
function stateOfLots(own: readonly Row[]): Values | undefined {
  if (own.some((row) => row.state.archived !== true)) return undefined;
  // Of lots that were archived at the same time, what says most: feed, then archive-feed, then absence.
  const order = ({ state }: Row): string => `${state.archived_at} ${state.archived_by}`;
  const last = [...own].sort((a, b) => (order(a) < order(b) ? 1 : -1))[0];
  return {
    archived: true,
    archived_at: last?.state.archived_at,
    archived_by: last?.state.archived_by,
    last_seen_at: later(...own.map((row) => String(row.state.last_seen_at))),
  };
}

/** Counts what happened to lots, to show that the stories reach each rule. */
export function noteStates(
  note: (what: string, times?: number) => void,
  before: Knowledge,
  after: Knowledge,
  evidence: Evidence,
): void {
  const { provesAbsence, seenAt } = evidence;
  const changes = after.lotChanges.slice(before.lotChanges.length);
  const count = (field: string, value?: unknown): number =>
    changes.filter((change) => change.field === field && (value === undefined || change.new_value === value))
      .length;
  note('lots archived by absence', count('archived_by', 'absence'));
  note('lots archived by the archive', count('archived_by', 'archive-feed'));
  note('lots called archived', count('archived_by', 'feed'));
  note('lots that came back', count('archived', false));
  note('lots moved', count('vehicle_id'));
  const kept = [...after.tables.lots].filter(
    ([key, { state }]) => state.archived === false && lastSeen(after, `lot ${key}`) < seenAt,
  );
  note('lots kept that a whole pass did not bring', provesAbsence ? kept.length : 0);
  for (const [reason, keeps] of Object.entries(REASONS)) {
    const decided = kept.filter(([, row]) => {
      const vehicle = Number(row.content.vehicle_id);
      const vehicleCame = lastSeen(after, `vehicle ${vehicle}`) >= seenAt;
      return (vehicleCame || isLacked(evidence, vehicle)) && keeps(row, evidence, vehicleCame);
    });
    note(`lots kept because ${reason}`, provesAbsence ? decided.length : 0);
  }
}

/**
 * Lots that a pass archived as absent although their vehicle listed them during the whole pass. There must be none,
 * independently of the rules above.
 */
export function wronglyAbsent(
  before: Rows,
  after: Rows,
  isSteady: (lot: number, vehicle: number) => boolean,
): Row[] {
  return [...after].flatMap(([key, row]) => {
    const { content, state } = row;
    const isNew = state.archived_by === 'absence' && before.get(key)?.state.archived !== true;
    return isNew && isSteady(Number(content.lot_id), Number(content.vehicle_id)) ? [row] : [];
  });
}

/**
 * Active lots of vehicles that the feed no longer has, after a pass that proves absence in a feed that did not move.
 * The only exceptions are lots of a source that shows nothing, and lots that one of the reasons keeps.
 */
export function wronglyActive(
  lots: Rows,
  evidence: Evidence,
  shown: ReadonlySet<number>,
  isListed: (vehicle: number) => boolean,
): Row[] {
  return [...lots.values()].filter((row) => {
    const { content, state } = row;
    const isLeft = shown.has(Number(content.domain_id)) && !isListed(Number(content.vehicle_id));
    return isLeft && state.archived === false && !isKept(row, evidence, false);
  });
}
