import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { messageOf } from '../../config/lotlake-error.js';
import { interruptOn } from '../../duck/session.js';
import type { Choice } from '../../lake/snapshots.js';
import type { Format } from '../../query/formats.js';
import { openLake } from '../../query/open-lake.js';
import { render } from '../../query/query.js';
import { type ReadQuery, readQuery } from '../../query/read-only.js';
import { ShareError } from '../../query/share-error.js';
import type { Effects } from '../effects.js';

/** Rows that a table shows unless it is told otherwise: about a screen. */
const ROWS = 40;

/** Where the SQL of a query is. */
export interface SqlSource {
  /** The SQL itself, or `-` for standard input. */
  readonly sql: string | undefined;
  /** A file with it. */
  readonly file: string | undefined;
}

/** Answers a query over the lake on stdout, piece by piece. */
export async function query(
  options: SqlSource & {
    readonly format: Format;
    /** Rows that a table shows, as they were given. */
    readonly rows: string | undefined;
    /** The snapshot to ask; the published one by default. */
    readonly choice: Choice | undefined;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  const view = { rows: rowsToShow(options.rows), width: effects.width };
  const config = readConfig(options.config, effects);
  const text = await sqlOf(options, effects);
  let sql: ReadQuery | undefined;
  const lake = await openLake(
    config,
    async (connection) => {
      sql = await readQuery(connection, text);
      return sql;
    },
    options.choice,
  );
  const endInterrupts = interruptOn(effects.signal, lake.session);
  try {
    if (sql === undefined) throw new TypeError('the query was not read');
    const pieces = render(lake.session.connection, sql, options.format, { temp: lake.temp, view });
    await effects.pipe(pieces, effects.signal);
  } finally {
    endInterrupts();
    lake.close();
  }
}

async function sqlOf({ sql, file }: SqlSource, effects: Effects): Promise<string> {
  if ((sql === undefined) === (file === undefined))
    throw unusable(
      sql === undefined ? 'there is no query' : 'there are two queries',
      'give it as an argument, in a file with --file, or on standard input with -',
    );
  if (sql !== undefined && sql !== '-') return sql;
  const place = file === undefined ? 'standard input' : file;
  const bytes = await (file === undefined ? effects.input() : readFile(resolve(effects.cwd, file))).catch(
    (error) => {
      throw unusable(`cannot read the query: ${messageOf(error)}`);
    },
  );
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(`the query in ${place} is not UTF-8`);
  }
}

function rowsToShow(given: string | undefined): number {
  const rows = given === undefined ? ROWS : Number(given === '' ? Number.NaN : given);
  if (Number.isInteger(rows) && rows >= 0) return rows;
  throw unusable(`--rows: ${given} is no number of rows`);
}

function unusable(message: string, hint?: string): ShareError {
  return new ShareError('SHARE_QUERY', message, {
    outcome: 'usage',
    ...(hint === undefined ? {} : { hint }),
  });
}
