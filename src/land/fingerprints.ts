import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** File of a snapshot with the fingerprints of the records that it was made from. */
export const FINGERPRINTS = 'fingerprints.bin';

/** Ids of vehicles and the hashes of their records, in parallel. */
export interface Prints {
  readonly ids: Float64Array;
  readonly hashes: BigUint64Array;
}

/**
 * Fingerprints of the vehicles' records that the lake was last made from, so that a record which comes again as it was
 * need not be loaded again. A cache: a vehicle that it lacks is loaded.
 */
export class Fingerprints implements Prints {
  static readonly none = new Fingerprints(new Float64Array(0), new BigUint64Array(0));

  /** @param ids ascending, each once */
  constructor(
    readonly ids: Float64Array,
    readonly hashes: BigUint64Array,
  ) {}

  /** Whether the record of a vehicle was this one. */
  has(id: number, hash: bigint): boolean {
    const index = indexAbove(this.ids, id) - 1;
    return index >= 0 && this.ids[index] === id && this.hashes[index] === hash;
  }
}

/** Reads the fingerprints of a snapshot; none where the file is not there or not whole. */
export function readFingerprints(snapshot: string, records: number): Fingerprints {
  const path = join(snapshot, FINGERPRINTS);
  if (!existsSync(path)) return Fingerprints.none;
  const bytes = readFileSync(path);
  if (bytes.length !== records * 16) return Fingerprints.none;
  const { ids, hashes } = printsOf(Uint8Array.from(bytes));
  return new Fingerprints(ids, hashes);
}

/** Writes fingerprints into a snapshot. */
export function writeFingerprints(snapshot: string, prints: Fingerprints): void {
  writeFileSync(join(snapshot, FINGERPRINTS), bytesOf(prints));
}

/** Bytes of one fingerprint on disk. */
export const PRINT_BYTES = 16;

/** Prints as they are on disk: the ids as doubles, then the hashes, in the byte order of the machine. */
export function bytesOf({ ids, hashes }: Prints): Uint8Array {
  const bytes = new Uint8Array(ids.length * PRINT_BYTES);
  const { ids: toIds, hashes: toHashes } = printsOf(bytes);
  toIds.set(ids);
  toHashes.set(hashes);
  return bytes;
}

/** Prints of bytes that {@link bytesOf} gave; they share memory. */
export function printsOf({ buffer, length }: Uint8Array): Prints {
  const count = length / PRINT_BYTES;
  return { ids: new Float64Array(buffer, 0, count), hashes: new BigUint64Array(buffer, count * 8, count) };
}

/** Stands for the hash of a record that has to be read again, whatever it is. */
const UNKNOWN = 0n;

/** Gathers fingerprints in the order in which records come. */
export class FingerprintLog implements Prints {
  #ids = new Float64Array(1024);
  #hashes = new BigUint64Array(1024);
  #length = 0;

  add(id: number, hash: bigint): void {
    this.#grow(this.#length + 1);
    this.#ids[this.#length] = id;
    this.#hashes[this.#length++] = hash;
  }

  addAll({ ids, hashes }: Prints): void {
    this.#grow(this.#length + ids.length);
    this.#ids.set(ids, this.#length);
    this.#hashes.set(hashes, this.#length);
    this.#length += ids.length;
  }

  /** Takes vehicles one of whose records is not known by its fingerprint: they are left out. */
  addUnknown({ ids }: Prints): void {
    for (const id of ids) this.add(id, UNKNOWN);
  }

  get ids(): Float64Array {
    return this.#ids.subarray(0, this.#length);
  }

  get hashes(): BigUint64Array {
    return this.#hashes.subarray(0, this.#length);
  }

  /** By id; a vehicle that came with different records is left out. */
  sorted(): Fingerprints {
    const order = Uint32Array.from({ length: this.#length }, (_, i) => i);
    order.sort((a, b) => (this.#ids[a] ?? 0) - (this.#ids[b] ?? 0));
    const out = new FingerprintLog();
    for (let i = 0; i < order.length; ) {
      const id = this.#ids[order[i] ?? 0] ?? 0;
      const hash = this.#hashes[order[i] ?? 0] ?? 0n;
      let isOne = hash !== UNKNOWN;
      for (i++; i < order.length && this.#ids[order[i] ?? 0] === id; i++)
        isOne &&= this.#hashes[order[i] ?? 0] === hash;
      if (isOne) out.add(id, hash);
    }
    return new Fingerprints(out.#ids.slice(0, out.#length), out.#hashes.slice(0, out.#length));
  }

  #grow(least: number): void {
    if (least <= this.#ids.length) return;
    const size = Math.max(least, this.#length * 2);
    const ids = new Float64Array(size);
    const hashes = new BigUint64Array(size);
    ids.set(this.#ids);
    hashes.set(this.#hashes);
    this.#ids = ids;
    this.#hashes = hashes;
  }
}

/** The fingerprints of two, both by id, without those of some ids (ascending); of an id in both, the later one. */
export function mergeFingerprints(
  earlier: Fingerprints,
  later: Fingerprints,
  without: Float64Array,
): Fingerprints {
  const log = new FingerprintLog();
  let next = 0;
  for (let i = 0; i < earlier.ids.length; i++) {
    const id = earlier.ids[i] ?? 0;
    for (; next < later.ids.length && (later.ids[next] ?? 0) < id; next++)
      log.add(later.ids[next] ?? 0, later.hashes[next] ?? 0n);
    const isDropped = later.ids[next] === id || without[indexAbove(without, id) - 1] === id;
    if (!isDropped) log.add(id, earlier.hashes[i] ?? 0n);
  }
  for (; next < later.ids.length; next++) log.add(later.ids[next] ?? 0, later.hashes[next] ?? 0n);
  return log.sorted();
}

/** Index of the first number above a bound, in ascending numbers; their count where there is none. */
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
