import { hash } from 'node:crypto';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { append, writeNew } from '../../../base/config/owned.js';
import { writing } from '../disk.js';
import { FINGERPRINTS } from '../ids.js';

/** Bytes of one fingerprint on disk. */
const PRINT_BYTES = 16;

/** In the place of a hash: the record has to be loaded again in any case. */
const UNKNOWN = 0n;

/** Ids of vehicles and the hashes of their records, in parallel: in the order in which they came, or `sorted` by id. */
export class Fingerprints {
  #ids: Float64Array = new Float64Array(0);
  #hashes: BigUint64Array = new BigUint64Array(0);
  #length = 0;

  /** Reads what {@link bytes} gave. Shares its memory, which must begin at offset 0 of its buffer. */
  static from({ buffer, length }: Uint8Array): Fingerprints {
    const prints = new Fingerprints();
    prints.#length = length / PRINT_BYTES;
    prints.#ids = new Float64Array(buffer, 0, prints.#length);
    prints.#hashes = new BigUint64Array(buffer, prints.#length * 8, prints.#length);
    return prints;
  }

  /** As they are on disk: the ids as doubles, then the hashes, in the byte order of the machine. */
  bytes(): Uint8Array {
    const bytes = new Uint8Array(this.#length * PRINT_BYTES);
    const written = Fingerprints.from(bytes);
    written.#ids.set(this.ids);
    written.#hashes.set(this.hashes);
    return bytes;
  }

  get ids(): Float64Array {
    return this.#ids.subarray(0, this.#length);
  }

  get hashes(): BigUint64Array {
    return this.#hashes.subarray(0, this.#length);
  }

  add(id: number, hash: bigint): void {
    this.#grow(this.#length + 1);
    this.#ids[this.#length] = id;
    this.#hashes[this.#length++] = hash;
  }

  addAll({ ids, hashes }: Fingerprints): void {
    this.#grow(this.#length + ids.length);
    this.#ids.set(ids, this.#length);
    this.#hashes.set(hashes, this.#length);
    this.#length += ids.length;
  }

  /** The same vehicles, some of them without known hashes: `sorted` leaves those out. */
  unknownWhere(isUnknown: (id: number) => boolean): Fingerprints {
    const out = new Fingerprints();
    for (const [i, id] of this.ids.entries()) out.add(id, isUnknown(id) ? UNKNOWN : (this.#hashes[i] ?? 0n));
    return out;
  }

  /** By id; a vehicle that came with different records is left out. */
  sorted(): Fingerprints {
    const order = Uint32Array.from({ length: this.#length }, (_, i) => i);
    order.sort((a, b) => (this.#ids[a] ?? 0) - (this.#ids[b] ?? 0));
    const out = new Fingerprints();
    for (let i = 0; i < order.length; ) {
      const id = this.#ids[order[i] ?? 0] ?? 0;
      const hash = this.#hashes[order[i] ?? 0] ?? 0n;
      let isOne = hash !== UNKNOWN;
      for (i++; i < order.length && this.#ids[order[i] ?? 0] === id; i++)
        isOne &&= this.#hashes[order[i] ?? 0] === hash;
      if (isOne) out.add(id, hash);
    }
    return out;
  }

  /** The first fingerprints, and those after them. */
  cutAt(count: number): [first: Fingerprints, rest: Fingerprints] {
    const part = (from: number, to: number): Fingerprints => {
      const out = new Fingerprints();
      out.#ids = this.#ids.subarray(from, to);
      out.#hashes = this.#hashes.subarray(from, to);
      out.#length = out.#ids.length;
      return out;
    };
    return [part(0, count), part(count, this.#length)];
  }

  /** Whether each vehicle had the record with its hash in others, which are sorted. */
  isWithin(others: Fingerprints): boolean {
    return this.ids.every((id, i) => others.has(id, this.#hashes[i] ?? 0n));
  }

  /** Whether a vehicle had the record with this hash. The fingerprints must be sorted. */
  has(id: number, hash: bigint): boolean {
    const index = indexAbove(this.ids, id) - 1;
    return this.#ids[index] === id && this.#hashes[index] === hash;
  }

  /** The fingerprints without some ids, which ascend. */
  without(ids: Float64Array): Fingerprints {
    const out = new Fingerprints();
    for (const [i, id] of this.ids.entries())
      if (ids[indexAbove(ids, id) - 1] !== id) out.add(id, this.#hashes[i] ?? 0n);
    return out;
  }

  /** Merges with later fingerprints; both are sorted. If an id is in both, the later one counts. */
  updated(later: Fingerprints): Fingerprints {
    const both = this.without(later.ids);
    both.addAll(later);
    return both.sorted();
  }

  #grow(least: number): void {
    if (least <= this.#ids.length) return;
    const [ids, hashes] = [this.ids, this.hashes];
    const size = Math.max(least, this.#length * 2, 1024);
    this.#ids = new Float64Array(size);
    this.#hashes = new BigUint64Array(size);
    this.#ids.set(ids);
    this.#hashes.set(hashes);
  }
}

/** Where the fingerprints of a page are in the file of its pass, which has them page by page. */
export interface PrintsPlace {
  readonly offset: number;
  readonly records: number;
  /** How many of them, the first ones, are of records that the file of the page leaves out. */
  readonly leftOut?: number | undefined;
  /** SHA-256 of the fingerprints in hex, if the page leaves records out: they cannot be made again then. */
  readonly sha256?: string | undefined;
}

/**
 * Appends the fingerprints of a page to the file of its pass, for the run that makes a snapshot of it.
 * @param leftOut of the records that the file of the page leaves out
 * @param inFile of the others
 */
export function keepPrints(folder: string, leftOut: Fingerprints, inFile: Fingerprints): PrintsPlace {
  const path = join(folder, FINGERPRINTS);
  const offset = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  const prints = new Fingerprints();
  for (const part of [leftOut, inFile]) prints.addAll(part);
  const bytes = prints.bytes();
  writing(path, () => append(path, bytes));
  const records = prints.ids.length;
  if (leftOut.ids.length === 0) return { offset, records };
  return { offset, records, leftOut: leftOut.ids.length, sha256: hash('sha256', bytes) };
}

/** Bytes that the file of a pass has at least if it holds these fingerprints. */
export const endOfPrints = ({ offset, records }: PrintsPlace): number => offset + records * PRINT_BYTES;

/** The fingerprints of the records that a page leaves out, and of those in its file; empty if they are lost. */
export function printsOfPage(
  folder: string,
  { offset, records, leftOut = 0 }: PrintsPlace,
): [leftOut: Fingerprints, inFile: Fingerprints] {
  return readFingerprints(folder, records, offset).cutAt(leftOut);
}

/** Whether the fingerprints of a page that leaves records out are as they were written. */
export function arePrintsSound(folder: string, { offset, records, sha256 }: PrintsPlace): boolean {
  if (sha256 === undefined) return true;
  const prints = readFingerprints(folder, records, offset);
  return prints.ids.length === records && hash('sha256', prints.bytes()) === sha256;
}

/**
 * Reads the fingerprints of `records` records from the file of a snapshot or pass. They are a cache: empty if the file is
 * not whole.
 * @param offset where they begin in the file of a pass; the file of a snapshot holds nothing else
 */
export function readFingerprints(folder: string, records: number, offset?: number): Fingerprints {
  const path = join(folder, FINGERPRINTS);
  const bytes = new Uint8Array(records * PRINT_BYTES);
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? -1;
  const isWhole = offset === undefined ? size === bytes.length : size >= offset + bytes.length;
  if (!isWhole) return new Fingerprints();
  const file = openSync(path, 'r');
  try {
    readSync(file, bytes, 0, bytes.length, offset ?? 0);
  } finally {
    closeSync(file);
  }
  return Fingerprints.from(bytes);
}

export function writeFingerprints(snapshot: string, prints: Fingerprints): void {
  writeNew(join(snapshot, FINGERPRINTS), prints.bytes());
}

/** Index of the first number above a bound, in ascending numbers; their count if there is none. */
export function indexAbove(numbers: Float64Array, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
