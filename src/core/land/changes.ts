import { hash } from 'node:crypto';
import { closeSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, openNew, remove, writeTo } from '../../base/config/owned.js';
import { writing } from './files.js';
import { Fingerprints, readFingerprints } from './fingerprints.js';
import type { LandedPage, LineReader } from './page.js';

/** First 64 bits of the SHA-1 of a record as it is landed. */
const fingerprintOf = (line: Uint8Array): bigint => hash('sha1', line, 'buffer').readBigUInt64LE(0);

/** Takes the records of one page while they are landed, and keeps those that are new to the lake. */
export class PageChanges implements LineReader {
  /** Fingerprints of all records that have an id. */
  readonly prints = new Fingerprints();
  /** Fingerprints of the records that are new to the lake. */
  readonly fresh = new Fingerprints();
  readonly unchanged: number[] = [];
  records = 0;
  bytes = 0;
  #file: number | undefined;

  constructor(
    readonly path: string,
    readonly known: Fingerprints,
  ) {}

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
        this.unchanged.push(id);
      } else {
        this.records++;
        if (!Number.isNaN(id)) this.fresh.add(id, print);
      }
      start = end;
    }
    this.#write(lines.subarray(from, start));
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  discard(): void {
    this.close();
    remove(this.path);
  }

  #write(lines: Uint8Array): void {
    if (lines.length === 0) return;
    writing(this.path, () => {
      this.#file ??= openNew(this.path);
      writeTo(this.#file, lines);
    });
    this.bytes += lines.length;
  }
}

/** The records of a pass that are new to the lake. */
export class Changes {
  /** Fingerprints of the records that are loaded. */
  readonly fresh = new Fingerprints();
  /** Ids of unchanged vehicles by the `seq` of their page. */
  readonly unchanged = new Map<number, readonly number[]>();
  readonly #pages = new Map<LandedPage, Pick<PageChanges, 'path' | 'records' | 'bytes'>>();

  /** @param folder scratch space of the run */
  constructor(
    readonly folder: string,
    readonly known: Fingerprints,
  ) {
    makeFolder(folder);
  }

  /** Begins a page; `name` is unique within the pass. */
  open(name: string): PageChanges {
    return new PageChanges(join(this.folder, name), this.known);
  }

  /** Counts a page that another run landed and whose records are all loaded. */
  acceptLanded(passFolder: string, page: LandedPage): void {
    if (page.prints === undefined) return;
    const { records, offset } = page.prints;
    const prints = readFingerprints(passFolder, records, offset);
    if (page.fits) this.fresh.addAll(prints);
    else this.fresh.addUnknown(prints);
  }

  /** Counts a landed page. One that does not fit the contract is loaded whole, and its fingerprints count as unknown. */
  accept(page: LandedPage, changes: PageChanges): void {
    if (!page.fits) {
      changes.discard();
      this.fresh.addUnknown(changes.prints);
      return;
    }
    changes.close();
    this.fresh.addAll(changes.fresh);
    if (changes.unchanged.length > 0) this.unchanged.set(page.seq, changes.unchanged);
    this.#pages.set(page, { path: changes.path, records: changes.records, bytes: changes.bytes });
  }

  /** File with the new records of a page, as uncompressed lines; undefined if the page has to be loaded whole. */
  freshOf(page: LandedPage) {
    return this.#pages.get(page);
  }

  release(page: LandedPage): void {
    const fresh = this.#pages.get(page);
    if (fresh !== undefined) remove(fresh.path);
    this.#pages.delete(page);
  }
}
