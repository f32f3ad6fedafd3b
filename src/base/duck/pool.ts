import { once } from 'node:events';
import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit, { type LimitFunction } from 'p-limit';
import { isOutOfMemory } from './out-of-memory.js';
import type { Session } from './session.js';

/** @param isAgain whether it did not fit into memory before and now runs alone */
type Work<T> = (connection: DuckDBConnection, isAgain: boolean) => Promise<T>;

/**
 * Runs work on one of several connections, as soon as one is free. Work that does not fit into memory beside other work
 * runs again when nothing else is under way. After a failure no further work begins, and later failures throw the first
 * error.
 */
export type UseConnection = <T>(work: Work<T>) => Promise<T>;

/**
 * Shares work among equivalent connections to one database.
 * @param alone runs work with all the memory of the database; without it nothing runs twice
 */
export function poolOf(connections: readonly DuckDBConnection[], alone?: Session['alone']): UseConnection {
  const idle = [...connections];
  const limit = pLimit(connections.length);
  const oneAfterTheOther = pLimit(1);
  let failure: { readonly error: unknown } | undefined;
  const run = async <T>(work: Work<T>, isAgain: boolean): Promise<T> => {
    if (failure !== undefined) throw failure.error;
    const connection = idle.pop();
    if (connection === undefined) throw new TypeError('a pool needs a connection');
    try {
      return await work(connection, isAgain);
    } catch (error) {
      if (isAgain ? isOutOfMemory(error) : runsAgain(error)) throw error;
      failure ??= { error };
      throw failure.error;
    } finally {
      idle.push(connection);
    }
  };
  const runsAgain = (error: unknown): boolean =>
    alone !== undefined && failure === undefined && isOutOfMemory(error);
  return async (work) => {
    try {
      return await limit(() => run(work, false));
    } catch (first) {
      if (alone === undefined || !runsAgain(first)) throw first;
      try {
        return await oneAfterTheOther(() =>
          holdingAll(limit, connections.length, () => alone(() => run(work, true))),
        );
      } catch (last) {
        failure ??= { error: last };
        throw failure.error;
      }
    }
  };
}

/**
 * Runs work once it holds every place of a limit, so that nothing else is under way. It queues for all places at once, so
 * later work waits.
 */
async function holdingAll<T>(limit: LimitFunction, places: number, work: () => Promise<T>): Promise<T> {
  const end = new AbortController();
  const hold = (): Promise<void> =>
    new Promise((resolve) => {
      void limit(() => {
        resolve();
        return once(end.signal, 'abort');
      });
    });
  await Promise.all(Array.from({ length: places }, hold));
  return work().finally(() => end.abort());
}

/**
 * Waits for all tasks, even if some fail, because a database must not be closed while a statement runs. Throws the error of
 * the first failed task in their order.
 */
export async function settled<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(tasks);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
