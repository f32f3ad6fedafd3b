import { readlinkSync } from 'node:fs';
import { basename, join } from 'node:path';

/** File name of the DuckDB database of a snapshot. */
export const WAREHOUSE = 'warehouse.duckdb';

/** Folders and files of one output folder. */
export interface Layout {
  readonly output: string;
  readonly landing: string;
  readonly lake: string;
  readonly snapshots: string;
  /** Symbolic link to the published snapshot. */
  readonly current: string;
  /** Scratch space; nothing in it outlives the run that made it. */
  readonly work: string;
  readonly lock: string;
  /** Rows that failed the data tests of the last run. */
  readonly failedTests: string;
}

/** Where everything is, below an output folder. */
export function layoutOf(output: string): Layout {
  const lake = join(output, 'lake');
  return {
    output,
    landing: join(output, 'landing'),
    lake,
    snapshots: join(lake, 'snapshots'),
    current: join(lake, 'current'),
    work: join(output, 'work'),
    lock: join(output, 'lotlake.lock'),
    failedTests: join(output, 'failed-tests'),
  };
}

/** Folder of the published snapshot, resolved, or undefined where nothing was published yet. */
export function currentSnapshot(layout: Layout): string | undefined {
  try {
    return join(layout.snapshots, basename(readlinkSync(layout.current)));
  } catch {
    return undefined;
  }
}
