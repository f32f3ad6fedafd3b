import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DuckDBConnection } from '@duckdb/node-api';
import { withDatabase } from '../../ask/query/open-lake.js';
import { assertOutside } from '../../ask/query/places.js';
import { gridOf } from '../../ask/query/table.js';
import { type Config, readConfig } from '../../base/config/config.js';
import { quoted, readFolder } from '../../base/config/folder.js';
import { ConfigError, messageOf } from '../../base/config/lotlake-error.js';
import { ownNamed, remove } from '../../base/config/owned.js';
import { count, counted } from '../../base/config/printable.js';
import { type ModelResults, runSparkModels } from '../../beyond/spark/spark-models.js';
import { viewOn } from '../../core/lake/views.js';
import { readChecks } from '../../core/model/checks.js';
import { assertTests, runDataTests } from '../../core/model/data-tests.js';
import { isGiven, isOutside, readModels } from '../../core/model/model-files.js';
import { readableNames } from '../../core/model/own-models.js';
import { assertAllRead, readOwnModels } from '../../core/model/read-own.js';
import { withReferences } from '../../core/model/references.js';
import { orderedModels, runModels } from '../../core/model/run-models.js';
import { OUTSIDE } from '../../core/model/sql-tree.js';
import { planModelTests } from '../../core/model/test-sql.js';
import { command, type Lines } from '../command.js';
import type { Effects } from '../effects.js';
import { mirrorOptions } from '../mirror.js';
import { localSource, type ModelSource, pushedSource } from '../model-source.js';
import { selectModels } from '../select-models.js';
import { failedText } from './test.js';

const { endpoint, region, 'path-style': pathStyle } = mirrorOptions;

/** Computes the marts of a snapshot beside it, and runs the data tests on them. */
export const model = command({
  options: {
    mirror: {
      type: 'string',
      describe: 'a mirror such as s3://bucket/prefix (default the lake of this machine)',
    },
    engine: { choices: ['duckdb', 'spark'], default: 'duckdb', describe: 'what computes the marts' },
    select: {
      type: 'string',
      describe: 'these marts alone: name, name+ with what depends on it, +name with what it needs',
    },
    snapshot: { type: 'string', describe: 'id (default the published one)' },
    to: {
      type: 'string',
      describe: 'folder, or for Spark a URL, to write the marts to (default models/<id> beside the lake)',
    },
    endpoint,
    region,
    'path-style': pathStyle,
  },
  async run({ mirror, engine, select, snapshot, to, endpoint, region, pathStyle, print, input }, effects) {
    const config = readConfig({ ...input, publish: { to: mirror, endpoint, region, pathStyle } }, effects);
    if (mirror !== undefined && engine === 'duckdb')
      throw new ConfigError(
        '--engine duckdb reads a lake of this machine',
        'lotlake pull makes one from a mirror',
      );
    await withDatabase(config, effects.signal, async ({ session: { connection } }) => {
      const chosen = await chosenModels(connection, config, engine, select);
      const names = new Set(chosen.models.map(({ name }) => name));
      const source =
        mirror === undefined
          ? localSource(config, snapshot, names)
          : await pushedSource(config, snapshot, names, effects);
      const target = targetOf(to, source, engine, chosen, config, effects);
      // Files of before would pass for computed ones.
      if (!target.includes('://')) {
        ownNamed(target);
        for (const { name } of chosen.leftOut) remove(join(target, name));
      }
      const started = performance.now();
      const run = engine === 'spark' ? onSpark : onDuckDB;
      const { models, tests } = await run(connection, chosen, source, target, config, effects);
      const seconds = (performance.now() - started) / 1000;
      const result = {
        engine,
        snapshot_id: source.id,
        path: target,
        seconds,
        models,
        left_out: chosen.leftOut,
        tests,
      };
      print(result, () => text(result));
      assertTests(
        tests,
        'the published snapshot is as it was; lotlake test --show shows failing rows of its marts',
      );
    });
  },
});

/**
 * The models to compute, those that the engine leaves out, with reasons, the models and checks to test, and the names of
 * all marts.
 */
type Chosen = Awaited<ReturnType<typeof chosenModels>>;

/** Why Spark leaves a model out. */
const FITTED = 'it reads what lotlake computes outside of SQL';
const OWN = 'it is a model of your own';

/**
 * Chooses the models that an engine computes: all or the selected ones. Only DuckDB computes the user's models, and those
 * that read what is computed outside of SQL; models and tests on Spark read the latter from the snapshot.
 */
async function chosenModels(
  connection: DuckDBConnection,
  config: Config,
  engine: string,
  select: string | undefined,
) {
  const own = await readOwnModels(connection, config);
  assertAllRead(own);
  const isSpark = engine === 'spark';
  const given = [...readModels(), ...(isSpark ? [] : own.models)];
  const all = await orderedModels(connection, given, readableNames());
  const marts = new Set([...all, ...own.models].map(({ name }) => name));
  const selected = select === undefined ? all : selectModels(all, select);
  const models = selected
    .filter((model) => !isGiven(model) && !(isSpark && isOutside(model)))
    .map((model) => (model.exists === 'none' ? model : { ...model, exists: 'file' as const }));
  const fitted = selected.filter((model) => isSpark && !OUTSIDE.includes(model.name) && isOutside(model));
  const leftOut = [
    ...fitted.map(({ name }) => ({ name, reason: FITTED })),
    ...(isSpark && select === undefined ? own.models : []).map(({ name }) => ({ name, reason: OWN })),
  ];
  const written = models.filter(({ exists }) => exists !== 'none');
  if (written.length === 0) throw new ConfigError(`--select ${select} names nothing that ${engine} computes`);
  const known = [...readChecks(), ...(isSpark ? [] : own.checks)];
  const published = all.filter(({ exists }) => exists !== 'none');
  if (select === undefined) return { models, leftOut, checks: known, tested: published, marts };
  const named = known.map((check) => ({ ...check, name: check.test }));
  const read = await withReferences(connection, named);
  const checks = read.filter(({ references }) => written.some(({ name }) => references.includes(name)));
  return { models, leftOut, checks, tested: written, marts };
}

/** The folder or URL for the marts. Throws ConfigError or QUERY_PLACE if it could overwrite something else. */
function targetOf(
  to: string | undefined,
  source: ModelSource,
  engine: string,
  { marts }: Chosen,
  config: Config,
  { cwd }: Effects,
): string {
  const named = to ?? source.target;
  const given = engine === 'spark' && /^file:/i.test(named) ? pathOf(named) : named;
  if (engine === 'spark' && given.includes('://')) return urlOf(given, config.publish.to);
  const folder = readFolder('--to', given, cwd);
  assertOutside(folder, config.output);
  // The default folder is not checked, since a renamed model of the user leaves a folder there.
  const foreign =
    to !== undefined && existsSync(folder) ? readdirSync(folder).find((name) => !marts.has(name)) : undefined;
  if (foreign === undefined) return resolve(folder);
  throw new ConfigError(`--to ${folder} holds ${foreign}, which is not a mart`, 'name a new folder');
}

/** The local path of a file URL. */
function pathOf(to: string): string {
  try {
    return fileURLToPath(to);
  } catch (error) {
    throw new ConfigError(`--to ${quoted(to)}: ${messageOf(error)}`, 'name a folder by its path');
  }
}

/** A URL as Spark writes it. Throws ConfigError for a step `.` or `..`, and for a place in the mirror outside its models. */
function urlOf(to: string, mirror: string | undefined): string {
  const url = sparkUrl(to);
  const root = mirror === undefined ? undefined : sparkUrl(mirror);
  if (/\/\.\.?(\/|$)/.test(url))
    throw new ConfigError(`--to ${quoted(to)} has a step . or ..`, 'name the place itself');
  if (root === undefined || !`${url}/`.startsWith(`${root}/`) || url.startsWith(`${root}/models/`))
    return url;
  throw new ConfigError(`--to ${to} lies in the mirror`, `name another place, or one below ${root}/models/`);
}

/** A URL as Spark writes it: with s3a, and with single slashes. */
const sparkUrl = (place: string): string =>
  place
    .replace(/^s3[an]?:/i, 's3a:')
    .replace(/(?<!:)\/{2,}/g, '/')
    .replace(/\/+$/, '');

async function onDuckDB(
  connection: DuckDBConnection,
  { models: computed, checks, tested }: Chosen,
  { folder = '', tables }: ModelSource,
  target: string,
): Promise<ModelResults> {
  for (const { name, partitioned, paths } of tables)
    await connection.run(viewOn(folder, { name, partitioned, files: paths }));
  // Spark names its files differently, and a view on the folder of a mart would read both.
  for (const { name } of computed) remove(join(target, name));
  const models = await runModels(connection, { target, models: computed });
  const tests = await runDataTests(connection, { models: tested, checks });
  return {
    models,
    tests: tests.map(({ model, test, severity, failures }) => ({ model, test, severity, failures })),
  };
}

async function onSpark(
  connection: DuckDBConnection,
  { models: computed, checks, tested }: Chosen,
  { tables, conf }: ModelSource,
  target: string,
  config: Config,
  effects: Effects,
): Promise<ModelResults> {
  const names = new Set(tables.map(({ name }) => name));
  const models = await orderedModels(connection, computed, names);
  const tests = [...tested.map(planModelTests), ...checks.map((check) => [check])];
  const url = target.includes('://') ? target : `file:${target}`;
  const onStep = ({ name, ms }: { name: string; ms: number }): void => {
    if (config.log === 'debug') effects.err(`${name}: ${ms} ms\n`);
  };
  const options = { submit: config.spark.submit, conf, signal: effects.signal, onStep };
  return runSparkModels({ tables, models, tests, target: url }, options);
}

/** The computed marts, those left out, and the tests, with the snapshot, engine, folder and seconds. */
type Result = ModelResults &
  Readonly<Record<'engine' | 'snapshot_id' | 'path', string>> & {
    readonly seconds: number;
    readonly left_out: Chosen['leftOut'];
  };

function text({ engine, snapshot_id, path, seconds, models, left_out, tests }: Result): Lines {
  const failed = tests.filter(({ failures }) => failures > 0);
  return [
    `snapshot ${snapshot_id}: ${counted(models.length, 'mart')} on ${engine} in ${seconds.toFixed(1)} s, in ${path}`,
    gridOf(
      ['mart', '>rows', '>ms'],
      models.map(({ name, rows, ms }) => [name, count(rows), count(ms)]),
    ),
    ...[FITTED, OWN].map((why) => {
      const names = left_out.filter(({ reason }) => reason === why).map(({ name }) => name);
      return names.length > 0 && `left to DuckDB, because ${why}: ${names.join(', ')}`;
    }),
    failed.length === 0
      ? `${counted(tests.length, 'data test')}, all passed`
      : `${counted(failed.length, 'data test')} of ${count(tests.length)} failed:\n${failedText(failed)}`,
    !path.includes('://') && `lotlake diff ${snapshot_id} ${path} says which rows differ from the snapshot`,
  ];
}
