import { basename } from 'node:path';
import { z } from 'zod';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { parseBytes } from '../../base/config/memory.js';

/** File formats of an export. */
export const exportFormats = ['parquet', 'csv', 'xlsx', 'arrow'] as const;

/** Sets of Parquet features: all that lotlake uses, or what old readers know. */
export const exportProfiles = ['default', 'compat'] as const;

/** Default size of a data file. */
export const DEFAULT_MAX_BYTES = '250MB';

const input = z.object({
  /** In lower case, each once. */
  tables: z.array(z.string()).transform((names) => [...new Set(names.map((name) => name.toLowerCase()))]),
  /** Folder to make, as an absolute path. */
  to: z.string(),
  where: z.string().optional(),
  /** Columns in their order in the export; all by default. */
  columns: z.array(z.string()).optional(),
  format: z.enum(exportFormats).default('parquet'),
  profile: z.enum(exportProfiles).default('default'),
  /** Size such as 250MB at which a data file is closed and the next begun. */
  maxBytes: z.string().default(DEFAULT_MAX_BYTES).transform(parseBytes),
  bom: z.boolean().default(false),
  zip: z.boolean().default(false),
  force: z.boolean().default(false),
});

/** An export as the user requests it; members that are left out get their default. */
export type ExportInput = Readonly<z.input<typeof input>>;

/** A request after validation: complete and consistent; `maxBytes` is in bytes. */
export type ExportRequest = Readonly<z.output<typeof input>>;

/** Validates a request. Throws EXPORT_OPTIONS, for example for two options that do not go together. */
export function exportRequest(given: ExportInput): ExportRequest {
  const request = input.parse(given);
  if (!(request.maxBytes >= 1))
    throw new LotlakeError('EXPORT_OPTIONS', `--max-bytes ${given.maxBytes} is not a size`, {
      outcome: 'usage',
      hint: 'write a size such as 250MB',
    });
  const problem = problemOf(request);
  if (problem !== undefined) throw new LotlakeError('EXPORT_OPTIONS', problem, { outcome: 'usage' });
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
