import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { messageOf } from '../config/lotlake-error.js';
import type { ContractNode } from '../service/contract/node.js';
import { LandError } from './land-error.js';
import { MOST_RECORD_BYTES } from './oversized.js';
import { fitsAsWhole, type LandedPage } from './page.js';
import { PageScanner } from './scan-page.js';

const NEWLINE = 0x0a;
const COMMA = 0x2c;
const END = 0x5d;

/** Compares a landed page with a contract that has changed since it was landed. Throws LandError for a broken file. */
export async function rescanPage(
  page: LandedPage,
  folder: string,
  contract: ContractNode,
  idField: string,
): Promise<LandedPage> {
  if (page.records === 0) return page;
  const path = join(folder, page.file);
  // What was landed is within the limit of its time.
  const mostRecordBytes = Math.max(MOST_RECORD_BYTES, page.largestRecord);
  const scanner = new PageScanner(contract, idField, { mostRecordBytes });
  try {
    // A record holds no raw line end, so that the lines of a page are the elements of an array.
    scanner.push(Buffer.from('['));
    const gunzip = createGunzip({ chunkSize: 1 << 19 });
    pipeline(createReadStream(path), gunzip, () => undefined);
    let read = 0;
    for await (const chunk of gunzip) {
      const body = Buffer.from(chunk);
      read += body.length;
      for (let i = body.indexOf(NEWLINE); i >= 0; i = body.indexOf(NEWLINE, i + 1)) body[i] = COMMA;
      if (read === page.bytes) body[body.length - 1] = END;
      scanner.push(body);
    }
    scanner.flush();
    const scan = scanner.finish();
    return {
      ...page,
      fits: fitsAsWhole(scan),
      irregular: scan.irregular,
      drift: scan.drift,
      misfits: scan.misfits,
    };
  } catch (error) {
    throw new LandError(`${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: 'move its pass folder away and run rebuild again; the lake keeps what it knows',
    });
  }
}
