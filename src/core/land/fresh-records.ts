import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { openNew, remove, writeTo } from '../../base/config/owned.js';
import { writing } from './files.js';
import { Fingerprints } from './fingerprints.js';

/** What a page of vehicles brings that the lake does not have. */
export interface FreshRecords {
  /** Fingerprints of the records that are loaded. */
  readonly prints: Fingerprints;
  /** Ids of the vehicles whose records the lake has already. */
  readonly unchanged: readonly number[];
  /** The new records alone, as uncompressed lines; without it, the whole page is loaded. */
  readonly file?: { readonly path: string; readonly records: number; readonly bytes: number };
}

/** First 64 bits of the SHA-1 of a record as it is landed. */
const fingerprintOf = (line: Uint8Array): bigint => hash('sha1', line, 'buffer').readBigUInt64LE(0);

/** Takes the records of one page while they are landed, and writes those that are new to the lake to a file of the run. */
export class FreshLines {
  /** Fingerprints of all records that have an id. */
  readonly prints = new Fingerprints();
  readonly #fresh = new Fingerprints();
  readonly #unchanged: number[] = [];
  #records = 0;
  #bytes = 0;
  #file: number | undefined;

  /** @param known fingerprints of the records that the lake has */
  constructor(
    readonly path: string,
    readonly known: Fingerprints,
  ) {}

  /** Takes whole lines: where each ends, and the ids of their records, NaN if a record has none. */
  lines(lines: Uint8Array, ends: readonly number[], ids: readonly number[]): void {
    let start = 0;
    let from = 0;
    for (const [i, end] of ends.entries()) {
      const id = ids[i] ?? Number.NaN;
      const print = fingerprintOf(lines.subarray(start, end));
      if (!Number.isNaN(id)) this.prints.add(id, print);
      if (this.known.has(id, print)) {
        this.#write(lines.subarray(from, start));
        from = end;
        this.#unchanged.push(id);
      } else {
        this.#records++;
        if (!Number.isNaN(id)) this.#fresh.add(id, print);
      }
      start = end;
    }
    this.#write(lines.subarray(from, start));
  }

  /** Ends the page. One that does not fit the contract is loaded whole, so that what the lake gets of it is not its records. */
  end(fits: boolean): FreshRecords {
    if (!fits) {
      this.discard();
      return { prints: this.prints.unknown(), unchanged: [] };
    }
    this.#close();
    const file = { path: this.path, records: this.#records, bytes: this.#bytes };
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
    if (lines.length === 0) return;
    writing(this.path, () => {
      this.#file ??= openNew(this.path);
      writeTo(this.#file, lines);
    });
    this.#bytes += lines.length;
  }
}
