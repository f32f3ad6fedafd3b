import { Readable } from 'node:stream';

/**
 * Yields the values that work finds while it goes on, in their order, and returns what it returns. If the reader stops,
 * the work is aborted, and has ended before the reader goes on.
 * @param outer aborts the work as well
 */
export async function* arriving<T, R>(
  work: (found: (value: T) => void, signal: AbortSignal) => Promise<R>,
  outer: AbortSignal | undefined,
): AsyncGenerator<T, R, void> {
  const stop = new AbortController();
  const values = new Readable({ objectMode: true, read: () => undefined });
  const end = (): unknown => values.push(null);
  const working = work(
    (value) => void values.push(value),
    outer === undefined ? stop.signal : AbortSignal.any([outer, stop.signal]),
  );
  working.then(end, end);
  try {
    yield* values as AsyncIterable<T>;
  } finally {
    stop.abort();
    await working.catch(() => undefined);
  }
  return await working;
}
