import type { Manifest } from '../lake/manifest.js';
import { lakeTables } from '../lake/tables.js';
import type { LoadedPass } from '../load/loader.js';
import { ReconcileError, type TableCounts } from '../reconcile/context.js';

/** Records of a stream on their way: every one that was served is landed, and then loaded or rejected. */
interface StreamBalance {
  readonly stream: string;
  /** As the answers number them (`meta.from` to `meta.to`), or as they were cut where an answer does not say. */
  readonly served: number;
  readonly landed: number;
  /** With those that came as the lake has them. */
  readonly loaded: number;
  readonly unchanged: number;
  readonly rejected: number;
  /** Values that the loaded records lack, since they break the contract. */
  readonly rejectedValues: number;
}

/** Rows of a table: before + inserted - removed + carried = after. */
interface TableBalance {
  readonly table: string;
  readonly before: number;
  readonly inserted: number;
  /** Rows that their parent replaced; no other table loses rows. */
  readonly removed: number;
  /** Rows that a rebuild takes over from the published snapshot. */
  readonly carried: number;
  /** As the footers of the new files say. */
  readonly after: number;
}

/** What a run has to account for before it publishes. */
export interface Balance {
  readonly streams: readonly StreamBalance[];
  readonly tables: readonly TableBalance[];
}

/**
 * Accounts for every record and row of a run. Throws ReconcileError, before anything is published, if a record or row is
 * lost or comes from nowhere.
 * @param before rows by table of the state that was merged with
 * @param carries whether rows may come from the published snapshot, too
 */
export function balance(
  passes: readonly LoadedPass[],
  before: Manifest['tables'],
  counts: Readonly<Record<string, TableCounts>>,
  after: Manifest['tables'],
  carries: boolean,
): Balance {
  const streams = [...new Set(passes.map(({ manifest }) => manifest.stream))].map((stream): StreamBalance => {
    const own = passes.filter(({ manifest }) => manifest.stream === stream);
    return {
      stream,
      served: sumOf(own, 'served'),
      landed: sumOf(own, 'records'),
      loaded: sumOf(own, 'loaded'),
      unchanged: sumOf(own, 'unchanged'),
      rejected: sumOf(own, 'rejected'),
      rejectedValues: sumOf(own, 'rejectedValues'),
    };
  });
  const tables = lakeTables().flatMap((table): TableBalance[] => {
    const change = counts[table.name];
    if (change === undefined) return [];
    const row = {
      table: table.name,
      before: before[table.name]?.rows ?? 0,
      inserted: change.inserted,
      removed: table.gone === 'remove' ? change.gone : 0,
      after: after[table.name]?.rows ?? 0,
    };
    return [{ ...row, carried: carries ? row.after - row.before - row.inserted + row.removed : 0 }];
  });
  const wrong = [...streams.filter(isUneven).map(describeStream), ...tables.filter(isOff).map(describeTable)];
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

const isUneven = ({ landed, loaded, rejected }: StreamBalance): boolean => landed !== loaded + rejected;

const isOff = ({ before, inserted, removed, carried, after }: TableBalance): boolean =>
  carried < 0 || before + inserted - removed + carried !== after;

const describeStream = ({ stream, landed, loaded, rejected }: StreamBalance): string =>
  `${stream}: ${landed} records landed, ${loaded} loaded and ${rejected} rejected`;

const describeTable = ({ table, before, inserted, removed, after }: TableBalance): string =>
  `${table}: ${before} rows, ${inserted} new and ${removed} removed make ${after}`;
