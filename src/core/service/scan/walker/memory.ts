import { END, FREE } from './layout.js';

/** Linear memory. It grows by pages of 64 KiB, which detaches its earlier buffer. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

const PAGE_BYTES = 1 << 16;
/** The walker reads whole lanes, so that some bytes behind the end have to be there. */
const PADDING = 64;
/** A chunk of 256 KiB behind the record that the one before it left unfinished. */
const LEAST_ROOM = 9 << 15;

/** The memory of one walker: the tree of shapes, then the bytes under way, then what a page adds to the tree. */
export class ScanMemory {
  readonly #memory: LinearMemory;
  /** Content of the memory at `settle`. */
  #settled = Buffer.alloc(FREE);
  #free = FREE;
  #room = 0;
  /** Address of the first byte that is still kept. */
  base = 0;
  /** All of the memory: taken anew when it grows. */
  bytes: Buffer;
  words: Int32Array;
  /** The bytes under way. A zero byte stands at the end. */
  start = 0;
  end = 0;

  constructor(memory: LinearMemory) {
    this.#memory = memory;
    this.bytes = Buffer.from(memory.buffer);
    this.words = new Int32Array(memory.buffer);
  }

  /** Address of so many new bytes, a multiple of 64. */
  allocate(bytes: number): number {
    const address = this.#free;
    this.#free = (address + bytes + 63) & ~63;
    const missing = this.#free - this.bytes.length;
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE_BYTES));
      this.bytes = Buffer.from(this.#memory.buffer);
      this.words = new Int32Array(this.#memory.buffer);
    }
    return address;
  }

  settle(): void {
    this.#settled = Buffer.from(this.bytes.subarray(0, this.#free));
  }

  /** Forgets the bytes under way, and all that was allocated or changed after `settle`. */
  rewind(): void {
    this.bytes.set(this.#settled);
    this.#free = this.#settled.length;
    this.#room = LEAST_ROOM;
    this.base = this.allocate(LEAST_ROOM);
    this.start = this.base;
    this.#endAt(this.base);
  }

  /** Adds a chunk to the bytes under way, which may move for that. */
  append(chunk: Uint8Array): void {
    if (this.end + chunk.length + PADDING > this.base + this.#room) this.#makeRoom(chunk.length);
    this.bytes.set(chunk, this.end);
    this.#endAt(this.end + chunk.length);
  }

  #makeRoom(more: number): void {
    const kept = this.end - this.start;
    const wanted = kept + more + PADDING;
    if (wanted > this.#room) {
      const room = (Math.max(wanted, this.#room * 2) + 63) & ~63;
      // The last thing in memory grows where it stands.
      const isLast = this.base + this.#room === this.#free;
      const added = this.allocate(isLast ? room - this.#room : room);
      if (!isLast) this.base = added;
      this.#room = room;
    }
    this.bytes.copyWithin(this.base, this.start, this.end);
    this.start = this.base;
    this.end = this.base + kept;
  }

  #endAt(end: number): void {
    this.end = end;
    this.bytes[end] = 0;
    this.words[END >> 2] = end;
  }
}
