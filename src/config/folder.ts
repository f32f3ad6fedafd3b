import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, codeOf, messageOf } from './lotlake-error.js';

/** Most characters of a setting that a message repeats. */
const LONGEST = 120;

/** What was given, in quotes and on one line; the end of a long text is left out. */
export function quoted(given: unknown): string {
  const text = JSON.stringify(given) ?? String(given);
  const shown = text.replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

/** Throws what is wrong with a path that a person named. `place` is the setting or option, as a message names it. */
function refuse(place: string, given: string, problem: string, other = 'folder'): never {
  throw new ConfigError(`${place} is ${quoted(given)}: ${problem}`, `name another ${other}`);
}

/** What DuckDB reads as a pattern of file names, and what is no path of this machine. */
function problemOf(path: string): string | undefined {
  if (path.trim() === '') return 'it names nothing';
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(path) ?? [];
  if (scheme?.toLowerCase() === 's3')
    return 's3: is not supported here; lotlake works in folders of this machine, and lotlake push s3://bucket/prefix copies the published lake there';
  if (scheme !== undefined)
    return `${scheme}: is not supported; lotlake reads and writes folders of this machine`;
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'it has a control character';
  return /[*?[\]{}\\]/.test(path) ? 'the path has one of the characters * ? [ ] { } \\' : undefined;
}

function readPath(place: string, given: string, cwd: string, kind: 'folder' | 'place'): string {
  const path = resolve(cwd, given);
  const problem = problemOf(given) ?? problemOf(path);
  if (problem !== undefined) refuse(place, given, problem, 'folder or file');
  const found = nearestPlace(place, kind === 'folder' ? path : dirname(path), given);
  return found.isFolder ? path : refuse(place, given, `${found.path} is no folder`, kind);
}

/**
 * The absolute path of a folder that is there or can be made: what is on the way to it is folders.
 * @throws ConfigError where a file is in the way, or the way cannot be looked at
 */
export const readFolder = (place: string, given: string, cwd: string): string =>
  readPath(place, given, cwd, 'folder');

/** The absolute path of a file whose folder is there or can be made. Throws as {@link readFolder} does. */
export const readFile = (place: string, given: string, cwd: string): string =>
  readPath(place, given, cwd, 'place');

/** {@link readFolder} of a folder that has to be there. */
export function readExistingFolder(place: string, given: string, cwd: string): string {
  const folder = readFolder(place, given, cwd);
  const isThere = nearestPlace(place, folder, given).path === folder;
  return isThere ? folder : refuse(place, given, `there is no folder ${folder}`);
}

/** Throws ConfigError where nothing can be written to a folder, or where it cannot be made. */
export function assertWritable(place: string, folder: string): void {
  const { path } = nearestPlace(place, folder, folder);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(`${place} ${folder} cannot be written: ${messageOf(error)}`, 'name another folder');
  }
}

/** The path itself where there is something, or what the nearest part of the way to it is. */
function nearestPlace(place: string, path: string, given: string): { path: string; isFolder: boolean } {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return { path, isFolder: found.isDirectory() };
  } catch (error) {
    // Below a file. The next step up meets that file.
    if (codeOf(error) !== 'ENOTDIR') refuse(place, given, messageOf(error));
  }
  return nearestPlace(place, dirname(path), given);
}
