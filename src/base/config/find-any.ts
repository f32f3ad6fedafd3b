/** A part of a text or of bytes: `end` is the place behind it. */
export interface Span {
  readonly begin: number;
  readonly end: number;
}

/** The longest step, so that a step fits a byte. */
const MOST_STEP = 255;

/**
 * Prepares a search for any of several patterns of Latin-1 characters, each three or longer. The search steps over bytes
 * as Wu and Manber do (1994): three bytes that no pattern has near its beginning let it skip almost the length of the shortest
 * pattern. So many patterns cost hardly more than one.
 * @returns finds where they stand in bytes; spans may overlap
 */
export function findAny(patterns: readonly string[]): (bytes: Uint8Array) => Span[] {
  const all = [...new Set(patterns)].map((pattern) => Buffer.from(pattern, 'latin1'));
  const shortest = Math.min(MOST_STEP, ...all.map(({ length }) => length));
  const steps = new Uint8Array(1 << 16).fill(shortest - 2);
  /** Patterns by the three bytes at which the search stops for them. */
  const stops = new Map<number, Buffer[]>();
  for (const pattern of all) {
    for (let i = 2; i < shortest; i++) {
      const key = keyAt(pattern, i);
      steps[key] = Math.min(steps[key] ?? 0, shortest - 1 - i);
    }
    const last = keyAt(pattern, shortest - 1);
    stops.set(last, [...(stops.get(last) ?? []), pattern]);
  }
  return (bytes) => {
    const found: Span[] = [];
    for (let at = shortest - 1; at < bytes.length; ) {
      const key = keyAt(bytes, at);
      const step = steps[key] ?? 0;
      if (step > 0) {
        at += step;
        continue;
      }
      const begin = at - shortest + 1;
      for (const pattern of stops.get(key) ?? [])
        if (isAt(bytes, pattern, begin)) found.push({ begin, end: begin + pattern.length });
      at++;
    }
    return found;
  };
}

/** Three bytes up to a place, as 16 bits. Others may have the same, which costs a comparison. */
const keyAt = (bytes: Uint8Array, at: number): number =>
  (((bytes[at - 2] ?? 0) << 9) ^ ((bytes[at - 1] ?? 0) << 5) ^ (bytes[at] ?? 0)) & 0xffff;

function isAt(bytes: Uint8Array, pattern: Buffer, begin: number): boolean {
  if (begin + pattern.length > bytes.length) return false;
  for (let i = 0; i < pattern.length; i++) if (bytes[begin + i] !== pattern[i]) return false;
  return true;
}
