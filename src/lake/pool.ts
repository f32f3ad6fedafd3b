import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit from 'p-limit';

/**
 * Runs work on one of some connections, as soon as one is free. Once work has failed none begins any more, and what
 * fails after that throws what failed first.
 */
export type UseConnection = <T>(work: (connection: DuckDBConnection) => Promise<T>) => Promise<T>;

/** Shares work among connections to one database, each of which has what the work needs. */
export function poolOf(connections: readonly DuckDBConnection[]): UseConnection {
  const idle = [...connections];
  const limit = pLimit(connections.length);
  let failure: { readonly error: unknown } | undefined;
  return (work) =>
    limit(async () => {
      if (failure !== undefined) throw failure.error;
      const connection = idle.pop();
      if (connection === undefined) throw new TypeError('a pool needs a connection');
      try {
        return await work(connection);
      } catch (error) {
        failure ??= { error };
        throw failure.error;
      } finally {
        idle.push(connection);
      }
    });
}

/**
 * Waits for all tasks, whatever becomes of them, since a database is not closed while a statement runs. Throws what
 * one of them threw, if any did.
 */
export async function settled<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(tasks);
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason;
    return end.value;
  });
}
