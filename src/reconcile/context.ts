import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError, type Outcome } from '../config/lotlake-error.js';
import type { Session } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import type { TableSchema } from '../lake/schema.js';
import type { PassManifest } from '../land/pass.js';

/** What the passes of this run prove. */
export interface Evidence {
  /** When the run's pass over `/cars` began: the time at which its rows were seen. */
  readonly seenAt: string;
  readonly runId: string;
  /** Whether an earlier run began the pass, so that others may have seen of the feed since. */
  readonly isResumed: boolean;
  /** Whether a full pass over `/cars` is complete, so that what it lacks is absent. */
  readonly carsComplete: boolean;
  /** What the pass over `/cars` asked for: everything, what changed in some minutes, or single vehicles. */
  readonly kind: PassManifest['kind'];
  /**
   * Whether vehicles came from the feed, which lists active ones alone. What lookups bring says nothing about what they
   * lack, and does not make an archived lot active.
   */
  readonly fromFeed: boolean;
  /** Sources that were asked for one by one and walked whole; undefined means that all of the key were asked for. */
  readonly sources: readonly number[] | undefined;
  /** Sources that the key lacked for some of the pass, so that it says nothing about them. */
  readonly hidden: readonly number[];
  /** Ranges of vehicle ids, borders left out, that the pass proves nothing about. */
  readonly unproven: readonly (readonly [number, number])[];
  /** Streams whose pass is complete, so that what it lacks is gone. */
  readonly completeStreams: ReadonlySet<string>;
}

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
  readonly evidence: Evidence;
  readonly shrinkGuard: number;
  readonly allowShrink: boolean;
  /** Vehicles that came as the last state has them, and were not staged, by the order of receipt of their page. */
  readonly unchanged: readonly (readonly [number, readonly number[]])[];
  /** The list that each page of the pass over `/cars` is of, by the order of its receipt. */
  readonly lists: ReadonlyMap<number, string>;
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
