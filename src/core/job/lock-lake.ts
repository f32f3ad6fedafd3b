import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { isLink, makeFolder, notOwned, realPlace, replaceFile } from '../../base/config/owned.js';
import { isDiskFull } from '../lake/lake-error.js';
import { currentSnapshot, type Layout } from '../lake/layout.js';
import { streamNames } from '../service/streams.js';
import { trashFolders } from './leftovers.js';
import { LOCK, type LockOptions, takeLock } from './lock.js';

/** Name of the file in `lake` and `landing`, and in `snapshots` on another disk, that says which lake it is part of. */
export const NOTE = '.lake.json';

const noteSchema = z.object({ lake_id: z.string().regex(/^[0-9a-f]{16}$/) });

/** A part of a lake, with the real places of the part, of its lake and of the output folder when the note was written. */
const partSchema = noteSchema.extend({ at: z.string(), lake: z.string(), output: z.string() });

/**
 * Takes the locks of a lake: of its output folder, and of its lake and its landing, which may lie on other disks and be
 * reached from other output folders. Throws LAKE_LOCKED, LAKE_NOT_OWNED if a folder that lotlake makes is a link, and
 * LAKE_OF_OTHERS if snapshots or landing belong to another lake.
 */
export async function lockLake(layout: Layout, options: LockOptions) {
  assertFolders(layout);
  const locks: Awaited<ReturnType<typeof takeLock>>[] = [];
  const release = (): void => {
    for (const lock of locks.reverse()) lock.release();
  };
  try {
    for (const path of [layout.lock, join(layout.lake, LOCK), join(layout.landing, LOCK)])
      locks.push(await takeLock(path, options));
    const token = locks[0]?.token;
    return { token, lakeId: claim(layout), isHeld: () => locks.every((lock) => lock.isHeld()), release };
  } catch (error) {
    release();
    throw error;
  }
}

/** Throws LAKE_NOT_OWNED if a folder that only lotlake makes is a link. Output, lake, snapshots and landing may be links. */
function assertFolders(layout: Layout): void {
  const { output, landing, work, runs, failedTests, models, notified } = layout;
  const streams = streamNames.map((stream) => join(landing, stream));
  for (const folder of [work, runs, failedTests, models, notified, ...trashFolders(layout), ...streams])
    if (isLink(folder)) throw notOwned(folder, realPlace(folder), output);
}

/** Notes which lake landing belongs to, and snapshots that lie on another disk. Returns its id. */
function claim(layout: Layout): string {
  const { lake, snapshots, landing } = layout;
  const known = noteIn(lake, noteSchema)?.lake_id;
  // A lake that is made from landing takes the id of its landing.
  const landed = currentSnapshot(layout) === undefined ? noteIn(landing, noteSchema)?.lake_id : undefined;
  const lake_id = known ?? landed ?? randomBytes(8).toString('hex');
  for (const name of ['snapshots', 'landing'] as const) {
    const folder = layout[name];
    if (name === 'snapshots' && !isLink(snapshots)) continue;
    const here = { lake_id, at: realPlace(folder), lake: realPlace(lake), output: realPlace(layout.output) };
    const within = dirname(here.at);
    if (within !== here.lake && noteIn(within, noteSchema) !== undefined) throw ofOthers(folder, within);
    makeFolder(folder);
    const note = noteIn(folder, partSchema);
    if (note !== undefined && isOfOthers(note, here, name)) throw ofOthers(folder, note.output);
    if (JSON.stringify(note) !== JSON.stringify(here)) write(folder, here);
  }
  if (known === undefined) write(lake, { lake_id });
  return lake_id;
}

type Part = z.output<typeof partSchema>;

/** Whether a part belongs to another lake: it came from there, or that lake is still there and has its part here. */
function isOfOthers(note: Part, here: Part, name: 'snapshots' | 'landing'): boolean {
  if (note.at !== here.at) return name === 'landing' && note.lake_id !== here.lake_id;
  if (realPlace(note.lake) === here.lake) return false;
  const isThere = noteIn(note.lake, noteSchema)?.lake_id === note.lake_id;
  return isThere && realPlace(join(name === 'landing' ? note.output : note.lake, name)) === here.at;
}

const ofOthers = (folder: string, place: string): LotlakeError =>
  new LotlakeError('LAKE_OF_OTHERS', `${folder} belongs to another lake, in ${place}`, {
    outcome: 'usage',
    hint: 'nothing was changed; two lakes cannot share snapshots or landing: make a copy with lotlake backup, or take the folder away',
  });

/** Writes a note. A full disk has no room for it, and a vacuum must go on; the next lock writes it. */
function write(folder: string, note: z.output<typeof noteSchema>): void {
  try {
    replaceFile(join(folder, NOTE), `${JSON.stringify(note)}\n`);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** The note of a folder; undefined if there is none that can be read. */
function noteIn<T>(folder: string, schema: z.ZodType<T>): T | undefined {
  const path = join(folder, NOTE);
  return existsSync(path) && !isLink(path)
    ? schema.safeParse(jsonIn(readFileSync(path, 'utf8'))).data
    : undefined;
}
