import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { indexAbove } from './sorted.js';

/** File of a snapshot with the fingerprints of the records that it was made from. */
export const FINGERPRINTS = 'fingerprints.bin';

/**
 * Fingerprints of the vehicles' records that the lake was last made from, so that a record which comes again as it was
 * need not be loaded again. A cache: a vehicle that it lacks is loaded.
 */
export class Fingerprints {
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
  const { buffer } = Uint8Array.from(bytes);
  return new Fingerprints(
    new Float64Array(buffer, 0, records),
    new BigUint64Array(buffer, records * 8, records),
  );
}

/** Writes fingerprints into a snapshot: the ids as doubles, then the hashes, in the byte order of the machine. */
export function writeFingerprints(snapshot: string, { ids, hashes }: Fingerprints): void {
  const path = join(snapshot, FINGERPRINTS);
  writeFileSync(path, new Uint8Array(ids.buffer, ids.byteOffset, ids.byteLength));
  writeFileSync(path, new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength), { flag: 'a' });
}

/** Gathers fingerprints in the order in which records come. */
export class FingerprintLog {
  #ids = new Float64Array(1024);
  #hashes = new BigUint64Array(1024);
  #length = 0;

  add(id: number, hash: bigint): void {
    if (this.#length === this.#ids.length) this.#grow();
    this.#ids[this.#length] = id;
    this.#hashes[this.#length++] = hash;
  }

  addAll(log: FingerprintLog): void {
    for (let i = 0; i < log.#length; i++) this.add(log.#ids[i] ?? 0, log.#hashes[i] ?? 0n);
  }

  get ids(): Float64Array {
    return this.#ids.subarray(0, this.#length);
  }

  /** By id; a vehicle that came with different records is left out. */
  sorted(): Fingerprints {
    const order = Uint32Array.from({ length: this.#length }, (_, i) => i);
    order.sort((a, b) => (this.#ids[a] ?? 0) - (this.#ids[b] ?? 0));
    const out = new FingerprintLog();
    for (let i = 0; i < order.length; ) {
      const id = this.#ids[order[i] ?? 0] ?? 0;
      const hash = this.#hashes[order[i] ?? 0] ?? 0n;
      let isOne = true;
      for (i++; i < order.length && this.#ids[order[i] ?? 0] === id; i++)
        isOne &&= this.#hashes[order[i] ?? 0] === hash;
      if (isOne) out.add(id, hash);
    }
    return new Fingerprints(out.#ids.slice(0, out.#length), out.#hashes.slice(0, out.#length));
  }

  #grow(): void {
    const ids = new Float64Array(this.#length * 2);
    const hashes = new BigUint64Array(this.#length * 2);
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
