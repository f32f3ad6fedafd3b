import { Presets, SingleBar } from 'cli-progress';
import { pino } from 'pino';
import type { Config } from '../config/config.js';
import { messageOf } from '../config/lotlake-error.js';
import { count } from '../query/printable.js';
import type { Reporter } from '../run/job.js';
import type { Effects } from './effects.js';

/** Least milliseconds between two plain lines of progress. */
const LINE_INTERVAL = 5000;

/**
 * Shows a run on stderr: a bar on a terminal, a line now and then elsewhere, JSON lines with `--json`. `silent` shows
 * nothing and `warn` warnings alone.
 */
export function createReporter(
  effects: Effects,
  options: { readonly json: boolean; readonly log: Config['log'] },
): Reporter & { stop(): void } {
  const all = options.json ? jsonReporter(effects) : textReporter(effects);
  const nothing = () => undefined;
  if (options.log === 'silent') return { ...all, step: nothing, progress: nothing, warn: nothing };
  return options.log === 'warn' ? { ...all, step: nothing, progress: nothing } : all;
}

function textReporter(effects: Effects): Reporter & { stop(): void } {
  let bar: SingleBar | undefined;
  let lastLine = 0;
  const say = (text: string): void => {
    bar?.stop();
    bar = undefined;
    effects.err(`${text}\n`);
  };
  return {
    step: (name, detail) => say(`${name.padEnd(10)} ${detail ?? ''}`.trimEnd()),
    warn: (message) => say(`warning    ${message}`),
    progress(stream, pages, expected, records, bytes) {
      const sizes = `${count(records)} records, ${(bytes / 1e6).toFixed(0)} MB`;
      if (effects.isTerminal && expected !== null) {
        bar ??= startBar(stream, expected);
        bar.setTotal(Math.max(expected, pages));
        bar.update(pages, { sizes });
        return;
      }
      const now = effects.now().getTime();
      const isLast = expected !== null && pages >= expected;
      if (now - lastLine < LINE_INTERVAL && !isLast) return;
      lastLine = now;
      const of = expected === null ? '' : ` of ${expected}`;
      effects.err(`           ${stream}: page ${pages}${of}, ${sizes}\n`);
    },
    stop: () => bar?.stop(),
  };
}

function startBar(stream: string, total: number): SingleBar {
  const bar = new SingleBar(
    {
      format: `           ${stream} {bar} {value}/{total} pages, {sizes}, {eta_formatted}`,
      hideCursor: true,
      stream: process.stderr,
    },
    Presets.shades_classic,
  );
  bar.start(total, 0, { sizes: '' });
  return bar;
}

function jsonReporter(effects: Effects): Reporter & { stop(): void } {
  const log = pino({ name: 'lotlake' }, { write: (line: string) => effects.err(line) });
  return {
    step: (stage, detail) => log.info({ stage, detail }, stage),
    warn: (message) => log.warn(message),
    progress: (stream, pages, expected, records, bytes) =>
      log.info({ stream, pages, expected, records, bytes }, 'progress'),
    stop: () => undefined,
  };
}

/**
 * Writes the report of what a run published, and returns its path. If that fails, the run has not: it warns, and the path
 * is undefined.
 */
export async function reportOn(config: Config, reporter: Reporter): Promise<string | undefined> {
  reporter.step('report');
  try {
    const { writeReport } = await import('../report/write-report.js');
    return await writeReport(config);
  } catch (error) {
    reporter.warn(`the snapshot is published, but its report could not be written: ${messageOf(error)}`);
    return undefined;
  }
}
