import { isUtf8 } from 'node:buffer';
import type { ContractNode } from '../service/contract/node.js';
import { latin1, NEED_MORE, SyntaxFault, ValueScanner } from './scan-values.js';
import { compareShape, type Drift, type Misfit, ShapeNode } from './shape.js';

/** A body that is no page: malformed, cut off, or without records. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** What one page held besides its records. */
export interface PageScan {
  readonly records: number;
  /** Bytes of the records as they are landed, line ends included. */
  readonly bytes: number;
  readonly largestRecord: number;
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
const MOST_ENVELOPE_BYTES = 4 << 20;

type State = 'start' | 'member' | 'record' | 'afterData' | 'done';

/**
 * Cuts the records of a page out of its body while it streams in: each becomes one line, its bytes unchanged but for
 * white space between tokens. Keeps only the record under way, so that memory follows the largest record, not the
 * page. What was seen is compared with the contract at the end.
 */
export class PageScanner {
  readonly #values = new ValueScanner();
  readonly #root: ShapeNode;
  readonly #mostRecordBytes: number;
  #buffer: Buffer = Buffer.allocUnsafeSlow(1 << 18);
  #start = 0;
  #end = 0;
  #wait = 0;
  #consumed = 0;
  #state: State = 'start';
  #bare = false;
  #single = false;
  #hasData = false;
  #envelope: string[] = [];
  #ids: number[] = [];
  #bytes = 0;
  #largestRecord = 0;
  #utf8 = true;
  #recordStart = -1;
  #recordEnd = -1;
  #recordSpaced = false;
  /** Where the lines that `push` or `flush` returned last end. */
  lineEnds: number[] = [];

  constructor(contract: ContractNode, idField: string, options: { mostRecordBytes?: number } = {}) {
    this.#root = new ShapeNode('', '', contract);
    this.#values.idNode = this.#root.members.get(idField);
    this.#mostRecordBytes = options.mostRecordBytes ?? 64 << 20;
  }

  /** Takes the next bytes of the body and returns the lines that became complete. */
  push(chunk: Uint8Array): Buffer {
    this.lineEnds = [];
    this.#append(chunk);
    if (this.#end - this.#start < this.#wait) return EMPTY;
    return this.#advance();
  }

  /** Takes the end of the body and returns the last lines. */
  flush(): Buffer {
    this.lineEnds = [];
    return this.#start < this.#end ? this.#advance() : EMPTY;
  }

  /** Ids of the lines that `push` or `flush` returned last. */
  get lineIds(): readonly number[] {
    return this.#ids.slice(this.#ids.length - this.lineEnds.length);
  }

  /** What the page held. Fails where the body ended early. */
  finish(): PageScan {
    if (this.#state !== 'done') {
      throw new ScanError(
        `the body ended early, after ${this.#consumed + this.#end - this.#start} bytes and ${this.#ids.length} records`,
      );
    }
    const { drift, misfits } = compareShape(this.#root);
    return {
      records: this.#ids.length,
      bytes: this.#bytes,
      largestRecord: this.#largestRecord,
      ids: this.#ids,
      envelope: JSON.parse(`{${this.#envelope.join(',')}}`),
      hasData: this.#hasData,
      drift,
      misfits,
      utf8: this.#utf8,
      irregular: this.#values.irregular,
    };
  }

  #append(chunk: Uint8Array): void {
    const kept = this.#end - this.#start;
    if (this.#end + chunk.length + 1 > this.#buffer.length) {
      const wanted = kept + chunk.length + 1;
      if (wanted > this.#buffer.length || this.#start === 0) {
        const grown = Buffer.allocUnsafeSlow((Math.max(wanted, this.#buffer.length * 2) + 3) & ~3);
        this.#buffer.copy(grown, 0, this.#start, this.#end);
        this.#buffer = grown;
      } else this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#start = 0;
      this.#end = kept;
    }
    this.#buffer.set(chunk, this.#end);
    this.#end += chunk.length;
    this.#buffer[this.#end] = 0;
    this.#values.buffer = this.#buffer;
    this.#values.end = this.#end;
  }

  #advance(): Buffer {
    const out = Buffer.allocUnsafe(this.#end - this.#start + 1);
    let written = 0;
    let p = this.#start;
    try {
      while (this.#state !== 'done') {
        const next = this.#state === 'record' ? this.#record(p) : this.#step(p);
        if (next === NEED_MORE) break;
        if (this.#recordEnd > 0) {
          written = this.#emit(out, written);
          this.lineEnds.push(written);
          this.#recordEnd = -1;
        }
        p = next;
      }
      if (this.#state === 'done') p = this.#trailing(p);
    } catch (error) {
      if (error instanceof RangeError)
        throw new ScanError(`record ${this.#ids.length} of the page is nested too deeply`);
      throw error instanceof SyntaxFault ? this.#fault(error) : error;
    }
    this.#consumed += p - this.#start;
    this.#start = p;
    this.#wait = (this.#end - p) * 2;
    if (this.#end - p > this.#mostRecordBytes)
      throw new ScanError(
        `record ${this.#ids.length} of the page is larger than ${this.#mostRecordBytes} bytes`,
      );
    const lines = out.subarray(0, written);
    this.#bytes += written;
    if (this.#utf8 && !isUtf8(lines)) this.#utf8 = false;
    return lines;
  }

  /** One record with the separator behind it. */
  #record(start: number): number {
    const values = this.#values;
    const b = this.#buffer;
    let p = values.space(start);
    if (b[p] === 0x5d && this.#ids.length === 0) {
      this.#state = this.#bare ? 'done' : 'afterData';
      return p + 1;
    }
    values.record = this.#ids.length;
    values.idStart = -1;
    values.spaced = false;
    const from = p;
    p = values.value(p, this.#root);
    if (p === NEED_MORE) return NEED_MORE;
    const spaced = values.spaced;
    const end = p;
    p = values.space(p);
    const c = b[p];
    if (this.#single) this.#state = 'afterData';
    else if (c === 0x2c) p++;
    else if (c === 0x5d) {
      this.#state = this.#bare ? 'done' : 'afterData';
      p++;
    } else if (p >= this.#end) return NEED_MORE;
    else throw new SyntaxFault(p, 'expected a comma or a closing bracket');
    this.#recordStart = from;
    this.#recordEnd = end;
    this.#recordSpaced = spaced;
    if (end - from > this.#largestRecord) this.#largestRecord = end - from;
    this.#ids.push(values.idStart < 0 ? Number.NaN : numericId(latin1(b, values.idStart, values.idEnd)));
    return p;
  }

  #emit(out: Buffer, written: number): number {
    const b = this.#buffer;
    let w = written;
    if (!this.#recordSpaced) w += b.copy(out, w, this.#recordStart, this.#recordEnd);
    else {
      let inText = false;
      for (let i = this.#recordStart; i < this.#recordEnd; i++) {
        const c = b[i] as number;
        if (inText) {
          if (c === 0x5c) out[w++] = b[i++] as number;
          else if (c === 0x22) inText = false;
        } else if (c === 0x22) inText = true;
        else if (c <= 0x20) continue;
        out[w++] = b[i] as number;
      }
    }
    out[w++] = 0x0a;
    return w;
  }

  /** One step outside the records: the opening, a member of the envelope, or what follows the records. */
  #step(start: number): number {
    const values = this.#values;
    const b = this.#buffer;
    let p = start;
    if (this.#state === 'start') {
      if (b[p] === 0xef) {
        if (this.#end - p < 3) return NEED_MORE;
        if (b[p + 1] === 0xbb && b[p + 2] === 0xbf) p += 3;
      }
      p = values.space(p);
      if (p >= this.#end) return NEED_MORE;
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
      if (p >= this.#end) return NEED_MORE;
      throw new SyntaxFault(p, 'expected a member name');
    }
    p = values.text(p + 1);
    if (p === NEED_MORE) return NEED_MORE;
    const isData = p - from === 6 && latin1(b, from, p) === '"data"';
    p = values.space(p);
    if (b[p] !== 0x3a) {
      if (p >= this.#end) return NEED_MORE;
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
    if (end - from > MOST_ENVELOPE_BYTES) throw new SyntaxFault(from, 'an envelope that is too large');
    this.#envelope.push(b.toString('utf8', from, end));
    return next;
  }

  #separator(p: number): number {
    const c = this.#buffer[p];
    if (c === 0x2c) this.#state = 'member';
    else if (c === 0x7d) this.#state = 'done';
    else if (p >= this.#end) return NEED_MORE;
    else throw new SyntaxFault(p, 'expected a comma or a closing brace');
    return p + 1;
  }

  #trailing(start: number): number {
    const p = this.#values.space(start);
    if (p < this.#end) throw new SyntaxFault(p, 'expected nothing behind the page');
    return p;
  }

  #fault(fault: SyntaxFault): ScanError {
    const offset = this.#consumed + fault.offset - this.#start;
    const near = JSON.stringify(
      this.#buffer.toString('latin1', Math.max(0, fault.offset - 20), Math.min(this.#end, fault.offset + 20)),
    );
    return new ScanError(
      `malformed JSON at byte ${offset}, in record ${this.#ids.length}: ${fault.reason}, near ${near}`,
    );
  }
}

/** The number that an id is; NaN for a text that is none. */
function numericId(text: string): number {
  return /^-?\d+$/.test(text) ? Number(text) : Number.NaN;
}
