import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { jsonIn } from '../../base/config/json.js';
import { codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, replaceFile } from '../../base/config/owned.js';
import { layoutOf } from '../../core/lake/layout.js';

/** Queries that are kept, and the letters of a longest one. */
const QUERIES = 50;
const LETTERS = 10_000;

const keptSchema = z.strictObject({
  /** Name and token of the server by its port, so that a bookmark and a cookie outlive a restart. */
  servers: z
    .record(
      z.string().regex(/^[1-9]\d{0,4}$/),
      z.strictObject({
        name: z.string().regex(/^lotlake-[0-9a-f]{20}\.localhost$/),
        token: z.string().regex(/^[\w-]{32}$/),
      }),
    )
    .default({}),
  /** Names of the sources whose pictures the reader lets pages load. */
  pictures: z.array(z.string().max(200)).max(1000).default([]),
  /** The last queries that ran, the newest first. */
  queries: z.array(z.string().max(LETTERS)).max(QUERIES).default([]),
});

/** What the pages keep from one start to the next. */
export type Kept = Readonly<z.output<typeof keptSchema>>;

/** Reads what is kept. Throws QUERY_PLACE for a file that is not of this form. */
export function readKept(config: Config): Kept {
  const { explore: path } = layoutOf(config.output);
  if (!existsSync(path)) return keptSchema.parse({});
  const found = keptSchema.safeParse(jsonIn(readFileSync(path, 'utf8')));
  if (found.success) return found.data;
  throw new LotlakeError('QUERY_PLACE', `${path} is not what lotlake explore keeps`, {
    outcome: 'usage',
    hint: 'correct the file, or remove it: addresses, allowed pictures and the list of queries begin anew then',
  });
}

const READ_ONLY: readonly unknown[] = ['EACCES', 'EPERM', 'EROFS'];

/**
 * Keeps something in place of what was kept of it, for the owner of the files alone. A lake that may only be read keeps nothing.
 * Throws QUERY_PLACE.
 */
export function keep(config: Config, change: Partial<Kept>): void {
  const { output, explore } = layoutOf(config.output);
  const kept = { ...readKept(config), ...change };
  try {
    makeFolder(output);
    replaceFile(explore, `${JSON.stringify(kept, null, 1)}\n`, { mode: 0o600 });
  } catch (error) {
    if (!READ_ONLY.includes(codeOf(error))) throw error;
  }
}

/** Keeps a query that ran as the newest one, if it is not too long. Throws QUERY_PLACE. */
export function keepQuery(config: Config, sql: string): void {
  if (sql.length > LETTERS) return;
  const others = readKept(config).queries.filter((query) => query !== sql);
  keep(config, { queries: [sql, ...others].slice(0, QUERIES) });
}
