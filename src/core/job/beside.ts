import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import type { BaseState } from '../lake/base.js';
import type { RunRecord } from './run-records.js';

/** Result of a data test, without the failing rows. */
export interface TestFailures {
  readonly model: string;
  readonly test: string;
  readonly severity: 'error' | 'warn';
  readonly failures: number;
}

/** What observers read about a run. */
interface Observed {
  readonly record: Readonly<RunRecord>;
  /** Earlier runs, oldest first. */
  readonly before: readonly RunRecord[];
  /** Earlier runs that were killed and not reported yet. */
  readonly killed: readonly RunRecord[];
  readonly tests: readonly TestFailures[];
}

/** Report runs to other systems. They never throw: what fails is a warning. */
export interface Observers {
  /** Reports that a run begins. Does not wait. */
  begun(run: Observed): void;
  /** Reports the end of a run, and waits some seconds for it. */
  ended(run: Observed): Promise<void>;
}

/** What observers need of a run. */
export interface ObserverOptions {
  readonly config: Config;
  readonly reporter: { warn(message: string): void };
  readonly signal?: AbortSignal | undefined;
}

/** What stands beside a night, and what it needs none of: the pipelines bring it, and tests may leave it out. */
export interface Beside {
  observe(options: ObserverOptions): Promise<Observers>;
  /** Writes metadata for other engines into the folders of snapshots, oldest first. */
  describe(connection: DuckDBConnection, snapshots: readonly BaseState[]): Promise<void>;
}
