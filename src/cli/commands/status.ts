import { type Config, type ConfigInput, readConfig } from '../../config/config.js';
import { messageOf } from '../../config/lotlake-error.js';
import { LEASE } from '../../config/settings.js';
import { currentSnapshot, type Layout, layoutOf } from '../../lake/layout.js';
import { standingOf as lockStanding } from '../../lake/lock.js';
import { readManifest } from '../../lake/manifest.js';
import { findPasses, type UnreadablePass } from '../../land/pass.js';
import { openLake } from '../../query/open-lake.js';
import { printable } from '../../query/printable.js';
import {
  alarmText,
  driftText,
  failedRuns,
  readStanding,
  rejectedText,
  type Standing,
} from '../../report/alarms.js';
import { streams } from '../../service/streams.js';
import type { Effects } from '../effects.js';

/** Says what is published and what is wrong with it, what landing holds, and whether a run is at work. */
export async function status(
  options: { readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const layout = layoutOf(config.output);
  const snapshot = currentSnapshot(layout);
  const manifest = snapshot === undefined ? undefined : readManifest(snapshot);
  const landed = Object.values(streams).map((stream) => findPasses(layout.landing, stream.name));
  const passes = landed.flatMap((stream) => stream.passes);
  const report = {
    output: config.output,
    current: manifest === undefined ? null : { snapshot, ...facts(manifest) },
    ...(await standingOf(config, layout, snapshot)),
    running: runningIn(layout, effects.now()),
    passes: passes.map(({ manifest: pass, pages }) => ({
      stream: pass.stream,
      pass_id: pass.pass_id,
      state: pass.state,
      kind: pass.kind,
      complete: pass.complete,
      pages: pages.length,
      records: pages.reduce((sum, page) => sum + page.records, 0),
      started_at: pass.started_at,
    })),
    unreadable: landed.flatMap((stream) => stream.unreadable),
  };
  effects.out(options.json ? `${JSON.stringify(report)}\n` : text(report));
}

interface Running {
  readonly pid: number;
  readonly host: string | null;
  readonly pipeline: string;
  readonly started_at: string;
  /** Seconds since it renewed its lock, where its process cannot be seen from here; otherwise null. */
  readonly renewed_seconds_ago: number | null;
}

/** The run at work; one elsewhere that has not renewed its lock for its lease counts as gone. */
function runningIn(layout: Layout, now: Date): Running | null {
  const found = lockStanding(layout.lock);
  if (found === undefined || found.runs === false) return null;
  const { pid, host, pipeline, started_at, lease } = found.holder;
  const ago = Math.max(0, now.getTime() - found.renewedAt.getTime()) / 1000;
  if (found.runs === undefined && ago > (lease ?? LEASE)) return null;
  const renewed_seconds_ago = found.runs === undefined ? Math.round(ago) : null;
  return { pid, host: host ?? null, pipeline, started_at, renewed_seconds_ago };
}

/** What stands, or why only the runs that published nothing are known of. */
type Known = (Standing | Pick<Standing, 'alarms'>) & { readonly unknown?: string };

/** A snapshot that cannot be asked, such as one of an older lotlake, is no reason to say nothing. */
async function standingOf(config: Config, layout: Layout, snapshot: string | undefined): Promise<Known> {
  if (snapshot === undefined) return { alarms: failedRuns(layout) };
  try {
    const lake = await openLake(config, 'data_health passes');
    try {
      return await readStanding(lake.session.connection, layout);
    } finally {
      lake.close();
    }
  } catch (error) {
    return { alarms: failedRuns(layout), unknown: messageOf(error).split('\n')[0] ?? '' };
  }
}

interface Facts {
  readonly snapshot_id: string;
  readonly pipeline: string;
  readonly created_at: string;
  readonly rows: number;
  readonly bytes: number;
}

function facts(manifest: ReturnType<typeof readManifest>): Facts {
  const tables = Object.values({ ...manifest.tables, ...manifest.marts });
  return {
    snapshot_id: manifest.snapshot_id,
    pipeline: manifest.pipeline,
    created_at: manifest.created_at,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
  };
}

function alarmLines(known: Known): string[] {
  const lines = [
    `alarms:   ${known.alarms.length === 0 ? 'none' : known.alarms.length.toLocaleString('en')}${known.unknown === undefined ? '' : `; those of the snapshot are not known: ${known.unknown}`}`,
    ...known.alarms.map((alarm) => `  ${alarmText(alarm)}`),
  ];
  return 'rejected' in known
    ? [
        ...lines,
        `rejected: ${rejectedText(known) ?? 'none'}`,
        `drift:    ${driftText(known) ?? 'nothing new'}`,
      ]
    : lines;
}

type Report = Known & {
  output: string;
  current: Facts | null;
  running: Running | null;
  passes: readonly {
    stream: string;
    pass_id: string;
    state: string;
    kind: string;
    complete: boolean;
    pages: number;
    records: number;
  }[];
  unreadable: readonly UnreadablePass[];
};

function sayRunning({ pipeline, pid, host, started_at, renewed_seconds_ago }: Running): string {
  const elsewhere =
    renewed_seconds_ago === null
      ? ''
      : ` on host ${host ?? 'unknown'}, out of sight from here; last sign of life ${renewed_seconds_ago} s ago`;
  return `${pipeline} as process ${pid} since ${started_at}${elsewhere}`;
}

function text(report: Report): string {
  const { current, running } = report;
  const lines = [
    `output:   ${report.output}`,
    current === null
      ? 'lake:     nothing is published yet'
      : `lake:     snapshot ${current.snapshot_id} by ${current.pipeline}, ${current.created_at}; ${current.rows.toLocaleString('en')} rows, ${(current.bytes / 1e6).toFixed(1)} MB`,
    ...alarmLines(report),
    running === null ? 'running:  nothing' : `running:  ${sayRunning(running)}`,
    `landing:  ${report.passes.length} passes`,
    ...report.passes.map(
      (pass) =>
        `  ${pass.stream.padEnd(14)} ${pass.pass_id}  ${pass.state}${pass.state === 'sealed' && !pass.complete ? ' (proves no absence)' : ''}, ${pass.kind}, ${pass.pages} pages, ${pass.records.toLocaleString('en')} records`,
    ),
    ...report.unreadable.map(({ folder, reason }) => `  cannot be read: ${folder}: ${printable(reason)}`),
    '',
  ];
  return lines.join('\n');
}
