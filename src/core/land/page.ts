import { createHash, hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pipeline as pipe } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { makeFolder, move, remove, streamNew, temporaryOf } from '../../base/config/owned.js';
import { unwritable } from '../lake/disk.js';
import { heldBy, type LandedPage, type PageFacts } from '../lake/passes/landed-page.js';
import { envelopeSchema } from '../service/contract/envelope.js';
import {
  COMMA,
  END_BRACKET,
  MOST_RECORD_BYTES,
  NEWLINE,
  type PageScan,
  PageScanner,
  ScanError,
} from '../service/scan/scan-page.js';
import type { Stream } from '../service/streams.js';
import type { FreshLines } from './fresh-records.js';

/** The error of a body that is not a page: cut off, malformed, or an error with status 200. The request is retried. */
export const pageError = (url: string, message: string, cause?: unknown): LotlakeError =>
  new LotlakeError('LAND_PAGE_BROKEN', `${message}, in the answer to ${url}`, {
    outcome: 'unavailable',
    retryable: true,
    hint: 'the page was not landed; run the same command again to go on from the pages that were',
    cause,
  });

/**
 * Streams a body through the scanner into `<path>` (gzipped, one record a line), written beside its name and renamed
 * when the page is whole. Throws LAND_PAGE_BROKEN if the body is not a page
 * and LAND_FAILED if the file cannot be written; nothing is left on disk then.
 * @param reader takes the lines on their way to the file, and decides which of them the file holds
 */
export async function landPage(
  body: AsyncIterable<Uint8Array>,
  target: { path: string; url: string; mostRecordBytes?: number | undefined } & Pick<Stream, 'contract'>,
  reader?: FreshLines,
): Promise<{ scan: PageScan; fileBytes: number; sha256: string }> {
  makeFolder(dirname(target.path));
  const temporary = temporaryOf(target.path);
  const scanner = new PageScanner(target.contract, target.mostRecordBytes);
  const gzip = createGzip({ level: 1, memLevel: 9, chunkSize: 1 << 18 });
  // Computed on the way to the file, so that the file need not be read again.
  const sha256 = createHash('sha256');
  gzip.on('data', (chunk: Buffer) => sha256.update(chunk));
  const file = streamNew(temporary);
  let fault: unknown;
  const lines = async function* (): AsyncGenerator<Buffer> {
    const seen = (found: Buffer): Buffer[] => {
      if (reader !== undefined) return reader.lines(found, scanner.lineEnds, scanner.lineIds);
      return found.length === 0 ? [] : [found];
    };
    try {
      for await (const chunk of body) {
        yield* seen(scanner.push(chunk));
        killPoint('land.page-begun');
      }
      yield* seen(scanner.flush());
      checkEnvelope(scanner.finish(), target.url);
    } catch (error) {
      fault = error instanceof ScanError ? pageError(target.url, error.message, error) : error;
      throw fault;
    }
  };
  try {
    await pipeline(lines, gzip, file);
    killPoint('land.page-written');
    move(temporary, target.path);
    killPoint('land.page-renamed');
    const { size } = await stat(target.path);
    return { scan: scanner.finish(), fileBytes: size, sha256: sha256.digest('hex') };
  } catch (error) {
    await finished(file).catch(() => undefined);
    remove(temporary);
    // What closing the body throws must not hide why the file could not be written.
    if (file.errored !== null && file.errored !== fault) throw unwritable(target.path, file.errored);
    throw fault ?? unwritable(target.path, error);
  }
}

/** Reads a body and keeps nothing of it. Throws LAND_PAGE_BROKEN if it is not a page. */
export async function readPage(
  body: AsyncIterable<Uint8Array>,
  {
    url,
    contract,
    mostRecordBytes,
  }: { url: string; mostRecordBytes?: number | undefined } & Pick<Stream, 'contract'>,
): Promise<PageRecords> {
  const scanner = new PageScanner(contract, mostRecordBytes);
  const records: Uint8Array[] = [];
  const keep = (lines: Buffer): void => {
    let start = 0;
    for (const end of scanner.lineEnds) {
      records.push(lines.subarray(start, end - 1));
      start = end;
    }
  };
  try {
    for await (const chunk of body) keep(scanner.push(chunk));
    keep(scanner.flush());
    const scan = scanner.finish();
    checkEnvelope(scan, url);
    const { total, next } = pagingOf(scan);
    return { records, total, next };
  } catch (error) {
    throw error instanceof ScanError ? pageError(url, error.message, error) : error;
  }
}

/** The facts in the ledger that follow from the scan of a page. */
export function factsOf(scan: PageScan) {
  const { records, bytes, largestRecord, oversized, ids } = scan;
  return {
    records,
    bytes,
    largestRecord,
    ...(oversized.length === 0 ? {} : { oversized }),
    firstId: finite(ids[0]),
    lastId: finite(ids.at(-1)),
    unnamed: unnamedIn(ids),
    // Records that repeat an earlier id; unreadable ids do not count.
    repeats: ids.length - new Set(ids).size - Math.max(0, ids.filter(Number.isNaN).length - 1),
    digest: digestOf(ids, bytes),
    ...contractFacts(scan),
    ...pagingOf(scan),
  };
}

const finite = (id = Number.NaN): number | null => (Number.isNaN(id) ? null : id);

/** How the records of a page fit the contract, and whether all can be loaded without a check by zod. */
function contractFacts({ misfits, utf8, irregular, oversized, drift }: PageScan) {
  const fits = misfits.length === 0 && utf8 && !irregular && oversized.length === 0;
  return { fits, irregular, drift, misfits };
}

/**
 * Compares the records in the file of a page with a contract that has changed since it was landed. Throws LAND_FAILED for a
 * broken file.
 */
export async function rescanPage(
  page: LandedPage,
  folder: string,
  { contract }: Pick<Stream, 'contract'>,
): Promise<LandedPage> {
  const { records, bytes } = heldBy(page);
  if (records === 0) return page;
  const path = join(folder, page.file);
  // The limit may have been higher when the page was landed.
  const mostRecordBytes = Math.max(MOST_RECORD_BYTES, page.largestRecord);
  const scanner = new PageScanner(contract, mostRecordBytes);
  try {
    // A record holds no raw line end, so that the lines of a page are the elements of an array.
    scanner.push(Buffer.from('['));
    const gunzip = createGunzip({ chunkSize: 1 << 19 });
    pipe(createReadStream(path), gunzip, () => undefined);
    let read = 0;
    for await (const chunk of gunzip) {
      const body = Buffer.from(chunk);
      read += body.length;
      for (let i = body.indexOf(NEWLINE); i >= 0; i = body.indexOf(NEWLINE, i + 1)) body[i] = COMMA;
      if (read === bytes) body[body.length - 1] = END_BRACKET;
      scanner.push(body);
    }
    scanner.flush();
    return { ...page, ...contractFacts(scanner.finish()) };
  } catch (error) {
    throw new LotlakeError('LAND_FAILED', `${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
      hint: 'move its pass folder away and run rebuild again; the lake keeps what it knows',
    });
  }
}

/** Paging members of a scanned page. */
export function pagingOf(scan: PageScan) {
  const envelope = envelopeSchema.parse(scan.envelope);
  const { current_page, from, to, total, last_page, per_page } = envelope.meta ?? {};
  return {
    current: current_page ?? null,
    from: from ?? null,
    announced: typeof from === 'number' && typeof to === 'number' ? to - from + 1 : null,
    total: total ?? null,
    // One proves nothing without the other.
    lastPage: typeof total === 'number' ? (last_page ?? null) : null,
    perPage: per_page ?? null,
    next: envelope.links?.next ?? null,
    tellsEnd: envelope.meta == null || typeof total === 'number' || envelope.links?.next !== undefined,
    // An empty `next_url` ends a scroll. lotlake does not follow the URL, and takes only the id.
    scrollId: (envelope.next_url ?? '') === '' ? null : (envelope.scroll_id ?? null),
  };
}

/** The ids around the records of a page without an id (NaN): before the first of them and behind the last. */
export function unnamedIn(ids: readonly number[]): LandedPage['unnamed'] {
  const first = ids.findIndex(Number.isNaN);
  if (first < 0) return undefined;
  return [ids[first - 1] ?? null, ids[ids.findLastIndex(Number.isNaN) + 1] ?? null];
}

/** Fingerprint of a page: its ids, with its size if some are unreadable. */
export function digestOf(ids: readonly number[], bytes: number): string {
  const facts = Float64Array.from(ids.some(Number.isNaN) ? [...ids, bytes] : ids);
  return hash('sha1', facts, 'base64url').slice(0, 16);
}

function checkEnvelope(scan: PageScan, url: string): void {
  const { error, message, meta, links } = scan.envelope;
  const said = error ?? message;
  // Past the end, some services send null or no list. Only the rest of an envelope shows that the answer is a page.
  const isEmptyPage = said == null && (meta != null || links != null || 'next_url' in scan.envelope);
  if (!scan.hasData && !isEmptyPage)
    throw pageError(url, said == null ? 'no list of records' : `the service says ${JSON.stringify(said)}`);
  const parsed = envelopeSchema.safeParse(scan.envelope);
  if (!parsed.success) throw pageError(url, `the envelope is not valid: ${z.prettifyError(parsed.error)}`);
  const { total, last_page: last, per_page: size } = parsed.data.meta ?? {};
  if (typeof total !== 'number' || typeof last !== 'number') return;
  const most = Math.max(1, typeof size === 'number' && size > 0 ? Math.ceil(total / size) : total);
  if (last > most)
    throw pageError(url, `its last page is said to be ${last}, where ${total} records fill ${most} at most`);
}

/** The records of a page as JSON, with its paging. */
export interface PageRecords extends Pick<PageFacts, 'total' | 'next'> {
  readonly records: readonly Uint8Array[];
}
