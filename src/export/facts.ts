import type { Manifest } from '../lake/manifest.js';
import type { DataFile } from './data-file.js';
import type { TablePlan } from './plan.js';
import type { ExportRequest } from './request.js';

/** What the pages of an export tell of it. */
export interface ExportFacts {
  readonly request: ExportRequest;
  /** Of the snapshot that is exported. */
  readonly manifest: Manifest;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  /** Version of lotlake. */
  readonly version: string;
}

/** A table of an export with its data files. */
export interface ExportedTable {
  readonly plan: TablePlan;
  readonly files: readonly DataFile[];
}
