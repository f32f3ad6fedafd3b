import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { append, writeNew } from '../../base/config/owned.js';
import { writing } from './files.js';

/** File with the fingerprints of the records that a snapshot was made from, or a pass has brought. */
export const FINGERPRINTS = 'fingerprints.bin';

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

  /** The same vehicles without known hashes: `sorted` leaves them out. */
  unknown(): Fingerprints {
    const out = new Fingerprints();
    for (const id of this.ids) out.add(id, UNKNOWN);
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
}

/** Appends the fingerprints of a page to the file of its pass, for the run that makes a snapshot of it. */
export function keepPrints(folder: string, prints: Fingerprints): PrintsPlace {
  const path = join(folder, FINGERPRINTS);
  const offset = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  writing(path, () => append(path, prints.bytes()));
  return { offset, records: prints.ids.length };
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
