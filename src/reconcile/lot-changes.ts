import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal, scalar } from '../duck/session.js';
import { linkFile } from '../lake/files.js';
import type { TableSchema } from '../lake/schema.js';
import type { MergeContext } from './context.js';
import { diffName } from './diff.js';
import { baseRelation, timestamp } from './staged.js';
import { parquetOf } from './write.js';

/** Columns of lots whose every change is kept. */
export const TRACKED_FIELDS: readonly string[] = [
  'vehicle_id',
  'status_id',
  'bid',
  'buy_now',
  'final_bid',
  'seller_reserve_price',
  'sale_date',
  'odometer_km',
  'odometer_mi',
  'location_country_iso',
  'location_state_code',
  'location_city_name',
  'location_location_name',
  'archived',
  'archived_at',
  'archived_by',
];

/**
 * Appends the changes of this run to `lot_changes`; what earlier runs recorded is linked. Needs the differences that
 * `mergeTable` left for lots.
 * @returns number of changes
 */
export async function appendLotChanges(
  context: MergeContext,
  lots: TableSchema,
  effective: string | undefined,
): Promise<number> {
  const earlier = context.base?.manifest.tables.lot_changes?.files.filter((file) => file.rows > 0) ?? [];
  for (const file of earlier)
    linkFile(join(context.base?.folder ?? '', file.path), join(context.target, file.path));
  const isCompared = context.base !== undefined && (context.base.manifest.tables.lots?.rows ?? 0) > 0;
  const count = effective !== undefined && isCompared ? await write(context, lots, effective) : 0;
  if (earlier.length === 0 && count === 0) await writeEmpty(context);
  return count;
}

async function write(context: MergeContext, lots: TableSchema, effective: string): Promise<number> {
  const { seenAt, runId } = context.evidence;
  const changes = TRACKED_FIELDS.map((name) => {
    const field = identifier(name);
    return `{field: ${literal(name)}, old_value: cast(o.${field} as varchar), new_value: cast(n.${field} as varchar)}`;
  });
  const table = '_lot_changes';
  await context.connection.run(`
    create or replace table ${table} as
    select lot_id, vehicle_id, domain_id, change.field, change.old_value, change.new_value,
      ${timestamp(seenAt)} as seen_at, ${literal(runId)} as run_id,
      strftime(${timestamp(seenAt)} at time zone 'UTC', '%Y-%m') as month
    from (
      select n.lot_id, n.vehicle_id, n.domain_id, unnest([${changes.join(', ')}]) as change
      from ${effective} as n
      join ${diffName('lots')} as d on d.lot_id = n.lot_id and d._action = 'updated'
      join ${baseRelation(context, lots)} as o on o.lot_id = n.lot_id
    )
    where change.old_value is distinct from change.new_value`);
  const count = await scalar(context.connection, `select count(*) from ${table}`);
  if (count > 0) {
    const folder = join(context.target, 'lot_changes');
    mkdirSync(folder, { recursive: true });
    await context.connection.run(`
      copy (from ${table} order by domain_id, month, lot_id, field) to ${literal(folder)}
      (${parquetOf('lot_changes', context)}, partition_by (domain_id, month), overwrite_or_ignore true, filename_pattern ${literal(`${runId}-{i}`)})`);
  }
  await context.connection.run(`drop table ${table}`);
  return count;
}

async function writeEmpty(context: MergeContext): Promise<void> {
  const folder = join(context.target, 'lot_changes');
  mkdirSync(folder, { recursive: true });
  await context.connection.run(`
    copy (
      select cast(null as bigint) as lot_id, cast(null as bigint) as vehicle_id, cast(null as bigint) as domain_id,
        cast(null as varchar) as field, cast(null as varchar) as old_value, cast(null as varchar) as new_value,
        cast(null as timestamptz) as seen_at, cast(null as varchar) as run_id, cast(null as varchar) as month
      where false
    ) to ${literal(join(folder, 'empty.parquet'))} (${parquetOf('lot_changes', context)})`);
}
