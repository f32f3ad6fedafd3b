import { relative } from 'node:path';
import type { RunResult } from '../run/finish.js';
import { gridOf, megabytes, number } from './grid.js';

/**
 * The summary that a run ends with, for a person; the path of its report is the last line.
 * @param flag what other commands need to find the lake
 */
export function summarize(result: RunResult, cwd: string, report?: string, flag = ''): string {
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
    '',
    'Try next:',
    ...suggestions(flag),
    ...(report === undefined ? [] : ['', `Report: ${relative(cwd, report)}`]),
    '',
  ];
  return lines.join('\n');
}

/** The three commands that the summary names, with the flag that they need. */
export function suggestions(flag: string): string[] {
  return [
    `  npx lotlake tables${flag}`,
    `  npx lotlake query${flag} "select manufacturer_name, model_name, month, priced_lots, price_median from price_trends order by priced_lots desc limit 10"`,
    `  npx lotlake describe lots${flag}`,
  ];
}

function tables(result: RunResult): string {
  const grid = gridOf(['table', '>rows', '>new', '>changed', '>gone', '>size']);
  const all = Object.entries({ ...result.manifest.tables, ...result.manifest.marts });
  for (const [name, table] of all) {
    const counts = result.counts[name];
    const change =
      counts === undefined ? ['', '', ''] : [counts.inserted, counts.updated, counts.gone].map(number);
    grid.push([name, number(table.rows), ...change, megabytes(table.bytes)]);
  }
  return grid.toString();
}

/** Served = landed = loaded + rejected, and rows before + new - removed = rows after; a run that differs is held. */
function balance({ balance: { streams, tables } }: RunResult): string[] {
  const grid = gridOf([
    'records of',
    '>served',
    '>landed',
    '>loaded',
    '>unchanged among them',
    '>rejected',
    '>rejected values',
  ]);
  for (const { stream, served, landed, loaded, unchanged, rejected, rejectedValues } of streams)
    grid.push([stream, ...[served, landed, loaded, unchanged, rejected, rejectedValues].map(number)]);
  const sum = (member: 'before' | 'inserted' | 'removed' | 'carried' | 'after'): number =>
    tables.reduce((total, table) => total + table[member], 0);
  const carried = sum('carried') === 0 ? '' : ` + ${number(sum('carried'))} carried over`;
  return [
    grid.toString(),
    `rows: ${number(sum('before'))} before + ${number(sum('inserted'))} new - ${number(sum('removed'))} replaced${carried} = ${number(sum('after'))}, in each of ${tables.length} tables`,
  ];
}

function passes(result: RunResult): string[] {
  return result.passes.map((pass) => {
    const { manifest } = pass;
    const proof = manifest.reason === null ? '' : ` (proves ${manifest.complete ? 'not all' : 'no absence'})`;
    return `${manifest.stream}: ${number(manifest.records)} records on ${number(manifest.pages)} pages, ${megabytes(manifest.bytes)}${proof}`;
  });
}

function rejectsAndDrift(result: RunResult): string[] {
  const rejected = result.passes.reduce((sum, pass) => sum + pass.rejected, 0);
  const values = result.passes.reduce((sum, pass) => sum + pass.rejectedValues, 0);
  const { writtenFiles, writtenBytes, linkedFiles, linkedBytes } = result.files;
  return [
    `rejects: ${rejected + values === 0 ? 'none' : `${number(rejected)} records, and ${number(values)} values of others (lotlake rejects)`}`,
    `drift: ${result.drift.length === 0 ? 'none' : result.drift.map((d) => `${d.path} (${d.kinds.join('/')}, first in record ${d.position} of page ${d.page} of ${d.pass_id}${d.kept ? '' : ', kept in landing only'})`).join('; ')}`,
    `changes of lots: ${number(result.lotChanges)}`,
    `files: ${number(writtenFiles)} written (${megabytes(writtenBytes)}), ${number(linkedFiles)} linked (${megabytes(linkedBytes)})`,
  ];
}

function tests(result: RunResult): string[] {
  const failed = result.tests.filter((test) => test.failures > 0);
  return [
    `data tests: ${result.tests.length - failed.length} of ${result.tests.length} passed`,
    ...failed.map((test) => `  ${test.severity}: ${test.model} ${test.test}: ${number(test.failures)} rows`),
  ];
}
