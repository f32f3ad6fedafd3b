import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { clip, count, counted, megabytes, printable, sumOf } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import {
  freeBytes,
  growthOf,
  LEAST_FREE,
  type RunRecord,
  readRuns,
  unresolvedRuns,
} from '../../core/job/run-records.js';
import { driftIn } from '../../core/lake/drift-of-passes.js';
import { currentSnapshot, type Layout, layoutOf } from '../../core/lake/layout.js';
import { type Manifest, manifestIn } from '../../core/lake/manifest.js';
import { findMissing, findStrays, type Problem, sayProblem } from '../../core/lake/presence.js';
import { dateOf, instant, label, percent, unique } from '../page/format.js';
import { ask } from '../query/ask.js';
import { type Reading, readLake } from '../query/open-lake.js';

/** Something that somebody should look at. */
export interface Alarm {
  readonly pipeline: string;
  /** Start of the run that raised it. */
  readonly started_at: string;
  /** `run`, a stream, or a column. */
  readonly subject: string;
  /** Figure of data_health. */
  readonly metric: string;
  /** What is wrong, in words that anybody may read: a code of an error, and no host, URL or path. */
  readonly what: string;
  /** The message behind it, for those who run lotlake: it may name hosts, URLs and paths. */
  readonly detail?: string;
}

/** Alarms, rejects and drift by the last run of each pipeline and stream. */
export interface Standing {
  readonly alarms: readonly Alarm[];
  /** Records that were rejected in the last run of each pipeline. */
  readonly rejected: readonly {
    readonly pipeline: string;
    readonly stream: string;
    readonly count: number;
  }[];
  /** Members that the contract does not know, the run that first reported each, and the start of its pass. */
  readonly drift: readonly {
    readonly stream: string;
    readonly path: string;
    readonly run_id: string;
    readonly since: string;
  }[];
}

/** Describes each figure of data_health that can be an alarm. */
const ALARMS: Readonly<Record<string, (value: number) => string>> = {
  age_hours: (value) => `the last complete pass began ${value.toFixed(1)} hours before the run`,
  reject_share: (value) => `${percent(value)} of the records were rejected`,
  rejected_value_share: (value) => `${percent(value)} of the records have a value that was rejected`,
  incomplete_passes: (value) =>
    `${count(value)} ${value === 1 ? 'pass' : 'passes'} could not be shown to be whole, so that not all that is gone counts as gone`,
  unserved_records: (value) =>
    `the service cannot serve ${counted(value, 'record')}; its warnings and lotlake rejects say which`,
  oversized_records: (value) =>
    `${counted(value, 'record')} ${value === 1 ? 'is' : 'are'} larger than largestRecord allows and left out whole; lotlake rejects says which, and how large`,
  no_result_share: (value) => `${percent(value)} of the past auctions have no result`,
  no_amount_share: (value) => `${percent(value)} of the sales have no amount`,
  outlier_share: (value) => `${percent(value)} of the prices are doubted; outlier_reason of sales says why`,
  doubted_year_share: (value) => `the model year of ${percent(value)} of the lots is doubted and not used`,
  year_from_vin_share: (value) => `the VIN of ${percent(value)} of the lots overrules the model year`,
  null_share: (value) => `${percent(value)} of the rows have no value`,
};

/** Reads the standing of a snapshot, by default the published one. Without a snapshot it has only alarms of failed runs. */
export async function lakeStanding(config: Config, reading: Pick<Reading, 'choice' | 'signal'> = {}) {
  const layout = layoutOf(config.output);
  if (currentSnapshot(layout) === undefined) return { alarms: ownAlarms(layout) };
  return readLake(config, { ...reading, named: 'data_health passes' }, ({ session, manifest }) =>
    readStanding(session.connection, layout, manifest),
  );
}

/** Reads the standing from the marts of a snapshot, and from the records of runs that published nothing. */
export const readStanding = async (
  connection: DuckDBConnection,
  layout: Layout,
  manifest: Manifest,
): Promise<Standing> => standingNow(layout, await readPublished(connection, layout, manifest));

/** The standing of a snapshot with the alarms that are raised now: a night that fails publishes none. */
export const standingNow = (layout: Layout, published: Standing): Standing => ({
  ...published,
  alarms: [...ownAlarms(layout), ...published.alarms],
});

/** Reads what the snapshot itself says of its standing. */
export async function readPublished(
  connection: DuckDBConnection,
  layout: Layout,
  manifest: Manifest,
): Promise<Standing> {
  const figures = await ask(connection, 'report/standing');
  return {
    alarms: [
      ...leftOutModels(layout, manifest),
      ...figures.filter((row) => row.is_alarm === true).map(alarmOf),
    ],
    /** Records that were rejected in the last run of each pipeline. */
    rejected: figures
      .filter((row) => row.metric === 'rejected' && Number(row.value) > 0)
      .map((row) => ({
        pipeline: label(row.pipeline),
        stream: label(row.subject),
        count: Number(row.value),
      })),
    /** Members that the contract does not know, with the run that first reported each. */
    drift: (await driftIn(connection, 'passes'))
      .filter(({ isSent }) => isSent)
      .map(({ stream, path, run_id, since }) => ({ stream, path: label(path), run_id, since })),
  };
}

const ENDED: Readonly<Record<string, string>> = {
  held: 'was held',
  killed: 'was killed',
  interrupted: 'was interrupted',
  locked: 'found the lake locked',
  published: 'published and then failed',
};

/** How a failed run ended. */
export const endedText = ({ outcome }: Pick<RunRecord, 'outcome'>): string => ENDED[outcome] ?? 'failed';

/**
 * Runs that did not publish since the last good run of their pipeline: one alarm a pipeline, about its last run. A run that
 * found the lake locked is the last one only if there is no other: it says least.
 */
function failedRuns(layout: Layout): Alarm[] {
  const unresolved = unresolvedRuns(readRuns(layout));
  return unique(unresolved.map(({ pipeline }) => pipeline)).flatMap((pipeline) => {
    const runs = unresolved.filter((run) => run.pipeline === pipeline);
    const last = runs.findLast(({ outcome }) => outcome !== 'locked') ?? runs.at(-1);
    if (last === undefined) return [];
    const nothing = last.outcome === 'published' ? '' : ' and published nothing';
    const before = runs.length === 1 ? '' : `, the last of ${count(runs.length)} in a row`;
    const { code = last.outcome, message } = last.error ?? {};
    return [
      {
        pipeline: label(pipeline),
        started_at: last.started_at,
        subject: 'run',
        metric: 'failing_runs',
        what: `the run ${endedText(last)}${nothing}${before}: ${label(code)}`,
        ...(message === undefined ? {} : { detail: clip(printable(message), 200) }),
      },
    ];
  });
}

/**
 * Alarms that need no query: runs that failed, a disk that is nearly full, and files of the published snapshot that are not as
 * its manifest says.
 */
export const ownAlarms = (layout: Layout): Alarm[] => [
  ...failedRuns(layout),
  ...diskAlarm(readRuns(layout), freeBytes(layout)),
  ...fileAlarms(layout),
];

/** Files of the published snapshot that are missing or have another size, and Parquet files that it does not name. */
function fileAlarms(layout: Layout): Alarm[] {
  const snapshot = currentSnapshot(layout);
  const manifest = snapshot === undefined ? undefined : manifestIn(snapshot);
  if (snapshot === undefined || manifest === undefined) return [];
  const alarmOf = (metric: string, problems: readonly Problem[], wrong: string): Alarm[] => {
    const [first] = problems;
    if (first === undefined) return [];
    const tables = unique(problems.map(({ table }) => table)).join(', ');
    return [
      {
        pipeline: manifest.pipeline,
        started_at: manifest.created_at,
        subject: 'files',
        metric,
        what: `${counted(problems.length, 'file')} of ${tables} ${problems.length === 1 ? 'is' : 'are'} ${wrong}`,
        detail: clip(printable(sayProblem(first)), 200),
      },
    ];
  };
  const foreign = findStrays(snapshot, manifest).filter(({ file }) => file?.endsWith('.parquet') === true);
  return [
    ...alarmOf(
      'damaged_files',
      findMissing(snapshot, manifest),
      'missing or not of the size that was written',
    ),
    ...alarmOf('foreign_files', foreign, 'no file of the snapshot and not read'),
  ];
}

/**
 * The alarm of a disk that has less left than a night adds, or next to nothing.
 * @param free bytes left; null if the folder cannot be read
 */
export function diskAlarm(runs: readonly RunRecord[], free: number | null): Alarm[] {
  const growth = growthOf(runs) ?? 0;
  const last = runs.at(-1);
  if (free === null || last === undefined || free > Math.max(growth, LEAST_FREE)) return [];
  const adds = growth > 0 ? `, and a night adds ${megabytes(growth)}` : '';
  const what = `the disk of the lake has ${megabytes(free)} left${adds}: make room, or run lotlake vacuum`;
  const { started_at } = last;
  return [{ pipeline: label(last.pipeline), started_at, subject: 'disk', metric: 'free_bytes', what }];
}

/** Models and checks of the user that the run left out that published a snapshot. */
function leftOutModels(layout: Layout, { run_id, pipeline, created_at, own }: Manifest): Alarm[] {
  const leftOut = own?.left_out ?? [];
  const run = leftOut.length === 0 ? undefined : readRuns(layout).find((each) => each.run_id === run_id);
  const started_at = run?.started_at ?? created_at;
  return leftOut.map(({ name, reason }) => ({
    pipeline,
    started_at,
    subject: name.startsWith('checks/') ? `your check ${name.slice('checks/'.length)}` : `your model ${name}`,
    metric: 'left_out',
    what: 'it is left out of the snapshot',
    detail: clip(printable(reason), 200),
  }));
}

/** An alarm as a sentence that anybody may read. */
export const alarmText = ({ pipeline, started_at, subject, what }: Alarm): string =>
  `${pipeline} of ${instant(started_at)}${subject === 'run' ? '' : `, ${subject}`}: ${what}`;

/** An alarm as a sentence with its detail, for those who run lotlake. */
export const alarmLine = (alarm: Alarm): string =>
  alarm.detail === undefined ? alarmText(alarm) : `${alarmText(alarm)}: ${alarm.detail}`;

/** `3 records: 2 of cars (nightly), 1 of cars (lookup)`; undefined if none was rejected. */
export function rejectedText({ rejected }: Standing): string | undefined {
  const parts = rejected.map((found) => `${count(found.count)} of ${found.stream} (${found.pipeline})`);
  const total = sumOf(rejected, (found) => found.count);
  return rejected.length === 0 ? undefined : `${counted(total, 'record')}: ${parts.join(', ')}`;
}

/** `2 members: colour, lots[].x of cars since 2026-11-20 02:00 UTC`; undefined if there is none. */
export function driftText({ drift }: Standing): string | undefined {
  const placeOf = ({ stream, since }: Standing['drift'][number]): string =>
    `of ${stream} since ${instant(since)}`;
  const parts = unique(drift.map(placeOf)).map((place) => {
    const paths = drift.filter((found) => placeOf(found) === place).map(({ path }) => path);
    return `${clip(paths.join(', '), 200)} ${place}`;
  });
  return drift.length === 0 ? undefined : `${counted(drift.length, 'member')}: ${parts.join('; ')}`;
}

function alarmOf(row: Row): Alarm {
  const describe = ALARMS[String(row.metric)] ?? ((value: number) => `${label(row.metric)} is ${value}`);
  return {
    pipeline: label(row.pipeline),
    started_at: dateOf(row.started_at).toISOString(),
    subject: label(row.subject),
    metric: label(row.metric),
    what: describe(Number(row.value)),
  };
}
