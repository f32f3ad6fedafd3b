import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { expect, it } from 'vitest';
import { openTemporarySession, rows } from '../../src/duck/session.js';
import { type Rule, rules } from '../../src/reconcile/rules.js';
import { runSpark } from '../../src/spark/run-spark.js';
import { type SparkStep, sparkLiteral } from '../../src/spark/script.js';
import { schemasOf } from '../load/support.js';
import { FOLDER, play, readsOf } from '../reconcile/play.js';
import { describeWith } from './support/engines.js';
import { sparkOptions, sparkProgram } from './support/spark.js';

/** DuckDB types that are not texts, with their Spark types. */
const TYPES: Readonly<Record<string, string>> = {
  BIGINT: 'bigint',
  BOOLEAN: 'boolean',
  DOUBLE: 'double',
  INTEGER: 'int',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  UBIGINT: 'decimal(20, 0)',
  UINTEGER: 'bigint',
};

const SCHEMAS = ['base', 'stage', 'next', 'current', 'run'];

/** Names of the relations that a rule reads. */
const inputsOf = ({ sql }: Rule): readonly string[] => [
  ...new Set(SCHEMAS.flatMap((schema) => readsOf(sql, schema).map((name) => `${schema}.${name}`))),
  ...['compared', 'delivering_owners'].filter((name) => new RegExp(`(from|join) ${name}\\b`).test(sql)),
];

/** A statement that creates a Spark view with the rows of a DuckDB relation. */
async function copyOf(connection: DuckDBConnection, relation: string): Promise<string> {
  const columns = (await rows(connection, `describe ${relation}`)).map(({ column_name, column_type }) => ({
    name: `"${column_name}"`,
    type: TYPES[String(column_type)] ?? 'string',
  }));
  const texts = columns.map(({ name }, place) => `cast(${name} as varchar) as "${place}"`);
  const found = await rows(connection, `select ${texts.join(', ')} from ${relation}`);
  const select = (row: Readonly<Record<string, unknown>>, more = ''): string =>
    `select ${columns.map(({ name, type }, at) => `cast(${literalOf(row[at])} as ${type}) as ${name}`)}${more}`;
  const selects = [select({}, ' where false'), ...found.map((row) => select(row))];
  return `create or replace view ${relation} as ${selects.join(' union all ')}`;
}

const literalOf = (value: unknown): string =>
  value === null || value === undefined ? 'null' : sparkLiteral(plain(value));

/** The text of a value, without the offset that DuckDB writes after a UTC instant. */
const plain = (value: unknown): string => String(value).replace(/(:\d\d(\.\d+)?)\+00$/, '$1');

/** Rows as sorted texts. */
const inOrder = (found: readonly Readonly<Record<string, unknown>>[]): readonly string[] =>
  found
    .map((row) => JSON.stringify(Object.values(row).map((value) => (value === null ? null : plain(value)))))
    .sort();

describeWith(['python', 'spark-jars'], 'rules of reconcile on Spark', () => {
  it('give the rows of DuckDB in every case, except those whose .yml says why not', async () => {
    const { session, close } = await openTemporarySession({ memory: '500MB', threads: 1 });
    const { connection } = session;
    const all = [...(await schemasOf('cars')), ...(await schemasOf('archived_lots'))];
    const steps: SparkStep[] = [
      { name: 'schemas', statements: SCHEMAS.map((name) => `create database if not exists ${name}`) },
    ];
    const expected: (readonly string[])[] = [];
    for (const rule of rules.filter(({ only_duckdb }) => only_duckdb === undefined))
      for (const name of readdirSync(join(FOLDER, rule.name))) {
        await play(connection, all, join(FOLDER, rule.name, name), rule);
        const statements: string[] = [];
        for (const relation of inputsOf(rule)) statements.push(await copyOf(connection, relation));
        const columns = (await rows(connection, `describe run.${rule.name}`)).map(
          (row) => `"${row.column_name}"`,
        );
        const texts = columns.map((column) => `cast(${column} as string) as ${column}`).join(', ');
        steps.push({
          name: `${rule.name}/${name}`,
          statements,
          query: `select ${texts} from (\n${rule.sql}\n)`,
        });
        expected.push(inOrder(await rows(connection, `select ${texts} from run.${rule.name}`)));
      }
    close();
    const results = await runSpark(steps, { submit: [sparkProgram('spark-sql'), ...sparkOptions()] });
    const found = results.slice(1).map((result) => ({ name: result.name, rows: inOrder(result.rows) }));
    expect(found).toEqual(steps.slice(1).map(({ name }, place) => ({ name, rows: expected[place] })));
  });
});
