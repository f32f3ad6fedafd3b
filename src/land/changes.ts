import { hash } from 'node:crypto';
import { closeSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { FingerprintLog, type Fingerprints } from '../lake/fingerprints.js';
import { unwritable } from './land-error.js';
import type { LandedPage } from './page.js';

/** The records of a landed page that have to be loaded, as lines of a file that is not compressed. */
export interface FreshRecords {
  readonly path: string;
  readonly records: number;
  readonly bytes: number;
}

/** First 64 bits of the SHA-1 of a record as it is landed. */
const fingerprintOf = (line: Uint8Array): bigint => hash('sha1', line, 'buffer').readBigUInt64LE(0);

/** Sees the records of one page while they are landed, and keeps those that the lake was not made from. */
export class PageChanges {
  readonly fresh = new FingerprintLog();
  readonly unchanged: number[] = [];
  records = 0;
  bytes = 0;
  #file: number | undefined;

  constructor(
    readonly path: string,
    readonly known: Fingerprints,
  ) {}

  /** Takes whole lines: where each ends, and the ids of their records, NaN where a record has none. */
  lines(lines: Uint8Array, ends: readonly number[], ids: readonly number[]): void {
    let start = 0;
    let from = 0;
    for (const [i, end] of ends.entries()) {
      const id = ids[i] ?? Number.NaN;
      const print = fingerprintOf(lines.subarray(start, end));
      if (this.known.has(id, print)) {
        this.#write(lines.subarray(from, start));
        from = end;
        this.unchanged.push(id);
      } else {
        this.records++;
        if (!Number.isNaN(id)) this.fresh.add(id, print);
      }
      start = end;
    }
    this.#write(lines.subarray(from, start));
  }

  /** Ends the file; it may be removed with `discard` later. */
  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  discard(): void {
    this.close();
    rmSync(this.path, { force: true });
  }

  #write(lines: Uint8Array): void {
    if (lines.length === 0) return;
    try {
      this.#file ??= openSync(this.path, 'w');
      for (let written = 0; written < lines.length; )
        written += writeSync(this.#file, lines, written, lines.length - written);
    } catch (error) {
      throw unwritable(this.path, error);
    }
    this.bytes += lines.length;
  }
}

/** What the pages of a pass brought that the lake was not made from yet. */
export class Changes {
  /** Fingerprints of the records that are loaded. */
  readonly fresh = new FingerprintLog();
  /** Vehicles that came as the lake has them, by the order of receipt of their page. */
  readonly unchanged = new Map<number, readonly number[]>();
  readonly #pages = new Map<LandedPage, FreshRecords>();

  /** @param folder scratch space of the run */
  constructor(
    readonly folder: string,
    readonly known: Fingerprints,
  ) {
    mkdirSync(folder, { recursive: true });
  }

  /** Begins a page; `name` tells it from the others of the pass. */
  open(name: string): PageChanges {
    return new PageChanges(join(this.folder, name), this.known);
  }

  /** Counts a page that is landed; one whose records need a closer look is read whole, and its records are not known. */
  accept(page: LandedPage, changes: PageChanges): void {
    if (!page.fits) {
      changes.discard();
      return;
    }
    changes.close();
    this.fresh.addAll(changes.fresh);
    if (changes.unchanged.length > 0) this.unchanged.set(page.seq, changes.unchanged);
    this.#pages.set(page, { path: changes.path, records: changes.records, bytes: changes.bytes });
  }

  /** What has to be loaded of a page; undefined where the page itself has to be read. */
  freshOf(page: LandedPage): FreshRecords | undefined {
    return this.#pages.get(page);
  }

  /** Removes the lines of a page that is loaded. */
  release(page: LandedPage): void {
    const fresh = this.#pages.get(page);
    if (fresh !== undefined) rmSync(fresh.path, { force: true });
    this.#pages.delete(page);
  }
}
