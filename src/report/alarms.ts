import type { DuckDBConnection } from '@duckdb/node-api';
import type { Row } from '../duck/session.js';
import { unresolvedRuns } from '../lake/failed-runs.js';
import type { Layout } from '../lake/layout.js';
import { clip, count, counted, printable, sumOf } from '../query/printable.js';
import { dateOf, instant, label, percent, unique } from './format.js';
import { ask } from './query.js';

/** Something that somebody should look at. */
export interface Alarm {
  readonly pipeline: string;
  /** Start of the run that raised it. */
  readonly started_at: string;
  /** `run`, a stream, or a column. */
  readonly subject: string;
  readonly what: string;
}

/** What stands, by the last run of each pipeline and stream. */
export type Standing = Awaited<ReturnType<typeof readStanding>>;

/** Figures of data_health that can be an alarm, in words. */
const ALARMS: Readonly<Record<string, (value: number) => string>> = {
  age_hours: (value) => `the last complete pass began ${value.toFixed(1)} hours before the run`,
  reject_share: (value) => `${percent(value)} of the records were rejected`,
  rejected_value_share: (value) => `${percent(value)} of the records have a value that was rejected`,
  incomplete_passes: (value) =>
    `${count(value)} ${value === 1 ? 'pass' : 'passes'} could not be shown to be whole, so that not all that is gone counts as gone`,
  null_share: (value) => `${percent(value)} of the rows have no value`,
};

/** Reads what stands from the marts of a snapshot, and from the notes beside it about runs that published nothing. */
export async function readStanding(connection: DuckDBConnection, layout: Layout) {
  const figures = await ask(connection, 'standing');
  const found = (metric: string) => figures.filter((row) => row.metric === metric && Number(row.value) > 0);
  return {
    alarms: [...failedRuns(layout), ...figures.filter((row) => row.is_alarm === true).map(alarmOf)],
    /** Records that were rejected. */
    rejected: found('rejected').map(foundOf),
    /** Members that the contract does not know, in the run that first brought them. */
    drift: found('drifted_members').flatMap((row) => {
      const members = Array.isArray(row.members) ? row.members.map((path) => label(path)) : [];
      return members.length === 0 ? [] : [{ ...foundOf(row), count: members.length, members }];
    }),
  };
}

/** Held and failed runs that no later run of their pipeline made good: one alarm a pipeline, with its last run. */
export function failedRuns(layout: Layout): Alarm[] {
  const unresolved = unresolvedRuns(layout);
  return unique(unresolved.map(({ pipeline }) => pipeline)).flatMap((pipeline) => {
    const runs = unresolved.filter((run) => run.pipeline === pipeline);
    const last = runs.at(-1);
    if (last === undefined) return [];
    const ended = last.outcome === 'held' ? 'was held' : 'failed';
    const before = runs.length === 1 ? '' : `, the last of ${count(runs.length)} in a row`;
    const what = `the run ${ended} and published nothing${before}: ${clip(printable(last.reason), 200)}`;
    return [{ pipeline: label(pipeline), started_at: last.started_at, subject: 'run', what }];
  });
}

/** An alarm as a sentence. */
export const alarmText = ({ pipeline, started_at, subject, what }: Alarm): string =>
  `${pipeline} of ${instant(started_at)}${subject === 'run' ? '' : `, ${subject}`}: ${what}`;

/** `3 records: 2 of cars (nightly), 1 of cars (lookup)`; undefined if none was rejected. */
export const rejectedText = ({ rejected }: Standing): string | undefined =>
  foundText(rejected, 'record', ', ', (found) => count(found.count));

/** `2 members: colour, lots[].x of cars (nightly)`; undefined if no member is new. */
export const driftText = ({ drift }: Standing): string | undefined =>
  foundText(drift, 'member', '; ', ({ members }) => clip(members.join(', '), 200));

function foundText<F extends ReturnType<typeof foundOf>>(
  found: readonly F[],
  noun: string,
  separator: string,
  what: (each: F) => string,
): string | undefined {
  if (found.length === 0) return undefined;
  const parts = found.map((each) => `${what(each)} of ${each.stream} (${each.pipeline})`);
  const total = sumOf(found, (each) => each.count);
  return `${counted(total, noun)}: ${parts.join(separator)}`;
}

function alarmOf(row: Row): Alarm {
  const say = ALARMS[String(row.metric)] ?? ((value: number) => `${label(row.metric)} is ${value}`);
  return {
    pipeline: label(row.pipeline),
    started_at: dateOf(row.started_at).toISOString(),
    subject: label(row.subject),
    what: say(Number(row.value)),
  };
}

/** What the last run of a pipeline found in a stream. */
const foundOf = (row: Row) => ({
  pipeline: label(row.pipeline),
  stream: label(row.subject),
  count: Number(row.value),
});
