import { relative } from 'node:path';
import { gridOf } from '../ask/query/table.js';
import { clip, count, counted, megabytes, sumOf } from '../base/config/printable.js';
import { leftOutOf } from '../core/lake/passes/pass.js';
import type { RunResult } from '../core/publish/step.js';
import { type Lines, textOf } from './command.js';
import { duration } from './progress-line.js';

/** What the summary of a run needs besides its result. */
interface SummaryOptions {
  readonly cwd: string;
  /** Words that call lotlake, as `calledAs` gives them. */
  readonly called: string;
  readonly report?: string | undefined;
  /** Line about the push to the mirror. */
  readonly mirror?: string | undefined;
  /** Line about the databases that follow. */
  readonly sync?: string | undefined;
  /** Options that other commands need to find the lake. */
  readonly flag?: string;
  /** One line, a dozen, or all tables, passes and tests. */
  readonly length?: 'line' | 'short' | 'long';
}

/** The summary of a run for a person. Unless it is a single line, it ends with the path of the report. */
export function summarize(result: RunResult, given: SummaryOptions): string {
  const { published, snapshotId, seconds } = result;
  const outcome = published
    ? `Snapshot ${snapshotId} is published`
    : `Nothing is new: no snapshot is published, and ${snapshotId} stays current`;
  const took = `(${duration(seconds)})`;
  if (given.length === 'line') {
    const parts = [published && changed(result), leftOut(result)].filter((part) => part !== false);
    return `${outcome} ${took}${parts.length === 0 ? '' : ': '}${parts.join('; ')}`;
  }
  const lines = given.length === 'long' ? longSummary(result, given) : shortSummary(result, given);
  const report = given.report !== undefined && `Report: ${relative(given.cwd, given.report)}`;
  return textOf(['', `${outcome} ${took}.`, ...lines, report]);
}

function shortSummary(result: RunResult, { mirror, sync, called, flag = '' }: SummaryOptions): Lines {
  const { published, warnings } = result;
  const failed = result.tests.filter((test) => test.failures > 0);
  const show = failed.length === 0 ? '' : ' (lotlake test --show)';
  return [
    ...records(result),
    published && `rows: ${changed(result)}`,
    published && `rejects: ${rejects(result)}`,
    published && `drift: ${drift(result)}`,
    published && `data tests: ${passed(result)}${show}`,
    leftOut(result),
    warnings.length > 0 && `warnings: ${count(warnings.length)} (above)`,
    mirror,
    sync,
    `Try next: ${called} tables${flag}`,
  ];
}

/** Streams that a short summary lists by name. */
const MAIN: readonly string[] = ['cars', 'archived_lots', 'statistics'];

/** Columns of the narrowest terminal whose lines do not wrap. */
const NARROW = 60;

/** Records by stream, on lines that fit a narrow terminal. The small lists of reference are one figure. */
function records({ passes }: RunResult): Lines {
  const own = passes.map(({ record }) => record);
  const others = own.filter(({ stream }) => !MAIN.includes(stream));
  const sum = (some: typeof own): string => {
    const all = sumOf(some, (pass) => pass.records);
    return count(all) + landedOf(all, sumOf(some, leftOutOf));
  };
  const named = [
    ...MAIN.flatMap((stream) => {
      const some = own.filter((pass) => pass.stream === stream);
      return some.length === 0 ? [] : [`${stream} ${sum(some)}`];
    }),
    ...(others.length === 0 ? [] : [`${counted(others.length, 'other list')} ${sum(others)}`]),
  ];
  const [first = 'none', ...rest] = named;
  const lines = [`records: ${first}`];
  for (const each of rest) {
    const longer = `${lines.at(-1)}, ${each}`;
    if (longer.length < NARROW) lines.splice(-1, 1, longer);
    else lines.push(`  ${each}`);
  }
  return lines;
}

/** How many records were landed, if a delta left some out. */
const landedOf = (records: number, leftOut: number): string =>
  leftOut === 0 ? '' : ` (${count(records - leftOut)} landed, ${count(leftOut)} as before)`;

/** The models and checks of the user that the snapshot lacks, by name. */
function leftOut({ manifest }: RunResult): string | false {
  const left = manifest.own?.left_out ?? [];
  const names = clip(left.map(({ name }) => name).join(', '), NAMES);
  return left.length > 0 && `left out of your own models: ${names} (lotlake status)`;
}

/** Most characters of a list of names. */
const NAMES = 200;

function changed({ counts }: RunResult): string {
  const sum = (member: 'inserted' | 'updated' | 'gone'): string =>
    count(sumOf(Object.values(counts), (table) => table[member]));
  return `${sum('inserted')} new, ${sum('updated')} changed, ${sum('gone')} gone`;
}

function rejects({ passes }: RunResult): string {
  const rejected = sumOf(passes, (pass) => pass.rejected);
  const values = sumOf(passes, (pass) => pass.rejectedValues);
  return rejected + values === 0
    ? 'none'
    : `${count(rejected)} records, ${count(values)} values of others (lotlake rejects)`;
}

function passed({ tests }: RunResult): string {
  const failed = tests.filter((test) => test.failures > 0);
  return `${tests.length - failed.length} of ${tests.length} passed`;
}

function longSummary(result: RunResult, { cwd, mirror, sync, called, flag = '' }: SummaryOptions): Lines {
  const { published } = result;
  return [
    `  ${relative(cwd, result.snapshot) || '.'}`,
    ...(published ? ['', tables(result), '', ...balance(result)] : []),
    '',
    ...passes(result),
    ...(published ? [...rejectsAndDrift(result), ...tests(result)] : []),
    leftOut(result),
    ...result.warnings.map((warning) => `warning: ${warning}`),
    mirror,
    sync,
    '',
    'Try next:',
    ...suggestions(called, flag),
    '',
  ];
}

/** The three commands that the summary suggests. */
export function suggestions(called: string, flag: string): string[] {
  return [
    `  ${called} tables${flag}`,
    `  ${called} query${flag} "select manufacturer_name, model_name, sale_month, priced_lots, price_median from price_trends where level = 'generation' and price_median > 0 order by priced_lots desc limit 10"`,
    `  ${called} describe lots${flag}`,
  ];
}

function tables(result: RunResult): string {
  const all = Object.entries({ ...result.manifest.tables, ...result.manifest.marts });
  return gridOf(
    ['table', '>rows', '>new', '>changed', '>gone', '>size'],
    all.map(([name, table]) => {
      const counts = Object.hasOwn(result.counts, name) ? result.counts[name] : undefined;
      const change =
        counts === undefined ? ['', '', ''] : [counts.inserted, counts.updated, counts.gone].map(count);
      return [name, count(table.rows), ...change, megabytes(table.bytes)];
    }),
  );
}

/** The accounts of a run. Served = landed = loaded + rejected, and rows before + new - removed = rows after; otherwise the run is held. */
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
  return result.passes.map(({ record }) => {
    const proof = record.reason === null ? '' : ` (proves ${record.complete ? 'not all' : 'no absence'})`;
    return `${record.stream}: ${counted(record.records, 'record')} on ${counted(record.pages, 'page')}, ${megabytes(record.bytes)}${landedOf(record.records, leftOutOf(record))}${proof}`;
  });
}

function rejectsAndDrift(result: RunResult): string[] {
  const { writtenFiles, writtenBytes, linkedFiles, linkedBytes } = result.files;
  return [
    `rejects: ${rejects(result)}`,
    `drift: ${drift(result)}`,
    ...result.drift
      .filter(({ since }) => since === null)
      .map(
        (d) =>
          `  ${d.path} (${d.kinds.join('/')}, first in record ${d.position} of page ${d.page} of ${d.pass_id}${d.kept ? '' : ', kept in landing only'})`,
      ),
    `changes of lots: ${count(result.lotChanges)}`,
    `stored rows: ${count(sumOf(Object.values(result.counts), ({ compared }) => compared))} compared of ${count(sumOf(result.balance.tables, ({ before }) => before))}`,
    `files: ${count(writtenFiles)} written (${megabytes(writtenBytes)}), ${count(linkedFiles)} linked (${megabytes(linkedBytes)})`,
  ];
}

/** Members that are new in this run, and those that an earlier run reported. */
function drift({ drift: all }: RunResult): string {
  const fresh = all.filter(({ since }) => since === null).length;
  const known = all.length - fresh;
  const added = fresh === 0 ? '' : `${counted(fresh, 'new member')} (lotlake status)`;
  return [added, known === 0 ? '' : `${count(known)} known`].filter(Boolean).join(', ') || 'none';
}

function tests(result: RunResult): string[] {
  const failed = result.tests.filter((test) => test.failures > 0);
  return [
    `data tests: ${passed(result)}`,
    ...failed.map((test) => `  ${test.severity}: ${test.model} ${test.test}: ${count(test.failures)} rows`),
  ];
}
