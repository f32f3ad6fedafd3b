import { cpSync, existsSync, readFileSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { checksumOf } from '../../src/core/lake/disk.js';
import { readManifest, writeManifest } from '../../src/core/lake/manifest.js';
import { type HandMade, handMadeLake, SNAPSHOT } from '../query/support.js';

/** A lake with two snapshots, whose tables have keys and whose files have checksums. */
export async function twoNights(
  keys: Readonly<Record<string, readonly string[]>>,
  ...nights: readonly [Night, Night]
): Promise<HandMade & { readonly ids: readonly [string, string] }> {
  const [first, second] = [await handMadeLake(...nights[0]), await handMadeLake(...nights[1])];
  const [one, other] = [SNAPSHOT, SNAPSHOT.replace('1120T', '1121T')];
  const lake = join(first.config.output, 'lake');
  cpSync(join(second.config.output, 'lake', 'snapshots', SNAPSHOT), join(lake, 'snapshots', other), {
    recursive: true,
  });
  second.remove();
  for (const [i, id] of [one, other].entries()) {
    const folder = join(lake, 'snapshots', id);
    const manifest = readManifest(folder);
    for (const tables of [manifest.tables, manifest.marts])
      for (const [name, table] of Object.entries(tables)) {
        table.key.push(...(keys[i === 0 ? `${name}, before` : name] ?? keys[name] ?? []));
        for (const file of table.files) file.sha256 = await checksumOf(join(folder, file.path));
      }
    const created_at = `2026-11-2${i}T00:00:09.162Z`;
    writeManifest(folder, { ...manifest, snapshot_id: id, sequence: i + 1, created_at });
  }
  symlinkSync(join('snapshots', other), join(lake, 'next'));
  renameSync(join(lake, 'next'), join(lake, 'current'));
  return { ...first, ids: [one, other] };
}

/** Tables and marts of a night by their queries. */
type Night = Parameters<typeof handMadeLake>;

/** `changes.json`, as a recipient reads it. */
interface Head {
  readonly since: string | null;
  readonly until: string;
  readonly tables: readonly {
    readonly name: string;
    readonly state: string;
    readonly key: readonly string[];
    readonly columns: readonly { readonly name: string; readonly type: string }[];
    readonly mark: string | null;
  }[];
}

/**
 * Applies a feed in Parquet to the snapshot that it begins from, by the rule of docs/ask/changes.md, and compares the result
 * with the snapshot that it ends with, row by row.
 * @returns rows that differ, by table
 */
export async function applied(
  snapshots: string,
  feed: string,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const { since, until, tables }: Head = JSON.parse(readFileSync(join(feed, 'changes.json'), 'utf8'));
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  const all = (sql: string) => connection.runAndReadAll(sql).then((read) => read.getRowObjectsJson());
  const differing: Record<string, readonly unknown[]> = {};
  const inSnapshot = (id: string, { name, columns }: Head['tables'][number]): string => {
    const isPartitioned = columns.some((column) => column.name === 'month' && column.type === 'VARCHAR');
    const types = isPartitioned
      ? ', hive_partitioning = true, hive_types = {domain_id: BIGINT, month: VARCHAR}'
      : '';
    return `(select * from read_parquet('${join(snapshots, id, name)}/**/*.parquet'${types}))`;
  };
  try {
    for (const table of tables) {
      const { name, state, key, columns, mark } = table;
      if (state === 'gone') continue;
      const list = columns.map((column) => `"${column.name}"`).join(', ');
      const had =
        since === null || state === 'whole'
          ? `${inSnapshot(until, table)} limit 0`
          : inSnapshot(since, table);
      await connection.run(`create or replace temp table t as select * from ${had}`);
      if (state !== 'same') {
        const there = (await all('describe t')).map((column) => String(column.column_name));
        for (const column of columns)
          await connection.run(
            there.includes(column.name)
              ? `alter table t alter "${column.name}" type ${column.type} using try_cast("${column.name}" as ${column.type})`
              : `alter table t add column "${column.name}" ${column.type}`,
          );
        const rows = `read_parquet('${join(feed, 'data', `${name}.parquet`)}')`;
        const same = key.map((column) => `t."${column}" is not distinct from f."${column}"`).join(' and ');
        const isThere = `_change != 'left' or ${mark === null ? 'false' : `${mark} is not null`}`;
        // A table may have other columns and the same rows.
        const hasRows = existsSync(join(feed, 'data', `${name}.parquet`));
        if (hasRows)
          await connection.run(`delete from t where exists (select 1 from ${rows} f where ${same})`);
        if (hasRows)
          await connection.run(`insert into t (${list}) select ${list} from ${rows} where ${isThere}`);
      }
      const later = `select ${list} from ${inSnapshot(until, table)}`;
      const made = `select ${list} from t`;
      const wrong = await all(
        `(select 'lacks' as _, * from (${later} except all ${made})) union all (select 'has', * from (${made} except all ${later}))`,
      );
      if (wrong.length > 0) differing[name] = wrong;
    }
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  return differing;
}
