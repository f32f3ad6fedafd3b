import { relative } from 'node:path';
import { count, counted, megabytes, sumOf } from '../query/printable.js';
import { gridOf } from '../query/table.js';
import type { RunResult } from '../run/finish.js';

/**
 * The summary of a run for a person; its last line is the path of the report.
 * @param more.mirror what came of the push to the mirror
 * @param more.flag options by which other commands find the lake
 */
export function summarize(
  result: RunResult,
  cwd: string,
  {
    report,
    mirror,
    flag = '',
  }: { report?: string | undefined; mirror?: string | undefined; flag?: string } = {},
): string {
  const { published, snapshotId } = result;
  const said = published
    ? `Snapshot ${snapshotId} is published`
    : `Nothing is new: no snapshot is published, and ${snapshotId} stays current`;
  const lines = [
    '',
    `${said} (${result.seconds.toFixed(1)} s).`,
    `  ${relative(cwd, result.snapshot) || '.'}`,
    ...(published ? ['', tables(result), '', ...balance(result)] : []),
    '',
    ...passes(result),
    ...(published ? [...rejectsAndDrift(result), ...tests(result)] : []),
    ...result.warnings.map((warning) => `warning: ${warning}`),
    ...(mirror === undefined ? [] : [mirror]),
    '',
    'Try next:',
    ...suggestions(flag),
    ...(report === undefined ? [] : ['', `Report: ${relative(cwd, report)}`]),
  ];
  return lines.join('\n');
}

/** The three commands that the summary suggests. */
export function suggestions(flag: string): string[] {
  return [
    `  npx lotlake tables${flag}`,
    `  npx lotlake query${flag} "select manufacturer_name, model_name, month, priced_lots, price_median from price_trends where price_median > 0 order by priced_lots desc limit 10"`,
    `  npx lotlake describe lots${flag}`,
  ];
}

function tables(result: RunResult): string {
  const all = Object.entries({ ...result.manifest.tables, ...result.manifest.marts });
  return gridOf(
    ['table', '>rows', '>new', '>changed', '>gone', '>size'],
    all.map(([name, table]) => {
      const counts = result.counts[name];
      const change =
        counts === undefined ? ['', '', ''] : [counts.inserted, counts.updated, counts.gone].map(count);
      return [name, count(table.rows), ...change, megabytes(table.bytes)];
    }),
  );
}

/** Served = landed = loaded + rejected, and rows before + new - removed = rows after; a run that differs is held. */
function balance({ balance: { streams, tables } }: RunResult): string[] {
  const head = ['records of', '>served', '>landed', '>loaded', '>unchanged among them', '>rejected'];
  const grid = gridOf(
    [...head, '>rejected values'],
    streams.map(({ stream, served, landed, loaded, unchanged, rejected, rejectedValues }) => [
      stream,
      ...[served, landed, loaded, unchanged, rejected, rejectedValues].map(count),
    ]),
  );
  const sum = (member: 'before' | 'inserted' | 'removed' | 'carried' | 'after'): string =>
    count(sumOf(tables, (table) => table[member]));
  const carried = sum('carried') === '0' ? '' : ` + ${sum('carried')} carried over`;
  return [
    grid,
    `rows of ${tables.length} tables: ${sum('before')} before + ${sum('inserted')} new - ${sum('removed')} replaced${carried} = ${sum('after')}; each table balances`,
  ];
}

function passes(result: RunResult): string[] {
  return result.passes.map(({ manifest }) => {
    const proof = manifest.reason === null ? '' : ` (proves ${manifest.complete ? 'not all' : 'no absence'})`;
    return `${manifest.stream}: ${counted(manifest.records, 'record')} on ${counted(manifest.pages, 'page')}, ${megabytes(manifest.bytes)}${proof}`;
  });
}

function rejectsAndDrift(result: RunResult): string[] {
  const rejected = sumOf(result.passes, (pass) => pass.rejected);
  const values = sumOf(result.passes, (pass) => pass.rejectedValues);
  const { writtenFiles, writtenBytes, linkedFiles, linkedBytes } = result.files;
  return [
    `rejects: ${rejected + values === 0 ? 'none' : `${count(rejected)} records, and ${count(values)} values of others (lotlake rejects)`}`,
    `drift: ${result.drift.length === 0 ? 'none' : result.drift.map((d) => `${d.path} (${d.kinds.join('/')}, first in record ${d.position} of page ${d.page} of ${d.pass_id}${d.kept ? '' : ', kept in landing only'})`).join('; ')}`,
    `changes of lots: ${count(result.lotChanges)}`,
    `files: ${count(writtenFiles)} written (${megabytes(writtenBytes)}), ${count(linkedFiles)} linked (${megabytes(linkedBytes)})`,
  ];
}

function tests(result: RunResult): string[] {
  const failed = result.tests.filter((test) => test.failures > 0);
  return [
    `data tests: ${result.tests.length - failed.length} of ${result.tests.length} passed`,
    ...failed.map((test) => `  ${test.severity}: ${test.model} ${test.test}: ${count(test.failures)} rows`),
  ];
}
