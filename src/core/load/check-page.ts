import { isUtf8 } from 'node:buffer';
import { closeSync, createReadStream } from 'node:fs';
import { dirname } from 'node:path';
import { pipeline } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { append, makeFolder, openNew, writeTo } from '../../base/config/owned.js';
import type { LandedPage } from '../lake/passes/landed-page.js';
import { rejectsFile } from '../lake/staged.js';
import { regular } from '../service/scan/locate.js';
import type { OversizedRecord } from '../service/scan/scan-page.js';
import { LARGE, mendRecord } from './mend-record.js';
import { type BadValue, type Fault, NO_UTF8, type RecordRules } from './rejected-values.js';

/** A record that cannot be loaded, or a value that breaks the contract, with its place and its raw text. */
export interface Reject
  extends Fault,
    Partial<Omit<BadValue, keyof Fault>>,
    Pick<LandedPage, 'list' | 'page' | 'seq'> {
  readonly stream: string;
  readonly pass_id: string;
  /** Line of the record in the landed file of its page, from 0. */
  readonly position: number;
  readonly raw: string;
}

/** A page with the path of its file and its pass. */
type PagePlace = Pick<
  LandedPage,
  'file' | 'list' | 'page' | 'seq' | 'oversized' | 'unserved' | 'irregular'
> & {
  readonly passId: string;
  /** The line of each record in the landed file, if `file` holds only some of its lines; without it, `file` is that file. */
  readonly lines?: readonly number[] | undefined;
};

/** Most rejects that are held at once, because a page may have nearly as many as bytes. */
const MOST_HELD = 1000;

/**
 * Checks each record of a page that does not fit the contract. Writes the loadable records to `target` (newline-delimited
 * JSON), with null for values that break the contract, and passes the rejects to `take` in groups. Yields to other work
 * between groups, and ends if `take` throws.
 * @returns how many records were written and rejected, how many values of written records were rejected, and how many were
 * read as they were meant
 */
export async function checkPage(
  place: PagePlace,
  rules: RecordRules,
  target: string,
  take: (rejects: readonly Reject[]) => void,
): Promise<{ kept: number; rejected: number; rejectedValues: number; meant: number }> {
  const { passId: pass_id, list, page, seq } = place;
  const isAt =
    (line: number) => (record: { readonly position: number; readonly line?: number | undefined }) =>
      (record.line ?? record.position) === line;
  let held: Reject[] = [];
  let read = 0;
  let position = 0;
  let kept = 0;
  let values = 0;
  let meant = 0;
  const reject = async (fault: Fault | BadValue, raw: string): Promise<void> => {
    held.push({ stream: rules.stream.name, pass_id, list, page, seq, position, raw, ...fault });
    if (held.length >= MOST_HELD) await passOn();
  };
  const passOn = async (): Promise<void> => {
    take(held);
    held = [];
    await setImmediate();
  };
  const out = openNew(target);
  try {
    for await (const line of linesOf(place.file)) {
      position = place.lines?.[read] ?? read;
      const unserved = place.unserved?.find(isAt(position));
      const oversized = place.oversized?.find(isAt(position));
      const checked =
        unserved !== undefined
          ? { record_id: null, path: '', expected: UNSERVED, found: unserved.error }
          : oversized !== undefined
            ? tooLarge(oversized)
            : mendRecord(readable(line, place, rules), rules);
      if ('record' in checked) {
        writeTo(out, Buffer.concat([checked.record, NEWLINE]));
        for (const value of checked.values) {
          await reject(value, value.raw);
          values++;
        }
        kept++;
        meant += checked.meant;
      } else {
        const text = line.toString('utf8');
        await reject(checked, (oversized ?? unserved) === undefined ? text : JSON.parse(text));
      }
      read++;
      if (line.length > LARGE) await passOn();
    }
    take(held);
  } finally {
    closeSync(out);
  }
  return { kept, rejected: read - kept, rejectedValues: values, meant };
}

/**
 * A record as zod and DuckDB take it. Bytes that are no UTF-8 cost the value that holds them. In such a record U+FFFD does the
 * same, which stands for such bytes of an earlier program.
 */
function readable(line: Buffer, { irregular }: PagePlace, { stream: { contract } }: RecordRules): Buffer {
  if (isUtf8(line)) return irregular ? regular(line, contract) : line;
  return regular(Buffer.from(line.toString('utf8').replaceAll('\ufffd', NO_UTF8)), contract);
}

/** What the reject of a record says that the service could not serve; `data_health` counts them by it. */
export const UNSERVED = 'a record that the service can serve';

function tooLarge({ id, bytes, most }: OversizedRecord): Fault {
  return {
    record_id: id === null ? null : String(id),
    path: '',
    expected: `a record of at most ${most} bytes`,
    found: `record of ${bytes} bytes`,
  };
}

const NEWLINE = Buffer.from('\n');

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const stored = createReadStream(file);
  // An error ends the loop over the last stream.
  const bytes = file.endsWith('.gz') ? pipeline(stored, createGunzip(), () => undefined) : stored;
  for await (const chunk of bytes) {
    let buffer = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let cut = buffer.indexOf(0x0a); cut >= 0; cut = buffer.indexOf(0x0a)) {
      yield buffer.subarray(0, cut);
      buffer = buffer.subarray(cut + 1);
    }
    rest = buffer;
  }
  if (rest.length > 0) yield rest;
}

export function addRejects(stage: string, passId: string, rejects: readonly Reject[]): void {
  const file = rejectsFile(stage, passId);
  makeFolder(dirname(file));
  append(file, rejects.map((reject) => `${JSON.stringify(reject, wellFormed)}\n`).join(''));
}

/** A value of a reject; a text without halves of surrogate pairs, which DuckDB does not read. */
const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value;
