import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import Table from 'cli-table3';
import { formatBytes } from '../../src/base/config/memory.js';
import { own } from '../../src/base/config/owned.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { startPostgres } from '../engines/support/postgres.js';
import { type CommandFacts, runCommand } from './command.js';

/**
 * `npm run bench:database -- <output>` measures what it costs that a database follows a lake, over its last two snapshots: the first
 * sync beside `psql \copy` of the same rows with the same indexes, the sync of the night, and `changes`. The lake's link `current` is
 * moved, so give it a copy.
 */
const [given = ''] = process.argv.slice(2);
const output = resolve(given);
own(output);
const layout = layoutOf(output);
const [before, after] = listSnapshots(layout)
  .slice(-2)
  .map(({ id }) => id);
if (before === undefined || after === undefined) throw new Error(`${output} has no two snapshots`);

const TABLES = ['lots', 'vehicles', 'prices', 'lots_on_offer'];
const INDEXES: Readonly<Record<string, readonly string[]>> = {
  lots: ['vehicle_id'],
  vehicles: ['vin'],
  prices: ['sale_date'],
  lots_on_offer: ['manufacturer_name + model_name', 'sale_date'],
};

function publish(id: string): void {
  const next = join(layout.lake, 'next');
  symlinkSync(join('snapshots', id), next);
  renameSync(next, join(layout.lake, 'current'));
}

const cwd = mkdtempSync(join(tmpdir(), 'lotlake-bench-'));
const postgres = await startPostgres();
const env = { PGPASSWORD: postgres.password };
const found: [string, CommandFacts | { readonly seconds: number }][] = [];

/** Copies the CSV of the tables by `psql \copy`, and makes the keys and indexes that a sync makes. Returns seconds. */
async function copied(): Promise<number> {
  const folder = join(cwd, 'csv');
  mkdirSync(folder);
  const duck = await (await DuckDBInstance.create(':memory:')).connect();
  await duck.run("set TimeZone = 'UTC'");
  const psql = (...words: readonly string[]): void => {
    const { status, stderr } = spawnSync(
      'psql',
      ['-q', '-v', 'ON_ERROR_STOP=1', '-d', postgres.database, ...words],
      {
        env: { ...process.env, ...env },
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(stderr);
  };
  let seconds = 0;
  for (const table of TABLES) {
    const columns = await postgres.query(
      "select column_name as name, data_type as type from information_schema.columns where table_schema = 'lotlake' and table_name = $1 order by ordinal_position",
      [table],
    );
    const path = join(folder, `${table}.csv`);
    const files = `read_parquet('${join(layout.snapshots, String(before), table)}/**/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;
    const values = columns.map(({ name, type }) =>
      type === 'ARRAY' ? `replace(replace(to_json("${name}")::varchar, '[', '{'), ']', '}')` : `"${name}"`,
    );
    const texts = columns.filter(({ type }) => type === 'text').map(({ name }) => `"${name}"`);
    await duck.run(
      `copy (select ${values.map((value, i) => `${value} as "${columns[i]?.name}"`).join(', ')} from ${files}) to '${path}' (format csv, header false, nullstr '', force_quote (${texts.join(', ')}))`,
    );
    const begun = performance.now();
    psql('-c', `create table public.${table} (like lotlake.${table})`);
    psql('-c', `\\copy public.${table} from '${path}' (format csv)`);
    const key = await postgres.query(
      `select string_agg(quote_ident(attname), ', ') as key from pg_index join pg_attribute on attrelid = indrelid and attnum = any(indkey) where indrelid = 'lotlake.${table}'::regclass and indisunique`,
    );
    psql('-c', `alter table public.${table} add primary key (${key[0]?.key})`);
    for (const index of INDEXES[table] ?? [])
      psql('-c', `create index on public.${table} (${index.replaceAll('+', ',')})`);
    psql('-c', `analyze public.${table}`);
    seconds += (performance.now() - begun) / 1000;
    rmSync(path);
  }
  return seconds;
}

try {
  const tables = Object.fromEntries(TABLES.map((name) => [name, { indexes: INDEXES[name] }]));
  const sync = { site: { database: postgres.database, tables } };
  writeFileSync(join(cwd, 'lotlake.config.json'), JSON.stringify({ sync }));
  const run = (...args: readonly string[]): Promise<CommandFacts> => runCommand(args, { output, cwd, env });
  publish(before);
  found.push(['first sync', await run('sync', 'site')]);
  found.push(['the same by psql \\copy', { seconds: await copied() }]);
  publish(after);
  found.push(['changes, counted, of all tables', await run('changes', '--since', before, '--until', after)]);
  found.push([
    'changes of the four, as Parquet',
    await run('changes', ...TABLES, '--since', before, '--until', after, '--to', join(cwd, 'feed')),
  ]);
  found.push(['sync of the night', await run('sync', 'site')]);
  found.push(['sync without a change', await run('sync', 'site')]);
  found.push(['sync --verify', await run('sync', 'site', '--verify')]);
  const rows = await postgres.query(
    TABLES.map((name) => `select '${name}' as name, count(*)::int as rows from lotlake.${name}`).join(
      ' union all ',
    ),
  );
  console.log(
    `${cpus().length} × ${cpus()[0]?.model}; ${rows.map(({ name, rows: n }) => `${name} ${n}`).join(', ')}`,
  );
  const grid = new Table({
    head: ['step', 'seconds', 'processor seconds', 'peak'],
    style: { head: [], border: [] },
  });
  for (const [name, facts] of found)
    grid.push([
      name,
      facts.seconds.toFixed(1),
      'processor_seconds' in facts ? facts.processor_seconds.toFixed(1) : '',
      'peak_bytes' in facts ? formatBytes(facts.peak_bytes) : '',
    ]);
  console.log(grid.toString());
} finally {
  await postgres.close();
  rmSync(cwd, { recursive: true });
}
