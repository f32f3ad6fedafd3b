import { LotlakeError } from '../../base/config/lotlake-error.js';
import { megabytes } from '../../base/config/printable.js';

/** What one model of the user may take of a night. */
export interface ModelLimits {
  /** Seconds for its SELECT and its tests together. */
  readonly seconds: number;
  /** Bytes left on the disk that it writes to; null if the system does not say. */
  readonly freeBytes: () => number | null;
  /** Ends the run. */
  readonly signal?: AbortSignal | undefined;
}

/** Room in bytes that a model has to leave; half of what is there if that is less. */
const RESERVE = 1e9;

/** Milliseconds between two looks at the disk. */
const LOOK_EVERY = 200;

/** Begins to measure, and returns a function that says which limit is reached; undefined while none is. */
export function problemOf({ seconds, freeBytes }: ModelLimits): () => Error | undefined {
  const began = performance.now();
  const least = Math.min(RESERVE, (freeBytes() ?? 0) / 2);
  let looked = began;
  return () => {
    const now = performance.now();
    if (now - began > seconds * 1000)
      return new LotlakeError('MODEL_FAILED', `it took longer than ${seconds} s`, {
        hint: 'the setting modelTimeout says how long a model may take',
      });
    if (now - looked < LOOK_EVERY) return undefined;
    looked = now;
    const free = freeBytes();
    return free === null || free >= least
      ? undefined
      : new LotlakeError('MODEL_FAILED', `it filled the disk until ${megabytes(free)} were left`);
  };
}
