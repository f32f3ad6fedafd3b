import { type Row, rows } from '../../duck/session.js';
import { readLake } from '../../query/open-lake.js';
import { count, printable, sumOf } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import type { TableCounts } from '../../reconcile/context.js';
import { dateOf } from '../../report/format.js';
import { command } from '../command.js';
import { wholeNumber } from '../option-values.js';

/** Lists the runs that the published lake comes from, newest first. */
export const runs = command({
  options: { limit: { type: 'string', default: '20', describe: 'runs to list' } },
  async run({ limit: given, print, config }) {
    const limit = wholeNumber('--limit', given, 1, 1e9);
    const sql = `select * from runs order by started_at desc, run_id desc limit ${limit}`;
    const found = await readLake(config, { named: 'runs' }, ({ session }) => rows(session.connection, sql));
    const listed = found.map(runOf);
    print(listed, () => text(listed));
  },
});

/** A run as it is told; an older lotlake did not count rejected values. */
function runOf({ run_id, pipeline, records, loaded, rejected, rejected_values = null, ...row }: Row) {
  const [started, ended] = [dateOf(row.started_at), dateOf(row.ended_at)];
  const counts: Readonly<Record<string, TableCounts>> = JSON.parse(String(row.counts));
  return {
    ...{ run_id, pipeline },
    started_at: started.toISOString(),
    ended_at: ended.toISOString(),
    seconds: (ended.getTime() - started.getTime()) / 1000,
    ...{ records, loaded, rejected, rejected_values },
    // Over all tables.
    changed: sumOf(Object.values(counts), ({ inserted, updated, gone }) => inserted + updated + gone),
    warnings: Array.isArray(row.warnings) ? row.warnings.map(String) : [],
  };
}

function text(found: readonly ReturnType<typeof runOf>[]): string {
  const table = gridOf(
    [
      ...['run', 'pipeline', 'started', '>seconds', '>records', '>loaded', '>rejected', '>rejected values'],
      ...['>rows changed', '>warnings'],
    ],
    found.map((run) => [
      ...[run.run_id, run.pipeline, run.started_at].map(String),
      run.seconds.toFixed(1),
      ...[run.records, run.loaded, run.rejected].map(count),
      run.rejected_values === null ? '' : count(run.rejected_values),
      ...[run.changed, run.warnings.length].map(count),
    ]),
  );
  const warnings = found.flatMap((run) =>
    run.warnings.map((warning) => `${run.run_id}: ${printable(warning)}`),
  );
  return [table, ...(warnings.length === 0 ? [] : ['warnings:', ...warnings])].join('\n');
}
