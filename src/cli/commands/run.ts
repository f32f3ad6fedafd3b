import { pipelineNames, pipelines } from '../../../pipelines/index.js';
import { type Config, flagsOf, readSettings, type Settings } from '../../base/config/config.js';
import { assertWritable } from '../../base/config/folder.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import type { JobOptions } from '../../core/job/job.js';
import type { RunResult } from '../../core/publish/step.js';
import { assertService } from '../../core/service/client.js';
import { calledAs, command } from '../command.js';
import type { Effects } from '../effects.js';
import type { PushedLake } from '../mirror.js';
import { onSandbox, SANDBOX, sandboxOf, sandboxOptions, worldText } from '../on-sandbox.js';
import { recordRefused } from '../refused-run.js';
import { createReporter, type RunReporter, reportOn } from '../reporter.js';
import { summarize } from '../summary.js';
import type { SyncOutcome } from '../sync.js';

/** Runs a pipeline, writes the report of what it published, and prints its summary. */
export const run = command({
  options: {
    pipeline: {
      choices: pipelineNames,
      demandOption: true,
      describe: 'run <pipeline> --help explains one, with all its options',
    },
    ...sandboxOptions,
    everything: {
      type: 'boolean',
      default: false,
      describe: 'reference: walk into catalog entries without a vehicle in the feed, too',
    },
    'allow-shrink': { type: 'boolean', describe: 'archive for absence past the shrink guard' },
    'allow-skew': {
      type: 'boolean',
      describe: 'run even if the clock of this machine is far off; the time comes from the service',
    },
    iceberg: { type: 'boolean', describe: 'write Iceberg metadata, too' },
    sources: { type: 'string', describe: 'sources to ask for one by one, such as 1,3' },
    verbose: {
      type: 'boolean',
      conflicts: 'quiet',
      describe: 'a long summary: tables, passes, files, tests',
    },
    quiet: { type: 'boolean', describe: 'a summary of one line, and warnings alone' },
    'log-format': { choices: ['text', 'json'] as const, describe: 'form of the log' },
    'log-file': { type: 'string', describe: 'file that gets the log, too' },
  },
  async run(given, effects) {
    const { pipeline, sandbox, everything, verbose, quiet, json, print } = given;
    const { allowShrink, allowSkew, iceberg, sources, logFormat, logFile } = given;
    const input = { ...given.input, allowShrink, allowSkew, iceberg, sources, logFormat, logFile };
    const defaults = sandbox ? SANDBOX : {};
    const settingsOf = (service: Settings) => readSettings(input, effects, { defaults, service });
    /** Throws whatever refuses the run before it begins. */
    const prepare = async () => {
      const world = sandboxOf(given, effects.now());
      const { config, warnings } = settingsOf({});
      assertWritable('the output folder', config.output);
      if (!sandbox && pipeline !== 'rebuild') assertService(config);
      return { world, config, warnings, reporter: createReporter(effects, { config, json, quiet }) };
    };
    const { world, config, warnings, reporter } = await prepare().catch(async (error: unknown) => {
      throw await recordRefused({ pipeline, input, defaults }, error, effects);
    });
    for (const warning of warnings) reporter.warn(warning);
    /** Runs the pipeline on the service of some settings. */
    const start = async (service: Settings, now: () => Date) => {
      const { config, inForce } = settingsOf(service);
      let report: string | undefined;
      let mirror: PushOutcome = {};
      const after = async (): Promise<unknown> => {
        report = await reportOn(config, reporter);
        // The mirror is for the real lake; records of the sandbox have no place in it.
        if (!sandbox) mirror = await mirrorRun({ config, reporter }, effects);
        return mirror.error;
      };
      const job = { config, settings: inForce, reporter, now, after, everything };
      const result = await pipelines[pipeline]({ ...job, signal: effects.signal });
      // The run has left the lake, which others may change while a database takes its time.
      const synced = sandbox ? NOTHING_SYNCED : await syncRun(config, reporter, effects);
      return { result, report, mirror, synced };
    };
    if (world !== undefined) reporter.step('sandbox', worldText(world));
    const running = world === undefined ? start({}, effects.now) : onSandbox(world, effects, start);
    const { result, report, mirror, synced } = await running.catch((error: unknown) => {
      reporter.end(false);
      throw error;
    });
    reporter.end(true);
    print(
      {
        ...machineReadable(result, quiet === true),
        ...{ report: report ?? null, mirror: mirror.pushed ?? null, synced: synced.outcomes },
      },
      () =>
        summarize(result, {
          report,
          mirror: mirror.text,
          sync: synced.text,
          cwd: effects.cwd,
          called: calledAs(effects.env),
          flag: flagsOf(config, input, effects),
          length: quiet === true ? 'line' : verbose === true ? 'long' : 'short',
        }),
    );
    // The snapshot is published; the exit code says that the mirror lacks it.
    if (mirror.error !== undefined) throw mirror.error;
  },
});

/** The outcome of the push after a run. */
interface PushOutcome {
  readonly pushed?: PushedLake;
  /** Line of the summary. */
  readonly text?: string;
  readonly error?: unknown;
}

/** Pushes what a run published, if a mirror is configured. A failed push is reported, and undoes nothing. */
async function mirrorRun(
  { config, reporter }: Pick<JobOptions, 'config'> & { readonly reporter: RunReporter },
  effects: Effects,
): Promise<PushOutcome> {
  if (config.publish.to === undefined) return {};
  reporter.step('push', config.publish.to);
  try {
    const { pushedText, pushLake } = await import('../mirror.js');
    const pushed = await pushLake(config, effects, reporter.warn);
    return { pushed, text: `mirror: ${pushedText(pushed)}` };
  } catch (error) {
    reporter.end(false);
    const text = `mirror: the push to ${config.publish.to} failed: ${messageOf(error)}; the next run or lotlake push catches up`;
    return { text, error };
  }
}

const NOTHING_SYNCED: { readonly outcomes: readonly SyncOutcome[]; readonly text?: string | undefined } = {
  outcomes: [],
};

/** Brings the databases that the configuration names to what a run published. */
async function syncRun(
  config: Config,
  reporter: RunReporter,
  effects: Effects,
): Promise<typeof NOTHING_SYNCED> {
  if (Object.keys(config.sync).length === 0) return NOTHING_SYNCED;
  reporter.step('sync', Object.keys(config.sync).join(', '));
  const { syncAll, syncLine } = await import('../sync.js');
  const outcomes = await syncAll(config, effects, reporter.warn);
  return { outcomes, text: syncLine(outcomes) };
}

/** What a run prints as JSON; the data tests without their SQL, and for `--quiet` only those that failed. */
function machineReadable({ manifest, passes, tests, ...rest }: RunResult, isQuiet: boolean): object {
  const tables = Object.entries({ ...manifest.tables, ...manifest.marts });
  const listed = {
    passes: passes.map(({ record: pass, folder: _, prints: __, unchangedIds: ___, ...counts }) => ({
      ...pass,
      ...counts,
    })),
    tests: tests
      .filter(({ failures }) => !isQuiet || failures > 0)
      .map(({ sql: _, failing: __, ...test }) => test),
    testsRun: tests.length,
  };
  return {
    ...Object(snakeCased({ ...rest, ...listed })),
    rows: Object.fromEntries(tables.map(([name, table]) => [name, table.rows])),
  };
}

/** Renames the members of a value to snake case, as in all JSON of lotlake. */
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
