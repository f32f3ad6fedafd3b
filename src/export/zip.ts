import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { ZIP_COMMENT } from './target.js';

/**
 * Packs files into a .zip, a stream at a time, with Zip64 where sizes ask for it. Parquet is compressed already and is
 * stored as it is.
 * @param root folder in the .zip that holds the files
 * @param mtime time that the files bear, so that the same files make the same .zip
 */
export async function writeZip(
  path: string,
  folder: string,
  files: readonly string[],
  root: string,
  mtime: Date,
): Promise<void> {
  const zip = new ZipFile();
  const packed = new PassThrough();
  zip.on('error', (error: Error) => packed.destroy(error));
  zip.outputStream.pipe(packed);
  for (const file of files)
    zip.addFile(join(folder, file), `${root}/${file}`, {
      mtime,
      mode: 0o100644,
      compress: !file.endsWith('.parquet'),
    });
  zip.end({ comment: ZIP_COMMENT, forceZip64Format: false });
  await pipeline(packed, createWriteStream(path));
}
