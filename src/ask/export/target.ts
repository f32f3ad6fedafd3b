import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, move, own, ownNamed, remove, streamNew } from '../../base/config/owned.js';
import { partialOf } from '../../core/job/leftovers.js';
import { filesBelow } from '../../core/lake/files.js';
import type { ExportRequest } from './request.js';

/** File with the checksums of all others, as `sha256sum -c` reads it. */
export const SUMS = 'SHA256SUMS';

/** The text of {@link SUMS}. */
export function sumsText(files: readonly { readonly path: string; readonly sha256: string }[]): string {
  const lines = files.map(({ path, sha256 }) => `${sha256}  ${path}\n`);
  return lines.sort((a, b) => (a.slice(66) < b.slice(66) ? -1 : 1)).join('');
}

/** The last bytes of a .zip that an export made. */
const ZIP_COMMENT = 'lotlake export';

/**
 * Makes the folder `staging`, in which an export is built before it is renamed to `path`, its folder or .zip. Throws
 * EXPORT_EXISTS if the path is taken. With `force` it replaces an earlier export, and nothing else.
 */
export function openTarget({ to, zip, force }: Pick<ExportRequest, 'to' | 'zip' | 'force'>) {
  const path = zip ? `${to}.zip` : to;
  checkFree(path, force, zip);
  const staging = own(partialOf(ownNamed(path)));
  makeFolder(join(staging, 'data'));
  return {
    path,
    staging,
    /** Renames a file or folder to `path`, in place of an earlier export. */
    commit: (made: string) => {
      checkFree(path, force, zip);
      if (!existsSync(path)) return move(made, path);
      const replaced = own(partialOf(path, 'replaced'));
      move(path, replaced);
      move(made, path);
      remove(replaced);
    },
    /** Removes what is left in staging. */
    discard: () => remove(staging),
  };
}

function checkFree(path: string, force: boolean, zip: boolean): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory() && readdirSync(path).length === 0 && !zip) return;
  if (!force)
    throw inTheWay(`${path} exists`, 'name another folder, or replace an earlier export with --force');
  const foreign = zip ? notOurZip(path, found.isFile()) : notOurFolder(path, found.isDirectory());
  if (foreign !== undefined)
    throw inTheWay(foreign, '--force replaces only what an export made; name another folder');
}

function inTheWay(message: string, hint: string): LotlakeError {
  return new LotlakeError('EXPORT_EXISTS', message, { outcome: 'usage', hint });
}

/** Why a folder must not be replaced: no export made it, or it has files that its checksums do not list. */
function notOurFolder(path: string, isFolder: boolean): string | undefined {
  if (!isFolder) return `${path} is not a folder`;
  const [sums, description] = [join(path, SUMS), join(path, 'datapackage.json')];
  const isOurs = existsSync(sums) && existsSync(description);
  if (!isOurs || !readFileSync(description, 'utf8').includes('"lotlake"'))
    return `${path} was not made by an export`;
  const lines = readFileSync(sums, 'utf8').split('\n');
  const ours = new Set([SUMS, ...lines.map((line) => line.slice(66))]);
  const foreign = filesBelow(path)
    .map((file) => relative(path, file))
    .find((file) => !ours.has(file));
  return foreign === undefined ? undefined : `${path} holds ${foreign}, which no export made`;
}

function notOurZip(path: string, isFile: boolean): string | undefined {
  const size = statSync(path).size;
  const end = Buffer.alloc(Math.min(ZIP_COMMENT.length, size));
  if (isFile) {
    const file = openSync(path, 'r');
    readSync(file, end, 0, end.length, size - end.length);
    closeSync(file);
  }
  return end.toString() === ZIP_COMMENT ? undefined : `${path} was not made by an export`;
}

/**
 * Packs files into a .zip as a stream, with Zip64 if sizes need it. Parquet and workbooks are stored, since they are compressed
 * already.
 * @param root folder in the .zip that holds the files
 * @param mtime time of all files, so that the same files make the same .zip
 */
export async function writeZip(
  path: string,
  folder: string,
  files: readonly string[],
  root: string,
  mtime: Date,
): Promise<void> {
  const zip = new ZipFile();
  const packed = streamNew(path);
  zip.on('error', (error: Error) => packed.destroy(error));
  for (const file of files)
    zip.addFile(join(folder, file), `${root}/${file}`, {
      mtime,
      mode: 0o100644,
      compress: !/\.(parquet|xlsx)$/.test(file),
    });
  zip.end({ comment: ZIP_COMMENT, forceZip64Format: false });
  await pipeline(zip.outputStream, packed);
}
