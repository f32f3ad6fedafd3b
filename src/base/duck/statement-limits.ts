import type { DuckDBConnection } from '@duckdb/node-api';

/** What ends the statements of a connection before they are done. */
export interface StatementLimits {
  /** Ends them when it is aborted. */
  readonly signal?: AbortSignal | undefined;
  /** Says why they have to end now; undefined while they may go on. It is asked every 20 ms. */
  readonly problem: () => Error | undefined;
}

/** Milliseconds between interrupts: one that comes before its statement has begun is lost. */
const EVERY = 20;

/**
 * Runs work of one connection within limits. Once a limit is reached, it interrupts whatever statement is under way until the
 * work has ended. Throws what {@link StatementLimits.problem} said, or the reason of the signal, if the work failed after that.
 */
export async function withinLimits<T>(
  connection: DuckDBConnection,
  { signal, problem }: StatementLimits,
  work: () => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  let found: Error | undefined;
  const timer = setInterval(() => {
    if (signal?.aborted !== true) found ??= problem();
    if (signal?.aborted === true || found !== undefined) connection.interrupt();
  }, EVERY);
  try {
    return await work();
  } catch (error) {
    signal?.throwIfAborted();
    throw found ?? error;
  } finally {
    clearInterval(timer);
  }
}
