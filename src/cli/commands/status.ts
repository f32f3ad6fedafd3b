import { type ConfigInput, readConfig } from '../../config/config.js';
import { currentSnapshot, layoutOf } from '../../lake/layout.js';
import { liveHolder } from '../../lake/lock.js';
import { readManifest } from '../../lake/manifest.js';
import { listPasses } from '../../land/pass.js';
import { streams } from '../../service/streams.js';
import type { Effects } from '../effects.js';

/** Says what is published, what landing holds, and whether a run is at work. */
export function status(
  options: { readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): void {
  const config = readConfig(options.config, effects);
  const layout = layoutOf(config.output);
  const snapshot = currentSnapshot(layout);
  const manifest = snapshot === undefined ? undefined : readManifest(snapshot);
  const passes = Object.values(streams).flatMap((stream) => listPasses(layout.landing, stream.name));
  const report = {
    output: config.output,
    current: manifest === undefined ? null : { snapshot, ...facts(manifest) },
    running: liveHolder(layout.lock) ?? null,
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
  };
  effects.out(options.json ? `${JSON.stringify(report)}\n` : text(report));
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

function text(report: {
  output: string;
  current: Facts | null;
  running: { pid: number; pipeline: string; started_at: string } | null;
  passes: readonly {
    stream: string;
    pass_id: string;
    state: string;
    kind: string;
    complete: boolean;
    pages: number;
    records: number;
  }[];
}): string {
  const { current, running } = report;
  const lines = [
    `output:   ${report.output}`,
    current === null
      ? 'lake:     nothing is published yet'
      : `lake:     snapshot ${current.snapshot_id} by ${current.pipeline}, ${current.created_at}; ${current.rows.toLocaleString('en')} rows, ${(current.bytes / 1e6).toFixed(1)} MB`,
    running === null
      ? 'running:  nothing'
      : `running:  ${running.pipeline} as process ${running.pid} since ${running.started_at}`,
    `landing:  ${report.passes.length} passes`,
    ...report.passes.map(
      (pass) =>
        `  ${pass.stream.padEnd(14)} ${pass.pass_id}  ${pass.state}${pass.state === 'sealed' && !pass.complete ? ' (proves no absence)' : ''}, ${pass.kind}, ${pass.pages} pages, ${pass.records.toLocaleString('en')} records`,
    ),
    '',
  ];
  return lines.join('\n');
}
