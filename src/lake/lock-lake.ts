import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../config/json.js';
import { LotlakeError } from '../config/lotlake-error.js';
import { isLink, notOwned, realPlace, replaceFile } from '../config/owned.js';
import { streamNames } from '../service/streams.js';
import { currentSnapshot, type Layout, layoutOf } from './layout.js';
import { trashFolders } from './leftovers.js';
import { LOCK, type LockOptions, takeLock } from './lock.js';

/** Name of the file in `lake`, `snapshots` and `landing` that says which lake it is, or is part of. */
export const NOTE = '.lake.json';

const noteSchema = z.object({ lake_id: z.string().regex(/^[0-9a-f]{16}$/) });

/** A part of a lake, with the real places of the part, of its lake and of the output folder when the note was written. */
const partSchema = noteSchema.extend({ at: z.string(), lake: z.string(), output: z.string() });

/**
 * Takes the locks of a lake: of its output folder, and of its snapshots and its landing, which may lie on other disks and be
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
    for (const path of [layout.lock, join(layout.snapshots, LOCK), join(layout.landing, LOCK)])
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
  const { output, landing, work, runs, failedTests, models } = layout;
  const streams = streamNames.map((stream) => join(landing, stream));
  for (const folder of [work, runs, failedTests, models, ...trashFolders(layout), ...streams])
    if (isLink(folder)) throw notOwned(folder, realPlace(folder), output);
}

/** Notes which lake snapshots and landing belong to. Returns its id. */
function claim(layout: Layout): string {
  const parts = [
    { name: 'snapshots', folder: layout.snapshots },
    { name: 'landing', folder: layout.landing },
  ] as const;
  const known = noteIn(layout.lake, noteSchema)?.lake_id;
  // A lake that is made from landing takes the id of its landing.
  const landed =
    currentSnapshot(layout) === undefined ? noteIn(layout.landing, noteSchema)?.lake_id : undefined;
  const lake_id = known ?? landed ?? randomBytes(8).toString('hex');
  for (const { name, folder } of parts) {
    const here = {
      lake_id,
      at: realPlace(folder),
      lake: realPlace(layout.lake),
      output: realPlace(layout.output),
    };
    const note = noteIn(folder, partSchema);
    if (note !== undefined && isOfOthers(note, here, name)) throw ofOthers(folder, note);
    if (JSON.stringify(note) !== JSON.stringify(here)) write(folder, here);
  }
  if (known === undefined) write(layout.lake, { lake_id });
  return lake_id;
}

type Part = z.output<typeof partSchema>;

/** Whether a part belongs to another lake: it came from there, or that lake is still there and has its part here. */
function isOfOthers(note: Part, here: Part, name: 'snapshots' | 'landing'): boolean {
  if (note.at !== here.at) return name === 'landing' && note.lake_id !== here.lake_id;
  if (note.lake === here.lake) return false;
  const other = layoutOf(note.output);
  const isThere = noteIn(note.lake, noteSchema)?.lake_id === note.lake_id;
  return isThere && realPlace(other[name]) === here.at;
}

const ofOthers = (folder: string, { output, lake_id }: Part): LotlakeError =>
  new LotlakeError('LAKE_OF_OTHERS', `${folder} belongs to the lake ${lake_id} in ${output}`, {
    outcome: 'usage',
    hint: 'nothing was changed; two lakes cannot share snapshots or landing: make a copy with lotlake backup, or take the folder away',
  });

const write = (folder: string, note: z.output<typeof noteSchema>): void =>
  replaceFile(join(folder, NOTE), `${JSON.stringify(note)}\n`);

/** The note of a folder; undefined if there is none that can be read. */
function noteIn<T>(folder: string, schema: z.ZodType<T>): T | undefined {
  const path = join(folder, NOTE);
  return existsSync(path) && !isLink(path)
    ? schema.safeParse(jsonIn(readFileSync(path, 'utf8'))).data
    : undefined;
}
