import { hash } from 'node:crypto';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { version } from '../config/package-root.js';
import type { BaseState } from '../lake/base.js';
import { type Manifest, SCHEMA_VERSION } from '../lake/manifest.js';
import { flattenFunctions, lakeTables } from '../lake/tables.js';
import { Changes } from '../land/changes.js';
import { Fingerprints, readFingerprints, writeFingerprints } from '../land/fingerprints.js';
import { stagedSql } from '../load/batch.js';
import { planViews } from '../load/views.js';
import type { MergeContext } from '../reconcile/relations.js';
import { ruleOf } from '../reconcile/rules.js';
import { bindNext } from '../reconcile/state.js';
import { streams } from '../service/streams.js';
import { contractFingerprint } from './find-pass.js';
import type { Job } from './job.js';

/** Compares the records of a pass over vehicles with those that a state was made from. */
export function watchChanges(job: Job, base: BaseState | undefined, passId: string): Changes {
  return new Changes(join(job.work, 'fresh', passId), knownRecords(base));
}

function knownRecords(base: BaseState | undefined): Fingerprints {
  const stored = base?.manifest.fingerprints ?? undefined;
  if (base === undefined || stored === undefined || stored.code !== rowCode()) return new Fingerprints();
  return readFingerprints(base.folder, stored.records);
}

/** The rules that make rows of a record. */
const rowRules = () => ({
  contract: contractFingerprint('cars'),
  /** Stands for the code that mends and merges records. */
  version,
  tables: lakeTables(),
  views: planViews(streams.cars, [], false),
});

/**
 * Fingerprint of the rules by which this version makes rows of vehicle records. Records that were read by other rules are
 * read again.
 * @param others rules that replace rules of this version
 */
export function rowCode(others: Partial<ReturnType<typeof rowRules>> = {}): string {
  const { tables, ...rules } = { ...rowRules(), ...others };
  // Descriptions of a table do not change its rows.
  const cut = tables.map((table) => ({
    ...table,
    ...{ sql: stagedSql(table), description: '', grain: '', columns: {} },
  }));
  return fingerprintOf([rules, SCHEMA_VERSION, flattenFunctions, cut]);
}

/** Fingerprint of any JSON value. */
export const fingerprintOf = (facts: unknown): string => hash('sha256', JSON.stringify(facts)).slice(0, 16);

/**
 * Writes the fingerprints of the records that a new state was made from: those of the base without stale vehicles, and
 * those that this run loaded without unsettled vehicles (see the rules in `sql/reconcile`).
 * @param isCarried whether rows of a published snapshot were carried over
 */
export async function recordFingerprints(
  context: MergeContext,
  isCarried = false,
): Promise<NonNullable<Manifest['fingerprints']>> {
  const { connection, base, target, passes } = context;
  await connection.run(`update run.facts set is_carried = ${isCarried}`);
  for (const table of ['inspections', 'history_reports', 'vehicles']) await bindNext(context, table);
  const loaded = new Fingerprints();
  for (const { changes } of passes) if (changes !== undefined) loaded.addAll(changes.fresh);
  const added = loaded.sorted().without(await vehicleIds(connection, ruleOf('unsettled_vehicles').sql));
  const kept = knownRecords(base).without(await vehicleIds(connection, ruleOf('stale_vehicles').sql));
  const all = kept.updated(added);
  writeFingerprints(target, all);
  return { records: all.ids.length, code: rowCode() };
}

/** The vehicle ids that a query returns, ascending. */
export async function vehicleIds(connection: DuckDBConnection, sql: string): Promise<Float64Array> {
  const reader = await connection.runAndReadAll(
    `select cast(vehicle_id as double) from (${sql}) where vehicle_id is not null order by 1`,
  );
  return Float64Array.from(reader.getColumns()[0] ?? [], Number);
}
