import { accessSync, constants, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { ConfigError, codeOf, messageOf } from './lotlake-error.js';

/** Most characters of a setting that a message repeats. */
const LONGEST = 120;

/** A value in quotes and on one line, without the end of a long text. */
export function quoted(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  const shown = text.replaceAll(
    /[\u007f-\u009f]/g,
    (character) => `\\u00${character.charCodeAt(0).toString(16)}`,
  );
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST)}…` : shown;
}

/** Throws ConfigError for a bad path. `place` is the setting or option, as a message names it. */
function refuse(place: string, given: string, problem: string, other = 'folder'): never {
  throw new ConfigError(`${place} is ${quoted(given)}: ${problem}`, `name another ${other}`);
}

/** What is wrong with a path: it is not a local path, or DuckDB reads it as a pattern of file names. */
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
 * The absolute path of a folder that exists or can be made.
 * @throws ConfigError if a file is in its way, or a folder on the way cannot be read
 */
export const readFolder = (place: string, given: string, cwd: string): string =>
  readPath(place, given, cwd, 'folder');

/** The absolute path of a file whose folder exists or can be made. Throws as {@link readFolder} does. */
export const readFile = (place: string, given: string, cwd: string): string =>
  readPath(place, given, cwd, 'place');

/** {@link readFolder} of a folder that has to exist. */
export function readExistingFolder(place: string, given: string, cwd: string): string {
  const folder = readFolder(place, given, cwd);
  const isThere = nearestPlace(place, folder, given).path === folder;
  return isThere ? folder : refuse(place, given, `there is no folder ${folder}`);
}

/** Throws ConfigError if nothing can be written to a folder, or if it cannot be made. */
export function assertWritable(place: string, folder: string): void {
  const { path } = nearestPlace(place, folder, folder);
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new ConfigError(`${place} ${folder} cannot be written: ${messageOf(error)}`, 'name another folder');
  }
}

/** The path itself if it exists, else its nearest parent that does. */
function nearestPlace(place: string, path: string, given: string): { path: string; isFolder: boolean } {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return { path, isFolder: found.isDirectory() };
  } catch (error) {
    // The path is below a file. The next step up meets that file.
    if (codeOf(error) !== 'ENOTDIR') refuse(place, given, messageOf(error));
  }
  return nearestPlace(place, dirname(path), given);
}
