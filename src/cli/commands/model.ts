import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Config, readConfig } from '../../config/config.js';
import { quoted, readFolder } from '../../config/folder.js';
import { ConfigError, messageOf } from '../../config/lotlake-error.js';
import { viewOn } from '../../lake/views.js';
import { readChecks } from '../../model/checks.js';
import { assertTests, runDataTests, type TestFailures } from '../../model/data-tests.js';
import { type Model, readModels } from '../../model/model-files.js';
import { type ModelResult, orderedModels, runModels } from '../../model/run-models.js';
import { runSparkModels, type SparkModelResults } from '../../model/spark-models.js';
import { planModelTests } from '../../model/test-sql.js';
import { withDatabase } from '../../query/open-lake.js';
import { assertOutside } from '../../query/places.js';
import { clip, count, counted } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import { command } from '../command.js';
import type { Effects } from '../effects.js';
import { mirrorOptions } from '../mirror.js';
import { localSource, type ModelSource, pushedSource } from '../model-source.js';

const { endpoint, region, 'path-style': pathStyle } = mirrorOptions;

/** Computes the marts of a snapshot beside it, and runs the data tests on them. */
export const model = command({
  options: {
    mirror: {
      type: 'string',
      describe: 'a mirror such as s3://bucket/prefix (default the lake of this machine)',
    },
    engine: { choices: ['duckdb', 'spark'], default: 'duckdb', describe: 'what computes the marts' },
    snapshot: { type: 'string', describe: 'id (default the published one)' },
    to: {
      type: 'string',
      describe: 'folder, or for Spark a URL, to write the marts to (default models/<id> beside the lake)',
    },
    ...{ endpoint, region, 'path-style': pathStyle },
  },
  async run({ mirror, engine, snapshot, to, endpoint, region, pathStyle, print, input }, effects) {
    const config = readConfig({ ...input, publish: { to: mirror, endpoint, region, pathStyle } }, effects);
    if (mirror !== undefined && engine === 'duckdb')
      throw new ConfigError(
        '--engine duckdb reads a lake of this machine',
        'lotlake pull makes one from a mirror',
      );
    const source =
      mirror === undefined
        ? localSource(config, snapshot)
        : await pushedSource(config, snapshot, effects.signal);
    const target = targetOf(to, source, engine, config, effects);
    const started = performance.now();
    const run = engine === 'spark' ? onSpark : onDuckDB;
    const { models, tests } = await run(config, source, target, effects);
    const seconds = (performance.now() - started) / 1000;
    const result = { engine, snapshot_id: source.id, path: target, seconds, models, tests };
    print(result, () => text(result));
    assertTests(
      tests,
      'the published snapshot is as it was; lotlake test --show shows failing rows of its marts',
    );
  },
});

/** The folder or URL for the marts. Throws ConfigError or ShareError where something else could be lost. */
function targetOf(
  to: string | undefined,
  source: ModelSource,
  engine: string,
  config: Config,
  { cwd }: Effects,
): string {
  const named = to ?? source.target;
  const given = engine === 'spark' && /^file:/i.test(named) ? pathOf(named) : named;
  if (engine === 'spark' && given.includes('://')) return urlOf(given, config.publish.to);
  const folder = readFolder('--to', given, cwd);
  assertOutside(folder, config.output);
  const names = new Set(readModels().map(({ name }) => name));
  const foreign = existsSync(folder) ? readdirSync(folder).find((name) => !names.has(name)) : undefined;
  if (foreign === undefined) return resolve(folder);
  throw new ConfigError(`--to ${folder} holds ${foreign}, which is no mart`, 'name a new folder');
}

/** The path of a folder of this machine that a URL names. */
function pathOf(to: string): string {
  try {
    return fileURLToPath(to);
  } catch (error) {
    throw new ConfigError(`--to ${quoted(to)}: ${messageOf(error)}`, 'name a folder by its path');
  }
}

/** A URL in the form of Spark, which is outside of the folders of a mirror. */
function urlOf(to: string, mirror: string | undefined): string {
  const url = sparkUrl(to);
  const root = mirror === undefined ? undefined : sparkUrl(mirror);
  if (/\/\.\.?(\/|$)/.test(url))
    throw new ConfigError(`--to ${quoted(to)} has a step . or ..`, 'name the place itself');
  if (root === undefined || !`${url}/`.startsWith(`${root}/`) || url.startsWith(`${root}/models/`))
    return url;
  throw new ConfigError(`--to ${to} lies in the mirror`, `name another place, or one below ${root}/models/`);
}

/** A place in the form of Spark, which counts several slashes as one. */
const sparkUrl = (place: string): string =>
  place
    .replace(/^s3[an]?:/i, 's3a:')
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/+$/, '');

const computed = (engine = 'duckdb'): readonly Model[] =>
  readModels().filter(({ isSeed, isFitted }) => !isSeed && (engine === 'duckdb' || !isFitted));

async function onDuckDB(
  config: Config,
  { folder = '', tables }: ModelSource,
  target: string,
  { signal }: Effects,
): Promise<SparkModelResults> {
  return withDatabase(config, signal, async ({ session: { connection } }) => {
    for (const table of tables) await connection.run(viewOn(folder, table));
    // Spark names its files in another way, and a view on the folder of a mart would read both.
    for (const { name } of computed()) rmSync(join(target, name), { recursive: true, force: true });
    const parquet = () => 'format parquet, compression zstd';
    const models = await runModels(connection, { target, parquet, models: computed() });
    const tests = await runDataTests(connection);
    return {
      models,
      tests: tests.map(({ model: name, test, severity, failures }) => ({
        model: name,
        test,
        severity,
        failures,
      })),
    };
  });
}

async function onSpark(
  config: Config,
  { tables, conf }: ModelSource,
  target: string,
  effects: Effects,
): Promise<SparkModelResults> {
  const names = new Set(tables.map(({ name }) => name));
  const models = await withDatabase(config, effects.signal, ({ session }) =>
    orderedModels(session.connection, computed('spark'), names),
  );
  const tests = [...readModels().map(planModelTests), ...readChecks().map((check) => [check])];
  const url = target.includes('://') ? target : `file:${target}`;
  const say = ({ name, ms }: { name: string; ms: number }): void => {
    if (config.log === 'debug') effects.err(`${name}: ${ms} ms\n`);
  };
  const options = { submit: config.spark.submit, conf, signal: effects.signal, onStep: say };
  return runSparkModels({ tables, models, tests, target: url }, options);
}

interface Result extends SparkModelResults {
  readonly engine: string;
  readonly snapshot_id: string;
  readonly path: string;
  readonly seconds: number;
}

function text({ engine, snapshot_id, path, seconds, models, tests }: Result): string {
  const failed = tests.filter(({ failures }) => failures > 0);
  return [
    `snapshot ${snapshot_id}: ${counted(models.length, 'mart')} on ${engine} in ${seconds.toFixed(1)} s, in ${path}`,
    gridOf(
      ['mart', '>rows', '>ms'],
      models.map(({ name, rows, ms }: ModelResult) => [name, count(rows), count(ms)]),
    ),
    failed.length === 0
      ? `${counted(tests.length, 'data test')}, all passed`
      : `${counted(failed.length, 'data test')} of ${count(tests.length)} failed:`,
    ...(failed.length === 0 ? [] : [failedText(failed)]),
  ].join('\n');
}

const failedText = (failed: readonly TestFailures[]): string =>
  gridOf(
    ['mart', 'test', 'severity', '>failing rows'],
    failed.map(({ model: name, test, severity, failures }) => [
      name,
      clip(test, 100),
      severity,
      count(failures),
    ]),
  );
