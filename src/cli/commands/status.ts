import { unique } from '../../ask/page/format.js';
import {
  alarmLine,
  driftText,
  lakeStanding,
  ownAlarms,
  rejectedText,
  type Standing,
} from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { count, counted, megabytes, printable, sumOf } from '../../base/config/printable.js';
import { holderAtWork } from '../../core/job/lock.js';
import { diskOf, growthOf, type RunRecord, readRuns } from '../../core/job/run-records.js';
import { assertUnbroken, brokenLink } from '../../core/lake/broken-link.js';
import { currentSnapshot, type Layout, layoutOf } from '../../core/lake/layout.js';
import { allTables, readManifest } from '../../core/lake/manifest.js';
import { findPasses } from '../../core/lake/passes/pass.js';
import { command, type Lines } from '../command.js';
import { parseHours } from '../option-values.js';

/**
 * Says whether the lake is fresh, what is wrong with it, how the last runs ended, and how long the disk will last. Then
 * throws (exit code 5) LAKE_STALE if the last successful nightly is older than `--max-age`, and LAKE_ALARM if an alarm is
 * open, or might be, and `--fail-on-alarm` is given. Throws QUERY_NO_SNAPSHOT where there is no lake at all.
 */
export const status = command({
  options: {
    'max-age': {
      type: 'string',
      describe: 'exit with 5 if the last successful nightly ended longer ago, such as 26h or 2d',
    },
    'fail-on-alarm': { type: 'boolean', describe: 'exit with 5 if an alarm is open' },
    notify: { type: 'boolean', describe: 'tell every channel (notify) before it exits with 5' },
  },
  async run({ maxAge, failOnAlarm, notify, print, config }, effects) {
    const most = maxAge === undefined ? null : parseHours('--max-age', maxAge);
    const report = await statusOf(config, effects.now(), most);
    if (isNothing(report) && most === null)
      throw new LotlakeError('QUERY_NO_SNAPSHOT', `there is no lake in ${config.output}`, {
        hint: 'lotlake run nightly makes one; --output or LOTLAKE_OUTPUT names another folder, such as output/sandbox',
      });
    print(report, () => text(report));
    assertUnbroken(layoutOf(config.output));
    const error = problemOf(report, failOnAlarm === true);
    if (error === undefined) return;
    if (notify === true) {
      const { tell } = await import('../../beyond/notify/tell.js');
      // A channel is one way to tell; the exit code is the other.
      await tell(config, `${error.message}\n${error.hint}`, effects.signal).catch((failed: unknown) =>
        effects.err(`warning    ${messageOf(failed)}\n`),
      );
    }
    throw error;
  },
});

/** Milliseconds. */
const HOUR = 3_600_000;

/** Hours by which two clocks may differ. */
const AHEAD = 1;

async function statusOf(config: Config, now: Date, most: number | null) {
  const layout = layoutOf(config.output);
  const { passes, unreadable } = findPasses(layout.landing);
  const current = publishedIn(currentSnapshot(layout));
  const broken = brokenLink(layout);
  const records = readRuns(layout);
  return {
    output: config.output,
    current,
    /** What is wrong with the link to the published snapshot. */
    broken: broken?.message,
    fresh: freshness(records, current, now, most),
    ...(await standingIn(config, layout)),
    running: runningIn(layout, records, now),
    runs: records,
    disk: diskIn(config, records),
    passes: passes.map(({ record: { stream, pass_id, state, kind, form, complete, started_at }, pages }) => ({
      stream,
      pass_id,
      state,
      kind,
      form,
      complete,
      pages: pages.length,
      records: sumOf(pages, ({ records }) => records),
      started_at,
    })),
    unreadable,
  };
}

function publishedIn(snapshot: string | undefined) {
  if (snapshot === undefined) return null;
  const manifest = readManifest(snapshot);
  const { snapshot_id, pipeline, created_at } = manifest;
  const tables = Object.values(allTables(manifest));
  return {
    snapshot,
    snapshot_id,
    pipeline,
    created_at,
    rows: sumOf(tables, ({ rows }) => rows),
    bytes: sumOf(tables, ({ bytes }) => bytes),
    last_full_pass: manifest.last_pass_at.cars ?? null,
  };
}

/**
 * When the last successful nightly ended. If its record is missing, as in a restored lake, the
 * start of the last full pass stands for it.
 */
function freshness(
  records: readonly RunRecord[],
  current: { readonly last_full_pass: string | null } | null,
  now: Date,
  most: number | null,
) {
  const good = records.findLast(({ pipeline, outcome }) => pipeline === 'nightly' && outcome === 'published');
  const at = good?.ended_at ?? current?.last_full_pass ?? null;
  const age = at === null ? null : (now.getTime() - Date.parse(at)) / HOUR;
  return {
    last_nightly_at: at,
    age_hours: age,
    max_age_hours: most,
    // A time in the future says nothing about the age.
    is_stale: most !== null && (age === null || age > most || age < -AHEAD),
  };
}

/** The error to exit with; undefined if the lake is as it should be. A stale lake with alarms is one error with both. */
function problemOf(report: Report, failsOnAlarm: boolean): LotlakeError | undefined {
  const { fresh, output, alarms, unknown } = report;
  const found = alarms.map(alarmLine);
  if (unknown !== undefined) found.push(`the alarms of the snapshot are not known: ${unknown}`);
  const isAlarmed = failsOnAlarm && found.length > 0;
  const listed = `${counted(found.length, 'alarm')} in ${output}: ${found.join('; ')}`;
  if (fresh.is_stale)
    return new LotlakeError(
      'LAKE_STALE',
      `the lake in ${output} is stale: ${lastNightly(fresh)}${isAlarmed ? `; ${listed}` : ''}`,
      { outcome: 'held', hint: 'lotlake runs says what became of the runs since' },
    );
  if (!isAlarmed) return undefined;
  const isDamaged = alarms.some(({ metric }) => metric === 'damaged_files');
  return new LotlakeError('LAKE_ALARM', listed, {
    outcome: 'held',
    hint: isDamaged
      ? 'what reads these files fails; lotlake verify names all that is wrong, and lotlake run rebuild makes the lake again from landing'
      : 'readers still get the last snapshot; an alarm ends with the next run of its pipeline that publishes without it',
  });
}

/** Bytes that the output folder takes and the disk has left, and the nights until it is full at the recent growth. */
function diskIn({ output }: Config, records: readonly RunRecord[]) {
  try {
    const disk = diskOf(layoutOf(output));
    const growth = growthOf(records);
    const days = growth === null || growth <= 0 ? null : disk.free_bytes / growth;
    return { ...disk, growth_bytes_a_night: growth, nights_until_full: days };
  } catch {
    // The folder does not exist yet.
    return null;
  }
}

/** The standing of the lake; if the snapshot cannot be read, only the alarms that do not need one, and the reason. */
type LakeStanding = (Standing | Pick<Standing, 'alarms'>) & { readonly unknown?: string };

/** A snapshot that cannot be read, such as one of another format, must not hide the rest of the status. */
async function standingIn(config: Config, layout: Layout): Promise<LakeStanding> {
  try {
    return await lakeStanding(config);
  } catch (error) {
    return { alarms: ownAlarms(layout), unknown: messageOf(error).split('\n')[0] ?? '' };
  }
}

/**
 * The process that works on the folder, and the stage of its run. A process on another host gets the seconds since it
 * renewed its lock; past its lease it counts as gone.
 */
function runningIn(layout: Layout, records: readonly RunRecord[], now: Date) {
  const found = holderAtWork(layout.lock, now);
  if (found === undefined) return null;
  const { pid, host, pipeline, started_at } = found.holder;
  const ago = Math.max(0, now.getTime() - found.renewedAt.getTime()) / 1000;
  const renewed_seconds_ago = found.runs === undefined ? Math.round(ago) : null;
  const stage = records.findLast(({ outcome }) => outcome === 'running')?.stages.at(-1) ?? null;
  const what = { pipeline: pipeline ?? null, started_at: started_at ?? null };
  return { pid, host: host ?? null, ...what, stage, renewed_seconds_ago };
}

/** Whether nothing has been published, landed or run there. */
const isNothing = ({ current, broken, running, runs, passes, unreadable }: Report): boolean =>
  current === null &&
  broken === undefined &&
  running === null &&
  [runs, passes, unreadable].every(({ length }) => length === 0);

type Report = Awaited<ReturnType<typeof statusOf>>;

const lastNightly = ({ age_hours }: Report['fresh']): string =>
  age_hours === null ? 'no nightly has published' : `the last successful nightly ended ${ago(age_hours)}`;

/** An age, such as `7.5 h ago`. */
const ago = (age: number): string =>
  age < -AHEAD ? `${hours(-age)} from now, by the clock of this machine` : `${hours(Math.max(age, 0))} ago`;

const hours = (value: number): string =>
  value < 48 ? `${value.toFixed(1)} h` : `${(value / 24).toFixed(1)} days`;

function text(report: Report): Lines {
  const { current, alarms, unknown, running, fresh, unreadable } = report;
  const why = unknown === undefined ? '' : `; those of the snapshot are not known: ${unknown}`;
  const limit = fresh.max_age_hours === null ? '' : ` (limit ${hours(fresh.max_age_hours)})`;
  return [
    `output:   ${report.output}`,
    current === null
      ? `lake:     ${report.broken ?? 'nothing is published yet'}`
      : `lake:     snapshot ${current.snapshot_id} by ${current.pipeline}, ${current.created_at}; ${count(current.rows)} rows, ${megabytes(current.bytes)}`,
    `fresh:    ${lastNightly(fresh)}${limit}`,
    runLine(report.runs),
    `running:  ${running === null ? 'nothing' : runningText(running)}`,
    `alarms:   ${alarms.length === 0 ? 'none' : count(alarms.length)}${why}`,
    ...alarms.map((alarm) => `  ${alarmLine(alarm)}`),
    'rejected' in report && `rejected: ${rejectedText(report) ?? 'none'}`,
    'drift' in report && `drift:    ${driftText(report) ?? 'none'}`,
    diskLine(report),
    landingLine(report.passes),
    ...unreadable.map(({ folder, reason }) => `  cannot be read: ${folder}: ${printable(reason)}`),
  ];
}

/** How many runs ended in which way, and how the last one ended that had the lake. */
function runLine(runs: readonly RunRecord[]): string | undefined {
  const last = runs.findLast(({ outcome }) => outcome !== 'locked') ?? runs.at(-1);
  if (last === undefined) return undefined;
  const ends = unique(runs.map(({ outcome }) => outcome)).map(
    (end) => `${count(runs.filter(({ outcome }) => outcome === end).length)} ${end}`,
  );
  const what = last.error === null ? '' : ` (${last.error.code})`;
  return `runs:     ${ends.join(', ')}; last ${last.pipeline} of ${last.started_at}: ${last.outcome}${what}`;
}

/** Nights that are too many to be a forecast. */
const FAR = 730;

function diskLine({ disk }: Report): string | undefined {
  if (disk === null) return undefined;
  const { used_bytes, free_bytes, growth_bytes_a_night: growth, nights_until_full: nights } = disk;
  const by = growth === null ? '' : growth > 0 ? `; ${megabytes(growth)} more a night` : '; not growing';
  const full = nights === null || nights > FAR ? '' : `, full in ${count(Math.floor(nights))} nights`;
  return `disk:     ${megabytes(used_bytes)} used, ${megabytes(free_bytes)} left${by}${full}`;
}

function landingLine(passes: Report['passes']): string {
  const open = passes
    .filter(({ state }) => state === 'open')
    .map(({ stream, pass_id, pages }) => `${stream} ${pass_id} (${counted(pages, 'page')})`);
  const more = open.length === 0 ? 'none open' : `open: ${open.join(', ')}`;
  return `landing:  ${counted(passes.length, 'pass', 'passes')}, ${more}`;
}

function runningText(running: NonNullable<Report['running']>): string {
  const { pipeline, pid, host, started_at, stage, renewed_seconds_ago: ago } = running;
  const at = stage === null ? '' : `, ${[stage.name, stage.detail].filter(Boolean).join(' ')}`;
  const counts = Object.entries(stage?.counts ?? {}).map(([what, n]) => `${count(n)} ${what}`);
  const elsewhere =
    ago === null
      ? ''
      : ` on host ${host ?? 'unknown'}, out of sight from here; last sign of life ${ago} s ago`;
  const since = started_at === null ? '' : ` since ${started_at}`;
  return `${pipeline ?? 'a command'} as process ${pid}${since}${at}${counts.length === 0 ? '' : ` (${counts.join(', ')})`}${elsewhere}`;
}
