import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { remove } from '../../base/config/owned.js';
import { identifier } from '../../base/duck/session.js';
import { withinLimits } from '../../base/duck/statement-limits.js';
import type { Manifest } from '../lake/manifest.js';
import type { Check } from './checks.js';
import { assertTests, isTestedNightly, runDataTests, type TestResult } from './data-tests.js';
import { keepRowsOf } from './failed-rows.js';
import { type Model, modelFailed } from './model-files.js';
import { type ModelLimits, problemOf } from './model-limits.js';
import { type LeftOut, type Modelling, type OwnModels, readableNames } from './own-models.js';
import { withReferences } from './references.js';
import { type ModelResult, type RunModelsOptions, runModels } from './run-models.js';

/** How the models of the user are run. */
export interface OwnModelsOptions extends Omit<RunModelsOptions, 'models' | 'beside'> {
  /** What each model or check may take. */
  readonly limits: ModelLimits;
  /** Scratch folder for the rows that fail a test; without it none are kept. */
  readonly failed?: string | undefined;
  /** Called for each model and check that is left out, with a sentence. */
  readonly warn?: ((message: string) => void) | undefined;
}

/** A model or check of the user with what it reads. */
type Reading<T> = T & { readonly references: readonly string[] };

/** A model that was computed and whose tests it passes, or a check that it passes. */
interface Passed {
  readonly tests: readonly TestResult[];
  readonly result?: ModelResult | undefined;
}

/** The work on the models of the user, and what came of it so far. */
interface OwnRun {
  readonly connection: DuckDBConnection;
  readonly options: OwnModelsOptions;
  readonly models: Map<Reading<Model>, Passed>;
  readonly checks: Map<Reading<Check>, Passed>;
  readonly leftOut: Map<string, LeftOut>;
  /** Tests that found rows, which are read from files, since their tables may be gone. */
  readonly failed: TestResult[];
}

/**
 * Computes and tests the models of the user one after the other, then their checks. Whatever fails is left out, with all that
 * reads it: lotlake's own tables and marts do not need it, so the run can publish. If a check of severity `error` finds rows,
 * the models of the user that it reads are left out, too. Throws the reason of the signal, and nothing else.
 * @param connection has the tables and marts of lotlake
 * @returns the models that were computed, the tests of what is published, those that found rows, what is left out, and the entry
 *   in the manifest
 */
export async function runOwnModels(connection: DuckDBConnection, own: OwnModels, options: OwnModelsOptions) {
  const leftOut = new Map(own.leftOut.map((each) => [each.name, each]));
  const run: OwnRun = { connection, options, models: new Map(), checks: new Map(), leftOut, failed: [] };
  for (const model of await withReferences(connection, own.models)) await runModel(run, model);
  for (const check of await readingOf(connection, own)) await runCheck(run, check);
  const { models, checks, failed } = run;
  const passed = [...models.values(), ...checks.values()];
  return {
    models: passed.flatMap(({ result }) => result ?? []),
    tests: passed.flatMap(({ tests }) => tests),
    failed,
    leftOut: [...leftOut.values()],
    own: {
      models: [...models.keys()],
      checks: [...checks.keys()],
      left_out: [...leftOut.values()].map(entryOf),
    } satisfies Manifest['own'],
  };
}

/** The checks of the user with what they read. */
const readingOf = async (connection: DuckDBConnection, { checks }: Modelling): Promise<Reading<Check>[]> =>
  (
    await withReferences(
      connection,
      checks.map((check) => ({ ...check, name: check.test })),
    )
  ).map(({ name: _, ...check }) => check);

/** What the manifest says about a model that is left out. */
export const entryOf = ({ name, error, watch }: LeftOut) => ({
  name,
  reason: reasonOf(error),
  ...(watch === undefined ? {} : { watch }),
});

/** Why a model is left out, and what to read instead of a mart that an earlier lotlake had. */
const reasonOf = ({ code, message, hint }: LotlakeError): string =>
  code === 'MODEL_GRAPH' && hint !== undefined ? `${message}; ${hint}` : message;

/** The warning about a model or check that is left out. */
export const leftOutText = ({ name, error }: LeftOut): string =>
  `${name} of your own models is left out of the snapshot: ${reasonOf(error)}`;

async function runModel(run: OwnRun, model: Reading<Model>): Promise<void> {
  const { connection, options, models } = run;
  await attempt(run, model.name, model.watch, async () => {
    assertReadsPublished(run, model);
    const [result] = await runModels(connection, { ...options, models: [model] });
    const tested = [model].filter(isTestedNightly);
    models.set(model, { result, tests: await passTests(run, { models: tested, checks: [] }) });
  });
  if (!models.has(model)) await discard(run, model.name);
}

async function runCheck(run: OwnRun, check: Reading<Check>): Promise<void> {
  const name = `checks/${check.test}`;
  await attempt(run, name, undefined, async () => {
    assertReadsPublished(run, check);
    run.checks.set(check, { tests: await passTests(run, { models: [], checks: [check] }) });
  });
  if (run.leftOut.get(name)?.error.code !== 'MODEL_TESTS_FAILED') return;
  const accused = [...run.models.keys()].filter((model) => check.references.includes(model.name));
  const error = new LotlakeError('MODEL_TESTS_FAILED', `the check ${check.test} finds rows that must not be`);
  for (const { name, watch } of accused) leave(run, { name, error, watch });
  await leaveReaders(run);
}

/** Takes models and checks back that are left out by now, and those that read one of them. */
async function leaveReaders(run: OwnRun): Promise<void> {
  for (const model of run.models.keys()) {
    const lost = lostBy(run, model);
    if (lost !== undefined) leave(run, { name: model.name, error: readsLeftOut(lost), watch: model.watch });
    if (!run.leftOut.has(model.name)) continue;
    run.models.delete(model);
    await discard(run, model.name);
  }
  for (const check of run.checks.keys()) {
    const lost = lostBy(run, check);
    if (lost === undefined) continue;
    run.checks.delete(check);
    leave(run, { name: `checks/${check.test}`, error: readsLeftOut(lost) });
  }
}

/** The first model that another one reads and that is left out. A file with the name of a mart takes nothing from the mart. */
const lostBy = ({ leftOut }: OwnRun, { references }: Reading<object>): string | undefined =>
  references.find((name) => leftOut.has(name) && !readableNames().has(name));

const readsLeftOut = (name: string): LotlakeError =>
  new LotlakeError('MODEL_GRAPH', `it reads a model that is left out: ${name}`);

/** Throws MODEL_GRAPH if a model or check reads a model that is left out. */
function assertReadsPublished(run: OwnRun, reading: Reading<object>): void {
  const lost = lostBy(run, reading);
  if (lost !== undefined) throw readsLeftOut(lost);
}

/** Runs work within the limits of one model. If it fails, the model is left out. Throws the reason of the signal. */
async function attempt(
  run: OwnRun,
  name: string,
  watch: boolean | undefined,
  work: () => Promise<void>,
): Promise<void> {
  const { limits } = run.options;
  try {
    await withinLimits(run.connection, { signal: limits.signal, problem: problemOf(limits) }, work);
  } catch (error) {
    limits.signal?.throwIfAborted();
    leave(run, { name, watch, error: error instanceof LotlakeError ? error : modelFailed(name, error) });
  }
}

function leave({ leftOut, options }: OwnRun, left: LeftOut): void {
  if (leftOut.has(left.name)) return;
  leftOut.set(left.name, left);
  options.warn?.(leftOutText(left));
}

/** Runs data tests and keeps the rows that fail them. Throws MODEL_TESTS_FAILED, and MODEL_FAILED if one cannot run. */
async function passTests(
  { connection, options, failed }: OwnRun,
  modelling: Modelling,
): Promise<TestResult[]> {
  const tests = await runDataTests(connection, modelling);
  failed.push(...(await keepRowsOf(connection, tests, options.failed)));
  assertTests(tests, 'lotlake test --kept --show shows the rows');
  return tests;
}

/** Removes what a model has left: its view and its files. */
async function discard({ connection, options }: OwnRun, name: string): Promise<void> {
  // An interrupt may have come within a transaction.
  await connection.run('rollback').catch(() => undefined);
  await connection.run(`drop view if exists ${identifier(name)}`);
  remove(join(options.target, name));
}
