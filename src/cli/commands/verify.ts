import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { LotlakeError } from '../../config/lotlake-error.js';
import { identifier, interruptOn } from '../../duck/session.js';
import { openTemporarySession } from '../../duck/temporary-session.js';
import { globRelation } from '../../lake/files.js';
import { LakeError } from '../../lake/lake-error.js';
import { layoutOf } from '../../lake/layout.js';
import { allTables, type Manifest, readManifest } from '../../lake/manifest.js';
import { findSnapshot } from '../../lake/snapshots.js';
import { type Problem, tornIf, tornState, verifyFiles, verifyWarehouse } from '../../lake/verify.js';
import { verifyContent } from '../../lake/verify-content.js';
import { mendViews } from '../../lake/views.js';
import { readChecks } from '../../model/checks.js';
import { type DataTestOptions, runDataTests, type TestResult } from '../../model/data-tests.js';
import { readModels } from '../../model/model-files.js';
import { publishedSnapshot } from '../../query/open-lake.js';
import { clip, printable } from '../../query/printable.js';
import type { Effects } from '../effects.js';
import { gridOf, megabytes, number } from '../grid.js';

/** What was checked and what is wrong with it. */
interface Report {
  readonly snapshot_id: string;
  readonly folder: string;
  readonly sound: boolean;
  /** Files that are as a power cut leaves them, below the snapshot. */
  readonly torn: readonly string[];
  readonly tables: number;
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
  /** Files whose manifest has no checksum; their size, footer and keys were checked alone. */
  readonly without_checksum: number;
  readonly problems: readonly Problem[];
  /** Data tests of severity `warn` that failed; the snapshot is sound all the same. */
  readonly warnings: readonly Problem[];
}

/** Checks a snapshot against its manifest and by its data tests. Throws LakeError, held, where something is wrong. */
export async function verify(
  options: { readonly snapshot: string | undefined; readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const layout = layoutOf(config.output);
  const folder =
    options.snapshot === undefined ? publishedSnapshot(config) : findSnapshot(layout, options.snapshot);
  const opened = await openTemporarySession(config);
  const endInterrupts = interruptOn(effects.signal, opened.session);
  try {
    await mendViews(opened.session.connection, layout, folder);
    const report = await examine(opened.session.connection, folder, effects.signal);
    effects.out(options.json ? `${JSON.stringify(report)}\n` : text(report));
    if (!report.sound) throw unsound(report);
  } finally {
    endInterrupts();
    opened.close();
  }
}

async function examine(connection: DuckDBConnection, folder: string, signal: AbortSignal): Promise<Report> {
  const read = manifestOf(folder);
  if (read.manifest === undefined) return reportOf(folder, undefined, [read.broken], []);
  const { manifest } = read;
  const warehouse = await verifyWarehouse(connection, folder, manifest);
  const results = [
    await verifyFiles(folder, manifest, signal),
    await verifyContent(connection, folder, manifest, signal),
    warehouse.problems,
  ];
  const tests = await dataTests(connection, folder, manifest);
  // A check that was interrupted found nothing wrong.
  signal.throwIfAborted();
  return reportOf(
    folder,
    manifest,
    [...results.flat(), ...tests.problems],
    [...warehouse.warnings, ...tests.warnings],
  );
}

type Read = { readonly manifest: Manifest } | { readonly manifest: undefined; readonly broken: Problem };

function manifestOf(folder: string): Read {
  try {
    return { manifest: readManifest(folder) };
  } catch (error) {
    if (!(error instanceof LakeError) || error.code === 'LAKE_FORMAT') throw error;
    const expected = 'a manifest that can be read';
    const torn = tornManifest(join(folder, 'manifest.json'));
    const found = torn ?? error.message;
    const place = { table: 'snapshot', file: 'manifest.json', check: 'readable' } as const;
    return { manifest: undefined, broken: { ...place, expected, found, ...tornIf(torn !== undefined) } };
  }
}

/** How a power cut left a manifest: it is the last file of a snapshot to be written. */
function tornManifest(path: string): string | undefined {
  if (!existsSync(path)) return 'no file';
  const text = readFileSync(path, 'utf8');
  try {
    JSON.parse(text);
    return undefined;
  } catch {
    return tornState(path) ?? `text that ends or breaks off within its ${text.length} characters`;
  }
}

function reportOf(
  folder: string,
  manifest: Manifest | undefined,
  problems: readonly Problem[],
  warnings: readonly Problem[],
): Report {
  const tables = manifest === undefined ? [] : Object.values(allTables(manifest));
  const files = tables.flatMap((table) => table.files);
  return {
    snapshot_id: basename(folder),
    folder,
    sound: problems.length === 0,
    torn: [...new Set(problems.flatMap(({ file, torn }) => (torn === true && file !== null ? [file] : [])))],
    tables: tables.length,
    files: files.length,
    rows: tables.reduce((sum, table) => sum + table.rows, 0),
    bytes: tables.reduce((sum, table) => sum + table.bytes, 0),
    without_checksum: files.filter((file) => file.sha256 === undefined).length,
    problems,
    warnings,
  };
}

/** Runs the data tests of the marts and across tables, where parents of children are declared, on the files. */
async function dataTests(
  connection: DuckDBConnection,
  folder: string,
  manifest: Manifest,
): Promise<{ readonly problems: Problem[]; readonly warnings: Problem[] }> {
  for (const [name, table] of Object.entries(allTables(manifest))) {
    const relation = globRelation(folder, name, table.partitioned);
    // A table that cannot be read is told of already.
    await connection
      .run(`create view ${identifier(name)} as select * from ${relation}`)
      .catch(() => undefined);
  }
  const groups: Required<DataTestOptions>[] = [
    ...readModels().map((model) => ({ models: [model], checks: [] })),
    ...readChecks().map((check) => ({ models: [], checks: [check] })),
  ];
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const group of groups) {
    try {
      for (const result of await runDataTests(connection, group))
        if (result.failures > 0) (result.severity === 'error' ? problems : warnings).push(failed(result));
    } catch (error) {
      if (!(error instanceof LotlakeError)) throw error;
      const [name = ''] = [...group.models, ...group.checks].map((of) => ('name' in of ? of.name : of.test));
      problems.push({
        table: name,
        file: null,
        check: 'test',
        expected: 'a test that runs',
        found: error.message,
      });
    }
  }
  return { problems, warnings };
}

function failed({ model, test, failures, sample }: TestResult): Problem {
  const found = `${failures} rows, such as ${JSON.stringify(sample[0])}`;
  const isCheck = model === 'checks';
  return {
    table: isCheck ? test : model,
    file: null,
    check: 'test',
    expected: isCheck ? 'no row' : test,
    found,
  };
}

function unsound({ problems, snapshot_id, torn }: Report): LakeError {
  const told = `${problems.length} ${problems.length === 1 ? 'thing is' : 'things are'} wrong with snapshot ${snapshot_id}`;
  const rebuild = 'lotlake run rebuild makes the lake again from landing';
  if (torn.length === 0)
    return new LakeError('LAKE_UNSOUND', told, { outcome: 'held', hint: `nothing was changed; ${rebuild}` });
  const files =
    torn.length === 1
      ? '1 file is as a power cut leaves it'
      : `${torn.length} files are as a power cut leaves them`;
  const named = `${torn.slice(0, 3).join(', ')}${torn.length > 3 ? ', …' : ''}`;
  return new LakeError('LAKE_UNSOUND', `${told}: it is torn, ${files} (${named})`, {
    outcome: 'held',
    hint: `nothing was changed; ${rebuild}, and lotlake verify --snapshot <id> says whether an earlier snapshot is sound`,
  });
}

function text(report: Report): string {
  const { problems, warnings, without_checksum } = report;
  const sizes = `${report.tables} tables and marts, ${number(report.files)} files, ${number(report.rows)} rows, ${megabytes(report.bytes)}`;
  return [
    `snapshot ${report.snapshot_id}: ${sizes}`,
    ...(without_checksum === 0 ? [] : [`${number(without_checksum)} files have no checksum in the manifest`]),
    ...(problems.length === 0 ? [] : [listed(problems)]),
    ...(warnings.length === 0 ? [] : ['warnings:', listed(warnings)]),
    report.sound ? 'sound' : report.torn.length > 0 ? 'not sound: torn' : 'not sound',
    '',
  ].join('\n');
}

function listed(problems: readonly Problem[]): string {
  const grid = gridOf(['table', 'check', 'file', 'expected', 'found']);
  for (const { table, check, file, expected, found } of problems)
    grid.push([table, check, ...[file, expected, found].map((value) => clip(printable(value), 100))]);
  return grid.toString();
}
