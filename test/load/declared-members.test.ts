import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isObject } from '../../src/base/config/json.js';
import {
  identifier,
  literal,
  openTemporarySession,
  type Row,
  rows,
  type TemporarySession,
} from '../../src/base/duck/session.js';
import { BATCH, planViews } from '../../src/core/lake/rows/batch-views.js';
import { columnPlaces, membersBehind } from '../../src/core/lake/rows/column-places.js';
import { columnTypes, isRowPlace, nodeAt } from '../../src/core/lake/rows/types.js';
import type { TableSchema } from '../../src/core/lake/schema.js';
import { flattenFunctions, type LakeTable, lakeTables } from '../../src/core/lake/tables.js';
import { mendRecord } from '../../src/core/load/mend-record.js';
import { reportKeys } from '../../src/core/service/contract/enumerations.js';
import { type ContractNode, walkContract } from '../../src/core/service/contract/node.js';
import { type StreamName, streamNames, streams } from '../../src/core/service/streams.js';
import { temporaryFolder } from '../pipelines/support.js';
import { schemasOf } from './support.js';

/**
 * What `sql/flatten/<table>.yml` says about the members behind a column is compared with the SQL: each member of a record
 * is changed alone, and the columns that differ then are those that it fills.
 */
let session: TemporarySession;
const folder = temporaryFolder();
beforeAll(async () => {
  session = await openTemporarySession({ memory: '1GB', threads: 2 });
});
afterAll(() => {
  session.close();
  folder.remove();
});

/** The values that a member has in the records: the usual one, and another. */
type Variant = 0 | 1;

/** A number of its own for each member, so that no two members have the same value. */
const numbers = new Map(
  streamNames
    .flatMap((name) => [...walkContract(streams[name].contract)])
    .map((node, i) => [node, 100 + 2 * i]),
);

function sample(node: ContractNode, variant: Variant): unknown {
  const number = (numbers.get(node) ?? 0) + variant;
  // One column says whether the place is in Canada, one how exact a date is.
  if (node.path.endsWith('country.iso')) return ['ca', 'us'][variant];
  if (node.element !== undefined) return [sample(node.element, variant)];
  if (node.keys !== undefined) return reportKeys[node.keys][variant];
  if (node.members.size > 0)
    return Object.fromEntries([...node.members].map(([name, inner]) => [name, sample(inner, variant)]));
  if (node.lexical === 'timestamp' || node.duckdb === 'TIMESTAMPTZ')
    return new Date(Date.UTC(2026, 0, 1) + number * 86_400_000).toISOString().replace('Z', '+00:00');
  if (node.duckdb === 'BOOLEAN') return variant === 0;
  if (node.duckdb === 'BIGINT' || node.duckdb === 'DOUBLE') return number;
  return `t${number}`;
}

/** A record in which every member has its value, and every list has one element. */
const whole = (contract: ContractNode): unknown => sample(contract, 0);

/** A record with its keys and rows only. */
function bare(node: ContractNode, variant: Variant = 0): unknown {
  if (node.element !== undefined) return isRowPlace(node) ? [bare(node.element, variant)] : null;
  if (node.members.size === 0) return node.required ? sample(node, variant) : null;
  return Object.fromEntries([...node.members].map(([name, inner]) => [name, bare(inner, variant)]));
}

/** A record whose lists of rows have other rows before the whole one, more in an inner list than in the list around it. */
function padded(node: ContractNode): unknown {
  const { element, members, path } = node;
  if (element !== undefined && isRowPlace(node))
    return [...Array.from(path.split('[]'), () => bare(element, 1)), padded(element)];
  if (members.size === 0 || element !== undefined) return sample(node, 0);
  return Object.fromEntries([...members].map(([name, inner]) => [name, padded(inner)]));
}

/** Copy of a record with another value at a path, in the last element of each list. */
function withValue(record: unknown, path: string, value: unknown): unknown {
  const [step = '', ...inner] = path.split(/\.|(?=\[\])/);
  const rest = inner.join('.').replaceAll('.[]', '[]');
  const put = (old: unknown): unknown => (inner.length === 0 ? value : withValue(old, rest, value));
  // An object or list around the value may be null in a bare record.
  if (step !== '[]')
    return { ...(isObject(record) ? record : {}), [step]: put(isObject(record) ? record[step] : null) };
  const list: readonly unknown[] = Array.isArray(record) ? record : [];
  return [...list.slice(0, -1), put(list.at(-1) ?? null)];
}

/** A record, the record that it was made from, and the member that differs. */
interface Changed {
  readonly path: string;
  readonly record: unknown;
  readonly from: unknown;
}

/** The records in which exactly one member differs: it is null, has another value, or is the only one that has a value. */
function changedRecords(contract: ContractNode): Changed[] {
  const [all, none] = [whole(contract), bare(contract)];
  const members = [...walkContract(contract)].filter((node) => node.path !== '' && !isRowPlace(node));
  return members.flatMap((node) => {
    const { path } = node;
    return [
      ...(node.required ? [] : [{ path, record: withValue(all, path, null), from: all }]),
      { path, record: withValue(all, path, sample(node, 1)), from: all },
      { path, record: withValue(none, path, sample(node, 0)), from: none },
    ];
  });
}

/** Flattens records by the SQL of a stream: the rows of each table by record, in the order of the given records. */
async function flatten(name: StreamName, records: readonly unknown[], tables: readonly LakeTable[]) {
  const { connection } = session.session;
  const { contract } = streams[name];
  const file = join(folder.path, `${name}.ndjson`);
  writeFileSync(
    file,
    records
      .map((record, i) => `${JSON.stringify({ _seq: i, ...(isObject(record) ? record : {}) })}\n`)
      .join(''),
  );
  const columns = [['_seq', 'INTEGER'] as const, ...columnTypes(contract, [], false)]
    .map(([column, type]) => `${identifier(column)}: ${literal(type)}`)
    .join(', ');
  await connection.run(`create or replace temp table ${BATCH} as select *, '5' as _list
    from read_json(${literal(file)}, format = 'newline_delimited', columns = {${columns}})`);
  const views = planViews({ name, contract }, [], false).map(
    (view) =>
      `create or replace temp ${view.materialized ? 'table' : 'view'} ${identifier(view.name)} as ${view.sql}`,
  );
  await connection.run(`${flattenFunctions}\n${views.join(';\n')}`);
  const flat = new Map<string, Map<unknown, Row[]>>();
  for (const table of tables) {
    const byRecord = new Map<unknown, Row[]>();
    for (const row of await rows(connection, table.sql)) {
      const record = records[Number(row._seq)];
      byRecord.set(record, [...(byRecord.get(record) ?? []), row]);
    }
    flat.set(table.name, byRecord);
  }
  return flat;
}

/** The row of a record that comes from an entity, known by the texts that the table declares for the entity. */
const rowFrom = (
  found: readonly Row[] | undefined,
  texts: Readonly<Record<string, string>>,
): Row | undefined =>
  found?.find((row) => Object.entries(texts).every(([column, text]) => row[column] === text));

/** Columns whose values differ, as the lake names them. */
function differing(a: Row | undefined, b: Row | undefined): string[] {
  const named = (column: string): string =>
    column.replace(/^_month_at$/, 'month').replace(/^_(?=archived)/, '');
  const text = (value: unknown): string =>
    JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? `${inner}` : inner)) ?? '';
  return Object.keys(a ?? b ?? {})
    .filter((column) => column !== '_seq' && text(a?.[column]) !== text(b?.[column]))
    .map(named);
}

/** Values of which each kind of member refuses one. */
const BAD = ['bad', { bad: 1 }, true];

/** The place in the contract of a path in a record. */
const placeOf = (path: string): string => path.replaceAll(/\[\d+\]/g, '[]');

/** Whether a value of a row is that of the record, which has an instant as a text. */
const isSame = (inRow: unknown, inRecord: unknown): boolean =>
  String(inRow) === String(inRecord) || Date.parse(String(inRow)) === Date.parse(String(inRecord));

describe.each(streamNames)('the members behind the columns of %s', (name) => {
  const { contract } = streams[name];
  const tables = lakeTables().filter(({ stream }) => stream === name);
  let schemas: readonly TableSchema[];
  /** Columns that a member fills according to the SQL, as `table entity column`. */
  let filledInSql: ReadonlyMap<string, ReadonlySet<string>>;

  beforeAll(async () => {
    schemas = await schemasOf(name);
    const changed = changedRecords(contract);
    const flat = await flatten(
      name,
      [...new Set(changed.flatMap(({ record, from }) => [from, record]))],
      tables,
    );
    const found = new Map<string, Set<string>>();
    for (const { path, record, from } of changed) {
      const columns = found.get(path) ?? new Set();
      found.set(path, columns);
      for (const table of tables)
        for (const [entity, texts] of Object.entries(table.from)) {
          const [before, after] = [from, record].map((each) =>
            rowFrom(flat.get(table.name)?.get(each), texts),
          );
          if (before === undefined || after === undefined) continue;
          for (const column of differing(before, after)) columns.add(`${table.name} ${entity} ${column}`);
        }
    }
    filledInSql = found;
  });

  it('are those that change the column', () => {
    const places = columnPlaces(streams[name], schemas);
    const wrong: string[] = [];
    for (const [path, inSql] of filledInSql) {
      const declared = new Set(
        places
          .filledBy(path)
          .flatMap(({ table, entity, columns }) =>
            columns.map((column) => `${table.name} ${entity} ${column}`),
          ),
      );
      wrong.push(
        ...[...inSql].filter((column) => !declared.has(column)).map((column) => `${path} fills ${column}`),
      );
      wrong.push(
        ...[...declared]
          .filter((column) => !inSql.has(column))
          .map((column) => `${path} does not fill ${column}`),
      );
    }
    expect(wrong).toEqual([]);
  });

  it('are named by the reject of a bad value, with the key of its row', async () => {
    const record = padded(contract);
    const flat = await flatten(name, [record], tables);
    const places = columnPlaces(streams[name], schemas);
    const members = [...walkContract(contract)].filter(
      ({ path, members: inner, element, required }) =>
        path !== '' &&
        inner.size + (element === undefined ? 0 : 1) === 0 &&
        !required &&
        !places.holdsKey(path),
    );
    const refused = new Set<string>();
    const wrong: string[] = [];
    for (const bad of BAD) {
      const given = members.reduce((all, { path }) => withValue(all, path, bad), record);
      const mended = mendRecord(Buffer.from(JSON.stringify(given)), { stream: streams[name], places });
      if (!('record' in mended)) throw new TypeError(`${mended.path}: ${mended.expected}`);
      for (const { path, table_name, row_key, column_name } of mended.values) {
        refused.add(placeOf(path));
        const key = Object.entries(JSON.parse(row_key));
        const found = (flat.get(table_name)?.get(record) ?? []).filter((row) =>
          key.every(([column, part]) => isSame(row[column], part)),
        );
        // Only the whole row has a value there.
        const has = (column: string): boolean =>
          (found[0]?.[column] ?? found[0]?.[`_${column}`] ?? null) !== null;
        if (found.length !== 1 || !column_name.split(', ').some(has))
          wrong.push(`${path}: ${table_name} ${row_key} ${column_name}`);
      }
    }
    expect(wrong).toEqual([]);
    const accepted = members.filter(({ path }) => !refused.has(path));
    expect(accepted.filter(({ duckdb }) => duckdb !== 'JSON' && duckdb !== 'VARCHAR')).toEqual([]);
  });

  it('are all declared, or named by the column', () => {
    const isFilled = ({ table }: TableSchema, column: string): boolean =>
      Object.entries(table.from).some(
        ([entity, texts]) => column in texts || membersBehind(table, column, entity).length > 0,
      );
    const unknown = schemas.flatMap((schema) =>
      schema.content
        .filter((column) => column.name !== 'extra' && !isFilled(schema, column.name))
        .filter((column) => schema.table.members[column.name]?.length !== 0)
        .map((column) => `${schema.table.name}.${column.name}`),
    );
    expect(unknown).toEqual([]);
  });

  it('are declared only where the contract has them, for a column that the table has', () => {
    for (const { table, content, state } of schemas) {
      const entities = Object.keys(table.from);
      const columns = [...content, ...state].map((column) => column.name);
      for (const [column, paths] of [...Object.entries(table.members), ...Object.entries(table.parents)]) {
        expect([...columns, 'month'], table.name).toContain(column);
        const found = entities.flatMap((entity) => membersBehind(table, column, entity));
        expect(found.length, `${table.name}.${column}`).toBeGreaterThanOrEqual(paths.length);
        for (const path of found)
          expect(nodeAt(contract, path), `${table.name}.${column} ${path}`).toBeDefined();
      }
    }
  });

  it('are named without doubt: no two give the same column, unless the table says which it is', () => {
    for (const table of tables)
      for (const entity of Object.keys(table.from)) {
        const start = entity === '' ? 0 : entity.length + 1;
        const row = nodeAt(contract, entity);
        const inside = row === undefined ? [] : [...walkContract(row)].map(({ path }) => path.slice(start));
        const names = inside.filter((path) => !path.includes('[]')).map((path) => path.replaceAll('.', '_'));
        const doubtful = names.filter((each, i) => names.indexOf(each) !== i && !(each in table.members));
        expect(doubtful, table.name).toEqual([]);
      }
  });
});
