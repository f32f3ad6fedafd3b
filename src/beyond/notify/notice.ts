import { instant } from '../../ask/page/format.js';
import { eventText, type FollowedCar, followedText } from '../../ask/query/followed.js';
import { matchText, type Watched, watchedText } from '../../ask/query/watched.js';
import { type Alarm, alarmLine, endedText } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { counted, printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type RunRecord, reasonOf } from '../../core/job/run-records.js';

/** What the setting `on` of a channel can select. */
type Happening = Config['notify']['on'][number];

/** What a channel wants to be told. */
export interface Route {
  readonly on: readonly Happening[];
  /** Watched searches; all by default. */
  readonly searches?: readonly string[] | undefined;
}

/** What happened since a channel was last told. */
export interface News {
  /** Runs that ended, oldest first. */
  readonly runs: readonly RunRecord[];
  /** Alarms that its last snapshot did not have. */
  readonly alarms?: readonly Alarm[];
  readonly searches?: readonly Watched[];
  readonly cars?: readonly FollowedCar[];
  /** Messages to the channel that may not have arrived; worth a message of their own. */
  readonly doubts?: readonly string[];
  /** What the message says of itself. */
  readonly remarks?: readonly string[];
}

/** A line of a notice. */
interface Line {
  readonly text: string;
  /** Page of the lot at its source. */
  readonly link?: string | undefined;
}

/** A part of a notice: a search, a car, a run. */
export interface Part {
  /** One or more lines. */
  readonly head: string;
  readonly lines: readonly Line[];
}

/** What a channel is told, for each of them to write in its own way. */
export interface Notice {
  /** One line that says what it is about. */
  readonly subject: string;
  /** Whether somebody has to act. */
  readonly isUrgent: boolean;
  readonly parts: readonly Part[];
  /** The body of a webhook, without its text. */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Runs that a notice tells of; earlier ones are counted. */
const RUNS = 5;

/** Lots of a search, and events of a car, that the text of a notice names. */
const NAMED = 5;

/** Events of a car that a webhook gets. */
const FACTS = 50;

/** Searches and cars that the text of a notice names. */
const PARTS = 20;

/**
 * The notice for a channel; undefined if nothing happened that it wants to be told. An interrupt is never told, because somebody
 * caused it.
 */
export function noticeOf(news: News, { on, searches }: Route): Notice | undefined {
  const wants = (happening: Happening): boolean => on.includes(happening);
  const ended = news.runs.filter((run) => happeningsOf(run).some(wants));
  const alarms = wants('alarm') ? (news.alarms ?? []) : [];
  const watched = wants('watch')
    ? (news.searches ?? []).filter(
        ({ name, entered, left }) =>
          (entered ?? 0) + (left ?? 0) > 0 && (searches === undefined || searches.includes(name)),
      )
    : [];
  const cars = wants('car') ? (news.cars ?? []).filter(({ events }) => events.length > 0) : [];
  const last = news.runs.at(-1);
  const { doubts = [], remarks = [] } = news;
  const told = [ended, alarms, watched, cars, doubts];
  if (last === undefined || told.every(({ length }) => length === 0)) return undefined;
  const failed = ended.filter(({ error }) => error !== null);
  const earlier = ended.filter((run) => run !== last);
  const untold = earlier.length - earlier.slice(-RUNS).length;
  const found = [...watched.map(searchPart), ...cars.map(carPart)];
  const more = found.length - PARTS;
  return {
    subject: subjectOf(failed.at(-1) ?? last, { alarms, watched, cars, failed: failed.length }),
    isUrgent: failed.length + alarms.length > 0,
    parts: [
      ...(untold > 0
        ? [{ head: `${counted(untold, 'earlier run')} ended, too: lotlake runs`, lines: [] }]
        : []),
      ...earlier.slice(-RUNS).map(runPart),
      runPart(last),
      ...[...remarks, ...doubts].map((head) => ({ head, lines: [] })),
      ...alarms.map((alarm) => ({ head: `alarm: ${alarmLine(alarm)}`, lines: [] })),
      ...found.slice(0, PARTS),
      ...(more > 0 ? [{ head: `and ${more} more: lotlake watch`, lines: [] }] : []),
    ],
    facts: {
      run: { ...factsOf(last), alarms },
      ...(earlier.length > 0 ? { missed: earlier.slice(-RUNS).map(factsOf) } : {}),
      watched: watched.map((each, i) => (i < PARTS ? each : { ...each, entered_rows: [], left_rows: [] })),
      // The lots as they are now are in the lake.
      cars: cars.map(({ lots: _, events, ...car }) => ({ ...car, events: events.slice(0, FACTS) })),
    },
  };
}

/** What a text of a notice says, line by line. */
export const linesOf = ({ parts }: Pick<Notice, 'parts'>): string[] =>
  parts.flatMap(({ head, lines }) => [head, ...lines.map(({ text }) => `  ${text}`)]);

const lineOf =
  (label: string) =>
  (row: Row): Line => ({
    text: `${label}: ${printable(matchText(row))}`,
    ...(typeof row.link === 'string' ? { link: row.link } : {}),
  });

/** A search with its first new lots, and the first that left. */
function searchPart(watched: Watched): Part {
  return {
    head: `search ${watchedText(watched)}`,
    lines: [
      ...watched.entered_rows.slice(0, NAMED).map(lineOf('new')),
      ...watched.left_rows.slice(0, NAMED).map(lineOf('left')),
    ],
  };
}

function carPart(car: FollowedCar): Part {
  const more = car.events.length - NAMED;
  return {
    head: printable(followedText(car)),
    lines: [
      ...car.events
        .slice(0, NAMED)
        .map((event) => ({ text: printable(eventText(event)), link: event.link ?? undefined })),
      ...(more > 0 ? [{ text: `and ${more} more` }] : []),
    ],
  };
}

const runPart = (run: RunRecord): Part => ({ head: sentence(run), lines: [] });

/** One line that says what happened. */
function subjectOf(
  run: RunRecord,
  {
    alarms,
    watched,
    cars,
    failed,
  }: {
    readonly alarms: readonly Alarm[];
    readonly watched: readonly Watched[];
    readonly cars: readonly FollowedCar[];
    readonly failed: number;
  },
): string {
  const [car] = cars;
  const parts = [
    failed > 0 ? `lotlake ${run.pipeline} ${endedText(run)}` : '',
    alarms.length > 0 ? counted(alarms.length, 'alarm') : '',
    ...watched.slice(0, 3).map(({ name, entered, left }) => `${name}: ${entered} new, ${left} left`),
    watched.length > 3 ? `${watched.length - 3} more searches` : '',
    cars.length === 1 && car !== undefined
      ? `${printable(followedText(car))}: ${printable(car.events[0]?.text)}`
      : cars.length > 1
        ? `news of ${cars.length} cars`
        : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? (sentence(run).split('\n')[0] ?? '') : parts.join('; ');
}

function happeningsOf({ outcome, error }: RunRecord): Happening[] {
  if (outcome === 'interrupted' || outcome === 'locked' || outcome === 'running') return [];
  if (outcome === 'held') return ['hold'];
  return [error === null ? 'success' : 'failure'];
}

/** How a run ended, and what to do about it. */
function sentence(record: RunRecord): string {
  const { pipeline, started_at, error, snapshot_id, records, rejected } = record;
  const run = `lotlake ${pipeline} of ${instant(started_at)}`;
  if (error !== null)
    return `${run} ${endedText(record)}: ${reasonOf(record)}${error.hint === null ? '' : `\n${error.hint}`}`;
  return snapshot_id === null
    ? `${run} brought nothing new`
    : `${run} published ${snapshot_id}: ${counted(records, 'record')}, ${counted(rejected, 'reject')}`;
}

/** What a program may want to know of a run. */
function factsOf(run: RunRecord) {
  const { run_id, pipeline, origin, outcome, exit_code, error, snapshot_id, started_at, ended_at } = run;
  const { records, loaded, rejected, version } = run;
  return {
    run_id,
    pipeline,
    origin,
    outcome,
    exit_code,
    error,
    snapshot_id,
    started_at,
    ended_at,
    records,
    loaded,
    rejected,
    version,
  };
}
