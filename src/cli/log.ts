import { pino } from 'pino';
import { count } from '../base/config/printable.js';
import { type Progress, pagesText } from './progress-line.js';

/** Takes the events of a run. */
export interface Log {
  step(name: string, detail?: string): void;
  progress(progress: Progress): void;
  /** Reports how many parts of a step are done, and the part that started last. */
  part(name: string, done: number, all: number): void;
  warn(message: string): void;
  /** Ends the line of the last step. */
  end?(isDone: boolean): void;
}

/** A log of lines. It also takes the error that ends the run. */
export interface LineLog extends Log {
  error(message: string, facts: object): void;
}

/** Writes a text that is one or more whole lines. */
type Write = (lines: string) => void;

/** Fewest milliseconds between two lines of progress. */
const INTERVAL = 10_000;

/** Says whether a line of progress is due: every ten seconds, the first after ten seconds. */
function paced(now: () => Date): () => boolean {
  let last = now().getTime();
  return () => {
    const at = now().getTime();
    if (at - last < INTERVAL) return false;
    last = at;
    return true;
  };
}

/** A log of lines of text that begin with the time (UTC). Progress is at most a line every ten seconds. */
export function textLines(write: Write, now: () => Date): LineLog {
  const isDue = paced(now);
  const writeLines = (label: string, text = ''): void => {
    const head = `${now().toISOString().slice(0, 19)}Z ${label.padEnd(10)}`;
    for (const line of text.split('\n')) write(`${`${head} ${line}`.trimEnd()}\n`);
  };
  return {
    step: writeLines,
    progress(progress) {
      if (isDue()) writeLines('progress', `${progress.stream}: ${pagesText(progress)}`);
    },
    part(name, done, all) {
      if (isDue()) writeLines('progress', `${name}, ${count(done)} of ${count(all)}`);
    },
    warn: (message) => writeLines('warning', message),
    error: (message) => writeLines('error', message),
  };
}

/** A log of JSON objects, one a line. Progress is at most a line every ten seconds. */
export function jsonLines(write: Write, now: () => Date): LineLog {
  const isDue = paced(now);
  const log = pino({ name: 'lotlake' }, { write });
  return {
    step: (stage, detail) => log.info({ stage, detail }, stage),
    progress({ isEstimate, rate, left, ...sums }) {
      if (!isDue()) return;
      const facts = { expected_is_estimate: isEstimate, records_per_second: rate, seconds_left: left };
      log.info({ ...sums, ...facts }, 'progress');
    },
    part(name, done, all) {
      if (isDue()) log.info({ part: name, done, all }, 'progress');
    },
    warn: (message) => log.warn(message),
    error: (message, facts) => log.error(facts, message),
  };
}
