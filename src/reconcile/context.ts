import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, type Outcome } from '../config/lotlake-error.js';
import type { Session } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import type { TableSchema } from '../lake/schema.js';
import type { LoadedPass } from '../load/loader.js';

/** Everything that merging needs. */
export interface MergeContext {
  readonly connection: DuckDBConnection;
  /** Another connection to the same database, for work side by side. */
  connect(): Promise<DuckDBConnection>;
  /** Gives work all of the memory where it does not fit into it beside other work. */
  readonly alone?: Session['alone'];
  readonly schemas: ReadonlyMap<string, TableSchema>;
  /** Folder with the staged rows, one folder a table. */
  readonly stage: string;
  /** Folder of the snapshot that is being written, or of a state on the way to it. */
  readonly target: string;
  /** Id of the snapshot that is being written. */
  readonly snapshot: string;
  readonly base: BaseState | undefined;
  /** The run whose rows are merged: in a rebuild that of a replayed night. */
  readonly runId: string;
  /** When that run began; of a replayed night, when its first pass began. */
  readonly startedAt: string;
  /** When the pass over `/cars` began, else the run: the time at which rows were seen. */
  readonly seenAt: string;
  readonly passes: readonly LoadedPass[];
  readonly shrinkGuard: number;
  readonly allowShrink: boolean;
  /** Tables whose last state is small and held in memory while merging. */
  readonly held?: ReadonlySet<string>;
}

/** What became of the rows of a table. */
export interface TableCounts {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly writtenFiles: number;
  readonly writtenBytes: number;
  readonly linkedFiles: number;
  readonly linkedBytes: number;
}

/** New rows could not be merged with the last state, or a guard holds the run. */
export class ReconcileError extends LotlakeError {
  override readonly name = 'ReconcileError';
  constructor(
    code: 'RECONCILE_FAILED' | 'RECONCILE_SHRINK' | 'RECONCILE_UNBALANCED',
    message: string,
    rest: { outcome?: Outcome; hint?: string; cause?: unknown } = {},
  ) {
    super(message, { code, stage: 'reconcile', ...rest });
  }
}
