import { existsSync } from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { LotlakeError } from '../config/lotlake-error.js';
import { makeFolder, move, remove, writeNew } from '../config/owned.js';
import { literal } from '../duck/session.js';
import { fileSizes, listFiles } from '../lake/files.js';
import { lakeTables } from '../lake/tables.js';
import type { LandedPage } from '../land/page.js';
import type { Pass } from '../land/pass.js';
import { Drift } from '../load/drift.js';
import { type PlannedPage, type SparkBatch, sparkSteps } from '../load/spark-batch.js';
import { textsOf } from '../load/types.js';
import { sumOf } from '../query/printable.js';
import { emptyOf } from '../reconcile/relations.js';
import { stagedColumns } from '../reconcile/state.js';
import { streams } from '../service/streams.js';
import { runSpark } from '../spark/run-spark.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';
import { comparedPages } from './load-pass.js';
import { type Night, stageOf } from './replay.js';

/** Pages that Spark stages at once: some 30 GB of landing, and as many bytes of staged rows on disk. */
const MOST_PAGES = 20_000;

/**
 * Yields the nights once Spark has staged their pages that fit the contract, some nights at a time. DuckDB loads the other
 * pages. The output folder must have the same path on every worker. Throws SPARK_*.
 */
export async function* stagedOnSpark(job: Job, nights: readonly Night[]): AsyncGenerator<Night> {
  let chunk: Night[] = [];
  let pages = 0;
  for (const night of nights) {
    chunk.push(night);
    pages += night.passes.reduce((sum, pass) => sum + pass.pages.length, 0);
    if (pages < MOST_PAGES && night !== nights.at(-1)) continue;
    yield* await stageNights(job, chunk);
    chunk = [];
    pages = 0;
  }
}

/** A batch with its pages. */
interface Planned extends SparkBatch {
  readonly pages: readonly LandedPage[];
  /** Number of records by the run that landed them. */
  readonly records: ReadonlyMap<string, number>;
}

/** Passes of one stream whose records can be typed together. */
interface Group extends Pick<SparkBatch, 'stream'> {
  /** Unknown members that are kept in `extra`, and those that are not. */
  readonly learned: Set<string>;
  readonly leftOut: Set<string>;
  readonly passes: Pass[];
}

async function stageNights(job: Job, given: readonly Night[]): Promise<Night[]> {
  const nights: Night[] = [];
  for (const night of given) nights.push({ ...night, passes: await comparedPasses(job, night.passes) });
  const batches = groupsOf(nights).flatMap((group, i) => batchOf(group, join(job.work, 'spark', String(i))));
  const pages = batches.flatMap((batch) => batch.pages);
  if (pages.length === 0) return nights;
  job.reporter.step('spark', `${pages.length} pages of ${nights.length} nights`);
  const { submit } = job.config.spark;
  await runSpark(batches.flatMap(sparkSteps), { submit, signal: job.signal });
  for (const batch of batches) {
    await assertStaged(job, batch);
    await moveStaged(job, batch);
  }
  const stagedBefore = new Set(pages);
  return nights.map((night) => ({ ...night, stagedBefore }));
}

/** Passes whose pages are compared with the present contract. */
async function comparedPasses(job: Job, passes: readonly Pass[]): Promise<Pass[]> {
  const found: Pass[] = [];
  for (const pass of passes) {
    const pages: LandedPage[] = [];
    for await (const page of comparedPages(job, pass)) pages.push(page);
    const contract = contractFingerprint(pass.manifest.stream);
    found.push({ ...pass, pages, manifest: { ...pass.manifest, contract } });
  }
  return found;
}

/** Groups the passes of each stream. Passes are apart if one keeps a member in `extra` that another leaves out. */
function groupsOf(nights: readonly Night[]): Group[] {
  const groups: Group[] = [];
  for (const own of nights.flatMap((night) => night.passes.map((pass) => groupOf(pass)))) {
    const group = groups.find((other) => other.stream === own.stream && isCompatible(other, own));
    if (group === undefined) groups.push(own);
    for (const path of own.learned) group?.learned.add(path);
    for (const path of own.leftOut) group?.leftOut.add(path);
    group?.passes.push(...own.passes);
  }
  return groups;
}

function groupOf(pass: Pass): Group {
  // Load gives the warnings.
  const drift = new Drift({ pass, warn: () => undefined });
  for (const page of pass.pages) drift.learn(page);
  const leftOut = drift.reports().flatMap(({ path, kept }) => (kept ? [] : [path]));
  return {
    stream: streams[pass.manifest.stream],
    learned: new Set(drift.paths()),
    leftOut: new Set(leftOut),
    passes: [pass],
  };
}

/** Whether two groups agree on the members to keep. Spark ignores the case of names. */
function isCompatible(a: Group, b: Group): boolean {
  const learned = new Set([...a.learned, ...b.learned]);
  const names = new Set([...learned].map((path) => path.toLowerCase()));
  return names.size === learned.size && ![...a.leftOut, ...b.leftOut].some((path) => learned.has(path));
}

/** The batch of the pages of a group that fit the contract; none if no page fits. */
function batchOf({ stream, passes, ...group }: Group, target: string): Planned[] {
  const learned = [...group.learned].sort();
  const { texts, mixed } = textsOf(passes.flatMap(({ pages }) => pages.flatMap(({ drift }) => drift)));
  const fits = (page: LandedPage): boolean =>
    page.fits && page.records > 0 && !page.drift.some(({ path }) => mixed.has(path));
  const fitting = passes.flatMap(({ folder, manifest: { run_id }, pages }) =>
    pages.filter(fits).map((page) => ({ folder, run: run_id, page })),
  );
  if (fitting.length === 0) return [];
  const planned = fitting.map(
    ({ folder, run, page: { seq, list, file } }, page): PlannedPage => ({
      ...{ page, run, seq, list },
      file: `${basename(folder)}/${file}`,
    }),
  );
  makeFolder(target);
  const plan = join(target, 'plan.ndjson');
  writeNew(plan, planned.map((page) => `${JSON.stringify(page)}\n`).join(''));
  const folders = passes.map(({ folder }) => folder);
  const pages = fitting.map(({ page }) => page);
  const records = new Map<string, number>();
  for (const { run, page } of fitting) records.set(run, (records.get(run) ?? 0) + page.records);
  return [{ stream, learned, texts, folders, plan, target, pages, records }];
}

/** Prefix of the folder of a run: Spark stages its rows as `<table>/_run=<run>/<rest>`. */
const RUN = '_run=';

/**
 * Throws SPARK_FAILED if the table with one row for each record lacks rows of a run. A worker that has another folder under
 * the same path loses its rows without an error.
 */
async function assertStaged(job: Job, { stream, target, records }: Planned): Promise<void> {
  const table = lakeTables().find((each) => each.stream === stream.name && each.sql.includes('from records'));
  const files = await listFiles(job.session.connection, target, table?.name ?? '');
  for (const [run, expected] of records) {
    const own = files.filter(({ path }) => path.startsWith(`${table?.name}/${RUN}${run}/`));
    const staged = sumOf(own, ({ rows }) => rows);
    if (staged !== expected)
      throw new LotlakeError(
        'SPARK_FAILED',
        `Spark staged ${staged} of ${expected} records of ${stream.name} of run ${run} in ${target}`,
        {
          hint: 'nothing of the lake changed; every worker must write to the output folder under the same path',
        },
      );
  }
}

/** Moves the staged files to their nights. A table without rows gets an empty file, so that it is merged, too. */
async function moveStaged(job: Job, { stream, target, records }: Planned): Promise<void> {
  for (const { path } of fileSizes(target, '')) {
    const [table = '', run = '', ...rest] = path.split(sep);
    if (!run.startsWith(RUN)) continue;
    const to = join(stageOf(job, run.slice(RUN.length)), table, ...rest);
    makeFolder(dirname(to));
    move(join(target, path), to);
  }
  remove(target);
  for (const schema of job.schemas.values())
    for (const run of records.keys()) {
      const folder = join(stageOf(job, run), schema.table.name);
      if (schema.table.stream !== stream.name || existsSync(folder)) continue;
      makeFolder(folder);
      const file = literal(join(folder, 'none.parquet'));
      await job.session.connection.run(
        `copy (${emptyOf(stagedColumns(schema))}) to ${file} (format parquet)`,
      );
    }
}
