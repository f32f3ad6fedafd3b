import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { makeScratch, remove, writeNew } from '../../base/config/owned.js';
import type { Row } from '../../base/duck/session.js';
import { ROW, type SparkConf, type SparkStep, STEP, scriptOf, submitArguments, VERSION } from './script.js';

/** How a script is run. */
export interface SparkOptions {
  /** The command and its arguments: `spark-sql`, or `spark-submit` with its options. */
  readonly submit: readonly string[];
  /** Settings besides those of every script. */
  readonly conf?: SparkConf | undefined;
  /** Ends Spark. The work of the current step is lost. */
  readonly signal?: AbortSignal | undefined;
  /** Called at the end of each step. */
  readonly onStep?: ((result: SparkResult) => void) | undefined;
}

/** Result of a step of a script. */
export interface SparkResult {
  readonly name: string;
  /** Rows of its query; instants are text in ISO 8601. */
  readonly rows: readonly Row[];
  /** Milliseconds from the end of the step before it. */
  readonly ms: number;
}

/** The first version of Spark that can run the SQL of lotlake's models. */
const LEAST_VERSION = 4;

/** Milliseconds that Spark has to end by itself. */
const PATIENCE = 10_000;

/** Most lines of Spark's stderr in an error. */
const MOST_LINES = 4;

/**
 * Runs steps of SQL in one Spark process, one after the other, in UTC and in ANSI mode. Returns their results in order.
 * Throws LotlakeError: SPARK_NOT_FOUND without the command, SPARK_VERSION below Spark 4, SPARK_FAILED with the step and the
 * message of Spark. Throws the reason of the signal once it is aborted and Spark has ended.
 */
export async function runSpark(
  steps: readonly SparkStep[],
  { submit, conf, signal, onStep }: SparkOptions,
): Promise<readonly SparkResult[]> {
  signal?.throwIfAborted();
  const folder = makeScratch(join(tmpdir(), 'lotlake-spark-'));
  try {
    const file = join(folder, 'script.sql');
    writeNew(file, scriptOf(steps));
    const [program = '', ...args] = submitArguments(submit, file, conf);
    const child = spawn(program, args, { cwd: folder, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    const ended = once(child, 'close').then(
      () => undefined,
      (error) => notFound(error, program),
    );
    const stop = stopOn(child, signal);
    try {
      return await readSteps(child, ended, steps, onStep);
    } finally {
      await stop(ended);
      signal?.throwIfAborted();
    }
  } finally {
    remove(folder);
  }
}

/** Ends the process and its children on an abort, when lotlake exits, and when the returned function is called. */
function stopOn(
  child: ChildProcess,
  signal: AbortSignal | undefined,
): (ended: Promise<unknown>) => Promise<void> {
  const kill = (how: NodeJS.Signals): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, how);
    } catch {
      // It has ended.
    }
  };
  const terminate = (): void => kill('SIGTERM');
  signal?.addEventListener('abort', terminate, { once: true });
  process.once('exit', terminate);
  return async (ended) => {
    if (child.exitCode === null && child.signalCode === null) terminate();
    const timer = setTimeout(() => kill('SIGKILL'), PATIENCE);
    await ended;
    clearTimeout(timer);
    signal?.removeEventListener('abort', terminate);
    process.removeListener('exit', terminate);
  };
}

async function readSteps(
  child: ChildProcessByStdio<null, Readable, Readable>,
  ended: Promise<LotlakeError | undefined>,
  steps: readonly SparkStep[],
  onStep: SparkOptions['onStep'],
): Promise<readonly SparkResult[]> {
  const errors = listenTo(child.stderr);
  const results: SparkResult[] = [];
  let rows: Row[] = [];
  let since: number | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith(ROW)) rows.push(JSON.parse(line.slice(ROW.length)));
    if (line.startsWith(VERSION)) assertVersion(line.slice(VERSION.length));
    if (line === STEP && since !== undefined) {
      const name = steps[results.length]?.name ?? '';
      const result = { name, rows, ms: Math.round(performance.now() - since) };
      results.push(result);
      onStep?.(result);
      rows = [];
    }
    if (line === STEP || line.startsWith(VERSION)) since = performance.now();
  }
  const problem = await ended;
  if (problem !== undefined) throw problem;
  if (results.length === steps.length && child.exitCode === 0) return results;
  throw failure(child, since === undefined ? undefined : steps[results.length]?.name, errors);
}

/** Lines of stderr that are not the problem: warnings, and the same problem again with a stack trace. */
const NOISE = /^\s+at |^\s*$| (WARN|INFO) |^WARNING: |^[\w.]+(Exception|Error): \[/;

/** Collects the lines of stderr since the last statement ended. */
function listenTo(stderr: Readable): readonly string[] {
  const lines: string[] = [];
  let isStatement = false;
  createInterface({ input: stderr }).on('line', (line) => {
    // Before its message, Spark prints the statement that failed, which hides it.
    isStatement ||= line.includes(' Failed in [');
    if (line.startsWith('Time taken: ')) lines.length = 0;
    else if (!isStatement && lines.length < MOST_LINES && !NOISE.test(line)) lines.push(line);
    if (line.endsWith(']')) isStatement = false;
  });
  return lines;
}

function assertVersion(version: string): void {
  if (Number.parseInt(version, 10) >= LEAST_VERSION) return;
  throw new LotlakeError(
    'SPARK_VERSION',
    `this is Spark ${version}, and lotlake needs Spark ${LEAST_VERSION}`,
    {
      outcome: 'usage',
      hint: 'nothing was computed; set LOTLAKE_SPARK_SUBMIT to the command of a later Spark',
    },
  );
}

function failure(
  { exitCode, signalCode }: ChildProcess,
  step: string | undefined,
  errors: readonly string[],
): LotlakeError {
  const place = step === undefined ? 'Spark did not start' : `Spark failed in ${step}`;
  const how = signalCode === null ? `exit code ${exitCode}` : `ended by ${signalCode}`;
  return new LotlakeError('SPARK_FAILED', `${place} (${how}): ${errors.join('\n') || 'it says nothing'}`, {
    hint:
      signalCode === 'SIGKILL'
        ? 'nothing of the lake changed; the system ends a process so if memory is short: give Spark less, or more workers'
        : 'nothing of the lake changed; follow what Spark says and run the same command again',
  });
}

function notFound(error: Error, program: string): LotlakeError {
  const problem = codeOf(error) === 'ENOENT' ? 'there is no such command' : error.message;
  return new LotlakeError('SPARK_NOT_FOUND', `${program}: ${problem}`, {
    cause: error,
    outcome: 'usage',
    hint: 'nothing was computed; install Spark 4, or set LOTLAKE_SPARK_SUBMIT to the command that runs SQL on your cluster, such as spark-submit --master spark://host:7077',
  });
}
