import { killPoint } from '../../base/config/kill-point.js';
import { version } from '../../base/config/package-root.js';
import { ID } from '../../core/lake/ids.js';
import { planSnapshots, type Retention } from '../keep/vacuum-plan.js';
import { dryStore } from './dry.js';
import { changedHeads, type Heads, stageHeads, statesOf } from './heads.js';
import {
  assertNoVacuum,
  type Current,
  existing,
  FILES,
  MODELS,
  readRecord,
  recordName,
  SNAPSHOTS,
  type SnapshotRecord,
  type Switched,
  switchTo,
  TABLES,
} from './mirror-layout.js';
import { retainHeads } from './mirror-tables.js';
import { finishHeads, openMirrored } from './open.js';
import { forEach, type Listed, MOST_REMOVED, type ObjectStore } from './store.js';

/**
 * Milliseconds for which an object stays although no snapshot names it: a push under way may have sent it, or one that died
 * and will be repeated. A push that takes longer can still switch, and sends removed objects again.
 */
const GRACE = 86_400_000;

/** Milliseconds for which nobody may push because a vacuum removes objects. */
const AT_WORK = 1_200_000;
/** Milliseconds that the clocks of two machines may differ by. */
const CLOCKS = 300_000;

/** Result of a vacuum of a mirror. */
export interface RemoteVacuum {
  readonly place: string;
  readonly snapshots: readonly { readonly snapshot_id: string; readonly reason: string }[];
  /** Objects and bytes that are removed. */
  readonly objects: number;
  readonly bytes: number;
  readonly kept: { readonly snapshots: number; readonly objects: number };
}

/** What a vacuum needs. */
export interface Vacuuming {
  readonly store: ObjectStore;
  readonly keep: Omit<Retention, 'keepPasses'>;
  readonly now: () => Date;
  readonly warn: (message: string) => void;
  /** Changes nothing, and returns what a vacuum would do. */
  readonly isDryRun: boolean;
}

/**
 * Removes the snapshots of a mirror that are past retention, and the objects that no other snapshot names. First,
 * `current.json` is switched to the snapshots that stay and to `vacuum_until`, so that a push under way cannot switch and no
 * push begins that would rely on an object to be removed. Landing stays. Throws MIRROR_*.
 * @returns the removed snapshots with reasons, the number and bytes of the removed objects, and the numbers that stay
 */
export async function vacuumMirror(given: Vacuuming): Promise<RemoteVacuum> {
  const vacuuming = given.isDryRun ? { ...given, store: dryStore(given.store, given.now) } : given;
  const { store, keep, now, warn } = vacuuming;
  const opened = await openMirrored(store, { isWriter: true, warn });
  const mirror = existing(opened.mirror, store);
  assertNoVacuum(mirror.current, store.place, now());
  const removals = planRemovals(mirror.current, keep);
  const gone = new Set(removals.map(({ snapshot_id }) => snapshot_id));
  const kept = mirror.current.snapshots.filter(({ snapshot_id }) => !gone.has(snapshot_id));
  const records = await forEach(store, kept, ({ snapshot_id }) => readRecord(store, snapshot_id));
  const { switched, heads } = await switchToKept(mirror, opened.heads, records, kept, vacuuming);
  killPoint('mirror.vacuum-switched');
  const objects = await listAll(store);
  const named = new Set([...namesOf(records, switched.current, heads), ...modelsOf(objects, kept)]);
  const unnamed = planObjects(objects, named, now());
  const removed = await removeAll(unnamed, switched, vacuuming);
  return {
    place: store.place,
    snapshots: removals,
    objects: removed.length,
    bytes: removed.reduce((sum, name) => sum + (objects.get(name)?.bytes ?? 0), 0),
    kept: { snapshots: kept.length, objects: objects.size - removed.length },
  };
}

/** Snapshots to remove, by the rules of the local vacuum. */
function planRemovals({ snapshot_id: current, snapshots }: Current, keep: Vacuuming['keep']) {
  const all = snapshots.map(({ snapshot_id: id, created_at }) => ({
    id,
    isSealed: true,
    manifest: { created_at },
  }));
  const facts = { current, published: new Set(all.map(({ id }) => id)), isAllKnown: true };
  return planSnapshots(all, facts, keep).map(({ what, reason }) => ({ snapshot_id: what.id, reason }));
}

/** Removes the other snapshots from `current.json` and from the metadata of the tables. Returns the heads, too. */
async function switchToKept(
  mirror: Switched,
  before: Heads,
  records: readonly SnapshotRecord[],
  snapshots: Current['snapshots'],
  { store, now }: Vacuuming,
) {
  const isSame = snapshots.length === mirror.current.snapshots.length;
  const named = new Set(records.flatMap(({ metadata }) => metadata));
  const heads = isSame ? before : retainHeads(store, before, named);
  const changes = isSame
    ? {}
    : { heads: await stageHeads(store, heads), tables: statesOf(heads, mirror.current.tables) };
  const until = new Date(now().getTime() + AT_WORK).toISOString();
  const facts = { lotlake_version: version, switched_at: now().toISOString(), vacuum_until: until };
  const switched = await switchTo(store, { ...mirror.current, ...facts, snapshots, ...changes }, mirror);
  if (!isSame) await finishHeads(store, switched.current, changedHeads(heads, before));
  return { switched, heads };
}

/** All objects except landing and the files of a REST catalog. */
async function listAll(store: ObjectStore): Promise<Map<string, Listed>> {
  const lists = [TABLES, FILES, SNAPSHOTS, MODELS].map((below) => store.list(below));
  return new Map((await Promise.all(lists)).flatMap((list) => [...list]));
}

/** Names of all objects that the kept snapshots need. */
function namesOf(records: readonly SnapshotRecord[], current: Current, heads: Heads): readonly string[] {
  const named = records.flatMap(({ snapshot_id, files, metadata }) => [
    recordName(snapshot_id),
    ...files.map(({ object }) => object),
    ...metadata,
  ]);
  return [...named, current.heads, ...heads.keys()];
}

/** Files of models that stay: those of kept snapshots, and those in a folder that was not named after a snapshot. */
function modelsOf(objects: ReadonlyMap<string, unknown>, kept: Current['snapshots']): readonly string[] {
  const ids = new Set(kept.map(({ snapshot_id }) => snapshot_id));
  return [...objects.keys()].filter((name) => {
    const folder = name.startsWith(MODELS) ? (name.slice(MODELS.length).split('/')[0] ?? '') : undefined;
    return folder !== undefined && (ids.has(folder) || !ID.test(folder));
  });
}

/** Objects to remove: those that nothing names and that are too old for a push under way. */
export const planObjects = (
  objects: ReadonlyMap<string, Pick<Listed, 'modified'>>,
  named: ReadonlySet<string>,
  now: Date,
): string[] =>
  [...objects]
    .filter(([name, { modified }]) => !named.has(name) && now.getTime() - modified.getTime() > GRACE)
    .map(([name]) => name);

/**
 * Removes objects while nobody may push, then allows pushes again, and returns the removed objects. The next vacuum removes
 * the rest. A removal that takes too long is ended, and pushes stay refused until `vacuum_until`.
 */
async function removeAll(
  names: readonly string[],
  mirror: Switched,
  { store, now }: Vacuuming,
): Promise<readonly string[]> {
  const until = Date.parse(mirror.current.vacuum_until ?? '') - CLOCKS;
  let at = 0;
  for (let left = until - now().getTime(); at < names.length && left > 0; left = until - now().getTime()) {
    store.signal.throwIfAborted();
    await store.remove(names.slice(at, at + MOST_REMOVED), AbortSignal.timeout(left));
    at += MOST_REMOVED;
    killPoint('mirror.objects-removed');
  }
  await switchTo(store, { ...mirror.current, vacuum_until: null }, mirror);
  killPoint('mirror.vacuumed');
  return names.slice(0, at);
}
