import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { MartRow, WorldNight } from './night.js';

/** All rows of a mart, computed from the records as served. */
export type Oracle = (night: WorldNight) => readonly MartRow[] | Promise<readonly MartRow[]>;

const folder = join(dirname(fileURLToPath(import.meta.url)), 'marts');

/** The oracle of every mart: `marts/<mart>.ts` exports `rows`. */
export async function oracles(): Promise<Map<string, Oracle>> {
  const found = new Map<string, Oracle>();
  for (const file of readdirSync(folder).sort()) {
    const module = await import(pathToFileURL(join(folder, file)).href);
    found.set(basename(file, '.ts'), module.rows);
  }
  return found;
}
