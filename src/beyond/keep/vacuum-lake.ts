import { existsSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { removeEmpty, removeLarge } from '../../base/config/owned.js';
import { findLeftovers, moveAway, trashFolders } from '../../core/job/leftovers.js';
import { strangeRuns } from '../../core/job/run-records.js';
import { measure } from '../../core/lake/files.js';
import { unsoundError } from '../../core/lake/lake-error.js';
import { currentSnapshot, type Layout } from '../../core/lake/layout.js';
import { readManifest } from '../../core/lake/manifest.js';
import { findPasses } from '../../core/lake/passes/pass.js';
import { findMissing } from '../../core/lake/presence.js';
import { findPublished, type Published, readIds, type Snapshot } from '../../core/lake/snapshots.js';
import { type LakeFacts, planPasses, planSnapshots, type Retention } from './vacuum-plan.js';

/** What a vacuum removes and leaves. Paths are below the output folder. */
export interface VacuumPlan {
  readonly removals: readonly Removal[];
  /** Snapshots, passes and records of runs that cannot be read, and stay whatever their age. */
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
  /** Passes over `/cars` that are past retention and stay, because a delta that is kept builds on them. */
  readonly staying: readonly string[];
  /** Bytes. */
  readonly freed: number;
  readonly kept: { readonly snapshots: number; readonly passes: number };
}

/** A folder or file that a vacuum removes. */
interface Removal {
  readonly kind: 'snapshot' | 'pass' | 'leftover';
  readonly path: string;
  readonly reason: string;
  /** Bytes of its files, and the bytes that are free once it is gone. */
  readonly bytes: number;
  readonly freed: number;
}

/** Throws LAKE_NOT_FOUND if an output folder has nothing of lotlake, such as a folder with a mistyped name. */
export function assertLake({ output, lake, landing, work }: Layout): void {
  if ([lake, landing, work].some((folder) => existsSync(folder))) return;
  throw new LotlakeError('LAKE_NOT_FOUND', `there is no lake in ${output}`, {
    outcome: 'usage',
    hint: 'nothing was made or removed; name the folder of a lake with --output or LOTLAKE_OUTPUT',
  });
}

/**
 * Finds what can be removed. The caller holds the lock of the output folder, so no run is at work. Throws LAKE_UNSOUND if
 * the current snapshot is damaged, because then nothing says what the lake still needs.
 */
export async function planVacuum(
  connection: DuckDBConnection,
  layout: Layout,
  retention: Retention,
): Promise<VacuumPlan> {
  const published = await findPublished(connection, layout);
  const { snapshots } = published;
  const lake = await factsOf(connection, layout, published);
  const landed = findPasses(layout.landing);
  const passes = landed.passes.map(({ folder, record }) => ({ ...record, folder }));
  const planned = planPasses(passes, lake, retention.keepPasses);
  const old = [
    ...planSnapshots(snapshots, lake, retention).map((going) => ({ ...going, kind: 'snapshot' as const })),
    ...planned.removals.map((going) => ({ ...going, kind: 'pass' as const })),
  ].map(({ what, kind, reason }) => ({ path: what.folder, kind, reason }));
  const going = new Set(old.map(({ path }) => path));
  const kept = (all: readonly { folder: string }[]): string[] =>
    all.map(({ folder }) => folder).filter((folder) => !going.has(folder));
  const [keptSnapshots, keptPasses] = [kept(snapshots), kept(passes)];
  const leftovers = findLeftovers(layout, [...keptSnapshots, ...keptPasses]);
  const below = (path: string): string => relative(layout.output, path);
  const removals = measure([...leftovers, ...old]).map((each) => ({ ...each, path: below(each.path) }));
  return {
    removals,
    unreadable: [...unreadableSnapshots(published), ...landed.unreadable, ...strangeRuns(layout)].map(
      ({ folder, reason }) => ({
        path: below(folder),
        reason,
      }),
    ),
    staying: planned.staying.map(({ folder }) => below(folder)),
    freed: removals.reduce((sum, { freed }) => sum + freed, 0),
    kept: { snapshots: keptSnapshots.length, passes: keptPasses.length },
  };
}

/** Snapshots whose manifest or whose runs cannot be read. */
function unreadableSnapshots({ snapshots, ids, unreadable }: Published) {
  const isUnread = (snapshot: Snapshot): boolean =>
    snapshot.manifest === undefined && (snapshot.isSealed || ids.has(snapshot.id));
  return [
    ...snapshots.filter(isUnread).map(({ folder }) => ({ folder, reason: 'its manifest cannot be read' })),
    ...unreadable.map(({ snapshot: { folder }, reason }) => ({
      folder,
      reason: `its runs, which tell what was published, cannot be read, so that no snapshot is taken for one that never was: ${reason}`,
    })),
  ];
}

async function factsOf(
  connection: DuckDBConnection,
  layout: Layout,
  { ids: published, unreadable }: Published,
): Promise<LakeFacts> {
  const folder = currentSnapshot(layout);
  const isAllKnown = unreadable.length === 0;
  if (folder === undefined || !existsSync(folder))
    return { current: undefined, published, isAllKnown, passes: new Set() };
  const manifest = readManifest(folder);
  const [missing] = findMissing(folder, manifest);
  if (missing !== undefined)
    throw unsound(`${join(folder, missing.file ?? '')}: ${missing.found} instead of ${missing.expected}`);
  const passes = await readIds(connection, { folder, manifest }, 'passes', 'pass_id').catch(
    (cause: unknown) => {
      throw unsound(`${join(folder, 'passes')} cannot be read: ${messageOf(cause)}`);
    },
  );
  return { current: basename(folder), published, isAllKnown, passes: new Set(passes) };
}

/** Nothing is removed then: landing and older snapshots may be all that is left of a damaged lake. */
const unsound = (message: string): LotlakeError =>
  unsoundError(message, 'nothing was removed; lotlake verify names all that is wrong');

/**
 * Removes what a plan names. A folder is first moved to where no reader lists it, so no reader sees half of it. If a
 * vacuum dies, the next one removes what is left there.
 */
export async function executeVacuum(layout: Layout, plan: VacuumPlan, signal: AbortSignal): Promise<void> {
  killPoint('vacuum.planned');
  for (const { path, kind } of plan.removals) {
    signal.throwIfAborted();
    const place = join(layout.output, path);
    const gone = kind === 'leftover' ? place : moveAway(place);
    await removeLarge(gone);
    killPoint('vacuum.folder-deleted');
  }
  for (const folder of trashFolders(layout)) if (existsSync(folder)) removeEmpty(folder);
  killPoint('vacuum.done');
}
