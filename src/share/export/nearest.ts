import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, literals, rows } from '../../lake/session.js';

/** The names that are most like one that does not exist, the most alike first; at most three. */
export async function nearest(
  connection: DuckDBConnection,
  wrong: string,
  names: readonly string[],
): Promise<string[]> {
  const given = literal(wrong.toLowerCase());
  const found = await rows(
    connection,
    `select name from (select unnest(${literals(names)}) as name)
     order by not contains(name, ${given}), damerau_levenshtein(name, ${given}), name limit 3`,
  );
  return found.map(({ name }) => String(name));
}
