import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  copyFileSync,
  createWriteStream,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  type WriteStream,
  writeFileSync,
} from 'node:fs';
import { copyFile, rm } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { codeOf, LotlakeError } from './lotlake-error.js';

/*
 * Every change that lotlake makes to files is made by this module. A lake may come from anywhere, and a link in it must not
 * lead a run to the files of others. So whatever is written, renamed or removed has a real place inside a folder that
 * lotlake owns, new files are created and never opened through a link, and what is removed is removed itself.
 */

/** Folders of lotlake: the parts of a lake, scratch space, and the targets that a user named. */
const owned = new Set<string>();

/** Declares that lotlake owns a file or folder, which itself may be a link to another disk. Returns its path. */
export function own(place: string): string {
  owned.add(resolve(place));
  return place;
}

/** {@link own} for a place that the user named. The folders above it are made. */
export function ownNamed(place: string): string {
  mkdirSync(dirname(resolve(place)), { recursive: true });
  return own(place);
}

/** Whether lotlake owns a place itself, not only a folder above it. */
const isNamed = (path: string): boolean => owned.has(resolve(path));

const MISSING: readonly unknown[] = ['ENOENT', 'ENOTDIR'];

/** A path without symbolic links. Its last parts may not exist yet, and a link may lead nowhere. */
export function realPlace(path: string): string {
  if (path === dirname(path)) return path;
  try {
    return realpathSync.native(path);
  } catch (error) {
    // A file may be where a folder is expected. Whoever goes on from there gets that error.
    if (!MISSING.includes(codeOf(error))) throw error;
  }
  const place = join(realPlace(dirname(path)), basename(path));
  return isLink(place) ? realPlace(resolve(dirname(place), readlinkSync(place))) : place;
}

/** Whether one path is another one or below it; both without symbolic links. */
export const isWithin = (inner: string, outer: string): boolean =>
  `${inner}${sep}`.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);

/** Whether a path is a symbolic link. */
export function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    // Nothing is there, or it cannot be reached. Writing to it will say why.
    return false;
  }
}

/** The symbolic links below a folder. */
export const linksBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isSymbolicLink())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();

/** Throws LAKE_NOT_OWNED if a folder of `owner` is a link or has one below it, before what is behind it is read. */
export function assertNoLinks(folder: string, owner: string): void {
  const [link] = isLink(folder) ? [folder] : linksBelow(folder);
  if (link !== undefined) throw notOwned(link, realPlace(link), owner);
}

/** Throws LAKE_NOT_OWNED if a link on the way to a path leads out of what lotlake owns. */
function assertOwned(path: string): void {
  if (!isNamed(path)) assertFolder(dirname(resolve(path)));
}

/** Throws LAKE_NOT_OWNED if the real place of a folder, which may not exist yet, is not in what lotlake owns. */
function assertFolder(folder: string): void {
  let owner = folder;
  let isBehindLink = false;
  while (!owned.has(owner)) {
    if (owner === dirname(owner)) throw new TypeError(`${folder} is in no folder of lotlake`);
    isBehindLink ||= isLink(owner);
    owner = dirname(owner);
  }
  if (!isBehindLink) return;
  const place = realPlace(folder);
  if (!isWithin(place, realPlace(owner))) throw notOwned(folder, place, owner);
}

/** The error of a link that leads out of a folder of lotlake. */
export const notOwned = (path: string, place: string, owner: string): LotlakeError =>
  new LotlakeError('LAKE_NOT_OWNED', `${path} leads to ${place}, which is not in ${owner}`, {
    outcome: 'usage',
    hint: 'nothing was read, written or removed there; look where the link came from, remove it, and run the same command again',
  });

/** Makes a folder and those above it that are missing. */
export function makeFolder(path: string): void {
  assertFolder(resolve(path));
  mkdirSync(path, { recursive: true });
}

/** Makes a folder that must not exist yet. */
export function makeNewFolder(path: string): void {
  assertOwned(path);
  mkdirSync(path);
}

/** Makes a folder of a new name, which lotlake owns. The path begins with `prefix`. */
export const makeScratch = (prefix: string): string => own(mkdtempSync(prefix));

/** Writes a file that must not exist yet. */
export function writeNew(path: string, content: string | Uint8Array): void {
  assertOwned(path);
  writeFileSync(path, content, { flag: 'wx' });
}

/** Opens a stream into a file that must not exist yet. */
export function streamNew(path: string): WriteStream {
  assertOwned(path);
  return createWriteStream(path, { flags: 'wx' });
}

/** Opens a file that must not exist yet for reading and writing. Returns its descriptor. */
export function openNew(path: string): number {
  assertOwned(path);
  return openSync(path, 'wx+');
}

/** Writes all bytes at the position of an open file, or throws, even if the disk takes a part of them. */
export const writeTo = (file: number, bytes: Uint8Array): void => writeFileSync(file, bytes);

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

/** Appends to a file, which is made if it is missing. Only a file that the user named may be a link. */
export function append(path: string, content: string | Uint8Array): void {
  assertOwned(path);
  const flag = O_APPEND | O_CREAT | O_WRONLY | (isNamed(path) ? 0 : O_NOFOLLOW);
  const file = openSync(path, flag);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** A path beside another one for what is not whole yet. No other process has the name. */
export const temporaryOf = (path: string): string => `${path}.${randomBytes(6).toString('hex')}.tmp`;

/**
 * Replaces a file. After a power cut its name stands for the whole old text or the whole new one; a sync of the folder
 * makes sure of the new one. A failure leaves nothing beside the file.
 * @param options new path in the same folder for the text until it is whole; who may read the file
 */
export function replaceFile(
  path: string,
  text: string,
  { temporary = temporaryOf(path), mode = 0o666 } = {},
): void {
  assertOwned(path);
  try {
    writeFileSync(temporary, text, { flag: 'wx', flush: true, mode });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** Gives a file or folder another name, in place of what has it. */
export function move(from: string, to: string): void {
  assertOwned(from);
  assertOwned(to);
  renameSync(from, to);
}

/** Gives a file a second name, which must not exist yet. */
export function makeHardLink(from: string, to: string): void {
  assertOwned(to);
  linkSync(from, to);
}

const { COPYFILE_EXCL, COPYFILE_FICLONE } = constants;

/** Copies a file to a name that must not exist yet. */
export function copyNew(from: string, to: string): void {
  assertOwned(to);
  copyFileSync(from, to, COPYFILE_EXCL | COPYFILE_FICLONE);
}

/** {@link copyNew}, without blocking the process. */
export async function copyLarge(from: string, to: string): Promise<void> {
  assertOwned(to);
  await copyFile(from, to, COPYFILE_EXCL | COPYFILE_FICLONE);
}

/** Makes a symbolic link that must not exist yet. Its text need not be a path. */
export function makeLink(text: string, path: string): void {
  assertOwned(path);
  symlinkSync(text, path);
}

/** Sets the time of a link, not of what it leads to, to now. */
export function touchLink(path: string): void {
  assertOwned(path);
  const now = new Date();
  lutimesSync(path, now, now);
}

/** Removes a file, a link, or a folder with all that is in it. Links are removed and not followed. */
export function remove(path: string): void {
  assertOwned(path);
  rmSync(path, { recursive: true, force: true, maxRetries: 3 });
}

/** {@link remove}, without blocking the process. */
export async function removeLarge(path: string): Promise<void> {
  assertOwned(path);
  await rm(path, { recursive: true, force: true });
}

/** Removes a folder if it is empty. */
export function removeEmpty(path: string): void {
  assertOwned(path);
  if (!isLink(path) && readdirSync(path).length === 0) rmdirSync(path);
}
