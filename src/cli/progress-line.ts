import stringWidth from 'string-width';
import { count, printable } from '../base/config/printable.js';

/** How far a stream is. */
export interface Progress {
  readonly stream: string;
  readonly pages: number;
  /** Pages in all; null if unknown. */
  readonly expected: number | null;
  /** Whether `expected` comes from the last pass and not from the service. */
  readonly isEstimate: boolean;
  readonly records: number;
  readonly bytes: number;
  /** Records a second in this run; null at its beginning. */
  readonly rate: number | null;
  /** Seconds left at the rate of this run; null at its beginning, and if `expected` is unknown. */
  readonly left: number | null;
}

/** Seconds after which a rate, and a time left, are meaningful. */
const RATE_AFTER = 1;
const LEFT_AFTER = 5;

/** Totals of a stream so far. */
type Sums = Pick<Progress, 'stream' | 'pages' | 'expected' | 'isEstimate' | 'records' | 'bytes'>;

/**
 * How far a stream is, with the rate of this run.
 * @param first totals when this run began with the stream
 * @param seconds since then
 */
export function progressSince(first: Sums, now: Sums, seconds: number): Progress {
  const pages = now.pages - first.pages;
  const more = now.expected === null ? 0 : now.expected - now.pages;
  return {
    ...now,
    // A list that outgrew its last pass has an unknown length.
    expected: more < 0 ? null : now.expected,
    rate: seconds < RATE_AFTER || pages === 0 ? null : (now.records - first.records) / seconds,
    left: seconds < LEFT_AFTER || pages < 2 || more <= 0 ? null : (more * seconds) / pages,
  };
}

/** A time for people: `2.1 s`, `12 s`, `2 min 10 s`, `3 h 12 min`. */
export function duration(seconds: number): string {
  if (seconds < 10 && !Number.isInteger(seconds)) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${count(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}

/** Columns of the names of streams. */
const NAME = 16;
const LEAST_BAR = 8;
const MOST_BAR = 24;

/** Forms of a line of progress. Each is shorter than the one before; the least important goes first. */
const FORMS = [
  { hasBytes: true, of: ' of ', records: 'long', rate: 'long', name: NAME },
  { hasBytes: false, of: ' of ', records: 'long', rate: 'long', name: NAME },
  { hasBytes: false, of: ' of ', records: 'long', rate: 'short', name: NAME },
  { hasBytes: false, of: ' of ', records: 'long', rate: 'short', name: 0 },
  { hasBytes: false, of: ' of ', records: 'short', rate: 'short', name: 0 },
  { hasBytes: false, of: '/', records: 'short', rate: 'short', name: 0 },
  { hasBytes: false, of: '/', records: 'short', rate: 'none', name: 0 },
  { hasBytes: false, of: '/', records: 'none', rate: 'none', name: 0 },
] as const;
type Form = (typeof FORMS)[number];

/**
 * Progress as one line of at most `width` columns: `cars 24 of 60 pages, 1,200 records, 200 records/s, 9 s left`. If it
 * does not fit, it drops the bar, then megabytes, then rate and records.
 * @param end replaces the time left, such as `in 12 s`
 */
export function pagesLine(progress: Progress, width: number, end?: string): string {
  const name = (form: Form): string => progress.stream.padEnd(form.name);
  const room = (form: Form): number => width - name(form).length - 1 - pagesText(progress, form, end).length;
  const form = FORMS.find((each) => room(each) >= 0) ?? FORMS[7];
  const bar = form === FORMS[0] && end === undefined ? barOf(progress, room(form) - 1) : '';
  return cut(`${name(form)} ${bar}${pagesText(progress, form, end)}`, width);
}

/** The facts of a line of progress. */
export function pagesText(progress: Progress, form: Form = FORMS[0], end?: string): string {
  const { pages, expected, isEstimate, records, bytes, rate, left } = progress;
  const about = isEstimate ? 'about ' : '';
  const of = expected === null ? '' : `${form.of}${about}${count(expected)}`;
  const texts = {
    records: { long: `${count(records)} records`, short: `${COMPACT.format(records)} records`, none: '' },
    rate: {
      long: `${rounded(rate ?? 0, count)} records/s`,
      short: `${rounded(rate ?? 0, COMPACT.format)}/s`,
      none: '',
    },
  };
  return [
    `${count(pages)}${of} ${pages === 1 && of === '' ? 'page' : 'pages'}`,
    texts.records[form.records],
    form.hasBytes && bytes >= 1e6 ? `${count(Math.round(bytes / 1e6))} MB` : '',
    rate === null ? '' : texts.rate[form.rate],
    end ?? (left === null ? '' : `${about}${duration(Math.ceil(left))} left`),
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumSignificantDigits: 3 });

const rounded = (rate: number, write: (whole: number) => string): string =>
  rate < 10 ? rate.toFixed(1) : write(Math.round(rate));

/** A bar that fills the room; empty if there is little room or `expected` is unknown. */
function barOf({ pages, expected }: Progress, room: number): string {
  const width = Math.min(room, MOST_BAR);
  if (expected === null || expected === 0 || width < LEAST_BAR) return '';
  const done = Math.floor((width * pages) / expected);
  return `${'█'.repeat(done)}${'░'.repeat(width - done)} `;
}

/** Verbs of the steps, while they work and when they are done. */
const VERBS: Readonly<Record<string, readonly [doing: string, done: string]>> = {
  sandbox: ['starting the sandbox:', 'started the sandbox:'],
  extract: ['extracting', 'extracted'],
  check: ['checking', 'checked'],
  replay: ['replaying', 'replayed'],
  'carry over': ['carrying over', 'carried over'],
  reconcile: ['merging', 'merged'],
  model: ['computing', 'computed'],
  publish: ['publishing', 'published'],
  report: ['writing the report', 'wrote the report'],
  push: ['pushing to', 'pushed to'],
};

/**
 * A step as one line of at most `width` columns: `merging with the last snapshot … 12 s`, or at its end `merged with the
 * last snapshot in 12 s`.
 * @param step.part the part at work, shown instead of the detail
 * @param end how the step ended; undefined while it is at work
 */
export function stepLine(
  step: { readonly name: string; readonly detail?: string | undefined; readonly part?: string },
  seconds: number,
  width: number,
  end?: 'done' | 'stopped',
): string {
  const [doing, done] = VERBS[step.name] ?? [`${step.name}:`, `${step.name}:`];
  const what = end === undefined ? (step.part ?? step.detail) : step.detail;
  const sentence = `${end === 'done' ? done : doing} ${what ?? ''}`.trim();
  const time = {
    working: ` … ${duration(Math.floor(seconds))}`,
    done: ` in ${duration(seconds)}`,
    stopped: ` … stopped after ${duration(seconds)}`,
  }[end ?? 'working'];
  return `${cut(sentence, width - time.length)}${time}`;
}

/** Cuts a text to a width in columns; an ellipsis stands for the rest. */
function cut(text: string, width: number): string {
  const line = printable(text);
  if (stringWidth(line) <= width) return line;
  const kept = [...line];
  while (kept.length > 0 && stringWidth(kept.join('')) >= width) kept.pop();
  return width <= 0 ? '' : `${kept.join('').trimEnd()}…`;
}
