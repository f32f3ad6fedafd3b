import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { runEachTest } from '../../ask/docs/test-results.js';
import { confine, createView, snapshotFolder, withDatabase } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { jsonIn } from '../../base/config/json.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { clip, count, counted, megabytes, printable, sumOf } from '../../base/config/printable.js';
import { verifyContent } from '../../beyond/keep/verify-content.js';
import { type LandingReport, verifyLanding } from '../../beyond/keep/verify-landing.js';
import { patternOf } from '../../core/lake/files.js';
import { unsoundError } from '../../core/lake/lake-error.js';
import { layoutOf, WAREHOUSE } from '../../core/lake/layout.js';
import { allFiles, allTables, type Manifest, manifestOrDamage } from '../../core/lake/manifest.js';
import { type Problem, tornIf } from '../../core/lake/presence.js';
import { tornState, verifyFiles, verifyWarehouse } from '../../core/lake/verify-files.js';
import { viewOn } from '../../core/lake/views.js';
import type { TestResult } from '../../core/model/data-tests.js';
import { createFunctions } from '../../core/model/functions.js';
import { command, type Lines } from '../command.js';

/** Checks a snapshot by its manifest and its data tests. Throws LAKE_UNSOUND if something is wrong. */
export const verify = command({
  options: { snapshot: { type: 'string', describe: 'id (default the published one)' } },
  async run({ snapshot, print, config }, effects) {
    const folder = snapshotFolder(config, snapshot);
    await withDatabase(config, effects.signal, async ({ session: { connection }, temp }) => {
      const examined = await examine(connection, folder, temp, effects.signal);
      const isPublished = snapshot === undefined;
      const landing = isPublished
        ? await verifyLanding(layoutOf(config.output).landing, effects.now(), effects.signal)
        : null;
      const report = { ...examined, landing };
      print(report, () => text(report));
      if (!report.sound) throw unsound(report);
    });
  },
});

async function examine(
  connection: DuckDBConnection,
  folder: string,
  temp: string,
  signal: AbortSignal,
): Promise<Examined> {
  const manifest = manifestOrDamage(folder);
  if (manifest instanceof LotlakeError)
    return reportOf(folder, undefined, { problems: [manifestProblem(folder, manifest)], warnings: [] });
  const files = await verifyFiles(folder, manifest, signal);
  // The views of the warehouse and the tests of the manifest are SQL that may come from anywhere.
  await confineTo(connection, folder, manifest, temp);
  const warehouse = await verifyWarehouse(connection, folder, manifest);
  const content = await verifyContent(connection, folder, manifest, signal);
  const tests = await dataTests(connection, folder, manifest);
  // An interrupted check must not pass for one that found nothing.
  signal.throwIfAborted();
  const problems = withoutEchoes(files, [...content, ...warehouse.problems, ...tests.problems]);
  return reportOf(folder, manifest, { problems, warnings: [...warehouse.warnings, ...tests.warnings] });
}

/** What DuckDB says of a file that cannot be opened, or that is none of the snapshot. */
const CANNOT_READ = /(Permission|IO) Error: |No files found/;

/** Problems without those that only follow from files that cannot be read: they are counted in one. */
function withoutEchoes(files: readonly Problem[], others: readonly Problem[]): Problem[] {
  const isEcho = ({ file, found }: Problem): boolean =>
    (file === null || file === WAREHOUSE) && CANNOT_READ.test(found);
  const echoes = files.length === 0 ? [] : others.filter(isEcho);
  const left = others.filter((problem) => !echoes.includes(problem));
  if (echoes.length === 0) return [...files, ...left];
  const found = `${counted(echoes.length, 'table or test', 'tables and tests')} that cannot be read without the files above`;
  return [
    ...files,
    ...left,
    { table: 'snapshot', file: null, check: 'test', expected: 'tests that run', found },
  ];
}

function manifestProblem(folder: string, error: LotlakeError): Problem {
  const path = join(folder, 'manifest.json');
  const torn = tornManifest(path);
  return {
    table: 'snapshot',
    file: 'manifest.json',
    check: 'readable',
    expected: 'a manifest that can be read',
    // A cell of the listing is short, and the column beside it names the file.
    found: torn ?? error.message.replace(`${path} `, ''),
    ...tornIf(torn !== undefined),
  };
}

/** How a power cut left a manifest, which is written last; undefined if it is not torn. */
function tornManifest(path: string): string | undefined {
  if (!existsSync(path)) return 'no file';
  const written = readFileSync(path, 'utf8');
  if (jsonIn(written) !== undefined) return undefined;
  return tornState(path) ?? `text that ends or breaks off within its ${written.length} characters`;
}

/** Keeps a session to the files of a snapshot and to its own folder. */
async function confineTo(
  connection: DuckDBConnection,
  folder: string,
  manifest: Manifest,
  temp: string,
): Promise<void> {
  const files = allFiles(manifest).map(({ path }) => join(folder, path));
  const patterns = Object.keys(allTables(manifest)).map((name) => patternOf(folder, name));
  const warehouse = join(folder, WAREHOUSE);
  // DuckDB looks for a log beside a database that it opens.
  await confine(connection, [warehouse, `${warehouse}.wal`, ...files, ...patterns], [`${temp}/`]);
}

/** Runs the data tests on the files. Checks across tables also find children without parents. */
async function dataTests(connection: DuckDBConnection, folder: string, manifest: Manifest) {
  // A table that cannot be read is already among the problems.
  for (const [name, table] of Object.entries(allTables(manifest)))
    await connection.run(viewOn(folder, { ...table, name })).catch(() => undefined);
  // Views and checks call them. Without its table, what calls the second cannot be run.
  await createFunctions(connection, 'values');
  await createFunctions(connection, 'enough').catch(() => undefined);
  for (const [name, { sql }] of Object.entries(manifest.views))
    await createView(connection, name, sql).catch(() => undefined);
  const { results, notRun } = await runEachTest(connection, manifest);
  const failed = (severity: TestResult['severity']): Problem[] =>
    results.filter((result) => result.failures > 0 && result.severity === severity).map(problemOf);
  const broken = notRun.map(
    ({ name, error }): Problem => ({
      table: name,
      file: null,
      check: 'test',
      expected: 'a test that runs',
      found: error.message,
    }),
  );
  return { problems: [...failed('error'), ...broken], warnings: failed('warn') };
}

function problemOf({ model, test, failures, sample }: TestResult): Problem {
  const isCheck = model === 'checks';
  return {
    table: isCheck ? test : model,
    file: null,
    check: 'test',
    expected: isCheck ? 'no row' : test,
    found: `${failures} rows, such as ${JSON.stringify(sample[0])}`,
  };
}

type Examined = ReturnType<typeof reportOf>;

/** `landing` is null for a snapshot other than the published one. */
type Report = Examined & { readonly landing: LandingReport | null };

type Found = Readonly<Record<'problems' | 'warnings', readonly Problem[]>>;

/**
 * The result of verify. `torn` lists files as a power cut leaves them. Files without a checksum were only checked in part.
 * Warnings, such as failed data tests of severity `warn`, leave a snapshot sound.
 */
function reportOf(folder: string, manifest: Manifest | undefined, found: Found) {
  const tables = manifest === undefined ? [] : Object.values(allTables(manifest));
  const files = tables.flatMap((table) => table.files);
  const torn = found.problems.flatMap(({ file, torn: isTorn }) => (isTorn && file !== null ? [file] : []));
  return {
    snapshot_id: basename(folder),
    folder,
    sound: found.problems.length === 0,
    torn: [...new Set(torn)],
    tables: tables.length,
    files: files.length,
    rows: sumOf(tables, ({ rows }) => rows),
    bytes: sumOf(tables, ({ bytes }) => bytes),
    without_checksum: files.filter((file) => file.sha256 === undefined).length,
    ...found,
  };
}

function unsound({ problems, snapshot_id, torn }: Report): LotlakeError {
  const message = `${counted(problems.length, 'thing is', 'things are')} wrong with snapshot ${snapshot_id}`;
  const hint = 'nothing was changed; lotlake run rebuild makes the lake again from landing';
  if (torn.length === 0) return unsoundError(message, hint);
  const files = counted(
    torn.length,
    'file is as a power cut leaves it',
    'files are as a power cut leaves them',
  );
  const named = `${torn.slice(0, 3).join(', ')}${torn.length > 3 ? ', …' : ''}`;
  return unsoundError(
    `${message}: it is torn, ${files} (${named})`,
    `${hint}, and lotlake verify --snapshot <id> says whether an earlier snapshot is sound`,
  );
}

function text(report: Report): Lines {
  const { problems, warnings, without_checksum } = report;
  const sizes = `${report.tables} tables and marts, ${count(report.files)} files, ${count(report.rows)} rows, ${megabytes(report.bytes)}`;
  return [
    `snapshot ${report.snapshot_id}: ${sizes}`,
    without_checksum > 0 && `${count(without_checksum)} files have no checksum in the manifest`,
    problems.length > 0 && listed(problems),
    warnings.length > 0 && `warnings:\n${listed(warnings)}`,
    ...landingText(report.landing),
    report.sound ? 'sound' : report.torn.length > 0 ? 'not sound: torn' : 'not sound',
  ];
}

function landingText(landing: LandingReport | null): Lines {
  if (landing === null || landing.problems.length === 0) return [];
  const { problems, noted } = landing;
  return [
    'landing, which the snapshot does not need and a rebuild does:',
    ...problems.map(({ pass_id, stream, problem, records, lost: { deltas, since, landed, left_out } }) => {
      const own = records === null ? 'it' : `it with ${counted(records, 'record')}`;
      const others =
        deltas.length === 0
          ? ''
          : `, nor ${counted(deltas.length, 'delta')} since ${since}, with ${count(landed)} records landed and ${count(left_out)} left out as unchanged`;
      return `  pass ${pass_id} of ${stream}: ${problem}; a rebuild can no longer replay ${own}${others}`;
    }),
    '  bring the files back from a copy, if there is one, and run verify again; the published snapshot keeps what it knows',
    noted
      ? '  the next full pass over /cars lands every record'
      : '  this could not be noted in the passes: run verify as a user who can write the lake, so that the next full pass lands every record',
  ];
}

const listed = (problems: readonly Problem[]): string =>
  gridOf(
    ['table', 'check', 'file', 'expected', 'found'],
    problems.map(({ table, check, file, expected, found }) => [
      ...[table, check],
      ...[file, expected, found].map((value) => clip(printable(value), 100)),
    ]),
  );
