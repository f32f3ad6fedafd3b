import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { rows } from '../duck/session.js';

/** A member that the contract does not know. */
export interface KnownDrift {
  readonly stream: string;
  readonly path: string;
  /** Run that first told of it, and the start of its pass, ISO 8601. */
  readonly run_id: string;
  readonly since: string;
  /** Whether the last full pass of the stream, or its last pass if none was full, or a later one still had it. */
  readonly isSent: boolean;
}

const members = z.array(z.object({ path: z.string() }));

/**
 * What the passes of a lake tell of members that the contract does not know, by stream and path, oldest first. Their names
 * are parsed here: DuckDB refuses JSON texts with half a surrogate pair, which a service may send.
 * @param passes relation with the rows of `passes`
 */
export async function driftIn(connection: DuckDBConnection, passes: string): Promise<KnownDrift[]> {
  const sealed = await rows(
    connection,
    `select stream, run_id, strftime(started_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as started_at,
      drift, started_at >= coalesce(
        max(started_at) filter (where kind = 'full') over (partition by stream),
        max(started_at) over (partition by stream)
      ) as is_last
    from ${passes} where state = 'sealed' qualify drift <> '[]' order by 3, run_id`,
  );
  const found = new Map<string, KnownDrift>();
  for (const { stream, run_id, started_at, drift, is_last } of sealed)
    for (const { path } of members.parse(JSON.parse(String(drift)))) {
      const first = found.get(`${stream} ${path}`);
      found.set(`${stream} ${path}`, {
        ...{ stream: String(stream), path, run_id: String(run_id), since: String(started_at) },
        ...first,
        isSent: first?.isSent === true || is_last === true,
      });
    }
  return [...found.values()];
}
