import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { makeFolder, move, remove, removeEmpty } from '../../base/config/owned.js';
import type { BaseState } from '../lake/base.js';
import { ID } from '../lake/ids.js';
import { isDiskFull } from '../lake/lake-error.js';
import type { Layout } from '../lake/layout.js';
import { changePass, listPasses } from '../lake/passes/pass.js';
import { listSnapshots } from '../lake/snapshots.js';
import { CLAIM, isProcess } from './lock.js';
import { KEPT_DAYS, oldRuns } from './run-records.js';

/** Folder beside snapshots or streams for what is being deleted. No reader lists it. */
export const TRASH = '.trash';

/** Folders into which a vacuum moves things before it deletes them. */
export function trashFolders(layout: Layout): string[] {
  return [join(layout.lake, TRASH), join(layout.landing, TRASH)];
}

/**
 * Finds what dead runs and vacuums left and a vacuum may remove. The caller holds the lock of the output folder.
 * @param kept folders of the snapshots and passes that stay
 */
export function findLeftovers(layout: Layout, kept: readonly string[]) {
  const { output, landing, lake, work } = layout;
  const found: readonly (readonly [reason: string, paths: readonly string[]])[] = [
    ['left by a run that died', [work].filter(existsSync)],
    ['left by a vacuum that died', trashFolders(layout).flatMap((folder) => matching(folder, /./))],
    ['a pass that never began', emptyPasses(layout)],
    ['begun by a process that died', findPartials(output, [landing, lake, work])],
    [
      'temporary file',
      [lake, landing].flatMap((folder) =>
        matching(folder, /^(current|warehouse|\.lake\.json)\.[0-9a-f]+\.tmp(\.wal)?$/),
      ),
    ],
    [`record of a run more than ${KEPT_DAYS} days ago`, oldRuns(layout)],
    ['temporary file', matching(layout.runs, ID).flatMap((folder) => matching(folder, /\.tmp$/))],
    [
      'temporary file',
      [output, lake, landing]
        .flatMap((folder) => matching(folder, /^lotlake\.lock\./))
        .filter((path) => path.endsWith(CLAIM)),
    ],
    ['temporary file', kept.flatMap((folder) => matching(folder, /\.tmp$/))],
  ];
  return found.flatMap(([reason, paths]) =>
    paths.map((path) => ({ path, kind: 'leftover' as const, reason })),
  );
}

/** Pass folders without a `pass.json` and without a page. Their run died while it made them. */
function emptyPasses(layout: Layout): string[] {
  return matching(layout.landing, /^[a-z_]+$/)
    .flatMap((stream) => matching(stream, ID))
    .filter((folder) => matching(folder, /^pass\.json$|\.gz$/).length === 0);
}

function matching(folder: string, name: RegExp): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((entry) => name.test(entry))
    .sort()
    .map((entry) => join(folder, entry));
}

/**
 * A hidden path beside a file or folder, for the version that a process is making. It names the process, so a vacuum can
 * tell what a dead process left.
 * @param kind `replaced` is the earlier version, which waits there until the new one has the name
 */
export function partialOf(path: string, kind: 'partial' | 'replaced' = 'partial'): string {
  const writer = `${randomBytes(4).toString('hex')}.${process.pid}.${hostname()}`;
  return join(dirname(path), `.${basename(path)}.${kind}-${writer}`);
}

/** Final name, kind, process and host in a path of {@link partialOf}. */
const PARTIAL = /^\.(.+)\.(partial|replaced)-[0-9a-f]{8}\.(\d+)\.(.+)$/;

/** Milliseconds without a write after which a process of another host counts as dead. */
const SILENCE = 86_400_000;

/**
 * Files and folders that dead processes began to make below a folder. Symbolic links are not followed.
 * @param except folders that are not searched
 */
function findPartials(folder: string, except: readonly string[] = []): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (except.includes(path)) return [];
    const found = PARTIAL.exec(entry.name);
    if (found === null) return entry.isDirectory() ? findPartials(path) : [];
    const [, final = '', kind, pid, host] = found;
    // If the new version never got the name, the earlier one is all that is left.
    if (kind === 'replaced' && !existsSync(join(folder, final))) return [];
    return isDead(path, pid, host) ? [path] : [];
  });
}

function isDead(path: string, pid: string | undefined, host: string | undefined): boolean {
  if (host === hostname()) return !isProcess(Number(pid));
  return Date.now() - lastWritten(path) > SILENCE;
}

/** When anything in a file or folder was last written, in milliseconds. */
function lastWritten(path: string): number {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 0;
  const inside = stat.isDirectory() ? readdirSync(path).map((name) => lastWritten(join(path, name))) : [];
  return Math.max(stat.mtimeMs, ...inside);
}

/** Removes the folder of a pass as a vacuum does: a reader that lists passes sees all of it or nothing. */
export function removePass(folder: string): void {
  const moved = moveAway(folder);
  remove(moved);
  removeEmpty(dirname(moved));
}

/**
 * The trash is beside the parent of a snapshot or pass, because lake and landing may be on two disks. If the disk is too full
 * for that folder, what goes takes its place.
 */
export function moveAway(place: string): string {
  const trash = join(dirname(dirname(place)), TRASH);
  const moved = makeTrash(trash) ? join(trash, basename(place)) : trash;
  move(place, moved);
  killPoint('vacuum.moved');
  return moved;
}

/** Makes the folder of the trash. Returns false if there is no room for it. */
function makeTrash(trash: string): boolean {
  try {
    makeFolder(trash);
    return true;
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return false;
  }
}

/** Marks the published passes that an earlier run left unmarked, because it was killed right after the switch. */
export function settlePasses({ landing }: Layout, base: BaseState | undefined): void {
  const merged = new Set(base?.manifest.pass_ids);
  for (const { folder, record } of merged.size === 0 ? [] : listPasses(landing))
    if (merged.has(record.pass_id) && !record.published) changePass(folder, { published: true });
}

/**
 * Removes unpublished lookups of single vehicles from landing. Those of a closing run stay, and the next one resumes them.
 */
export function removeLeftLookups({ landing }: Layout): void {
  for (const { folder, record } of listPasses(landing, 'cars')) {
    const { kind, request, published } = record;
    if (kind === 'lookup' && request.pipeline !== 'closing' && !published) removePass(folder);
  }
}

/** The place of the next run in the order of the lake: after every snapshot and pass, whatever came of them. */
export function nextSequence(layout: Layout): number {
  const places = [
    ...listSnapshots(layout).map(({ manifest }) => manifest?.sequence ?? 0),
    ...listPasses(layout.landing).map(({ record }) => record.sequence),
  ];
  return 1 + places.reduce((last, place) => Math.max(last, place), 0);
}
