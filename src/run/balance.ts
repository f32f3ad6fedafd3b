import type { Manifest } from '../lake/manifest.js';
import { lakeTables } from '../lake/tables.js';
import type { LoadedPass } from '../load/loader.js';
import { ReconcileError, type TableCounts } from '../reconcile/context.js';

/**
 * Accounts for every record and row of a run. Throws ReconcileError, before anything is published, if a record or row is
 * lost or comes from nowhere.
 * @param after rows by table as the footers of the new files say
 * @param carries whether rows may come from the published snapshot, too
 */
export function balance(
  passes: readonly LoadedPass[],
  counts: Readonly<Record<string, TableCounts>>,
  after: Manifest['tables'],
  carries: boolean,
) {
  const streams = [...new Set(passes.map(({ manifest }) => manifest.stream))].map((stream) => {
    const own = passes.filter(({ manifest }) => manifest.stream === stream);
    return {
      stream,
      /** As the answers number them (`meta.from` to `meta.to`), or as they were cut where an answer does not say. */
      served: sumOf(own, 'served'),
      landed: sumOf(own, 'records'),
      /** With those that came as the lake has them. */
      loaded: sumOf(own, 'loaded'),
      unchanged: sumOf(own, 'unchanged'),
      rejected: sumOf(own, 'rejected'),
      /** Values that the loaded records lack, since they break the contract. */
      rejectedValues: sumOf(own, 'rejectedValues'),
    };
  });
  const tables = lakeTables().flatMap(({ name, gone }) => {
    const change = counts[name];
    if (change === undefined) return [];
    const row = {
      table: name,
      before: change.unchanged + change.updated + change.gone,
      inserted: change.inserted,
      /** Rows that their parent replaced; no other table loses rows. */
      removed: gone === 'remove' ? change.gone : 0,
      after: after[name]?.rows ?? 0,
    };
    /** Rows that a rebuild takes over from the published snapshot. */
    const carried = carries ? row.after - row.before - row.inserted + row.removed : 0;
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
    throw new ReconcileError(
      'RECONCILE_UNBALANCED',
      `the numbers of this run do not agree: ${wrong.join('; ')}`,
      {
        outcome: 'held',
        hint: 'the last snapshot stays current and the pages stay in landing; keep them, and report this with the message',
      },
    );
  return { streams, tables };
}

type Counted = 'served' | 'records' | 'loaded' | 'unchanged' | 'rejected' | 'rejectedValues';

/** Sums up what some passes counted. */
export const sumOf = (passes: readonly LoadedPass[], counted: Counted): number =>
  passes.reduce((sum, pass) => sum + pass[counted], 0);
