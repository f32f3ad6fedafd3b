import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { openNew, remove, writeTo } from '../../base/config/owned.js';
import { writing } from '../lake/disk.js';
import { Fingerprints } from '../lake/passes/fingerprints.js';
import type { FreshRecords } from '../lake/passes/landed-page.js';

/** What the records of a page are compared with. */
export interface Comparison {
  /** Fingerprints of the records that the lake has, sorted. They are not loaded again. */
  readonly known: Fingerprints;
  /**
   * Ascending hashes of the records that the group of a delta has landed. The file of a page leaves such a record out if
   * the lake has it, too. Undefined if the file holds every record.
   */
  readonly landed?: BigUint64Array | undefined;
}

/** First 64 bits of the SHA-1 of a record as it is landed. */
const fingerprintOf = (line: Uint8Array): bigint => hash('sha1', line, 'buffer').readBigUInt64LE(0);

/**
 * Takes the records of one page on their way to its file: decides which of them the file leaves out, and writes those that
 * are new to the lake to a file of the run as well.
 */
export class FreshLines {
  /** Fingerprints of the records that the file leaves out, and of those in it that have an id. */
  readonly leftOut = new Fingerprints();
  readonly inFile = new Fingerprints();
  readonly #fresh = new Fingerprints();
  readonly #unchanged: number[] = [];
  /** Positions of the left out records in the page, and the lines of the new records in the landed file. */
  readonly #gaps: number[] = [];
  readonly #lines: number[] = [];
  #position = 0;
  #bytes = 0;
  #landedBytes = 0;
  #file: number | undefined;

  constructor(
    readonly path: string,
    readonly comparison: Comparison,
  ) {}

  /**
   * Takes whole lines: where each ends, and the ids of their records, NaN if a record has none. Returns the lines for the
   * landed file.
   */
  lines(lines: Buffer, ends: readonly number[], ids: readonly number[]): Buffer[] {
    const { known, landed } = this.comparison;
    const [forFile, fresh] = [new Runs(lines), new Runs(lines)];
    let start = 0;
    for (const [i, end] of ends.entries()) {
      const id = ids[i] ?? Number.NaN;
      const print = fingerprintOf(lines.subarray(start, end));
      const isKnown = known.has(id, print);
      const isLeftOut = isKnown && landed !== undefined && holds(landed, print);
      if (isKnown) this.#unchanged.push(id);
      else {
        if (!Number.isNaN(id)) this.#fresh.add(id, print);
        this.#lines.push(this.#position - this.#gaps.length);
        fresh.add(start, end);
      }
      if (isLeftOut) {
        this.leftOut.add(id, print);
        this.#gaps.push(this.#position);
      } else {
        if (!Number.isNaN(id)) this.inFile.add(id, print);
        forFile.add(start, end);
      }
      this.#position++;
      start = end;
    }
    for (const run of fresh.runs) this.#write(run);
    for (const run of forFile.runs) this.#landedBytes += run.length;
    return forFile.runs;
  }

  /** Records in the landed file, and their bytes with line ends; undefined if it leaves none out. */
  get held(): { readonly records: number; readonly bytes: number } | undefined {
    if (this.#gaps.length === 0) return undefined;
    return { records: this.#position - this.#gaps.length, bytes: this.#landedBytes };
  }

  /** The line of a record in the landed file, by its position in the page; both from 0. */
  lineOf(position: number): number {
    return position - this.#gaps.filter((gap) => gap < position).length;
  }

  /** Ends the page. */
  end(): FreshRecords {
    this.#close();
    const file = {
      path: this.path,
      records: this.#lines.length,
      bytes: this.#bytes,
      lines: this.#lines,
    };
    return { prints: this.#fresh, unchanged: this.#unchanged, file };
  }

  discard(): void {
    this.#close();
    remove(this.path);
  }

  #close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  #write(lines: Uint8Array): void {
    writing(this.path, () => {
      this.#file ??= openNew(this.path);
      writeTo(this.#file, lines);
    });
    this.#bytes += lines.length;
  }
}

/** Some lines of a buffer, without a copy: neighbours are one piece. */
class Runs {
  readonly #spans: [start: number, end: number][] = [];

  constructor(private readonly lines: Buffer) {}

  add(start: number, end: number): void {
    const last = this.#spans.at(-1);
    if (last?.[1] === start) last[1] = end;
    else this.#spans.push([start, end]);
  }

  get runs(): Buffer[] {
    return this.#spans.map(([start, end]) => this.lines.subarray(start, end));
  }
}

/** Whether ascending numbers hold one. */
function holds(numbers: BigUint64Array, wanted: bigint): boolean {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0n) < wanted) low = middle + 1;
    else high = middle;
  }
  return numbers[low] === wanted;
}
