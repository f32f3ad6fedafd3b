import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { readLake } from '../../ask/query/open-lake.js';
import { formats, render } from '../../ask/query/render.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { type ReadQuery, readQuery, refused } from '../../core/model/read-only.js';
import { command } from '../command.js';
import type { Effects } from '../effects.js';
import { snapshotOptions } from '../options.js';

/** Runs a query over the lake and writes its result to stdout, piece by piece. */
export const query = command({
  options: {
    sql: { type: 'string', describe: 'one SELECT; tables and marts by name; - reads it from standard input' },
    file: { type: 'string', describe: 'file with the query, instead of the argument' },
    format: { choices: formats, default: 'table', describe: 'form of the result' },
    rows: { type: 'string', describe: 'rows that table and vertical show (default 40)' },
    ...snapshotOptions,
  },
  async run(given, effects) {
    const view = { rows: rowsToShow(given.rows), width: effects.width };
    const { config } = given;
    const text = await sqlOf(given.sql, given.file, effects);
    let sql: ReadQuery | undefined;
    const reading = {
      named: async (connection: Parameters<typeof readQuery>[0]) => {
        sql = await readQuery(connection, text);
        return sql;
      },
      choice: given,
      signal: effects.signal,
    };
    await readLake(config, reading, async ({ session, temp }) => {
      if (sql === undefined) throw new TypeError('the query was not read');
      const format = given.json ? 'json' : given.format;
      await effects.pipe(render(session.connection, sql, format, { temp, view }), effects.signal);
    });
  },
});

async function sqlOf(given: string | undefined, file: string | undefined, effects: Effects): Promise<string> {
  // yargs gives a lone dash as an empty text.
  const sql = given === '' && process.argv.includes('-') ? '-' : given;
  if ((sql === undefined) === (file === undefined))
    throw refused(
      sql === undefined ? 'there is no query' : 'there are two queries',
      'give it as an argument, in a file with --file, or on standard input with -',
    );
  if (sql !== undefined && sql !== '-') return sql;
  const reading = file === undefined ? effects.input() : readFile(resolve(effects.cwd, file));
  const bytes = await reading.catch((error) => {
    throw refused(`cannot read the query: ${messageOf(error)}`);
  });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refused(`the query in ${file ?? 'standard input'} is not UTF-8`);
  }
}

function rowsToShow(given: string | undefined): number {
  // The default fills about a screen.
  const rows = given === undefined ? 40 : Number(given === '' ? Number.NaN : given);
  if (Number.isInteger(rows) && rows >= 0) return rows;
  throw refused(`--rows: ${given} is not a number of rows`);
}
