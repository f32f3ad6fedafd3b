/** Statements of one thing, such as a model. An error in one of them names the step. */
export interface SparkStep {
  readonly name: string;
  /** Statements whose output nobody reads, without a semicolon at the end. */
  readonly statements?: readonly string[];
  /** A SELECT whose rows are the result of the step. */
  readonly query?: string;
}

/** Begins the line of stdout that tells the version, before the first step. */
export const VERSION = '-- lotlake on Spark ';

/** The line of stdout that tells the end of a step. */
export const STEP = '-- lotlake step';

/** Begins the line of stdout that is a row, so that no line of the programs around Spark is taken for one. */
export const ROW = '-- lotlake row ';

/** Settings of Spark by name. */
export type SparkConf = Readonly<Record<string, string | boolean>>;

/** What Spark needs so that it reads SQL as DuckDB does, and writes Parquet as DuckDB does. */
const CONF: SparkConf = {
  'spark.sql.ansi.enabled': true,
  'spark.sql.ansi.doubleQuotedIdentifiers': true,
  'spark.sql.session.timeZone': 'UTC',
  // Spark's own default is the older INT96.
  'spark.sql.parquet.outputTimestampType': 'TIMESTAMP_MICROS',
  'spark.sql.parquet.compression.codec': 'zstd',
  // The type of a partition column is declared, and `2026-03` is text.
  'spark.sql.sources.partitionColumnTypeInference.enabled': false,
  // `${…}` in a text is text.
  'spark.sql.variable.substitute': false,
  // Tables live in files. The other catalog makes a database in the working folder.
  'spark.sql.catalogImplementation': 'in-memory',
};

/**
 * The program that runs a file of SQL, and its arguments.
 * @param submit the configured command, such as `spark-sql` or `spark-submit --master spark://host:7077`
 * @param file absolute path of the file
 * @param more settings besides those that every script needs
 */
export function submitArguments(
  submit: readonly string[],
  file: string,
  more: SparkConf = {},
): readonly string[] {
  // What Spark's own spark-sql adds to spark-submit.
  const isBare = submit.some((part) => /(^|\/)spark-submit$/.test(part));
  const driver = isBare ? ['--class', 'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver'] : [];
  const conf = Object.entries({ ...CONF, ...more }).flatMap(([name, value]) => [
    '--conf',
    `${name}=${value}`,
  ]);
  return [...submit, ...conf, ...driver, '-f', `file:${file}`];
}

/** The text of a script: a mark after each step, and the rows of its query as JSON, one a line behind a mark. */
export function scriptOf(steps: readonly SparkStep[]): string {
  const lines = steps.flatMap(({ statements = [], query }) => [
    ...statements,
    ...(query === undefined ? [] : [asJson(query)]),
    `select ${sparkLiteral(STEP)}`,
  ]);
  return [`select ${sparkLiteral(VERSION)} || version()`, ...lines, ''].join(';\n');
}

/** Null members stay, and instants keep their microseconds. */
function asJson(query: string): string {
  const format = sparkLiteral("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX");
  const options = `map('ignoreNullFields', 'false', 'timestampFormat', ${format})`;
  return `select ${sparkLiteral(ROW)} || to_json(struct(*), ${options}) from (\n${query}\n)`;
}

/** A text as a literal of Spark, which takes a backslash for an escape. */
export function sparkLiteral(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A path as a pattern that matches it alone, for Spark looks for the files of a path that it reads. */
export const patternOf = (path: string): string => path.replaceAll(/[[\]{}*?\\,]/g, '\\$&');
