import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { sumOf } from '../../base/config/printable.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { identifier, literal, row, sameKey } from '../../base/duck/session.js';
import { filesRelation } from '../../core/lake/files.js';
import { layoutOf } from '../../core/lake/layout.js';
import { allTables, type Manifest, type ManifestTable, readManifest } from '../../core/lake/manifest.js';
import { assertPresent } from '../../core/lake/presence.js';
import type { Column } from '../../core/lake/schema.js';
import { findSnapshot, pickSnapshot } from '../../core/lake/snapshots.js';
import { goneMark } from '../../core/lake/tables.js';
import { dictionary } from '../../core/model/dictionary.js';
import { snapshotFolder } from '../query/open-lake.js';
import { type SchemaChange, schemaChanges, sharedFiles } from '../query/snapshot-diff.js';

/** Which changes to tell. */
export interface ChangesRequest {
  /** Tables and marts; all that have a key by default. */
  readonly tables?: readonly string[] | undefined;
  /** Snapshot that the recipient has, by its id or by a time at which it was current; undefined if it has none. */
  readonly since?: string | undefined;
  /** Snapshot that it is to have, by its id or by a time; the published one by default. */
  readonly until?: string | undefined;
}

/**
 * What becomes of the rows that the recipient has of a table: `changed`, some are other ones, see its counts; `same`; `whole`,
 * it empties the table, since every row comes as inserted; `gone`, it drops the table.
 */
type State = 'changed' | 'same' | 'whole' | 'gone';

/** How a table or mart changed. */
export interface TableChanges {
  readonly name: string;
  readonly state: State;
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  /** Column that is set in rows that have left the feed and are kept; null if none are kept. */
  readonly mark: string | null;
  /** Columns that are new, gone or of another type. */
  readonly schema: readonly SchemaChange[];
  readonly inserted: number;
  readonly updated: number;
  readonly left: number;
}

/** Changes of a table with the SELECT of its rows; undefined if there are none. */
interface ReadableChanges extends TableChanges {
  readonly sql: string | undefined;
}

/** Changes between two snapshots. */
export interface Changes {
  /** Id of the snapshot that they begin from; null if everything is inserted. */
  readonly since: string | null;
  /** Id of the snapshot that they end with. The recipient keeps it, and gives it as `since` the next time. */
  readonly until: string;
  /** When that snapshot was made. */
  readonly created: string;
  /** Service of the lake. */
  readonly origin: string | null;
  readonly tables: readonly ReadableChanges[];
}

/** Columns that the rows of a feed have before those of their table. */
export const CHANGE: readonly Column[] = [
  { name: '_change', type: 'VARCHAR' },
  { name: '_changed', type: 'VARCHAR[]' },
];

/** A snapshot with the folder that it lies in. */
interface Side {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * Finds how tables and marts changed between two snapshots. A row is `inserted` if the earlier snapshot lacks its key,
 * `updated` if any value differs, and `left` if it has left the feed, or is no longer in the table. Files that are in both
 * are not read, and rows are compared by the hashes of their values. Throws LAKE_NO_SNAPSHOT for a snapshot that is not
 * kept, QUERY_NO_TABLE for a table without a key or that is not there, and LAKE_UNSOUND for a damaged one.
 * @param connection to which the keys of the changed rows go, as temporary tables
 */
export async function findChanges(
  connection: DuckDBConnection,
  config: Config,
  request: ChangesRequest,
): Promise<Changes> {
  const until = await laterSide(connection, config, request.until);
  const since =
    request.since === undefined ? undefined : await earlierSide(connection, config, request.since);
  const names = tablesOf(request.tables, until.manifest, since?.manifest);
  for (const side of [since, until])
    if (side !== undefined) assertPresent(side.folder, side.manifest, new Set(names));
  const tables: ReadableChanges[] = [];
  const internal = internalColumns(until.manifest);
  for (const name of names)
    tables.push(await tableChanges(connection, since, until, name, internal.get(name) ?? new Set()));
  return {
    since: since?.manifest.snapshot_id ?? null,
    until: until.manifest.snapshot_id,
    created: until.manifest.created_at,
    origin: until.manifest.origin,
    tables,
  };
}

async function laterSide(
  connection: DuckDBConnection,
  config: Config,
  given: string | undefined,
): Promise<Side> {
  const folder = given === undefined ? undefined : await chosen(connection, config, given);
  return sideIn(folder ?? snapshotFolder(config));
}

/** Throws LAKE_NO_SNAPSHOT, which says how the recipient goes on without the snapshot. */
async function earlierSide(connection: DuckDBConnection, config: Config, given: string): Promise<Side> {
  try {
    return sideIn(await chosen(connection, config, given));
  } catch (error) {
    if (!(error instanceof LotlakeError && error.code === 'LAKE_NO_SNAPSHOT')) throw error;
    throw new LotlakeError('LAKE_NO_SNAPSHOT', `${error.message}, so nobody can tell what changed since`, {
      cause: error,
      outcome: 'usage',
      hint: `take everything once more, without --since, in place of what was there; keepSnapshots and keepDays keep snapshots for longer. ${error.hint ?? ''}`,
    });
  }
}

const sideIn = (folder: string): Side => ({ folder, manifest: readManifest(folder) });

/** Folder of the snapshot of an id, or of the one that was current at a time. */
async function chosen(connection: DuckDBConnection, config: Config, given: string): Promise<string> {
  const layout = layoutOf(config.output);
  const isTime = /^\d{4}-\d{2}-\d{2}/.test(given);
  const atTime = isTime ? await pickSnapshot(connection, layout, { asOf: given }) : undefined;
  return atTime ?? findSnapshot(layout, given);
}

/** The error for a view where a file is needed. */
export const viewError = (name: string): LotlakeError =>
  new LotlakeError('QUERY_NO_TABLE', `${name} is computed when it is asked, and no snapshot keeps it`, {
    outcome: 'usage',
    hint: 'name it in the setting asFiles, so that each run writes it as a file',
  });

/** Names of the tables and marts to compare, in the order of the later snapshot. */
function tablesOf(
  given: readonly string[] | undefined,
  until: Manifest,
  since: Manifest | undefined,
): readonly string[] {
  const [is, was] = [allTables(until), since === undefined ? {} : allTables(since)];
  const known = [...Object.keys(is), ...Object.keys(was).filter((name) => !(name in is))];
  const hasKey = (name: string): boolean => (is[name] ?? was[name])?.key.length !== 0;
  if (given === undefined || given.length === 0) return known.filter(hasKey);
  const names = [...new Set(given.map((name) => name.toLowerCase()))];
  for (const name of names) {
    if (name in until.views) throw viewError(name);
    if (!known.includes(name))
      throw unknownName(
        'QUERY_NO_TABLE',
        'there is no table',
        name,
        known.map((each) => ({ name: each })),
        'lotlake tables',
      );
    if (!hasKey(name))
      throw new LotlakeError(
        'QUERY_NO_TABLE',
        `${name} has no key, so nobody can tell which of its rows changed`,
        {
          outcome: 'usage',
          hint: 'lotlake export hands the whole table over',
        },
      );
  }
  return names;
}

async function tableChanges(
  connection: DuckDBConnection,
  since: Side | undefined,
  until: Side,
  name: string,
  internal: ReadonlySet<string>,
): Promise<ReadableChanges> {
  const [before, after] = [since && allTables(since.manifest)[name], allTables(until.manifest)[name]];
  const table = after ?? before;
  if (table === undefined) throw new TypeError(`no snapshot has ${name}`);
  const told = ({ columns }: ManifestTable): Column[] =>
    columns.filter((column) => !internal.has(column.name)).map(({ name, type }) => ({ name, type }));
  const { key } = table;
  const columns = told(table);
  const facts = {
    name,
    key,
    columns,
    mark: goneMark(name),
    schema: before && after ? schemaChanges(told(before), columns) : [],
    ...{ inserted: 0, updated: 0, left: 0, sql: undefined },
  };
  if (after === undefined) return { ...facts, state: 'gone' };
  const isComparable =
    before !== undefined &&
    String(before.key) === String(key) &&
    !facts.schema.some((column) => key.includes(column.name));
  if (since === undefined || !isComparable) {
    const sql = wholeTable(filesRelation(until.folder, after.files, after.partitioned), key, columns);
    return { ...facts, state: 'whole', inserted: after.rows, sql };
  }
  const shared = facts.schema.length === 0 ? sharedFiles(before, after) : new Set<string>();
  const own = ({ folder }: Side, { files, partitioned }: ManifestTable): string | undefined => {
    const read = files.filter(({ path }) => !shared.has(path));
    return read.length === 0 ? undefined : filesRelation(folder, read, partitioned);
  };
  const [left, right] = [own(since, before), own(until, after)];
  // A column that is new and empty changes no row, but the recipient has to know of it.
  const unchanged = { ...facts, state: facts.schema.length === 0 ? ('same' as const) : ('changed' as const) };
  if (left === undefined && right === undefined) return unchanged;
  const pair: Pair = {
    key,
    columns,
    gone: facts.mark,
    was: asLater(left ?? `${right} limit 0`, left === undefined ? after.columns : before.columns, columns),
    is: asLater(right ?? `${left} limit 0`, right === undefined ? before.columns : after.columns, columns),
  };
  const keys = identifier(`changed rows of ${name}`);
  await connection.run(`create or replace temp table ${keys} as ${changedKeys(pair)}`);
  const counts = await row(
    connection,
    `select ${['inserted', 'updated', 'left'].map((change) => `count(*) filter (where _change = '${change}') as "${change}"`).join(', ')} from ${keys}`,
  );
  const counted = {
    inserted: Number(counts.inserted),
    updated: Number(counts.updated),
    left: Number(counts.left),
  };
  if (sumOf(Object.values(counted), (rows) => rows) === 0) return unchanged;
  return { ...facts, ...counted, state: 'changed', sql: changedRows(pair, keys) };
}

/** Columns whose texts may name hosts, URLs or folders, by table: a feed goes to others, whom they do not concern. */
const internalColumns = (manifest: Manifest): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    dictionary(manifest).map(({ name, columns }) => [
      name,
      new Set(columns.filter(({ internal }) => internal === true).map((column) => column.name)),
    ]),
  );

/** Two relations with the same columns, to compare by their key. */
interface Pair {
  readonly key: readonly string[];
  readonly columns: readonly Column[];
  readonly gone: string | null;
  readonly was: string;
  readonly is: string;
}

/** A relation with the columns that its table has in the later snapshot: cast, and null where it has none. */
function asLater(relation: string, there: readonly Column[], columns: readonly Column[]): string {
  const types = new Map(there.map(({ name, type }) => [name, type]));
  const list = columns.map(({ name, type }) => {
    if (types.get(name) === type) return identifier(name);
    return `${types.has(name) ? `try_cast(${identifier(name)} as ${type})` : `cast(null as ${type})`} as ${identifier(name)}`;
  });
  return `(select ${list.join(', ')} from ${relation})`;
}

const listOf = (columns: readonly Pick<Column, 'name'>[], of = ''): string =>
  columns.map(({ name }) => `${of}${identifier(name)}`).join(', ');
const byKey = (key: readonly string[], of = ''): string =>
  key.map((name) => `${of}${identifier(name)}`).join(', ');

/** Every row as inserted. */
const wholeTable = (relation: string, key: readonly string[], columns: readonly Column[]): string =>
  `select 'inserted' as _change, cast(null as varchar[]) as _changed, ${listOf(columns)} from ${relation} order by ${byKey(key)}`;

/** What is hashed of a value. The hash of a list does not tell null from empty, nor where the next list begins. */
const hashed = ({ name, type }: Column): string =>
  /\]$|^(STRUCT|MAP|UNION)/.test(type) ? `to_json(${identifier(name)})::varchar` : identifier(name);

/** SELECT of the keys of the rows that differ, with `_change`. It holds a hash and the key of each row, not its values. */
function changedKeys({ key, columns, gone, was, is }: Pair): string {
  const isGone = gone === null ? 'false' : `coalesce(${identifier(gone)}::varchar, 'false') != 'false'`;
  const side = (relation: string): string =>
    `(select ${byKey(key)}, hash(${columns.map(hashed).join(', ')}) as _hash, ${isGone} as _gone, true as _here from ${relation})`;
  const keys = key.map((name) => {
    const column = identifier(name);
    return `case when b._here then b.${column} else a.${column} end as ${column}`;
  });
  return `select ${keys.join(', ')},
      case when a._here is null then 'inserted' when b._here is null or (b._gone and not a._gone) then 'left' else 'updated' end as _change,
      b._here is null as _removed
    from ${side(was)} as a full join ${side(is)} as b on ${sameKey(key, 'a', 'b')}
    where a._here is null or b._here is null or a._hash != b._hash`;
}

/**
 * SELECT of the rows that differ, by key. A row that is no longer in the table has its key alone; one that has left the feed
 * and is kept has all values.
 */
function changedRows({ key, columns, was, is }: Pair, keys: string): string {
  const values = columns.filter(({ name }) => !key.includes(name));
  const differing = values.map(
    ({ name }) =>
      `case when a.${identifier(name)} is distinct from b.${identifier(name)} then ${literal(name)} end`,
  );
  const selected = columns.map(({ name }) => `${key.includes(name) ? 'k' : 'b'}.${identifier(name)}`);
  return `select k._change,
      case when k._change != 'inserted' and not k._removed then list_filter([${differing.join(', ') || 'null'}], lambda each: each is not null) end as _changed,
      ${selected.join(', ')}
    from ${keys} as k
    left join ${is} as b on ${sameKey(key, 'k', 'b')}
    left join ${was} as a on ${sameKey(key, 'k', 'a')}
    order by ${byKey(key, 'k.')}`;
}
