import { createHash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import {
  copyLarge,
  isWithin,
  makeLink,
  makeNewFolder,
  move,
  own,
  ownNamed,
  realPlace,
  remove,
  replaceFile,
} from '../../base/config/owned.js';
import { version } from '../../base/config/package-root.js';
import { TRASH } from '../../core/job/leftovers.js';
import { LOCK } from '../../core/job/lock.js';
import { NOTE as LAKE_NOTE } from '../../core/job/lock-lake.js';
import { assertUnbroken } from '../../core/lake/broken-link.js';
import { syncFolders } from '../../core/lake/disk.js';
import { syncCopy } from '../../core/lake/files.js';
import { unsoundError } from '../../core/lake/lake-error.js';
import { currentId, currentSnapshot, type Layout, layoutOf } from '../../core/lake/layout.js';
import { linkFile } from '../../core/lake/linked-files.js';
import { listSnapshots } from '../../core/lake/snapshots.js';
import { verifyFiles } from '../../core/lake/verify-files.js';
import { renewViews } from '../../core/lake/views.js';

/** File that tells a backup from any other folder. It holds a {@link Backup}. */
const NOTE = 'backup.json';

/** What a backup holds. */
export interface Backup {
  readonly path: string;
  /** Output folder that was copied. */
  readonly from: string;
  readonly made_at: string;
  /** Version of lotlake. */
  readonly lotlake: string;
  readonly snapshot_id: string | null;
  readonly snapshots: number;
  /** Snapshots that the copy lacks, because they were never finished or are not sound. */
  readonly left_out: readonly string[];
  /** Names of the files and folders beside the note. */
  readonly names: readonly string[];
  readonly files: number;
  readonly links: number;
  readonly bytes: number;
}

/** How a backup is made. */
interface Backing extends Readonly<{ to: string; force: boolean; now: Date; signal: AbortSignal }> {
  readonly describe?: (copy: string) => Promise<void>;
}

/**
 * Copies a lake to another folder: everything but scratch, with its hard links, and with views that name the copy. Every
 * file of a snapshot is compared with its checksum. The copy is made beside its place and renamed when it is whole and on
 * disk. The caller holds the lock of the output folder. Throws LAKE_BACKUP_EXISTS if something is in the way, LAKE_UNSOUND
 * if the current snapshot is damaged or the link to it broken, and LAKE_BACKUP if the copy cannot be made; then nothing is left of the copy.
 * @param to folder that the copy becomes; with `force` an earlier backup is replaced
 * @param describe writes what names the place of a lake into the copy, which is in a folder beside its place
 */
export async function backUp(
  connection: DuckDBConnection,
  layout: Layout,
  { to, force, now, signal, describe }: Backing,
): Promise<Backup> {
  checkPlace(layout, to, force);
  assertUnbroken(layout);
  const staging = join(dirname(to), `.${basename(to)}${endingOf(layout)}`);
  try {
    ownNamed(to);
    removeDead(layout, to);
    makeNewFolder(own(staging));
    const unfinished = listSnapshots(layout).filter(({ manifest }) => manifest === undefined);
    const without = new Set([layout.work, layout.lock, ...unfinished.map(({ folder }) => folder)]);
    const copied = await copyTree(layout, staging, without, signal);
    killPoint('backup.copied');
    const copy = layoutOf(staging);
    const damaged = await checkSnapshots(copy, signal);
    for (const { folder } of listSnapshots(copy))
      await renewViews(connection, folder, join(to, relative(staging, folder)));
    await describe?.(staging);
    const backup = {
      path: to,
      from: layout.output,
      made_at: now.toISOString(),
      lotlake: version,
      snapshot_id: currentId(copy),
      snapshots: listSnapshots(copy).length,
      ...copied,
      /** Snapshots that the copy lacks, because they were never finished or are not sound. */
      left_out: [...unfinished.map(({ id }) => id), ...damaged],
      /** Names of the files and folders beside the note. */
      names: readdirSync(staging).sort(),
    };
    // A backup of a backup has one already.
    replaceFile(join(staging, NOTE), `${JSON.stringify(backup, null, 1)}\n`);
    await syncCopy(staging);
    killPoint('backup.checked');
    signal.throwIfAborted();
    await commit(layout, staging, to);
    return backup;
  } catch (error) {
    if (existsSync(staging)) remove(staging);
    if ((error instanceof LotlakeError && error.stage === 'lake') || signal.aborted) throw error;
    throw new LotlakeError('LAKE_BACKUP', `${to} cannot be made: ${messageOf(error)}`, {
      cause: error,
      hint: 'the lake is as it was, and nothing is left of the copy; mend the cause or name another folder',
    });
  }
}

/** Ending of the folders in which copies of one lake are made. The lock of the lake allows one at a time. */
const endingOf = ({ output }: Layout): string =>
  `.${createHash('sha256').update(realpathSync(output)).digest('hex').slice(0, 8)}.backup-tmp`;

/** Comes before that ending while an earlier backup waits for the new one to take its place. */
const REPLACED = '.replaced';

/** Removes what killed backups of this lake left beside the place, and puts back the backups that they moved away. */
function removeDead(layout: Layout, to: string): void {
  const ending = endingOf(layout);
  for (const name of readdirSync(dirname(to))) {
    if (!name.startsWith('.') || !name.endsWith(ending)) continue;
    const left = own(join(dirname(to), name));
    const before = name.slice(1, -ending.length);
    const place = own(join(dirname(to), before.slice(0, -REPLACED.length)));
    if (before.endsWith(REPLACED) && !existsSync(place)) move(left, place);
    else remove(left);
  }
}

function checkPlace(layout: Layout, to: string, force: boolean): void {
  const [place, lake] = [realPlace(to), realPlace(layout.output)];
  if (isWithin(place, lake) || isWithin(lake, place))
    throw inTheWay(
      `${to} and the lake in ${layout.output} lie in one another`,
      'name a folder beside the lake',
    );
  if (!existsSync(layout.lake) && !existsSync(layout.landing))
    throw new LotlakeError('LAKE_BACKUP', `there is no lake in ${layout.output}`, {
      outcome: 'usage',
      hint: 'name the folder of the lake with --output',
    });
  if (!existsSync(to) || (statSync(to).isDirectory() && readdirSync(to).length === 0)) return;
  if (!force)
    throw inTheWay(`${to} exists`, 'name another folder, or replace an earlier backup with --force');
  const foreign = foreignIn(to);
  if (foreign !== undefined) throw inTheWay(foreign, '--force replaces only a backup; name another folder');
}

/** Contents of the note. */
const noteSchema = z.object({ lotlake: z.string(), from: z.string(), names: z.array(z.string()) });

/** Why a folder may not be replaced: it is not a backup, or it holds other files. Undefined for a backup. */
function foreignIn(to: string): string | undefined {
  const note = readNote(to);
  if (note === undefined) return `${to} was not made by a backup`;
  const ours = new Set([NOTE, ...note.names]);
  const foreign = readdirSync(to).find((name) => !ours.has(name));
  return foreign === undefined ? undefined : `${to} holds ${foreign}, which no backup made`;
}

function readNote(folder: string): z.output<typeof noteSchema> | undefined {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(join(folder, NOTE), 'utf8')));
  } catch {
    return undefined;
  }
}

const inTheWay = (message: string, hint: string): LotlakeError =>
  new LotlakeError('LAKE_BACKUP_EXISTS', message, { outcome: 'usage', hint });

/** Copies everything but scratch and the paths in `without`. Hard links stay hard links. */
async function copyTree(layout: Layout, staging: string, without: ReadonlySet<string>, signal: AbortSignal) {
  const copied = { files: 0, links: 0, bytes: 0 };
  const names = new Map<string, string>();
  for (const [path, found] of treeOf(layout, without, layout.output)) {
    signal.throwIfAborted();
    const to = join(staging, relative(layout.output, path));
    if (found.isDirectory()) makeNewFolder(to);
    if (found.isSymbolicLink()) makeLink(readlinkSync(path), to);
    if (!found.isFile()) continue;
    const inode = `${found.dev}:${found.ino}`;
    const first = names.get(inode);
    copied.files++;
    if (first !== undefined) {
      linkFile(first, to);
      copied.links++;
      continue;
    }
    names.set(inode, to);
    await copyLarge(path, to);
    copied.bytes += found.size;
    if (statSync(to).size !== found.size) throw new TypeError(`${path} changed while it was copied`);
    killPoint('backup.file-copied');
  }
  return copied;
}

/** What a backup copies below a folder, each folder before its contents. */
function* treeOf(layout: Layout, without: ReadonlySet<string>, folder: string): Generator<[string, Stats]> {
  // These may be links to another disk; any other link stays a link.
  const followed = [layout.lake, layout.snapshots, layout.landing];
  for (const name of readdirSync(folder).sort()) {
    const path = join(folder, name);
    if (without.has(path) || isScratch(layout, path) || namesItsPlace(layout, path)) continue;
    const found = followed.includes(path) ? statSync(path) : lstatSync(path);
    yield [path, found];
    if (found.isDirectory()) yield* treeOf(layout, without, path);
  }
}

/** Whether a path is Iceberg metadata, which holds absolute paths. The copy gets its own. */
const namesItsPlace = (layout: Layout, path: string): boolean =>
  basename(path) === 'metadata' && dirname(dirname(dirname(path))) === layout.snapshots;

/** Whether a killed run or vacuum left a path, which the next one removes, or a path is for this lake alone. */
function isScratch(layout: Layout, path: string): boolean {
  const name = basename(path);
  return (
    /\.tmp(\.wal)?$/.test(name) ||
    name === TRASH ||
    // The copy is another lake.
    name === LAKE_NOTE ||
    ([layout.output, layout.lake, layout.landing].includes(dirname(path)) && name.startsWith(LOCK))
  );
}

/**
 * Compares the files of the copied snapshots with their manifests. Removes older snapshots that are not sound from the copy
 * and returns their ids.
 */
async function checkSnapshots(copy: Layout, signal: AbortSignal): Promise<string[]> {
  const damaged: string[] = [];
  const current = currentSnapshot(copy);
  if (current !== undefined && !existsSync(join(current, 'manifest.json')))
    throw unsound(basename(current), 'it has no manifest that can be read');
  for (const { id, folder, manifest } of listSnapshots(copy)) {
    if (manifest === undefined) continue;
    const [problem] = await verifyFiles(folder, manifest, signal);
    if (problem === undefined) continue;
    const { file, found, expected } = problem;
    if (folder === current) throw unsound(id, `${file}: ${found} instead of ${expected}`);
    remove(folder);
    damaged.push(id);
  }
  return damaged;
}

const unsound = (id: string, what: string): LotlakeError =>
  unsoundError(
    `the copy of the current snapshot ${id} is not sound: ${what}`,
    'nothing is left of the copy; lotlake verify tells whether the lake itself is damaged',
  );

/** Gives the copy its name. An earlier backup goes once the new one is there; an empty folder is replaced. */
async function commit(layout: Layout, staging: string, to: string): Promise<void> {
  const replaced = join(dirname(to), `.${basename(to)}${REPLACED}${endingOf(layout)}`);
  const isReplacing = existsSync(to) && readdirSync(to).length > 0;
  if (isReplacing) move(to, own(replaced));
  move(staging, to);
  await syncFolders([dirname(to)]);
  if (isReplacing) remove(replaced);
}
