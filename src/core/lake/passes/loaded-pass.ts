import type { Fingerprints } from './fingerprints.js';
import type { Pass } from './pass.js';

/** A member that the contract does not know, as a run reports it. */
export interface DriftReport {
  readonly stream: string;
  readonly path: string;
  readonly kinds: readonly string[];
  /** Where it was first seen. */
  readonly pass_id: string;
  readonly page: number;
  readonly position: number;
  /** Whether it is kept in `extra`; a member that differs from another only by case is kept in landing alone. */
  readonly kept: boolean;
}

/** What became of the records of a pass, in numbers of records unless it is said otherwise. */
interface LoadCounts {
  /** As the answers of the service say, else as counted. */
  readonly served: number;
  readonly records: number;
  /** What the lake now holds: staged records, and unchanged ones. */
  readonly loaded: number;
  /** Equal to what the lake holds, and not read again. */
  readonly unchanged: number;
  readonly rejected: number;
  /** Values that loaded records lack, because they break the contract. */
  readonly rejectedValues: number;
}

/** The staged records of a pass. */
export interface StagedRecords extends LoadCounts {
  readonly drift: readonly DriftReport[];
  /** Fingerprints of the loaded records of vehicles, page by page. */
  readonly prints: readonly Fingerprints[];
  /** Ids of the vehicles whose records the lake has already, by the `seq` of their page. */
  readonly unchangedIds: ReadonlyMap<number, readonly number[]>;
}

/** An unknown member, and the run that first reported it; null for this run. */
export type DatedDrift = DriftReport & { readonly since: string | null };

/** A pass whose records are staged. */
export interface LoadedPass extends StagedRecords, Pick<Pass, 'folder' | 'record'> {
  readonly drift: readonly DatedDrift[];
}
