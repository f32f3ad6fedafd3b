import { killPoint } from '../config/kill-point.js';
import { LotlakeError } from '../config/lotlake-error.js';
import { makeFolder } from '../config/owned.js';
import type { Manifest } from '../lake/manifest.js';
import { type RunRecord, reasonOf, standsFor, unresolvedRuns } from '../lake/run-records.js';
import { readIds } from '../lake/snapshots.js';
import { lakeTables } from '../lake/tables.js';
import { landedPassIds, listPasses } from '../land/pass.js';
import { sumOf } from '../query/printable.js';
import { type ClosingRow, writeOwn, writeRejects } from '../reconcile/own-rows.js';
import { type ReconcileResult, reconcile } from '../reconcile/reconcile.js';
import type { MergeContext } from '../reconcile/relations.js';
import type { Job } from './job.js';

/** The result of reconcile, for the steps after it. */
export type Merged = ReconcileResult & { readonly context: MergeContext };

/** Merges staged rows into a new state folder and writes lotlake's own tables beside them. */
export async function reconcileInto(
  job: Job,
  given: Pick<MergeContext, 'target' | 'base' | 'runId' | 'startedAt' | 'allowShrink'>,
  closings: readonly ClosingRow[] = [],
): Promise<Merged> {
  makeFolder(given.target);
  const { connection, connect, alone } = job.session;
  const { stage, passes: loaded } = job;
  const cars = loaded.find(({ manifest }) => manifest.stream === 'cars');
  const context: MergeContext = {
    ...given,
    ...{ connection, connect, alone, stage, passes: loaded },
    ...{ schemas: job.schemas, recorded: job.recorded },
    snapshot: job.runId,
    seenAt: cars?.manifest.started_at ?? given.startedAt,
    shrinkGuard: job.config.shrinkGuard,
    mostRecordBytes: job.config.largestRecord << 20,
  };
  const result = await job.session.whileWriting(() => reconcile(context));
  for (const warning of result.warnings) job.reporter.warn(warning);
  const { base } = given;
  const known = new Set(
    base === undefined ? [] : await readIds(connection, base.folder, 'passes', 'pass_id'),
  );
  const abandoned = listPasses(job.layout.landing).filter(
    ({ manifest }) => manifest.state === 'abandoned' && !known.has(manifest.pass_id),
  );
  const passes = [...loaded, ...abandoned].map(({ manifest: { request, drift, ...pass } }) => ({
    ...pass,
    request: JSON.stringify(request),
    drift: JSON.stringify(drift),
  }));
  await writeOwn(context, 'passes', passes);
  await writeRejects(context, landedPassIds(job.layout.landing));
  await writeOwn(context, 'closings', closings);
  killPoint('reconcile.own-tables-written');
  return { ...result, context };
}

/**
 * Writes the rows of this run and of all runs since the one that made the base. That run wrote its own row before it ended,
 * so its row is written again.
 */
export function recordRun(job: Job, merged: Merged): Promise<void> {
  const { record, before } = job.recorder;
  const changed = Object.values(merged.counts);
  job.recorder.progress({
    inserted: sumOf(changed, ({ inserted }) => inserted),
    updated: sumOf(changed, ({ updated }) => updated),
    gone: sumOf(changed, ({ gone }) => gone),
  });
  record.counts = Object.fromEntries(
    Object.entries(merged.counts).map(([table, { inserted, updated, unchanged, gone }]) => [
      table,
      { inserted, updated, unchanged, gone },
    ]),
  );
  const failing = unresolvedRuns(before);
  const published = before.findLast(({ outcome }) => outcome === 'published')?.attempt ?? 0;
  record.held = failing
    .filter(({ outcome, attempt }) => outcome === 'held' && attempt > published)
    .map(reasonOf);
  record.failing = failing
    .filter(({ pipeline }) => !standsFor(job.pipeline, pipeline))
    .map((run) => `${run.pipeline} of ${run.started_at}: ${reasonOf(run)}`);
  const own = { ...record, outcome: 'published', exit_code: 0, snapshot_id: job.runId } as const;
  const ended_at = job.now().toISOString();
  const since = before.find(({ run_id }) => run_id === job.base?.manifest.run_id)?.attempt ?? 0;
  const earlier = job.pipeline === 'rebuild' ? before : before.filter(({ attempt }) => attempt >= since);
  return writeOwn(merged.context, 'runs', [...earlier, { ...own, ended_at }].map(rowOf));
}

/** A record as a row of `runs`. */
function rowOf({ error, disk, limits, settings, stages, requests, counts, drift, ...run }: RunRecord) {
  return {
    ...run,
    ...limits,
    error_code: error?.code ?? null,
    error: error?.message ?? null,
    drifted: drift.length,
    counts: JSON.stringify(counts),
    settings: JSON.stringify(settings),
    stages: JSON.stringify(stages),
    requests: JSON.stringify(requests),
    used_bytes: disk?.used_bytes ?? null,
    free_bytes: disk?.free_bytes ?? null,
  };
}

/**
 * Accounts for every record and row of a run. Throws RECONCILE_UNBALANCED, before anything is published, if a record or row
 * is lost or comes from nowhere.
 * @param after tables of the new snapshot, with row counts from the footers of its files
 */
export function balance({ passes, pipeline }: Job, counts: Merged['counts'], after: Manifest['tables']) {
  const streams = [...new Set(passes.map(({ manifest }) => manifest.stream))].map((stream) => {
    const own = passes.filter(({ manifest }) => manifest.stream === stream);
    return {
      stream,
      /** As numbered by the answers (`meta.from` to `meta.to`), or as counted in an answer without numbers. */
      served: sumOf(own, ({ served }) => served),
      landed: sumOf(own, ({ records }) => records),
      /** Includes unchanged records. */
      loaded: sumOf(own, ({ loaded }) => loaded),
      unchanged: sumOf(own, ({ unchanged }) => unchanged),
      rejected: sumOf(own, ({ rejected }) => rejected),
      /** Values of loaded records that became null, because they break the contract. */
      rejectedValues: sumOf(own, ({ rejectedValues }) => rejectedValues),
    };
  });
  const tables = lakeTables().flatMap(({ name, gone }) => {
    const change = counts[name];
    if (change === undefined) return [];
    const row = {
      table: name,
      before: change.unchanged + change.updated + change.gone,
      inserted: change.inserted,
      /** Rows that their parent replaced. Other tables never lose rows. */
      removed: gone === 'remove' ? change.gone : 0,
      after: after[name]?.rows ?? 0,
    };
    /** Rows that a rebuild carried over from the published snapshot. */
    const carried = pipeline === 'rebuild' ? row.after - row.before - row.inserted + row.removed : 0;
    return [{ ...row, carried }];
  });
  const wrong = [
    ...streams
      .filter(({ landed, loaded, rejected }) => landed !== loaded + rejected)
      .map((o) => `${o.stream}: ${o.landed} records landed, ${o.loaded} loaded and ${o.rejected} rejected`),
    ...tables
      .filter((o) => o.carried < 0 || o.before + o.inserted - o.removed + o.carried !== o.after)
      .map((o) => `${o.table}: ${o.before} rows, ${o.inserted} new and ${o.removed} removed make ${o.after}`),
  ];
  if (wrong.length > 0)
    throw new LotlakeError(
      'RECONCILE_UNBALANCED',
      `the numbers of this run do not agree: ${wrong.join('; ')}`,
      {
        outcome: 'held',
        hint: 'the last snapshot stays current and the pages stay in landing; keep them, and report this with the message',
      },
    );
  return { streams, tables };
}
