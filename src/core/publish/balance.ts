import { LotlakeError } from '../../base/config/lotlake-error.js';
import { sumOf } from '../../base/config/printable.js';
import type { Job } from '../job/job.js';
import type { Manifest } from '../lake/manifest.js';
import type { LoadedPass } from '../lake/passes/loaded-pass.js';
import { storedBefore, type TableChange } from '../lake/row-counts.js';
import { lakeTables } from '../lake/tables.js';

/** Numbers of records of a stream. */
interface StreamAccount {
  readonly stream: string;
  /** As numbered by the answers (`meta.from` to `meta.to`), or as counted in an answer without numbers. */
  readonly served: number;
  readonly landed: number;
  /** Includes unchanged records. */
  readonly loaded: number;
  readonly unchanged: number;
  readonly rejected: number;
  /** Values of loaded records that became null, because they break the contract. */
  readonly rejectedValues: number;
}

/** Numbers of rows of a table. */
interface TableAccount {
  readonly table: string;
  readonly before: number;
  readonly inserted: number;
  /** Rows that their parent replaced. Other tables never lose rows. */
  readonly removed: number;
  readonly after: number;
  /** Rows that a rebuild carried over from the published snapshot. */
  readonly carried: number;
}

/** The accounts of a run. */
export interface Balance {
  readonly streams: readonly StreamAccount[];
  readonly tables: readonly TableAccount[];
}

/**
 * Accounts for every record and row of a run. Throws RECONCILE_UNBALANCED, before anything is published, if a record or row
 * is lost or comes from nowhere.
 * @param after tables of the new snapshot, with row counts from the footers of its files
 */
export function balance(
  { pipeline }: Pick<Job, 'pipeline'>,
  passes: readonly LoadedPass[],
  counts: Readonly<Record<string, TableChange>>,
  after: Manifest['tables'],
): Balance {
  const streams = [...new Set(passes.map(({ record }) => record.stream))].map((stream) => {
    const own = passes.filter(({ record }) => record.stream === stream);
    return {
      stream,
      served: sumOf(own, ({ served }) => served),
      landed: sumOf(own, ({ records }) => records),
      loaded: sumOf(own, ({ loaded }) => loaded),
      unchanged: sumOf(own, ({ unchanged }) => unchanged),
      rejected: sumOf(own, ({ rejected }) => rejected),
      rejectedValues: sumOf(own, ({ rejectedValues }) => rejectedValues),
    };
  });
  const tables = lakeTables().flatMap(({ name, gone }) => {
    const change = counts[name];
    if (change === undefined) return [];
    const row = {
      table: name,
      before: storedBefore(change),
      inserted: change.inserted,
      removed: gone === 'remove' ? change.gone : 0,
      after: after[name]?.rows ?? 0,
    };
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
        hint: 'the last snapshot stays current and the pages stay in landing; lotlake verify says whether the last snapshot is damaged, and lotlake run rebuild makes the lake again then; if it is sound, keep the pages and report this with the message',
      },
    );
  return { streams, tables };
}
