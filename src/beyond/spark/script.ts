/** Statements that belong together, such as those of a model. An error in one of them names the step. */
export interface SparkStep {
  readonly name: string;
  /** Statements whose output nobody reads, without a semicolon at the end. */
  readonly statements?: readonly string[];
  /** A SELECT whose rows are the result of the step. */
  readonly query?: string;
}

/** Prefix of the line of stdout with the version, before the first step. */
export const VERSION = '-- lotlake on Spark ';

/** The line of stdout at the end of a step. */
export const STEP = '-- lotlake step';

/** Prefix of a line of stdout that is a row, because the programs around Spark may print lines, too. */
export const ROW = '-- lotlake row ';

/** Settings of Spark by name. */
export type SparkConf = Readonly<Record<string, string | boolean>>;

/** Settings that make Spark read SQL and write Parquet as DuckDB does. */
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
  // Spark's own spark-sql adds this to spark-submit.
  const isBare = submit.some((part) => /(^|\/)spark-submit$/.test(part));
  const driver = isBare ? ['--class', 'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver'] : [];
  const conf = Object.entries({ ...CONF, ...more }).flatMap(([name, value]) => [
    '--conf',
    `${name}=${value}`,
  ]);
  return [...submit, ...conf, ...driver, '-f', `file:${file}`];
}

/** The text of a script. It prints each row of a query as a line of JSON after ROW, and STEP after each step. */
export function scriptOf(steps: readonly SparkStep[]): string {
  const lines = steps.flatMap(({ statements = [], query }) => [
    ...statements,
    ...(query === undefined ? [] : [asJson(query)]),
    `select ${sparkLiteral(STEP)}`,
  ]);
  return [`select ${sparkLiteral(VERSION)} || version()`, ...lines, ''].join(';\n');
}

/** A SELECT of the rows of a query as JSON. Null members stay, and instants keep their microseconds. */
function asJson(query: string): string {
  const format = sparkLiteral("yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX");
  const options = `map('ignoreNullFields', 'false', 'timestampFormat', ${format})`;
  return `select ${sparkLiteral(ROW)} || to_json(struct(*), ${options}) from (\n${query}\n)`;
}

/** A text as a literal of Spark, where a backslash is an escape. */
export function sparkLiteral(value: string): string {
  return `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

/** A path as a pattern that matches it alone, because Spark takes a path that it reads as a pattern. */
export const patternOf = (path: string): string => path.replaceAll(/[[\]{}*?\\,]/g, '\\$&');
