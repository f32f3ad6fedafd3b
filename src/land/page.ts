import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { z } from 'zod';
import { killPoint } from '../config/kill-point.js';
import { envelopeSchema } from '../service/contract/envelope.js';
import type { ContractNode } from '../service/contract/node.js';
import type { PageChanges, PrintsPlace } from './changes.js';
import { unwritable } from './land-error.js';
import type { OversizedRecord } from './oversized.js';
import { PageError } from './page-error.js';
import { type PageScan, PageScanner, ScanError } from './scan-page.js';
import type { Drift, Misfit } from './shape.js';

/** What the ledger keeps of a landed page. */
export interface LandedPage {
  /** Which list of its stream the page is of, such as the state whose cities it holds; empty where there is one. */
  readonly list: string;
  /** Number of the page in its list, from 1. */
  readonly page: number;
  /** File name below the pass folder. */
  readonly file: string;
  /** Order of receipt in the pass, from 0. */
  readonly seq: number;
  readonly records: number;
  /** Bytes of the records, uncompressed. */
  readonly bytes: number;
  readonly fileBytes: number;
  /** SHA-256 of the file in hex; pages from before checksums have none. */
  readonly sha256?: string | undefined;
  readonly largestRecord: number;
  /** Records past the limit, of which the file holds the beginning alone. */
  readonly oversized?: readonly OversizedRecord[] | undefined;
  readonly firstId: number | null;
  readonly lastId: number | null;
  /** Ids around records whose own cannot be read, null where they begin or end the page. */
  readonly unnamed?: readonly [number | null, number | null] | undefined;
  /** Fingerprint of the ids, to know a page that is repeated. */
  readonly digest: string;
  /** Whether every record fits the contract without a closer look. */
  readonly fits: boolean;
  /** Whether some record is JSON that DuckDB does not take. */
  readonly irregular: boolean;
  /** Where the fingerprints of its records are; of pages over vehicles alone, and not of those from before they were kept. */
  readonly prints?: PrintsPlace | undefined;
  readonly drift: readonly Drift[];
  readonly misfits: readonly Misfit[];
  readonly requestedAt: string;
  readonly receivedAt: string;
  /** Records whose id another record of the page has; missing in pages of an older lotlake, as are the next two. */
  readonly repeats?: number | undefined;
  /** Ids of the records, NaN for those that cannot be read; of lists that do not ascend, and not in the ledger. */
  readonly ids?: readonly number[] | undefined;
  /** Paging members of the envelope, null where the service left them out. */
  readonly current?: number | null | undefined;
  readonly from?: number | null | undefined;
  readonly announced: number | null;
  readonly total: number | null;
  readonly lastPage: number | null;
  readonly perPage: number | null;
  readonly next: string | null;
  /** False where the page says neither how many there are nor whether another follows. */
  readonly tellsEnd?: boolean | undefined;
  /** What continues the scroll form of the feed; null where the list is no scroll, or at its end. */
  readonly scrollId: string | null;
}

/** What one landing needs besides the body. */
export interface PageTarget {
  readonly path: string;
  readonly url: string;
  readonly contract: ContractNode;
  readonly idField: string;
}

/**
 * Streams a body through the scanner into `<path>` (gzipped, one record a line), written beside its name and renamed
 * when the page is whole. `changes` sees every record. Throws PageError where the body is no page
 * and LandError where the file cannot be written; nothing is left on disk then.
 */
export async function landPage(
  body: AsyncIterable<Uint8Array>,
  target: PageTarget,
  changes?: PageChanges,
): Promise<{ scan: PageScan; fileBytes: number; sha256: string }> {
  await mkdir(dirname(target.path), { recursive: true });
  const temporary = `${target.path}.${process.pid}.${Math.random().toString(36).slice(2, 8)}.tmp`;
  const scanner = new PageScanner(target.contract, target.idField);
  const gzip = createGzip({ level: 1, memLevel: 9, chunkSize: 1 << 18 });
  // Of the bytes on their way to the file, so that it need not be read for its checksum.
  const sha256 = createHash('sha256');
  gzip.on('data', (chunk: Buffer) => sha256.update(chunk));
  const file = createWriteStream(temporary);
  let fault: unknown;
  const lines = async function* (): AsyncGenerator<Buffer> {
    const seen = (found: Buffer): Buffer[] => {
      changes?.lines(found, scanner.lineEnds, scanner.lineIds);
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
      fault = error instanceof ScanError ? new PageError(target.url, error.message, error) : error;
      throw fault;
    }
  };
  try {
    await pipeline(lines, gzip, file);
    killPoint('land.page-written');
    await rename(temporary, target.path);
    killPoint('land.page-renamed');
    const { size } = await stat(target.path);
    return { scan: scanner.finish(), fileBytes: size, sha256: sha256.digest('hex') };
  } catch (error) {
    changes?.discard();
    await finished(file).catch(() => undefined);
    await rm(temporary, { force: true });
    // What closing the body throws must not hide why the file could not be written.
    if (file.errored !== null && file.errored !== fault) throw unwritable(target.path, file.errored);
    throw fault ?? unwritable(target.path, error);
  }
}

/** Whether every record of a page can be loaded without a closer look. */
export function fitsAsWhole({ misfits, utf8, irregular, oversized }: PageScan): boolean {
  return misfits.length === 0 && utf8 && !irregular && oversized.length === 0;
}

/** Paging members of a scanned page. */
export function pagingOf(
  scan: PageScan,
): Pick<
  LandedPage,
  'current' | 'from' | 'announced' | 'total' | 'lastPage' | 'perPage' | 'next' | 'tellsEnd' | 'scrollId'
> {
  const envelope = envelopeSchema.parse(scan.envelope);
  const { current_page, from, to, total, last_page, per_page } = envelope.meta ?? {};
  return {
    current: current_page ?? null,
    from: from ?? null,
    announced: typeof from === 'number' && typeof to === 'number' ? to - from + 1 : null,
    total: total ?? null,
    // Without the other, neither of the two can be held against anything.
    lastPage: typeof total === 'number' ? (last_page ?? null) : null,
    perPage: per_page ?? null,
    next: envelope.links?.next ?? null,
    tellsEnd: envelope.meta == null || typeof total === 'number' || envelope.links?.next !== undefined,
    // The end of a scroll has an empty `next_url`; what it names is not followed, only the id is taken.
    scrollId: (envelope.next_url ?? '') === '' ? null : (envelope.scroll_id ?? null),
  };
}

/** The ids around the records of a page that have none (NaN): of the first and the last, if there are any. */
export function unnamedIn(ids: readonly number[]): LandedPage['unnamed'] {
  const first = ids.findIndex(Number.isNaN);
  if (first < 0) return undefined;
  return [ids[first - 1] ?? null, ids[ids.findLastIndex(Number.isNaN) + 1] ?? null];
}

/** How many records have an id that one before them has; ids that cannot be read do not count. */
export function repeatsIn(ids: readonly number[]): number {
  return ids.length - new Set(ids).size - Math.max(0, ids.filter(Number.isNaN).length - 1);
}

/** Fingerprint of a page: its ids, with its size where some cannot be read. */
export function digestOf(ids: readonly number[], bytes: number): string {
  return createHash('sha1')
    .update(Float64Array.from(ids.some(Number.isNaN) ? [...ids, bytes] : ids))
    .digest('base64url')
    .slice(0, 16);
}

function checkEnvelope(scan: PageScan, url: string): void {
  if (!scan.hasData) {
    const said = scan.envelope.error ?? scan.envelope.message;
    throw new PageError(
      url,
      said === undefined ? 'no list of records' : `the service says ${JSON.stringify(said)}`,
    );
  }
  const parsed = envelopeSchema.safeParse(scan.envelope);
  if (!parsed.success)
    throw new PageError(url, `the envelope is not valid: ${z.prettifyError(parsed.error)}`);
  const { total, last_page: last, per_page: size } = parsed.data.meta ?? {};
  if (typeof total !== 'number' || typeof last !== 'number') return;
  const most = Math.max(1, typeof size === 'number' && size > 0 ? Math.ceil(total / size) : total);
  if (last > most)
    throw new PageError(
      url,
      `its last page is said to be ${last}, where ${total} records fill ${most} at most`,
    );
}
