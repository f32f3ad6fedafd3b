import type { DuckDBConnection } from '@duckdb/node-api';
import { z } from 'zod';
import { rows } from '../../base/duck/session.js';

const members = z.array(z.object({ path: z.string() }));

/**
 * The members in the passes of a lake that the contract does not know, by stream and path, oldest first. Their names are
 * parsed here, because DuckDB refuses JSON texts with half a surrogate pair, which a service may send.
 * @param passes relation with the rows of `passes`
 */
export async function driftIn(connection: DuckDBConnection, passes: string) {
  const sealed = await rows(
    connection,
    `select stream, run_id, strftime(started_at at time zone 'UTC', '%Y-%m-%dT%H:%M:%S.%gZ') as started_at,
      drift, started_at >= coalesce(
        max(started_at) filter (where kind = 'full') over (partition by stream),
        max(started_at) over (partition by stream)
      ) as is_last
    from ${passes} where state = 'sealed' qualify drift <> '[]' order by 3, run_id`,
  );
  const reports = sealed.flatMap(({ stream, run_id, started_at, drift, is_last }) =>
    members.parse(JSON.parse(String(drift))).map(({ path }) => ({
      stream: String(stream),
      path,
      /** Run that first reported it, and the start of its pass, ISO 8601. */
      run_id: String(run_id),
      since: String(started_at),
      /** Whether the last full pass of the stream, or its last pass if none was full, or a later one still had it. */
      isSent: is_last === true,
    })),
  );
  const found = new Map<string, (typeof reports)[number]>();
  for (const member of reports) {
    const place = `${member.stream} ${member.path}`;
    const first = found.get(place) ?? member;
    found.set(place, { ...first, isSent: first.isSent || member.isSent });
  }
  return [...found.values()];
}
