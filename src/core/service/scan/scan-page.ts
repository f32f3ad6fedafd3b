import { isUtf8 } from 'node:buffer';
import type { ContractNode } from '../contract/node.js';
import { withoutWords } from './bare-words.js';
import type { Drift, Misfit } from './shape.js';
import { DepthFault, giveBack, SyntaxFault, takeScanner, type ValueScanner } from './walker/scan-values.js';
import { NEED_MORE } from './walker/tokens.js';

/**
 * Most bytes of a record, as the service sends it; a larger one is set aside instead of loaded. This is over a hundred
 * times the largest known record (36 KB). The least memory, 700 MB, can load 20 such records of any shape, on 2 threads and
 * on 16, but not 20 records of twice the size (docs/decisions/0016).
 */
export const MOST_RECORD_BYTES = 4 << 20;

/** Bytes of a record past the limit that are kept. */
const KEPT_BYTES = 1000;

/** A record past the limit. Its line in landing is the beginning of its text, as a JSON text. */
export interface OversizedRecord {
  /** Position in the page, from 0. */
  readonly position: number;
  /** Null if it is not in the part that was read before the limit. */
  readonly id: number | null;
  readonly bytes: number;
  /** Most bytes that it could have had. */
  readonly most: number;
}

/** A body that is not a page: malformed, cut off, or without records. */
export class ScanError extends Error {
  override readonly name = 'ScanError';
}

/** Facts about one page besides its lines. */
export interface PageScan {
  readonly records: number;
  /** Bytes of the records as they are landed, line ends included. */
  readonly bytes: number;
  /** Bytes of the largest record that is within the limit. */
  readonly largestRecord: number;
  /** Records past the limit. */
  readonly oversized: readonly OversizedRecord[];
  /** Ids of the records in their order; NaN if a record has no numeric id. */
  readonly ids: readonly number[];
  /** Members of the envelope besides `data`, parsed. */
  readonly envelope: Readonly<Record<string, unknown>>;
  /** Whether the page had a list of records; a 200 with an `error` has none. */
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

export const [NEWLINE, COMMA] = [0x0a, 0x2c];
export const [BRACKET, END_BRACKET] = [0x5b, 0x5d];
export const [BRACE, END_BRACE] = [0x7b, 0x7d];
const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * Cuts the records of a page out of its body while it streams in: each becomes one line, its bytes unchanged but for
 * white space between tokens. Keeps only the record under way, or its beginning if it is past the limit, so that memory
 * follows the largest record within the limit, not the page. At the end, compares the shape with the contract.
 */
export class PageScanner {
  readonly #values: ValueScanner;
  readonly #mostRecordBytes: number;
  /** Reads the page as far as its bytes have come, up to `memory.start`, and continues there when it is called again. */
  readonly #reader: Generator<void, void>;
  #received = 0;
  /** Fewer waiting bytes are not read yet. */
  #wait = 0;
  #isWhole = false;
  #envelope: string[] = [];
  #envelopeBytes = 0;
  readonly #ids: number[] = [];
  readonly #oversized: OversizedRecord[] = [];
  readonly #seen = { bytes: 0, largestRecord: 0, hasData: false, utf8: true };
  /** Bytes in memory to return. Usually one byte is between two records, so that many are copied at once. */
  #runs: { readonly start: number; end: number }[] = [];
  /** Ends of the lines that `push` or `flush` returned last. */
  lineEnds: number[] = [];
  #outcome: PageScan | ScanError | undefined;

  constructor(contract: ContractNode, mostRecordBytes: number = MOST_RECORD_BYTES) {
    this.#values = takeScanner(contract);
    this.#mostRecordBytes = mostRecordBytes;
    this.#reader = this.#page();
  }

  /** Takes the next bytes of the body and returns the lines that became complete. Throws ScanError. */
  push(chunk: Uint8Array): Buffer {
    return this.#take(chunk, this.#wait);
  }

  /** Takes the end of the body and returns the last lines. Throws ScanError. */
  flush(): Buffer {
    return this.#take(EMPTY, 1);
  }

  /** Ids of the lines that `push` or `flush` returned last. */
  get lineIds(): readonly number[] {
    return this.#ids.slice(this.#ids.length - this.lineEnds.length);
  }

  /** The facts of the page. Throws ScanError if the body ended early or was not a page. */
  finish(): PageScan {
    if (this.#outcome instanceof ScanError) throw this.#outcome;
    if (this.#outcome !== undefined) return this.#outcome;
    if (!this.#isWhole)
      throw this.#fail(`the body ended early, after ${this.#received} bytes and ${this.#ids.length} records`);
    return this.#close({
      records: this.#ids.length,
      ids: this.#ids,
      oversized: this.#oversized,
      ...this.#seen,
      envelope: JSON.parse(withoutWords(`{${this.#envelope.join(',')}}`)),
      ...this.#values.tree.compare(),
      irregular: this.#values.irregular,
    });
  }

  #fail(message: string): ScanError {
    return this.#close(new ScanError(message));
  }

  /** Gives the scanner back. Later calls must not touch it. */
  #close<T extends PageScan | ScanError>(outcome: T): T {
    this.#outcome = outcome;
    giveBack(this.#values);
    return outcome;
  }

  /** Takes bytes, and reads on if at least so many wait. */
  #take(chunk: Uint8Array, least: number): Buffer {
    if (this.#outcome instanceof ScanError) throw this.#outcome;
    if (this.#outcome !== undefined) throw new TypeError('the page is finished');
    const { memory } = this.#values;
    memory.append(chunk);
    this.#received += chunk.length;
    this.lineEnds = [];
    if (memory.end - memory.start < least) return EMPTY;
    try {
      this.#reader.next();
    } catch (error) {
      if (error instanceof DepthFault)
        throw this.#fail(`record ${this.#ids.length} of the page is nested too deeply`);
      throw error instanceof SyntaxFault ? this.#fault(error) : error;
    }
    if (this.#ids.length > MOST_RECORDS) throw this.#fail(`more than ${MOST_RECORDS} records on one page`);
    const held = memory.end - memory.start;
    this.#wait = Math.min(held * 2, this.#mostRecordBytes + 1);
    // A record of that size has been shortened: what is held is white space, or a member of the envelope.
    if (held > 2 * this.#mostRecordBytes)
      throw this.#fail(`more than ${held} bytes that belong to no record, after record ${this.#ids.length}`);
    return this.#lines();
  }

  /** Notes a record to return, and the byte behind it for its line end. */
  #cut(start: number, end: number): void {
    const last = this.#runs.at(-1);
    if (last?.end === start) last.end = end + 1;
    else this.#runs.push({ start, end: end + 1 });
    this.lineEnds.push((this.lineEnds.at(-1) ?? 0) + end + 1 - start);
  }

  #lines(): Buffer {
    const { bytes } = this.#values.memory;
    const lines = Buffer.allocUnsafe(this.lineEnds.at(-1) ?? 0);
    let written = 0;
    for (const { start, end } of this.#runs) written += bytes.copy(lines, written, start, end);
    for (const end of this.lineEnds) lines[end - 1] = NEWLINE;
    this.#runs = [];
    this.#seen.bytes += lines.length;
    this.#seen.utf8 &&= isUtf8(lines);
    return lines;
  }

  *#page(): Generator<void, void> {
    const { memory } = this.#values;
    const begin = (): Buffer => memory.bytes.subarray(memory.start, Math.min(memory.end, memory.start + 3));
    while (begin().length === 0 || (begin().length < 3 && begin()[0] === BYTE_ORDER_MARK[0])) yield;
    if (begin().equals(BYTE_ORDER_MARK)) memory.start += 3;
    const first = yield* this.#byte();
    if (first !== BRACE && first !== BRACKET)
      throw new SyntaxFault(memory.start, 'expected an object or an array');
    const form = first === BRACKET ? 'list' : (yield* this.#isNumbered(false)) ? 'numbered' : undefined;
    memory.start++;
    if (form === undefined) yield* this.#members();
    else yield* this.#records(form);
    this.#isWhole = true;
    for (;;) {
      memory.start = this.#values.space(memory.start);
      if (memory.start < memory.end) throw new SyntaxFault(memory.start, 'expected nothing behind the page');
      yield;
    }
  }

  /** The members of the envelope, up to its end. */
  *#members(): Generator<void, void> {
    const values = this.#values;
    const { memory } = values;
    let c = yield* this.#byte();
    if (c === END_BRACE) memory.start++;
    while (c !== END_BRACE) {
      yield* this.#byte();
      const value = yield* this.#until(() => values.name(memory.start));
      const isData = memory.bytes.toString('latin1', memory.start, memory.start + 6) === '"data"';
      c = memory.bytes[value] ?? 0;
      let length = 0;
      if (isData && this.#seen.hasData) throw new SyntaxFault(memory.start, 'expected one list of records');
      if (isData && (c === BRACE || c === BRACKET)) {
        memory.start = value;
        // A lookup answers one record instead of a list.
        const form = c === BRACKET ? 'list' : (yield* this.#isNumbered(true)) ? 'numbered' : 'one';
        if (form !== 'one') memory.start++;
        yield* this.#records(form);
      } else {
        const before = value - memory.start;
        length = (yield* this.#until(() => values.skip(memory.start + before))) - memory.start;
      }
      const end = yield* this.#until(() => this.#separator(memory.start + length, END_BRACE));
      this.#envelopeBytes += length;
      if (this.#envelopeBytes > MOST_ENVELOPE_BYTES)
        throw new SyntaxFault(memory.start, 'an envelope that is too large');
      if (length > 0) this.#envelope.push(memory.bytes.toString('utf8', memory.start, memory.start + length));
      c = memory.bytes[end] ?? 0;
      memory.start = end + 1;
    }
  }

  /**
   * Whether the object at `memory.start` is a list: the name of its first member is a number, as PHP writes a list with a
   * gap, or it has no member and `isEmptyOne` says that an empty one is a list.
   */
  *#isNumbered(isEmptyOne: boolean): Generator<void, boolean> {
    const { memory } = this.#values;
    for (;;) {
      const { bytes, end } = memory;
      const name = this.#values.space(memory.start + 1);
      let p = name + 1;
      while (p < end && isDigit(bytes[p] ?? 0)) p++;
      if (name < end && bytes[name] === END_BRACE) return isEmptyOne;
      if (name < end && bytes[name] !== QUOTE) return false;
      if (p < end) return bytes[p] === QUOTE && p > name + 1;
      yield;
    }
  }

  /** The records of a list, or of an object with numbers as names, up to its end; or one, without the separator behind it. */
  *#records(form: 'list' | 'numbered' | 'one'): Generator<void, void> {
    const values = this.#values;
    const { memory } = values;
    const isList = form !== 'one';
    const close = form === 'list' ? END_BRACKET : END_BRACE;
    this.#seen.hasData = true;
    let isLast = isList && (yield* this.#byte()) === close;
    if (isLast) memory.start++;
    let isNamed = form !== 'numbered';
    while (!isLast) {
      if (!isNamed) {
        yield* this.#byte();
        memory.start = yield* this.#until(() => values.name(memory.start));
        isNamed = true;
      }
      const from = values.space(memory.start);
      const end = values.record(from, this.#ids.length);
      const bytes = (end === NEED_MORE ? memory.end : end) - from;
      const { spaced } = values;
      let behind: number;
      if (bytes > this.#mostRecordBytes) {
        yield* this.#shorten(from);
        behind = yield* this.#until(() => this.#separator(memory.start, close));
      } else {
        behind = end === NEED_MORE ? NEED_MORE : this.#separator(end, close);
        if (behind === NEED_MORE) {
          yield;
          continue;
        }
        this.#seen.largestRecord = Math.max(this.#seen.largestRecord, bytes);
        this.#ids.push(values.id);
        this.#cut(from, spaced ? compact(memory.bytes, from, end) : end);
      }
      isLast = !isList || memory.bytes[behind] === close;
      memory.start = isList ? behind + 1 : behind;
      isNamed = form !== 'numbered';
    }
  }

  /** Replaces a record that is too large by its beginning, as a JSON text, and skips the rest. */
  *#shorten(from: number): Generator<void, void> {
    const { memory, id } = this.#values;
    const position = this.#ids.push(id) - 1;
    const kept = Math.min(KEPT_BYTES, this.#mostRecordBytes >> 2);
    const line = Buffer.from(JSON.stringify(memory.bytes.toString('utf8', from, from + kept)));
    let [bytes, depth, isInText, isEscaped] = [0, 0, false, false];
    for (let p = from; ; p = memory.start) {
      const start = p;
      for (; p < memory.end; p++) {
        const c = memory.bytes[p] ?? 0;
        if (isEscaped) isEscaped = false;
        else if (isInText && c === BACKSLASH) isEscaped = true;
        else if (c === QUOTE) isInText = !isInText;
        else if (isInText) continue;
        else if (c === BRACE || c === BRACKET) depth++;
        else if (depth === 0 && (c === COMMA || c === END_BRACE || c === END_BRACKET)) break;
        else if (c === END_BRACE || c === END_BRACKET) depth--;
      }
      memory.start = p;
      if (bytes === 0) {
        // Only now: until here these bytes were the record's own.
        memory.bytes.set(line, from);
        this.#cut(from, from + line.length);
      }
      bytes += p - start;
      if (p < memory.end) break;
      yield;
    }
    this.#oversized.push({ position, id: Number.isNaN(id) ? null : id, bytes, most: this.#mostRecordBytes });
  }

  /** The next byte that is not white space. Moves `memory.start` to it. */
  *#byte(): Generator<void, number> {
    const { memory } = this.#values;
    memory.start = yield* this.#until(() => this.#values.space(memory.start));
    return memory.bytes[memory.start] ?? 0;
  }

  /** Repeats a step with each new chunk until a byte follows it. A chunk may move the bytes. */
  *#until(step: () => number): Generator<void, number> {
    for (;;) {
      const address = step();
      if (address !== NEED_MORE && address < this.#values.memory.end) return address;
      yield;
    }
  }

  /** The address of the comma or the closing bracket that follows behind `p`. */
  #separator(p: number, close: number): number {
    const { memory } = this.#values;
    const at = this.#values.space(p);
    const c = memory.bytes[at];
    if (c === COMMA || c === close) return at;
    if (at >= memory.end) return NEED_MORE;
    throw new SyntaxFault(at, `expected a comma or a closing ${close === END_BRACE ? 'brace' : 'bracket'}`);
  }

  #fault(fault: SyntaxFault): ScanError {
    const { memory } = this.#values;
    const from = Math.max(0, fault.offset - 20);
    const near = memory.bytes.toString('latin1', from, Math.min(memory.end, fault.offset + 20));
    const place = `byte ${this.#received - memory.end + fault.offset}, in record ${this.#ids.length}`;
    return this.#fail(`malformed JSON at ${place}: ${fault.reason}, near ${JSON.stringify(near)}`);
  }
}

const isDigit = (c: number): boolean => c >= 0x30 && c <= 0x39;

/** Removes the white space between the tokens of a value. Returns its new end. */
function compact(bytes: Buffer, start: number, end: number): number {
  let to = start;
  let isInText = false;
  for (let p = start; p < end; p++) {
    const c = bytes[p] ?? 0;
    if (c === QUOTE) isInText = !isInText;
    else if (isInText && c === BACKSLASH) bytes[to++] = bytes[p++] ?? 0;
    if (isInText || c > 0x20) bytes[to++] = bytes[p] ?? 0;
  }
  // A later error shows the bytes before it.
  bytes.fill(0x20, to, end);
  return to;
}
