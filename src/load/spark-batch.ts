import { basename, dirname, join } from 'node:path';
import { identifier } from '../duck/session.js';
import { sparkFunctions } from '../lake/tables.js';
import { type ContractNode, walkContract } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { patternOf, type SparkStep, sparkLiteral } from '../spark/script.js';
import { type StagedTable, stagedTables } from './batch.js';
import { columnTypes, type LearnedPaths, type TypeNames } from './types.js';
import { BATCH, planViews, type ViewDialect } from './views.js';

/** Pages of one stream whose records have the same learned members, to be staged by Spark. */
export interface SparkBatch {
  readonly stream: Stream;
  readonly learned: LearnedPaths;
  /** Learned members that are texts; the others never are. */
  readonly texts: ReadonlySet<string>;
  /** Folders of the passes. */
  readonly folders: readonly string[];
  /** File of {@link PlannedPage}s, one a line. Pages of the passes that are not among them are left out. */
  readonly plan: string;
  /** Folder that Spark writes `<table>/_run=<run>/` into; a wide table by partition below that. */
  readonly target: string;
}

/** A page as Spark finds it. */
export interface PlannedPage {
  /** Position in the plan. */
  readonly page: number;
  readonly run: string;
  readonly seq: number;
  readonly list: string;
  /** Folder of the pass and name of the file, such as `20261101T020000Z-c6c0b4/page-000001.ndjson.gz`. */
  readonly file: string;
}

/** Plans how Spark types a batch of records and stages each table of its stream, as `loadBatch` does. */
export function sparkSteps(batch: SparkBatch): SparkStep[] {
  const { stream, learned, texts } = batch;
  const views = planViews(stream, learned, false, sparkViews(texts)).map(
    ({ name, sql }) => `create or replace temporary view ${identifier(name)} as ${sql}`,
  );
  const staged = stagedTables(stream.name);
  return [
    {
      name: `the pages of ${stream.name}`,
      statements: [
        ...[SET_CALENDAR, ...sparkFunctions(), planSql(batch)],
        ...[...typedSql(batch, staged.length > 1), ...views],
      ],
    },
    ...staged.map((table) => ({ name: `the rows of ${table.name}`, statements: [stageSql(batch, table)] })),
  ];
}

/** Writes dates before 1582 in the calendar in which DuckDB reads them. */
const SET_CALENDAR = 'set spark.sql.parquet.datetimeRebaseModeInWrite = CORRECTED';

const PLAN = '_plan';

/** Marks a text in a field that comes in several forms; see sql/functions/json_forms.spark.sql. */
const MARK = '\\\\\\\\ufdd0';

function planSql({ plan }: SparkBatch): string {
  const columns = 'page int, run string, seq int, list string, file string';
  return `create or replace temporary view ${PLAN} (${columns}) using json options (path ${fileLiteral(patternOf(plan))})`;
}

/** Typed records; kept as files if several tables are cut from them. */
function typedSql(batch: SparkBatch, isKept: boolean): string[] {
  const typed = `
    select record.*, page as _seq, list as _list
    from (
      select ${recordSql(batch)} as record, page, list
      from (select value, regexp_extract(_metadata.file_path, '[^/]+/[^/]+$', 0) as file from text.${identifier(pagesOf(batch.folders))})
      join ${PLAN} using (file))`;
  if (!isKept) return [`create or replace temporary view ${BATCH} as ${typed}`];
  const kept = `typed_${batch.stream.name}`;
  return [
    `drop table if exists ${kept}`,
    `create table ${kept} using parquet location ${fileLiteral(join(batch.target, '_typed'))} as ${typed}`,
    `create or replace temporary view ${BATCH} as select * from ${kept}`,
  ];
}

/** SQL that casts a line to the types of the contract. */
function recordSql({ stream: { contract }, learned }: SparkBatch): string {
  const typeIn = (types: TypeNames): string => types.struct(columnTypes(contract, learned, false, types));
  const marked = fieldsOfForms(contract).join('|');
  const line = marked === '' ? 'value' : `regexp_replace(value, '"(${marked})":"', '"$1":"${MARK}')`;
  return `cast(from_json(${line}, ${sparkLiteral(typeIn(READ_TYPES))}, map('mode', 'FAILFAST')) as ${typeIn(TYPES)})`;
}

/** Names of the members that are kept as JSON. A test shows that no typed text has such a name. */
export function fieldsOfForms(contract: ContractNode): string[] {
  const fields = [...walkContract(contract)].filter(({ duckdb, name }) => duckdb === 'JSON' && name !== '');
  return [...new Set(fields.map(({ name }) => name))].sort();
}

function stageSql({ target }: SparkBatch, { name, sql, wide, partition }: StagedTable): string {
  const isWide = wide !== undefined && partition !== undefined;
  const month = `date_format(${isWide ? identifier(partition.month) : ''}, 'yyyy-MM')`;
  const placed = `, coalesce(cast(domain_id as string), 'none') as _domain, coalesce(${month}, 'unknown') as _month`;
  const by = isWide ? '_run, _domain, _month' : '_run';
  return `
    create or replace temporary view staged as ${sql};
    drop table if exists staged_${name};
    create table staged_${name} using parquet partitioned by (${by}) location ${fileLiteral(join(target, name))} as
    select ${isWide ? `/*+ repartition(${by}) */` : ''} staged.* except (_seq), seq as _seq, run as _run${isWide ? placed : ''}
    from staged join ${PLAN} on staged._seq = page`;
}

const TYPES: TypeNames = {
  leaf: (duckdb) => NAMES[duckdb] ?? duckdb,
  list: (element) => `array<${element}>`,
  // Inside backticks spark-sql finds ends of statements and comments; inside double quotes it does not.
  struct: (members) => `struct<${members.map(([name, type]) => `${identifier(name)}: ${type}`).join(', ')}>`,
};

const NAMES: Readonly<Record<string, string>> = {
  VARCHAR: 'string',
  JSON: 'string',
  TIMESTAMPTZ: 'timestamp',
};

/** Only a cast makes Spark read a number from a text, so every value is read as text first. */
const READ_TYPES: TypeNames = { ...TYPES, leaf: () => 'string' };

const sparkViews = (texts: ReadonlySet<string>): ViewDialect => ({
  noTexts: 'cast(null as array<string>)',
  elements: (columns, list, from) =>
    `select ${columns}, cast(_at + 1 as bigint) as _position, _item.* from ${from} lateral view posexplode(${list}) as _at, _item`,
  jsonMember: (object, name) => `get_json_object(json_text(${object}), ${sparkLiteral(`$.${name}`)})`,
  extra: (entries) => {
    const members = entries.map(({ path, key, value }) => {
      const json = texts.has(path) ? `json_of_text(${value})` : `json_text(${value})`;
      return `${sparkLiteral(`${JSON.stringify(key)}:`)} || ${json}`;
    });
    return `'{' || nullif(concat_ws(',', ${members.join(', ')}), '') || '}'`;
  },
});

/** Literal of a path on the file system that lotlake and the workers share. Spark does not decode `%20` in it. */
const fileLiteral = (path: string): string => sparkLiteral(`file:${path}`);

/** Pattern of the pages of some passes of one stream. It avoids `/*`, which spark-sql takes for a comment. */
function pagesOf(folders: readonly string[]): string {
  const [first = ''] = folders;
  const names = folders.map((folder) => patternOf(basename(folder)));
  return `file:${patternOf(dirname(first))}/{${names.join(',')}}/?*.ndjson.gz`;
}
