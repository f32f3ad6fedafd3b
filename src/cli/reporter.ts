import { resolve } from 'node:path';
import type { Config } from '../base/config/config.js';
import { ConfigError, messageOf } from '../base/config/lotlake-error.js';
import { append, own } from '../base/config/owned.js';
import type { Reporter } from '../core/job/job.js';
import { type Effects, safe } from './effects.js';
import { jsonLines, type Log, textLines } from './log.js';
import { progressSince } from './progress-line.js';
import { showOnTerminal } from './terminal.js';

/** A reporter that also ends the line of the last step. */
export type RunReporter = Required<Reporter> & {
  /** Ends the last step, which was done or not. */
  end(isDone: boolean): void;
};

/** How much of a run is shown, and where. */
interface ReporterOptions {
  readonly config: Pick<Config, 'log' | 'logFormat' | 'logFile'>;
  readonly json: boolean;
  /** Shows only warnings on stderr. */
  readonly quiet?: boolean | undefined;
}

/**
 * Shows a run on stderr, and appends it to the log file if one is configured. On a terminal the step at work is a line
 * that is replaced; elsewhere each event is a line, as text or JSON. Throws ConfigError if the log file cannot be written.
 */
export function createReporter(effects: Effects, { config, json, quiet }: ReporterOptions): RunReporter {
  const format = config.logFormat ?? (json ? 'json' : 'text');
  const linesTo = format === 'json' ? jsonLines : textLines;
  const toFile =
    config.logFile === undefined ? undefined : linesTo(appendTo(config.logFile, effects), effects.now);
  const onStderr = linesTo(effects.err, effects.now);
  const isLive = format === 'text' && effects.columns() !== undefined;
  effects.logFailure((message, facts) => {
    toFile?.error(message, facts);
    // main.ts writes the error itself, as text or in the form of --json.
    if (format === 'text' || json) return false;
    onStderr.error(message, facts);
    return true;
  });
  const shown = isLive ? showOnTerminal(effects) : onStderr;
  const isQuiet = quiet === true && config.log !== 'silent';
  const logs = [
    atLevel(shown, isQuiet ? 'warn' : config.log),
    ...(toFile === undefined ? [] : [atLevel(toFile, config.log)]),
  ];
  return { ...withRates(logs, effects.now), end: (isDone) => shown.end?.(isDone) };
}

/** Passes the events of a run to several logs, and adds the rates of its streams. */
function withRates(logs: readonly Log[], now: Effects['now']): Required<Reporter> {
  let first: { readonly at: number; readonly sums: Parameters<typeof progressSince>[0] } | undefined;
  return {
    step(name, detail) {
      // A resumed pass goes on.
      if (name !== 'resume') first = undefined;
      for (const log of logs) log.step(name, detail);
    },
    progress(stream, pages, expected, records, bytes, isEstimate = false) {
      const sums = { stream, pages, expected, records, bytes, isEstimate };
      const at = now().getTime();
      // A pass that starts again has at most the pages of its first report.
      if (first?.sums.stream !== stream || pages <= first.sums.pages) first = { at, sums };
      const progress = progressSince(first.sums, sums, (at - first.at) / 1000);
      for (const log of logs) log.progress(progress);
    },
    part(name, done, all) {
      for (const log of logs) log.part(name, done, all);
    },
    warn(message) {
      for (const log of logs) log.warn(message);
    },
  };
}

const nothing = (): void => undefined;

function atLevel(log: Log, level: Config['log']): Log {
  if (level === 'silent') return { ...log, step: nothing, progress: nothing, part: nothing, warn: nothing };
  return level === 'warn' ? { ...log, step: nothing, progress: nothing, part: nothing } : log;
}

/**
 * Makes a writer that appends lines to the log file. Throws ConfigError if the file cannot be written. If a later line
 * cannot be written, the run warns once and goes on without the file.
 */
function appendTo(given: string, effects: Effects): (line: string) => void {
  const path = resolve(effects.cwd, given);
  try {
    append(own(path), '');
  } catch (error) {
    throw new ConfigError(
      `the log file ${path} cannot be written: ${messageOf(error)}`,
      'name a file in a folder that is there',
    );
  }
  let isLost = false;
  return (line) => {
    if (isLost) return;
    try {
      append(path, safe(line));
    } catch (error) {
      isLost = true;
      effects.err(`the log file ends here, since ${path} cannot be written any more: ${messageOf(error)}\n`);
    }
  };
}

/**
 * Writes the report of what a run published, and returns its path. A failure does not fail the run: it warns and returns
 * undefined.
 */
export async function reportOn(config: Config, reporter: RunReporter): Promise<string | undefined> {
  reporter.step('report');
  try {
    const { writeReport } = await import('../ask/report/write-report.js');
    return await writeReport(config);
  } catch (error) {
    reporter.end(false);
    reporter.warn(`the snapshot is published, but its report could not be written: ${messageOf(error)}`);
    return undefined;
  }
}
