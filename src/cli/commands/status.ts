import type { Config } from '../../config/config.js';
import { messageOf } from '../../config/lotlake-error.js';
import { LEASE } from '../../config/settings.js';
import { currentSnapshot, type Layout, layoutOf } from '../../lake/layout.js';
import { standingOf as lockStanding } from '../../lake/lock.js';
import { allTables, readManifest } from '../../lake/manifest.js';
import { findPasses } from '../../land/pass.js';
import { readLake } from '../../query/open-lake.js';
import { count, megabytes, printable, sumOf } from '../../query/printable.js';
import {
  alarmText,
  driftText,
  failedRuns,
  readStanding,
  rejectedText,
  type Standing,
} from '../../report/alarms.js';
import { streams } from '../../service/streams.js';
import { command } from '../command.js';

/** Says what is published and what is wrong with it, what landing holds, and whether a run is at work. */
export const status = command({
  async run({ print, config }, effects) {
    const report = await statusOf(config, effects.now());
    print(report, () => text(report));
  },
});

async function statusOf(config: Config, now: Date) {
  const layout = layoutOf(config.output);
  const snapshot = currentSnapshot(layout);
  const landed = Object.values(streams).map((stream) => findPasses(layout.landing, stream.name));
  const current = snapshot === undefined ? null : { snapshot, ...publishedIn(snapshot) };
  return {
    output: config.output,
    current,
    ...(await standingOf(config, layout, snapshot)),
    running: runningIn(layout, now),
    passes: landed
      .flatMap(({ passes }) => passes)
      .map(({ manifest: { stream, pass_id, state, kind, complete, started_at }, pages }) => ({
        ...{ stream, pass_id, state, kind, complete },
        pages: pages.length,
        records: sumOf(pages, ({ records }) => records),
        started_at,
      })),
    unreadable: landed.flatMap(({ unreadable }) => unreadable),
  };
}

function publishedIn(snapshot: string) {
  const manifest = readManifest(snapshot);
  const { snapshot_id, pipeline, created_at } = manifest;
  const tables = Object.values(allTables(manifest));
  return {
    ...{ snapshot_id, pipeline, created_at },
    rows: sumOf(tables, ({ rows }) => rows),
    bytes: sumOf(tables, ({ bytes }) => bytes),
  };
}

/** What stands; if the snapshot cannot be asked, the runs that published nothing, and why. */
type Known = (Standing | Pick<Standing, 'alarms'>) & { readonly unknown?: string };

/** A snapshot that cannot be asked, such as one of an older lotlake, is no reason to say nothing. */
async function standingOf(config: Config, layout: Layout, snapshot: string | undefined): Promise<Known> {
  if (snapshot === undefined) return { alarms: failedRuns(layout) };
  try {
    return await readLake(config, { named: 'data_health passes' }, ({ session }) =>
      readStanding(session.connection, layout),
    );
  } catch (error) {
    return { alarms: failedRuns(layout), unknown: messageOf(error).split('\n')[0] ?? '' };
  }
}

/**
 * The run at work. Of one whose process cannot be seen from here, the seconds since it renewed its lock are told; past
 * its lease it counts as gone.
 */
function runningIn(layout: Layout, now: Date) {
  const found = lockStanding(layout.lock);
  if (found === undefined || found.runs === false) return null;
  const { pid, host, pipeline, started_at, lease } = found.holder;
  const ago = Math.max(0, now.getTime() - found.renewedAt.getTime()) / 1000;
  if (found.runs === undefined && ago > (lease ?? LEASE)) return null;
  const renewed_seconds_ago = found.runs === undefined ? Math.round(ago) : null;
  return { pid, host: host ?? null, pipeline, started_at, renewed_seconds_ago };
}

type Report = Awaited<ReturnType<typeof statusOf>>;

function text(report: Report): string {
  const { current, alarms, unknown, running } = report;
  const why = unknown === undefined ? '' : `; those of the snapshot are not known: ${unknown}`;
  return [
    `output:   ${report.output}`,
    current === null
      ? 'lake:     nothing is published yet'
      : `lake:     snapshot ${current.snapshot_id} by ${current.pipeline}, ${current.created_at}; ${count(current.rows)} rows, ${megabytes(current.bytes)}`,
    `alarms:   ${alarms.length === 0 ? 'none' : count(alarms.length)}${why}`,
    ...alarms.map((alarm) => `  ${alarmText(alarm)}`),
    ...('rejected' in report ? foundLines(report) : []),
    running === null ? 'running:  nothing' : `running:  ${runningText(running)}`,
    `landing:  ${report.passes.length} passes`,
    ...report.passes.map(
      ({ stream, pass_id, state, complete, kind, pages, records }) =>
        `  ${stream.padEnd(14)} ${pass_id}  ${state}${state === 'sealed' && !complete ? ' (proves no absence)' : ''}, ${kind}, ${pages} pages, ${count(records)} records`,
    ),
    ...report.unreadable.map(({ folder, reason }) => `  cannot be read: ${folder}: ${printable(reason)}`),
  ].join('\n');
}

const foundLines = (found: Standing): string[] => [
  `rejected: ${rejectedText(found) ?? 'none'}`,
  `drift:    ${driftText(found) ?? 'nothing new'}`,
];

function runningText(running: NonNullable<Report['running']>): string {
  const { pipeline, pid, host, started_at, renewed_seconds_ago: ago } = running;
  const elsewhere =
    ago === null
      ? ''
      : ` on host ${host ?? 'unknown'}, out of sight from here; last sign of life ${ago} s ago`;
  return `${pipeline} as process ${pid} since ${started_at}${elsewhere}`;
}
