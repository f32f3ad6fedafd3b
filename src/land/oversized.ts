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

/** How far a record is passed over that comes in pieces. */
export interface SkipState {
  depth: number;
  isInText: boolean;
  isEscaped: boolean;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;

/**
 * Passes over a record without looking at more than its texts and brackets, and without keeping anything of it.
 * @returns the offset of the comma or bracket behind it; `end` where the record does not end before that
 */
export function skipRecord(state: SkipState, bytes: Uint8Array, from: number, end: number): number {
  let { depth, isInText, isEscaped } = state;
  let p = from;
  for (; p < end; p++) {
    const c = bytes[p];
    if (isInText) {
      if (isEscaped) isEscaped = false;
      else if (c === BACKSLASH) isEscaped = true;
      else if (c === QUOTE) isInText = false;
    } else if (c === QUOTE) isInText = true;
    else if (c === 0x7b || c === 0x5b) depth++;
    else if (c === 0x7d || c === 0x5d) {
      if (depth === 0) break;
      depth--;
    } else if (c === COMMA && depth === 0) break;
  }
  Object.assign(state, { depth, isInText, isEscaped });
  return p;
}
