import type { Session } from '../duck/session.js';
import type { BaseState } from '../lake/base.js';
import type { FileUse } from '../lake/files.js';
import type { TableSchema } from '../lake/schema.js';
import type { LoadedPass } from '../load/loader.js';

/** Everything that merging needs. */
export interface MergeContext extends Pick<Session, 'connection' | 'connect' | 'alone'> {
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
  /** Tables whose rows in the last snapshot are few and held in memory while merging. */
  readonly held?: ReadonlySet<string>;
}

/** What became of the rows of a table, and which of its files were written. */
export type TableCounts = FileUse & Readonly<Record<'inserted' | 'updated' | 'unchanged' | 'gone', number>>;
