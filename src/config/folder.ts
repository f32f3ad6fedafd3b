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

/**
 * The absolute path of a folder or file that a person named. Throws ConfigError for what is no path of this machine and
 * for characters that DuckDB reads as a pattern of file names.
 * @param place the setting or option, as a message names it
 */
function readPath(place: string, given: string, cwd: string): string {
  const problem = problemOf(given) ?? problemOf(resolve(cwd, given));
  if (problem !== undefined)
    throw new ConfigError(`${place} is ${quoted(given)}: ${problem}`, 'name another folder or file');
  return resolve(cwd, given);
}

function problemOf(path: string): string | undefined {
  if (path.trim() === '') return 'it names nothing';
  const [, scheme] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(path) ?? [];
  if (scheme !== undefined)
    return `${scheme}: is not supported; lotlake reads and writes folders of this machine`;
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'it has a control character';
  return /[*?[\]{}\\]/.test(path) ? 'the path has one of the characters * ? [ ] { } \\' : undefined;
}

/**
 * {@link readPath} of a folder that is there or can be made: what is on the way to it is folders.
 * @throws ConfigError where a file is in the way, or the way cannot be looked at
 */
export function readFolder(place: string, given: string, cwd: string): string {
  const folder = readPath(place, given, cwd);
  const found = nearestPlace(place, folder, given);
  if (found.isFolder) return folder;
  throw new ConfigError(`${place} is ${quoted(given)}: ${found.path} is no folder`, 'name another folder');
}

/** {@link readPath} of a file whose folder is there or can be made. */
export function readFile(place: string, given: string, cwd: string): string {
  const file = readPath(place, given, cwd);
  const found = nearestPlace(place, dirname(file), given);
  if (found.isFolder) return file;
  throw new ConfigError(`${place} is ${quoted(given)}: ${found.path} is no folder`, 'name another place');
}

/** {@link readFolder} of a folder that has to be there. */
export function readExistingFolder(place: string, given: string, cwd: string): string {
  const folder = readFolder(place, given, cwd);
  if (nearestPlace(place, folder, given).path === folder) return folder;
  throw new ConfigError(`${place} is ${quoted(given)}: there is no folder ${folder}`, 'name another folder');
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
    for (let at = path; ; at = dirname(at)) {
      const found = statOf(at);
      if (found !== undefined) return { path: at, isFolder: found.isDirectory() };
    }
  } catch (error) {
    throw new ConfigError(`${place} is ${quoted(given)}: ${messageOf(error)}`, 'name another folder');
  }
}

/** Undefined also below a file. The next step up meets that file. */
function statOf(path: string): ReturnType<typeof statSync> | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
