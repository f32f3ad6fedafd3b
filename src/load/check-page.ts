import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { MOST_RECORD_BYTES, type OversizedRecord } from '../land/oversized.js';
import { PageScanner } from '../land/scan-page.js';
import type { ContractNode } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { type BadValue, type Fault, mendRecord, type RecordRules } from './mend-record.js';

/** A value that breaks the contract, or a record that cannot be loaded, with its place and its raw text. */
export interface Reject {
  readonly stream: string;
  readonly pass_id: string;
  /** The list of the stream that the page is of; empty where there is one. */
  readonly list: string;
  /** Number of the page in its list. */
  readonly page: number;
  /** Position of the record in its page, from 0. */
  readonly position: number;
  /** Order of receipt of the page. */
  readonly seq: number;
  readonly record_id: string | null;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
  readonly raw: string;
  /** Of a value alone: table, JSON of the key, and column that lack it. */
  readonly table_name?: string;
  readonly row_key?: string;
  readonly column_name?: string;
}

/** What checking a page gave. */
export interface CheckedPage {
  /** Records that were written to be loaded. */
  readonly kept: number;
  /** Records that were not. */
  readonly rejected: number;
  /** Values that the kept records lack. */
  readonly rejectedValues: number;
  readonly rejects: readonly Reject[];
}

/** Where a page is and what it belongs to. */
export interface PagePlace {
  readonly file: string;
  readonly passId: string;
  /** The list of the stream that the page is of. */
  readonly list: string;
  readonly page: number;
  /** Order of receipt in its pass. */
  readonly seq: number;
  /** Records past the limit, of which the page holds the beginning alone. */
  readonly oversized?: readonly OversizedRecord[] | undefined;
  /** Whether some record of the page is JSON that DuckDB does not take. */
  readonly irregular: boolean;
}

/**
 * Looks at each record of a page that does not fit the contract as a whole. Writes those that can be loaded to `target`
 * (newline-delimited JSON), with null for values that break the contract, and returns what was left out.
 */
export async function checkPage(place: PagePlace, rules: RecordRules, target: string): Promise<CheckedPage> {
  const rejects: Reject[] = [];
  let position = 0;
  let kept = 0;
  const reject = (what: Fault | BadValue, raw: string): void => {
    const { passId: pass_id, list, page, seq } = place;
    rejects.push({ stream: rules.stream.name, pass_id, list, page, seq, position, raw, ...what });
  };
  const out = await open(target, 'w');
  try {
    for await (const line of linesOf(place.file)) {
      const oversized = place.oversized?.find((record) => record.position === position);
      if (oversized !== undefined) {
        reject(tooLarge(oversized), JSON.parse(line.toString('utf8')));
        position++;
        continue;
      }
      const isReadable = place.irregular && isUtf8(line);
      const mended = mendRecord(isReadable ? regular(line, rules.stream, rules.contract) : line, rules);
      if ('record' in mended) {
        await out.write(Buffer.concat([mended.record, NEWLINE]));
        for (const value of mended.values) reject(value, value.raw);
        kept++;
      } else reject(mended, line.toString('utf8'));
      position++;
    }
  } finally {
    await out.close();
  }
  const rejected = position - kept;
  return { kept, rejected, rejectedValues: rejects.length - rejected, rejects };
}

function tooLarge({ id, bytes }: OversizedRecord): Fault {
  return {
    record_id: id === null ? null : String(id),
    path: '',
    expected: `a record of at most ${MOST_RECORD_BYTES} bytes`,
    found: `record of ${bytes} bytes`,
  };
}

const NEWLINE = Buffer.from('\n');

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const gunzip = createGunzip();
  pipeline(createReadStream(file), gunzip, () => undefined);
  for await (const chunk of gunzip) {
    let buffer = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let cut = buffer.indexOf(0x0a); cut >= 0; cut = buffer.indexOf(0x0a)) {
      yield buffer.subarray(0, cut);
      buffer = buffer.subarray(cut + 1);
    }
    rest = buffer;
  }
  if (rest.length > 0) yield rest;
}

/**
 * A record as DuckDB takes it. Of a member that stands twice the last value counts, as in JSON.parse; half of a
 * surrogate pair, which no UTF-8 text can hold, becomes U+FFFD. Landing keeps the record as it came.
 */
function regular(line: Buffer, stream: Stream, contract: ContractNode): Buffer {
  // What was landed is within the limit of its time.
  const scanner = new PageScanner(contract, stream.idField, { mostRecordBytes: line.length });
  scanner.push(Buffer.concat([Buffer.from('['), line, Buffer.from(']')]));
  scanner.flush();
  if (!scanner.finish().irregular) return line;
  const written = JSON.stringify(JSON.parse(line.toString('utf8')));
  return Buffer.from(written.replaceAll(ESCAPE, (found) => (HALF_PAIR.test(found) ? '\\ufffd' : found)));
}

const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
const HALF_PAIR = /^\\ud[89a-f]/;
