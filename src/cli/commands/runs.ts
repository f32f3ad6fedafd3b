import { ask } from '../../ask/query/ask.js';
import { readLake } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { clip, count, printable, sumOf } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { type RunRecord, readRuns, reasonOf } from '../../core/job/run-records.js';
import { brokenLink } from '../../core/lake/broken-link.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { command } from '../command.js';
import { wholeNumber } from '../option-values.js';

/** Lists the runs with any outcome, newest first: from their records, and older ones from the published lake. */
export const runs = command({
  options: { limit: { type: 'string', default: '20', describe: 'runs to list' } },
  async run({ limit: given, print, config }, { err }) {
    const limit = wholeNumber('--limit', given, 1, 1e9);
    const layout = layoutOf(config.output);
    const records = readRuns(layout).reverse();
    const broken = brokenLink(layout);
    if (broken !== undefined && records.length === 0) throw broken;
    if (broken !== undefined) err(`warning    ${broken.message}; ${broken.hint}\n`);
    const isEnough = records.length >= limit || (records.length > 0 && currentSnapshot(layout) === undefined);
    const stored = isEnough
      ? []
      : await readLake(config, { named: 'runs' }, ({ session }) => ask(session.connection, 'cli/runs'));
    const known = new Set(records.map(({ run_id }) => run_id));
    const older = stored.filter(({ run_id }) => !known.has(String(run_id))).map(fromRow);
    const listed = [...records, ...older].slice(0, limit).map(withSums);
    print(listed, () => text(listed));
  },
});

/** What is known about every run. A record has more members, which `--json` prints. */
type ListedRun = Pick<RunRecord, 'run_id' | 'pipeline' | 'started_at' | 'ended_at'> &
  Pick<RunRecord, 'records' | 'loaded' | 'rejected' | 'rejected_values' | 'counts' | 'warnings'> & {
    readonly outcome: string;
    readonly error: { readonly code: string; readonly message: string } | null;
  };

/** A run of the table `runs` whose record is gone. */
const fromRow = (row: Row) => ({ ...row, counts: JSON.parse(String(row.counts)) }) as ListedRun;

const withSums = (run: ListedRun) => ({
  ...run,
  seconds: run.ended_at === null ? null : (Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1000,
  /** Changed rows of all tables. */
  changed: sumOf(
    Object.values(run.counts),
    ({ inserted = 0, updated = 0, gone = 0 }) => inserted + updated + gone,
  ),
});

function text(listed: readonly ReturnType<typeof withSums>[]): string {
  const table = gridOf(
    ['run', 'pipeline', 'outcome', '>seconds', '>records', '>rejected', '>rows changed', '>warnings'],
    listed.map((run) => [
      ...[run.run_id, run.pipeline, run.outcome],
      run.seconds?.toFixed(1) ?? '',
      ...[run.records, run.rejected + (run.rejected_values ?? 0), run.changed, run.warnings.length].map(
        count,
      ),
    ]),
  );
  const reasons = listed
    .filter(({ error }) => error !== null)
    .map((run) => `${run.run_id} ${clip(printable(reasonOf(run)), 200)}`);
  return [table, ...reasons].join('\n');
}
