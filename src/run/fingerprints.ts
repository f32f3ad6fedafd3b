import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../config/package-root.js';
import { literal } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import { globRelation } from '../lake/files.js';
import { type Manifest, SCHEMA_VERSION } from '../lake/manifest.js';
import { flattenFunctions, type LakeTable, lakeTables } from '../lake/tables.js';
import { Changes } from '../land/changes.js';
import {
  FingerprintLog,
  Fingerprints,
  mergeFingerprints,
  readFingerprints,
  writeFingerprints,
} from '../land/fingerprints.js';
import { stagedSql } from '../load/batch.js';
import { type BatchView, planViews } from '../load/views.js';
import type { MergeContext } from '../reconcile/context.js';
import { CLAIMS, UNCHANGED } from '../reconcile/staged.js';
import type { LoadedPass } from './extract-stream.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/** Watches the records of a pass over vehicles for those that the lake was made from already. */
export function watchChanges(job: Job, base: BaseState | undefined, passId: string): Changes {
  return new Changes(join(job.work, 'fresh', passId), knownRecords(job, base));
}

function knownRecords(job: Job, base: BaseState | undefined): Fingerprints {
  const stored = base?.manifest.fingerprints ?? undefined;
  if (base === undefined || stored === undefined || stored.code !== codeOf(job)) return Fingerprints.none;
  return readFingerprints(base.folder, stored.records);
}

/** What decides which rows a record gives. */
export interface RowRules {
  /** Fingerprint of the contract. */
  readonly contract: string;
  /** Version of lotlake: how records are mended and merged is code. */
  readonly version: string;
  readonly tables: readonly LakeTable[];
  readonly views: readonly BatchView[];
}

/** Fingerprint of what rows are made by: records that were read by other rules are read again. */
export function rowCode({ tables, ...rules }: RowRules): string {
  // What only describes a table decides nothing.
  const cut = tables.map((table) => ({
    ...table,
    ...{ sql: stagedSql(table), description: '', grain: '', columns: {} },
  }));
  return createHash('sha256')
    .update(JSON.stringify([rules, SCHEMA_VERSION, flattenFunctions, cut]))
    .digest('hex')
    .slice(0, 16);
}

/** Fingerprint of the rules by which this version makes rows of the records of vehicles. */
export function codeOf(job: Job): string {
  return rowCode({
    contract: contractFingerprint(job, 'cars'),
    version,
    tables: lakeTables(),
    views: planViews('cars', job.contracts.cars, [], 'batch', false),
  });
}

/**
 * Writes the fingerprints of the records that a new state was made from: those of the last one, but of vehicles that
 * this run loaded or changed otherwise, and those that it loaded. Some vehicles are left out, so that they are read again:
 * one with a lot that the archive feed ended, since the feed may list it again as it was; one that came otherwise first
 * and then as it was; and one with a lot that another vehicle listed or has now, since the last of both decides.
 * @param isCarried whether rows of a published snapshot were carried over: then every vehicle with a lot that was
 *   archived otherwise than by its own record is left out
 */
export async function recordFingerprints(
  job: Job,
  { stage, target, base, evidence }: MergeContext,
  passes: readonly Pick<LoadedPass, 'changes'>[],
  isCarried = false,
): Promise<NonNullable<Manifest['fingerprints']>> {
  const lots = globRelation(target, 'lots', true);
  const run = literal(evidence.runId);
  const staged = join(stage, 'vehicles');
  const loaded = existsSync(staged)
    ? `select vehicle_id from read_parquet(${literal(join(staged, '*.parquet'))})`
    : '';
  const archived = `select vehicle_id from ${lots} where ${isCarried ? "archived_by <> 'feed'" : "archived_by = 'archive-feed'"}`;
  const contested = `select vehicle_id from ${CLAIMS}`;
  const changed = [
    `select vehicle_id from ${lots} where run_id = ${run}`,
    `select vehicle_id from ${globRelation(target, 'vehicles', false)} where run_id = ${run}`,
    archived,
    contested,
    ...(loaded === '' ? [] : [loaded]),
  ];
  const stale = await idsOf(job, changed.join(' union all '));
  const otherwise =
    loaded === '' ? [] : [`select vehicle_id from ${UNCHANGED} where vehicle_id in (${loaded})`];
  const ended = await idsOf(
    job,
    [archived, contested, ...otherwise, ...partlyDelivered(stage, target, loaded, evidence.hidden)].join(
      ' union all ',
    ),
  );
  const log = new FingerprintLog();
  for (const { changes } of passes) if (changes !== undefined) log.addAll(changes.fresh);
  const kept = mergeFingerprints(knownRecords(job, base), Fingerprints.none, stale);
  const added = mergeFingerprints(log.sorted(), Fingerprints.none, ended);
  const all = mergeFingerprints(kept, added, new Float64Array(0));
  writeFingerprints(target, all);
  return { records: all.ids.length, code: codeOf(job) };
}

/** Tables of the reports of vehicles. */
const REPORTS = ['inspections', 'history_reports'];

/**
 * Loaded vehicles with an active lot that their record does not have, such as one of a source that the key lost, and
 * those with a report of such a source: whether the record without it is all that the service has is not known.
 */
function partlyDelivered(stage: string, target: string, loaded: string, hidden: readonly number[]): string[] {
  if (loaded === '') return [];
  const lots = globRelation(target, 'lots', true);
  const reports = REPORTS.flatMap((table) =>
    hidden.map((source) => join(target, table, `domain_id=${source}`)),
  );
  const folder = join(stage, 'lots');
  const hasLots = existsSync(folder) && readdirSync(folder).length > 0;
  const delivered = hasLots
    ? `and lot_id not in (select lot_id from read_parquet(${literal(join(folder, '**', '*.parquet'))}, hive_partitioning = false))`
    : '';
  return [
    `select vehicle_id from ${lots} where not archived and vehicle_id in (${loaded}) ${delivered}`,
    ...reports
      .filter(existsSync)
      .map(
        (rows) =>
          `select vehicle_id from ${globRelation(rows, '', false)} where gone_at is null and vehicle_id in (${loaded})`,
      ),
  ];
}

/** Ids of vehicles, ascending. */
async function idsOf(job: Job, sql: string): Promise<Float64Array> {
  const reader = await job.session.connection.runAndReadAll(
    `select distinct cast(vehicle_id as double) from (${sql}) where vehicle_id is not null order by 1`,
  );
  return Float64Array.from(reader.getColumns()[0] ?? [], Number);
}
