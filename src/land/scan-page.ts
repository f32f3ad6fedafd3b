import { isUtf8 } from 'node:buffer';
import type { ContractNode } from '../service/contract/node.js';
import {
  KEPT_BYTES,
  MOST_RECORD_BYTES,
  type OversizedRecord,
  type SkipState,
  skipRecord,
} from './oversized.js';
import { compareShape, type Drift, type Misfit } from './shape.js';
import {
  DepthFault,
  giveBack,
  NEED_MORE,
  SyntaxFault,
  takeScanner,
  type ValueScanner,
} from './walker/scan-values.js';

/** A body that is no page: malformed, cut off, or without records. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** What one page held besides its records. */
export interface PageScan {
  readonly records: number;
  /** Bytes of the records as they are landed, line ends included. */
  readonly bytes: number;
  /** Bytes of the largest record that is within the limit. */
  readonly largestRecord: number;
  /** Records past the limit. */
  readonly oversized: readonly OversizedRecord[];
  /** Ids of the records in their order; NaN where a record has no numeric id. */
  readonly ids: readonly number[];
  /** Members of the envelope besides `data`, parsed. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** Whether the page had a list of records at all; a 200 with an `error` has none. */
  readonly hasData: boolean;
  readonly drift: readonly Drift[];
  readonly misfits: readonly Misfit[];
  /** Whether every byte is valid UTF-8. */
  readonly utf8: boolean;
  /** Whether some record is JSON that DuckDB does not take, see `ValueScanner.irregular`. */
  readonly irregular: boolean;
}

const EMPTY = Buffer.alloc(0);
/** Bytes of all members of the envelope together. */
const MOST_ENVELOPE_BYTES = 4 << 20;
/** Records of a page: many times what any list of the service gives at once. */
const MOST_RECORDS = 200_000;

type State = 'start' | 'member' | 'record' | 'oversized' | 'afterData' | 'done';

/**
 * Cuts the records of a page out of its body while it streams in: each becomes one line, its bytes unchanged but for
 * white space between tokens. Keeps only the record under way, and of one past the limit only its beginning, so that
 * memory follows the largest record within the limit, not the page. What was seen is compared with the contract at the end.
 */
export class PageScanner {
  readonly #contract: ContractNode;
  readonly #values: ValueScanner;
  readonly #mostRecordBytes: number;
  #wait = 0;
  #consumed = 0;
  #state: State = 'start';
  #bare = false;
  #single = false;
  #hasData = false;
  #envelope: string[] = [];
  #envelopeBytes = 0;
  #ids: number[] = [];
  #bytes = 0;
  #largestRecord = 0;
  #oversized: OversizedRecord[] = [];
  #skipping: SkipState = { depth: 0, isInText: false, isEscaped: false };
  #utf8 = true;
  /** Stretches of memory that hold the lines to be returned: a start and an end by turns. */
  #runs: number[] = [];
  /** Where the lines that `push` or `flush` returned last end. */
  lineEnds: number[] = [];
  #outcome: PageScan | ScanError | undefined;

  readonly #allocate: (bytes: number) => Buffer;

  /** @param options.allocate memory for the lines that one call returns; new memory each time by default */
  constructor(
    contract: ContractNode,
    idField: string,
    options: { mostRecordBytes?: number; allocate?: (bytes: number) => Buffer } = {},
  ) {
    this.#contract = contract;
    this.#values = takeScanner(contract, idField);
    this.#mostRecordBytes = options.mostRecordBytes ?? MOST_RECORD_BYTES;
    this.#allocate = options.allocate ?? Buffer.allocUnsafe;
  }

  /** Takes the next bytes of the body and returns the lines that became complete. Throws ScanError. */
  push(chunk: Uint8Array): Buffer {
    this.#demandOpen();
    this.lineEnds = [];
    const { memory } = this.#values;
    memory.append(chunk);
    return memory.end - memory.start < this.#wait ? EMPTY : this.#advance();
  }

  /** Takes the end of the body and returns the last lines. Throws ScanError. */
  flush(): Buffer {
    this.#demandOpen();
    this.lineEnds = [];
    const { memory } = this.#values;
    return memory.start < memory.end ? this.#advance() : EMPTY;
  }

  /** Ids of the lines that `push` or `flush` returned last. */
  get lineIds(): readonly number[] {
    return this.#ids.slice(this.#ids.length - this.lineEnds.length);
  }

  /** What the page held. Throws ScanError where the body ended early or was no page before that. */
  finish(): PageScan {
    if (this.#outcome instanceof ScanError) throw this.#outcome;
    this.#outcome ??= this.#close(this.#result());
    return this.#outcome;
  }

  #result(): PageScan {
    const { memory, tree, irregular } = this.#values;
    if (this.#state !== 'done') {
      const bytes = this.#consumed + memory.end - memory.start;
      throw this.#fail(`the body ended early, after ${bytes} bytes and ${this.#ids.length} records`);
    }
    return {
      records: this.#ids.length,
      bytes: this.#bytes,
      largestRecord: this.#largestRecord,
      oversized: this.#oversized,
      ids: this.#ids,
      envelope: JSON.parse(`{${this.#envelope.join(',')}}`),
      hasData: this.#hasData,
      ...compareShape(tree),
      utf8: this.#utf8,
      irregular,
    };
  }

  #demandOpen(): void {
    if (this.#outcome instanceof ScanError) throw this.#outcome;
    if (this.#outcome !== undefined) throw new TypeError('the page is finished');
  }

  #fail(message: string): ScanError {
    return this.#close(new ScanError(message));
  }

  /** Gives the scanner back: what is called from now on must not touch it. */
  #close<T extends PageScan | ScanError>(outcome: T): T {
    this.#outcome = outcome;
    giveBack(this.#values, this.#contract);
    return outcome;
  }

  #advance(): Buffer {
    const { memory } = this.#values;
    let p = memory.start;
    try {
      while (this.#state !== 'done') {
        const next =
          this.#state === 'record'
            ? this.#record(p)
            : this.#state === 'oversized'
              ? this.#rest(p)
              : this.#step(p);
        if (next === NEED_MORE) break;
        p = next;
      }
      if (this.#state === 'done') p = this.#trailing(p);
    } catch (error) {
      if (error instanceof DepthFault)
        throw this.#fail(`record ${this.#ids.length} of the page is nested too deeply`);
      throw error instanceof SyntaxFault ? this.#fault(error) : error;
    }
    if (this.#ids.length > MOST_RECORDS) throw this.#fail(`more than ${MOST_RECORDS} records on one page`);
    this.#consumed += p - memory.start;
    memory.start = p;
    const held = memory.end - p;
    this.#wait = Math.min(held * 2, this.#mostRecordBytes + 1);
    // A record of that size has been shortened: what is held is white space, or a member of the envelope.
    if (held > 2 * this.#mostRecordBytes)
      throw this.#fail(`more than ${held} bytes that belong to no record, after record ${this.#ids.length}`);
    const lines = this.#gather();
    this.#bytes += lines.length;
    if (this.#utf8 && !isUtf8(lines)) this.#utf8 = false;
    return lines;
  }

  /** One record with the separator behind it. */
  #record(start: number): number {
    const values = this.#values;
    const { memory } = values;
    const from = values.space(start);
    if (memory.bytes[from] === 0x5d && this.#ids.length === 0) {
      this.#state = this.#bare ? 'done' : 'afterData';
      return from + 1;
    }
    values.beginRecord(this.#ids.length);
    const end = values.record(from);
    const bytes = (end === NEED_MORE ? memory.end : end) - from;
    if (bytes > this.#mostRecordBytes) return this.#shorten(from);
    if (end === NEED_MORE) return NEED_MORE;
    const spaced = values.spaced;
    const next = this.#behindRecord(values.space(end));
    if (next === NEED_MORE) return NEED_MORE;
    if (bytes > this.#largestRecord) this.#largestRecord = bytes;
    this.#ids.push(this.#id());
    this.#line(from, spaced ? values.compact(from, end) : end);
    return next;
  }

  /** The id of the record under way, NaN where it has none or the bytes end before it. */
  #id(): number {
    const { memory, idStart, idEnd } = this.#values;
    return idStart < 0 ? Number.NaN : numericId(memory.bytes, idStart, idEnd);
  }

  /** The address behind the separator at `p`, which follows a record. */
  #behindRecord(p: number): number {
    const { memory } = this.#values;
    const c = memory.bytes[p];
    if (this.#single) {
      this.#state = 'afterData';
      return p;
    }
    if (c === 0x2c) this.#state = 'record';
    else if (c === 0x5d) this.#state = this.#bare ? 'done' : 'afterData';
    else if (p >= memory.end) return NEED_MORE;
    else throw new SyntaxFault(p, 'expected a comma or a closing bracket');
    return p + 1;
  }

  /** Puts the beginning of a record that is too large, as a JSON text, in its place, and passes over what has come of it. */
  #shorten(from: number): number {
    const { memory } = this.#values;
    const id = this.#id();
    const kept = Math.min(KEPT_BYTES, this.#mostRecordBytes >> 2);
    const line = Buffer.from(JSON.stringify(memory.bytes.toString('utf8', from, from + kept)));
    this.#oversized.push({ position: this.#ids.length, id: Number.isNaN(id) ? null : id, bytes: 0 });
    this.#ids.push(id);
    this.#state = 'oversized';
    this.#skipping = { depth: 0, isInText: false, isEscaped: false };
    const next = this.#rest(from);
    // Only now: until here these bytes were the record's own.
    memory.bytes.set(line, from);
    this.#line(from, from + line.length);
    return next;
  }

  /** Passes over what has come of a record that is too large, and the separator behind it. */
  #rest(from: number): number {
    const { memory } = this.#values;
    const record = this.#oversized.pop();
    if (record === undefined) return from;
    const end = skipRecord(this.#skipping, memory.bytes, from, memory.end);
    this.#oversized.push({ ...record, bytes: record.bytes + end - from });
    if (end < memory.end) return this.#behindRecord(end);
    return end > from ? end : NEED_MORE;
  }

  /** Notes a record as a line. Between two records is one byte as a rule, which becomes the line end. */
  #line(start: number, end: number): void {
    const runs = this.#runs;
    if (runs[runs.length - 1] === start) runs[runs.length - 1] = end + 1;
    else runs.push(start, end + 1);
    this.lineEnds.push((this.lineEnds[this.lineEnds.length - 1] ?? 0) + end + 1 - start);
  }

  /** The lines that were noted. */
  #gather(): Buffer {
    const { bytes } = this.#values.memory;
    const runs = this.#runs;
    const length = this.lineEnds[this.lineEnds.length - 1] ?? 0;
    if (length === 0) return EMPTY;
    const lines = this.#allocate(length);
    let written = 0;
    for (let i = 0; i < runs.length; i += 2) written += bytes.copy(lines, written, runs[i], runs[i + 1]);
    for (const end of this.lineEnds) lines[end - 1] = 0x0a;
    this.#runs = [];
    return lines;
  }

  /** One step outside the records: the opening, a member of the envelope, or what follows the records. */
  #step(start: number): number {
    const values = this.#values;
    const { memory } = values;
    const b = memory.bytes;
    let p = start;
    if (this.#state === 'start') {
      if (b[p] === 0xef) {
        if (memory.end - p < 3) return NEED_MORE;
        if (b[p + 1] === 0xbb && b[p + 2] === 0xbf) p += 3;
      }
      p = values.space(p);
      if (p >= memory.end) return NEED_MORE;
      if (b[p] === 0x5b) {
        this.#bare = true;
        this.#hasData = true;
        this.#state = 'record';
      } else if (b[p] === 0x7b) this.#state = 'member';
      else throw new SyntaxFault(p, 'expected an object or an array');
      return p + 1;
    }
    p = values.space(p);
    if (this.#state === 'afterData') return this.#separator(p);
    if (b[p] === 0x7d && this.#envelope.length === 0 && !this.#hasData) {
      this.#state = 'done';
      return p + 1;
    }
    const from = p;
    if (b[p] !== 0x22) {
      if (p >= memory.end) return NEED_MORE;
      throw new SyntaxFault(p, 'expected a member name');
    }
    p = values.text(p + 1);
    if (p === NEED_MORE) return NEED_MORE;
    const isData = p - from === 6 && b.toString('latin1', from, p) === '"data"';
    p = values.space(p);
    if (b[p] !== 0x3a) {
      if (p >= memory.end) return NEED_MORE;
      throw new SyntaxFault(p, 'expected a colon');
    }
    p = values.space(p + 1);
    if (isData && b[p] === 0x7b) {
      // A lookup answers one record instead of a list.
      this.#hasData = true;
      this.#single = true;
      this.#state = 'record';
      return p;
    }
    if (isData && b[p] === 0x5b) {
      this.#hasData = true;
      this.#state = 'record';
      return p + 1;
    }
    p = values.skip(p);
    if (p === NEED_MORE) return NEED_MORE;
    const end = p;
    const next = this.#separator(values.space(p));
    if (next === NEED_MORE) return NEED_MORE;
    this.#envelopeBytes += end - from;
    if (this.#envelopeBytes > MOST_ENVELOPE_BYTES)
      throw new SyntaxFault(from, 'an envelope that is too large');
    this.#envelope.push(b.toString('utf8', from, end));
    return next;
  }

  #separator(p: number): number {
    const { memory } = this.#values;
    const c = memory.bytes[p];
    if (c === 0x2c) this.#state = 'member';
    else if (c === 0x7d) this.#state = 'done';
    else if (p >= memory.end) return NEED_MORE;
    else throw new SyntaxFault(p, 'expected a comma or a closing brace');
    return p + 1;
  }

  #trailing(start: number): number {
    const { memory } = this.#values;
    const p = this.#values.space(start);
    if (p < memory.end) throw new SyntaxFault(p, 'expected nothing behind the page');
    return p;
  }

  #fault(fault: SyntaxFault): ScanError {
    const { memory } = this.#values;
    const from = Math.max(memory.base, fault.offset - 20);
    const near = JSON.stringify(
      memory.bytes.toString('latin1', from, Math.min(memory.end, fault.offset + 20)),
    );
    const offset = this.#consumed + fault.offset - memory.start;
    return this.#fail(
      `malformed JSON at byte ${offset}, in record ${this.#ids.length}: ${fault.reason}, near ${near}`,
    );
  }
}

const MOST_EXACT_DIGITS = 15;

/** The number that an id is; NaN for a text that is none. */
function numericId(bytes: Buffer, start: number, end: number): number {
  const first = bytes[start] === 0x2d ? start + 1 : start;
  if (first === end) return Number.NaN;
  let number = 0;
  for (let i = first; i < end; i++) {
    const digit = (bytes[i] as number) - 0x30;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  if (end - first > MOST_EXACT_DIGITS) return Number(bytes.toString('latin1', start, end));
  return first === start ? number : -number;
}
