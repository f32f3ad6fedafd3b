import { identifier } from '../../base/duck/session.js';
import type { LakeTable } from './tables.js';

/** One partition of a table, as text: the source (or `none`) and the month (or `unknown`). */
export interface Partition {
  readonly domain: string;
  readonly month: string;
}

/** Folder name that Hive gives to a missing value. */
const MISSING = '__HIVE_DEFAULT_PARTITION__';

/** SQL of the month of an instant (UTC), as partitions are named. With the rules of a time zone it takes five times as long. */
export function monthOf(column: string): string {
  return `coalesce(strftime(make_timestamp(epoch_us(${column})), '%Y-%m'), 'unknown')`;
}

/** SQL of a row's partition, `_domain` and `_month`; empty for a table that has none. */
export function partitionColumns(table: Pick<LakeTable, 'partition'>, alias: string): string {
  if (table.partition === undefined) return '';
  const month = monthOf(`${alias}.${identifier(table.partition.month)}`);
  return `, coalesce(cast(${alias}.domain_id as varchar), 'none') as _domain, ${month} as _month`;
}

/** Folder of a partition below its table: `domain_id=3/month=2026-11`. */
export function partitionFolder(partition: Partition): string {
  const domain = partition.domain === 'none' ? MISSING : partition.domain;
  return `domain_id=${domain}/month=${partition.month}`;
}

/** The partition that a folder names. */
export function partitionFromFolder(folder: string): Partition {
  const [domain = '', month = ''] = folder.split('/').map((part) => part.slice(part.indexOf('=') + 1));
  return { domain: domain === MISSING ? 'none' : domain, month };
}
