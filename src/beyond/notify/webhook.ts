import { instant } from '../../ask/page/format.js';
import { matchText, type Watched, watchedText } from '../../ask/query/watched.js';
import { type Alarm, alarmLine, endedText } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { counted, printable } from '../../base/config/printable.js';
import { type RunRecord, reasonOf } from '../../core/job/run-records.js';

/** An event that the setting `notify.on` can select. */
type Happening = Config['notify']['on'][number];

/**
 * The body for the webhook at the end of a run; undefined if `on` does not select it. An interrupt is never selected,
 * because somebody caused it.
 * @param alarms alarms that the run raised
 * @param searches the watched searches of the snapshot that it published
 */
export function noticeOf(
  record: RunRecord,
  alarms: readonly Alarm[],
  on: readonly Happening[],
  searches: readonly Watched[] = [],
) {
  const watched = searches.filter(({ entered, left }) => (entered ?? 0) + (left ?? 0) > 0);
  const happened = [
    ...happeningOf(record),
    ...(alarms.length > 0 ? (['alarm'] as const) : []),
    ...(watched.length > 0 ? (['watch'] as const) : []),
  ];
  if (!happened.some((happening) => on.includes(happening))) return undefined;
  const { run_id, pipeline, origin, outcome, exit_code, error, snapshot_id, started_at, ended_at } = record;
  const { records, loaded, rejected, version } = record;
  return {
    text: withoutMarkup(
      [
        sentence(record),
        ...alarms.map((alarm) => `alarm: ${alarmLine(alarm)}`),
        ...watched.flatMap(watchedLines),
      ].join('\n'),
    ),
    run: {
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
      alarms,
    },
    watched,
  };
}

/** What chats read as a mention, a link or markup, and what stands for it in a notice: texts of a feed may hold any of it. */
const MARKUP: readonly (readonly [RegExp, string])[] = [
  [/</g, '‹'],
  [/>/g, '›'],
  [/@/g, '＠'],
  [/:\/\//g, ': //'],
  [/\]\(/g, '] ('],
  [/`/g, "'"],
];

/** A text that no chat reads as a mention, a link or markup. */
export const withoutMarkup = (text: string): string =>
  MARKUP.reduce((so, [found, instead]) => so.replaceAll(found, instead), text);

/** Lots of a search that the text of a notice names. */
const NAMED = 5;

/** A search and its first new lots. */
const watchedLines = (watched: Watched): string[] => [
  `search ${watchedText(watched)}`,
  ...watched.entered_rows.slice(0, NAMED).map((row) => `  new: ${printable(matchText(row))}`),
  ...watched.left_rows.slice(0, NAMED).map((row) => `  left: ${printable(matchText(row))}`),
];

function happeningOf({ outcome, error }: RunRecord): Happening[] {
  if (outcome === 'interrupted' || outcome === 'locked') return [];
  if (outcome === 'held') return ['hold'];
  return [error === null ? 'success' : 'failure'];
}

function sentence(record: RunRecord): string {
  const { pipeline, started_at, error, snapshot_id, records, rejected } = record;
  const run = `lotlake ${pipeline} of ${instant(started_at)}`;
  if (error !== null)
    return `${run} ${endedText(record)}: ${reasonOf(record)}${error.hint === null ? '' : `\n${error.hint}`}`;
  return snapshot_id === null
    ? `${run} brought nothing new`
    : `${run} published ${snapshot_id}: ${counted(records, 'record')}, ${counted(rejected, 'reject')}`;
}
