import { LotlakeError } from '../../base/config/lotlake-error.js';
import { packageFile } from '../../base/config/package-root.js';
import { identifier } from '../../base/duck/session.js';
import type { TestFailures } from '../../core/job/beside.js';
import type { Column } from '../../core/lake/schema.js';
import type { Model } from '../../core/model/model-files.js';
import type { ModelNode, ModelResult } from '../../core/model/run-models.js';
import { SETTINGS } from '../../core/model/sql-tree.js';
import { failuresOf, type PlannedTest } from '../../core/model/test-sql.js';
import { runSpark, type SparkOptions, type SparkResult } from './run-spark.js';
import { patternOf, type SparkStep, sparkLiteral } from './script.js';

/** A table of a snapshot, and where Spark reads it. */
export interface SparkTable {
  readonly name: string;
  readonly columns: readonly Column[];
  /** Whether its files are partitioned; the one file of an empty table is not. */
  readonly partitioned: boolean;
  /** URL of the folder of its files. */
  readonly folder: string;
  /** Names of the files of the snapshot, if the folder also holds other files. */
  readonly files?: readonly string[] | undefined;
}

/** What Spark computes: its inputs, models, tests and target. */
export interface SparkModels {
  /** Tables and seeds of the snapshot. */
  readonly tables: readonly SparkTable[];
  /** Models to compute, each after those that it reads. */
  readonly models: readonly (Model & Partial<ModelNode>)[];
  /** Data tests in groups: those of each model or seed, and each check alone. */
  readonly tests: readonly (readonly PlannedTest[])[];
  /** URL of the folder in which each model becomes a folder of Parquet files. */
  readonly target: string;
}

/** Results of models and data tests, on Spark or on DuckDB. */
export interface ModelResults {
  readonly models: readonly ModelResult[];
  readonly tests: readonly TestFailures[];
}

/** SQL that creates functions; those of `enough` read dim_settings. */
const functionsOf = (name: 'names' | 'values' | 'enough'): string =>
  packageFile(`sql/functions/${name}.spark.sql`);

/** Whether a model is a mart; the others are steps of the run. */
const isWritten = ({ exists }: Model): boolean => exists !== 'none';

const stepOf = (model: string): string => `model ${model}`;

/** Spark type of each DuckDB type. */
const TYPES: Readonly<Record<string, string>> = {
  BIGINT: 'bigint',
  BOOLEAN: 'boolean',
  DATE: 'date',
  DOUBLE: 'double',
  INTEGER: 'int',
  'TIMESTAMP WITH TIME ZONE': 'timestamp',
  VARCHAR: 'string',
  'VARCHAR[]': 'array<string>',
};

/** The Spark type for the DuckDB type of a published column. Throws SPARK_TYPE. */
function sparkType(type: string): string {
  const found = TYPES[type];
  if (found !== undefined) return found;
  throw new LotlakeError('SPARK_TYPE', `no type of Spark holds the values of ${type}`, {
    hint: `nothing was computed; a column that Spark reads has one of ${Object.keys(TYPES).join(', ')}`,
  });
}

/**
 * Computes models and runs data tests on Spark, in one process.
 * Throws LotlakeError: SPARK_FAILED with the model or test that failed or has no answer, SPARK_TYPE.
 */
export async function runSparkModels(
  { tables, models, tests, target }: SparkModels,
  options: SparkOptions,
): Promise<ModelResults> {
  const ofSettings = tables.some(({ name }) => name === SETTINGS) ? [functionsOf('enough')] : [];
  const steps = [
    {
      name: 'the tables of the snapshot',
      statements: [functionsOf('names'), functionsOf('values'), ...tables.map(viewOn), ...ofSettings],
    },
    ...models.map((model) => write(model, target)),
    ...tests.map((planned) => ({ name: nameOf(planned), query: failuresOf(planned) })),
  ];
  const answers = new Map((await runSpark(steps, options)).map((answer) => [answer.name, answer]));
  const answerTo = (name: string, numbers: number) => countsOf(answers.get(name), name, numbers);
  return {
    models: models.filter(isWritten).map(({ name, key }) => {
      const step = stepOf(name);
      const [rows = 0] = answerTo(step, 1);
      return { name, key, ms: answers.get(step)?.ms ?? 0, rows };
    }),
    tests: tests.flatMap((planned) => {
      const counts = answerTo(nameOf(planned), planned.length);
      return planned.map(({ model, test, severity }, i) => ({
        model,
        test,
        severity,
        failures: counts[i] ?? 0,
      }));
    }),
  };
}

/** The numbers in the one row that answers a step. Throws SPARK_FAILED if some are missing: such a test would pass. */
function countsOf(answer: SparkResult | undefined, name: string, expected: number): number[] {
  const [row, ...others] = answer?.rows ?? [];
  const counts = Object.values(row ?? {}).filter((value) => typeof value === 'number');
  if (others.length === 0 && counts.length === expected) return counts;
  throw new LotlakeError('SPARK_FAILED', `Spark gave no answer to ${name}`, {
    hint: 'nothing of the lake changed; the command that runs Spark must pass on all that it prints',
  });
}

/**
 * The view of a table. Its partition columns come from the path and have the types that DuckDB gives them. The pattern of
 * the path keeps Spark from reading Iceberg metadata beside the files.
 */
function viewOn({ name, columns, partitioned, folder, files }: SparkTable): string {
  const all = partitioned ? [...columns, { name: 'month', type: 'VARCHAR' }] : columns;
  const schema = all.map((column) => `${identifier(column.name)} ${sparkType(column.type)}`);
  const options = {
    path: `${patternOf(folder)}/${partitioned ? 'domain_id=*' : '*.parquet'}`,
    ...(partitioned && { basePath: folder }),
    ...(files && { pathGlobFilter: `{${files.join(',')}}` }),
  };
  return parquetView(name, options, `(${schema.join(', ')})`);
}

function parquetView(name: string, options: Readonly<Record<string, string>>, schema = ''): string {
  const list = Object.entries(options).map(([option, value]) => `${option} ${sparkLiteral(value)}`);
  return `create temporary view ${identifier(name)} ${schema} using parquet options (${list.join(', ')})`;
}

/** The folder of what only other models read, which readers of Parquet skip. */
const STEPS = '_steps';

/**
 * The step that writes a model into its folder and makes a view on it. What other models read alone is written, too: Spark
 * analyses a view anew wherever it is read, and a chain of steps would take it longer and longer.
 */
function write(model: Model, target: string): SparkStep {
  const { name, sql, key } = model;
  const path = isWritten(model) ? `${target}/${name}` : `${target}/${STEPS}/${name}`;
  const order = key.map((column) => `${identifier(column)} nulls last`).join(', ');
  const select = isWritten(model) ? `select * from (\n${sql}\n) order by ${order}` : sql;
  return {
    name: stepOf(name),
    statements: [
      `insert overwrite directory ${sparkLiteral(path)} using parquet ${select}`,
      parquetView(name, { path: patternOf(path) }),
      ...(name === SETTINGS ? [functionsOf('enough')] : []),
    ],
    ...(isWritten(model) && { query: `select count(*) as rows from ${identifier(name)}` }),
  };
}

const nameOf = ([first]: readonly PlannedTest[]): string =>
  first?.model === 'checks' ? `check ${first.test}` : `the tests of ${first?.model}`;
