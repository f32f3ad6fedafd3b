import { type ConfigInput, readConfig } from '../../config/config.js';
import { type Row, rows } from '../../duck/session.js';
import { openLake } from '../../query/open-lake.js';
import { printable } from '../../query/printable.js';
import type { TableCounts } from '../../reconcile/context.js';
import { dateOf } from '../../report/format.js';
import type { Effects } from '../effects.js';
import { gridOf, number } from '../grid.js';

/** A run that published, as people ask about it. */
interface Run {
  readonly run_id: string;
  readonly pipeline: string;
  readonly started_at: string;
  readonly ended_at: string;
  readonly seconds: number;
  readonly records: number;
  readonly loaded: number;
  readonly rejected: number;
  /** Values of loaded records; null where an older lotlake did not count them. */
  readonly rejected_values: number | null;
  /** Rows inserted, updated or gone, over all tables. */
  readonly changed: number;
  readonly warnings: readonly string[];
}

/** Lists the runs that the published lake comes from, newest first. */
export async function runs(
  options: { readonly limit: number; readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const lake = await openLake(readConfig(options.config, effects), 'runs');
  try {
    const sql = `select * from runs order by started_at desc, run_id desc limit ${options.limit}`;
    const found = (await rows(lake.session.connection, sql)).map(runOf);
    effects.out(options.json ? `${JSON.stringify(found)}\n` : text(found));
  } finally {
    lake.close();
  }
}

function runOf(row: Row): Run {
  const [started, ended] = [row.started_at, row.ended_at].map(dateOf);
  const counts: Readonly<Record<string, TableCounts>> = JSON.parse(String(row.counts));
  return {
    run_id: String(row.run_id),
    pipeline: String(row.pipeline),
    started_at: started?.toISOString() ?? '',
    ended_at: ended?.toISOString() ?? '',
    seconds: ((ended?.getTime() ?? 0) - (started?.getTime() ?? 0)) / 1000,
    records: Number(row.records),
    loaded: Number(row.loaded),
    rejected: Number(row.rejected),
    rejected_values: row.rejected_values == null ? null : Number(row.rejected_values),
    changed: Object.values(counts).reduce(
      (sum, { inserted, updated, gone }) => sum + inserted + updated + gone,
      0,
    ),
    warnings: Array.isArray(row.warnings) ? row.warnings.map(String) : [],
  };
}

function text(found: readonly Run[]): string {
  const grid = gridOf([
    'run',
    'pipeline',
    'started',
    '>seconds',
    '>records',
    '>loaded',
    '>rejected',
    '>rejected values',
    '>rows changed',
    '>warnings',
  ]);
  for (const run of found) {
    const values = run.rejected_values === null ? '' : number(run.rejected_values);
    const landed = [run.records, run.loaded, run.rejected].map(number);
    const counts = [...landed, values, number(run.changed), number(run.warnings.length)];
    grid.push([run.run_id, run.pipeline, run.started_at, run.seconds.toFixed(1), ...counts]);
  }
  const warnings = found.flatMap((run) =>
    run.warnings.map((warning) => `${run.run_id}: ${printable(warning)}`),
  );
  return [grid.toString(), ...(warnings.length === 0 ? [] : ['warnings:', ...warnings]), ''].join('\n');
}
