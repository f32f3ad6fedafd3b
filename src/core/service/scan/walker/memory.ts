import { MOST_KEY_BYTES, type ShapeNode } from './shape-tree.js';

/** The walk reads some bytes at a time, so that as many as the longest key that it compares have to be there behind the end. */
const PADDING = MOST_KEY_BYTES;
/** A chunk of 256 KiB behind the record that the one before it left unfinished. */
const LEAST_ROOM = 9 << 15;

/** The bytes of a page that are under way, and what the walk over them has noted. */
export class ScanMemory {
  /** They move when they need more room. A zero byte stands at `end`. */
  bytes: Buffer = Buffer.alloc(LEAST_ROOM);
  view: DataView = viewOf(this.bytes);
  /** The bytes that are still kept. */
  start = 0;
  end = 0;

  /** Position in its page of the record under way. */
  record = 0;
  /** Whether white space stood between tokens since the record began. */
  spaced = false;
  /** Whether something is JSON that DuckDB does not take. */
  irregular = false;
  /** Where the text of the record's id stood; the start is negative if there was none. */
  idStart = -1;
  idEnd = -1;
  /** Where the grammar is broken, and how. */
  faultAt = 0;
  fault = '';
  /** Objects seen in the page so far. */
  objects = 0;
  /** The member whose name was read last. */
  member: ShapeNode | undefined;

  /** Forgets the bytes under way and what was noted. */
  rewind(): void {
    this.start = 0;
    this.#endAt(0);
    this.irregular = false;
    this.objects = 0;
    this.member = undefined;
  }

  /** Adds a chunk to the bytes under way, which may move for that. */
  append(chunk: Uint8Array): void {
    if (this.end + chunk.length + PADDING > this.bytes.length) this.#makeRoom(chunk.length);
    this.bytes.set(chunk, this.end);
    this.#endAt(this.end + chunk.length);
  }

  #makeRoom(more: number): void {
    const kept = this.end - this.start;
    const wanted = kept + more + PADDING;
    const { bytes } = this;
    if (wanted > bytes.length) {
      this.bytes = Buffer.alloc(Math.max(wanted, bytes.length * 2));
      this.view = viewOf(this.bytes);
    }
    bytes.copy(this.bytes, 0, this.start, this.end);
    this.start = 0;
    this.end = kept;
  }

  #endAt(end: number): void {
    this.end = end;
    this.bytes[end] = 0;
  }
}

const viewOf = ({ buffer, byteOffset, length }: Buffer): DataView => new DataView(buffer, byteOffset, length);
