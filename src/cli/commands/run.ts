import { join } from 'node:path';
import { type Config, type ConfigInput, flagsOf, readConfig } from '../../config/config.js';
import { assertWritable } from '../../config/folder.js';
import { assertService } from '../../extract/client.js';
import type { RunResult } from '../../run/finish.js';
import type { Job, JobOptions } from '../../run/job.js';
import type { Effects } from '../effects.js';
import { createReporter } from '../reporter.js';
import { reportOn } from '../run-report.js';
import { summarize } from '../summary.js';

/** Options of `lotlake run`. */
export interface RunOptions {
  readonly pipeline: 'nightly' | 'incremental' | 'reference' | 'closing' | 'rebuild';
  readonly sandbox: boolean;
  readonly vehicles: number;
  readonly seed: number;
  readonly clock?: Date | undefined;
  /** Walk into catalog entries without a vehicle in the feed, too. */
  readonly everything: boolean;
  readonly json: boolean;
  readonly config: ConfigInput;
}

/** What a run left, its report among it; undefined where that could not be written. */
interface Finished {
  readonly result: RunResult;
  readonly report: string | undefined;
}

/** Runs a pipeline, writes the report of what it published, and prints its summary. */
export async function run(options: RunOptions, effects: Effects): Promise<void> {
  const config = configOf(options, effects);
  assertWritable('the output folder', config.output);
  if (!options.sandbox && options.pipeline !== 'rebuild') assertService(config);
  const reporter = createReporter(effects, { json: options.json, log: config.log });
  try {
    const { result, report } = options.sandbox
      ? await runOnSandbox(options, effects, reporter)
      : await start(options, options.config, effects, reporter, effects.now);
    reporter.stop();
    effects.out(
      options.json
        ? `${JSON.stringify({ ...machineReadable(result), report: report ?? null })}\n`
        : summarize(result, effects.cwd, report, flagsOf(config, options.config, effects)),
    );
  } finally {
    reporter.stop();
  }
}

/** Where the sandbox writes unless it is told otherwise: the first run against a real service needs no cleaning up. */
const SANDBOX: ConfigInput = { output: join('output', 'sandbox') };

const configOf = (options: Pick<RunOptions, 'config' | 'sandbox'>, effects: Effects): Config =>
  readConfig(options.config, effects, options.sandbox ? SANDBOX : {});

async function start(
  options: RunOptions,
  input: ConfigInput,
  effects: Effects,
  reporter: Job['reporter'],
  now: () => Date,
): Promise<Finished> {
  const config = configOf({ ...options, config: input }, effects);
  const result = await runPipeline(options, { config, reporter, now, signal: effects.signal });
  return { result, report: await reportOn(config, reporter) };
}

async function runPipeline(options: RunOptions, job: JobOptions): Promise<RunResult> {
  if (options.pipeline === 'rebuild') {
    const { rebuild } = await import('../../../pipelines/rebuild.js');
    return rebuild(job);
  }
  if (options.pipeline === 'incremental') {
    const { incremental } = await import('../../../pipelines/incremental.js');
    return incremental(job);
  }
  if (options.pipeline === 'closing') {
    const { closing } = await import('../../../pipelines/closing.js');
    return closing(job);
  }
  if (options.pipeline === 'reference') {
    const { reference } = await import('../../../pipelines/reference.js');
    return reference({ ...job, everything: options.everything });
  }
  const { nightly } = await import('../../../pipelines/nightly.js');
  return nightly(job);
}

/** Starts the embedded service, runs against it without a rate limit, and stops it. */
async function runOnSandbox(
  options: RunOptions,
  effects: Effects,
  reporter: Job['reporter'],
): Promise<Finished> {
  const { startSandbox } = await import('../../sandbox/server/start.js');
  const clock = options.clock ?? effects.now();
  reporter.step(
    'sandbox',
    `${options.vehicles.toLocaleString('en')} vehicles, seed ${options.seed}, clock ${clock.toISOString()}`,
  );
  const sandbox = await startSandbox({ vehicles: options.vehicles, seed: options.seed, clock });
  const started = effects.now().getTime();
  // The world's clock is the clock of the run, so that windows and trust in prices fit its records.
  const now = (): Date => new Date(clock.getTime() + effects.now().getTime() - started);
  try {
    const input = {
      ...options.config,
      baseUrl: sandbox.url,
      origin: `sandbox of ${options.vehicles} vehicles, seed ${options.seed}`,
      apiKey: sandbox.apiKey,
      rate: options.config.rate ?? 1e6,
    };
    return await start(options, input, effects, reporter, now);
  } finally {
    await sandbox.close();
  }
}

function machineReadable(result: RunResult): object {
  const { manifest, passes, ...rest } = result;
  const rows = Object.fromEntries(
    Object.entries({ ...manifest.tables, ...manifest.marts }).map(([name, table]) => [name, table.rows]),
  );
  const told = passes.map(({ manifest: pass, changes: _, ...counts }) => ({ ...pass, ...counts }));
  return { ...Object(snakeCased({ ...rest, passes: told })), rows };
}

/** A value with the names of its members in snake case, as all JSON of the CLI has them. */
function snakeCased(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeCased);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replaceAll(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCased(member),
    ]),
  );
}
