import { randomBytes } from 'node:crypto';
import { type Dirent, existsSync, readdirSync, statSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isProcess } from './holder.js';

/**
 * Path beside a file or folder for what a process is making of it: hidden, and with the process in its name, so that a
 * vacuum can tell what a dead one left.
 * @param kind `replaced` is what had the name before
 */
export function partialOf(path: string, kind: 'partial' | 'replaced' = 'partial'): string {
  const writer = `${randomBytes(4).toString('hex')}.${process.pid}.${hostname()}`;
  return join(dirname(path), `.${basename(path)}.${kind}-${writer}`);
}

/** Final name, kind, process and host of a path of {@link partialOf}; earlier versions named no process. */
const PARTIAL = /^\.(.+)\.(partial|replaced)-[0-9a-f]{8}(?:\.(\d+)\.(.+))?$/;

/** How long nothing was written to what a process of another host makes before it counts as dead, in milliseconds. */
const SILENCE = 86_400_000;

/**
 * Files and folders below a folder that processes which are gone began to make. Symbolic links are not followed.
 * @param except folders that are not looked into
 */
export function findPartials(folder: string, except: readonly string[] = []): string[] {
  if (!existsSync(folder)) return [];
  return entriesOf(folder).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (except.includes(path)) return [];
    const found = PARTIAL.exec(entry.name);
    if (found === null) return entry.isDirectory() ? findPartials(path) : [];
    const [, final = '', kind, pid, host] = found;
    // What was to be replaced is all that is left where its successor never got the name.
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
  const inside = stat.isDirectory() ? entriesOf(path).map(({ name }) => lastWritten(join(path, name))) : [];
  return Math.max(stat.mtimeMs, ...inside);
}

const entriesOf = (folder: string): Dirent[] =>
  readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
