import type { ReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { isTemporary } from './s3-error.js';

/** Most attempts of a request. */
export const ATTEMPTS = 5;
/** Milliseconds before the second attempt. */
const FIRST_WAIT = 200;

/** Retries work with a stream, which the SDK does not, because a stream cannot be sent or read twice. */
export async function retrying<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (signal.aborted || attempt === ATTEMPTS || !isTemporary(error)) throw error;
      await setTimeout(FIRST_WAIT * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}

/** First and last byte of a part of a file. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Sends a file, or a part of it, as a stream, and closes it. Retries as {@link retrying} does, from the beginning. */
export const sendStream = <T>(
  signal: AbortSignal,
  path: string,
  range: Partial<Range>,
  send: (Body: ReadStream) => Promise<T>,
): Promise<T> =>
  retrying(signal, async () => {
    const file = await open(path);
    try {
      return await send(file.createReadStream({ ...range, autoClose: false }));
    } finally {
      await file.close();
    }
  });
