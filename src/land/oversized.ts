/**
 * Bytes of a record, as the service sends it, beyond which it is set aside instead of loaded: over a hundred times the
 * largest known (36 KB). The least memory of 700 MB loads 20 such records of any shape, on 2 threads and on 16; of twice
 * the size it does not (docs/decisions/0018).
 */
export const MOST_RECORD_BYTES = 4 << 20;

/** Bytes of a record past the limit that are kept. */
export const KEPT_BYTES = 1000;

/** A record past the limit. Its line in landing is the beginning of its text, as a JSON text. */
export interface OversizedRecord {
  /** Position in the page, from 0. */
  readonly position: number;
  /** Null where it does not stand in the part that was read before the limit. */
  readonly id: number | null;
  readonly bytes: number;
}
