import { basename, resolve } from 'node:path';
import { bytesOfAmount } from '../config/memory.js';
import { ShareError } from '../query/share-error.js';

/** File formats of an export. */
export const exportFormats = ['parquet', 'csv', 'arrow'] as const;

/** Sets of Parquet features: all that lotlake uses, or what old readers know. */
export const exportProfiles = ['default', 'compat'] as const;

/** An export as the user asks for it; what is left out has its default. */
export interface ExportInput {
  readonly tables: readonly string[];
  /** Folder to make, relative to the working folder. */
  readonly to: string;
  /** One SQL expression over the table; only rows for which it is true are exported. */
  readonly where?: string | undefined;
  /** Columns in the order that is wanted; all by default. */
  readonly columns?: readonly string[] | undefined;
  /** Parquet by default. */
  readonly format?: (typeof exportFormats)[number] | undefined;
  readonly profile?: (typeof exportProfiles)[number] | undefined;
  /** Size such as 250MB at which a data file is closed and the next begun. */
  readonly maxBytes?: string | undefined;
  /** Begin CSV files with a byte order mark. */
  readonly bom?: boolean | undefined;
  /** Make one .zip instead of a folder. */
  readonly zip?: boolean | undefined;
  /** Replace an export that is there already. */
  readonly force?: boolean | undefined;
}

/** An export after validation: complete, and free of contradictions; `to` is absolute, `maxBytes` in bytes. */
export type ExportRequest = Pick<ExportInput, 'tables' | 'to'> &
  Required<Pick<ExportInput, 'where' | 'columns'>> & {
    readonly format: (typeof exportFormats)[number];
    readonly profile: (typeof exportProfiles)[number];
    readonly maxBytes: number;
    readonly bom: boolean;
    readonly zip: boolean;
    readonly force: boolean;
  };

/** Size of a data file where none is asked for. */
export const DEFAULT_MAX_BYTES = '250MB';

/** Turns what the user gave into a request. Throws ShareError SHARE_EXPORT_OPTIONS where two options do not go together. */
export function exportRequest(input: ExportInput, cwd: string): ExportRequest {
  const request: ExportRequest = {
    tables: [...new Set(input.tables.map((table) => table.toLowerCase()))],
    to: resolve(cwd, input.to),
    where: input.where,
    columns: input.columns,
    format: input.format ?? 'parquet',
    profile: input.profile ?? 'default',
    maxBytes: bytesOf(input.maxBytes ?? DEFAULT_MAX_BYTES),
    bom: input.bom ?? false,
    zip: input.zip ?? false,
    force: input.force ?? false,
  };
  const problem = problemOf(request);
  if (problem !== undefined) throw new ShareError('SHARE_EXPORT_OPTIONS', problem, { outcome: 'usage' });
  return request;
}

function problemOf(request: ExportRequest): string | undefined {
  const { tables, where, columns, format, profile, bom, to } = request;
  if (tables.length === 0) return 'name the tables to export';
  if (tables.length > 1 && where !== undefined) return '--where is for one table at a time';
  if (tables.length > 1 && columns !== undefined) return '--columns is for one table at a time';
  if (columns?.length === 0) return '--columns names no column';
  if (profile === 'compat' && format !== 'parquet')
    return `--profile compat is for Parquet, not for ${format}`;
  if (bom && format !== 'csv') return `--bom is for CSV, not for ${format}`;
  if (basename(to) === '') return `${to} cannot be the folder of an export`;
  return undefined;
}

function bytesOf(text: string): number {
  const bytes = bytesOfAmount(text);
  if (bytes >= 1) return bytes;
  throw new ShareError('SHARE_EXPORT_OPTIONS', `--max-bytes ${text} is no size`, {
    outcome: 'usage',
    hint: 'write a size such as 250MB',
  });
}
