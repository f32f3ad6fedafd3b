import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../config/package-root.js';
import { count, sumOf } from '../query/printable.js';
import type { ExportedTable, ExportFacts } from './plan.js';
import { exportFormats } from './request.js';

const format = z.strictObject({
  media: z.string(),
  /** Whether DuckDB reads it by its path. */
  duckdb: z.boolean(),
  /** What reads a file with pandas. */
  pandas: z.string(),
  spreadsheets: z.string(),
  notes: z.string(),
  /** Notes for the compat profile. */
  compat: z.string().optional(),
});

/** What an export says of itself: its first page, and each format. */
export const about = z
  .strictObject({ page: z.string(), formats: z.record(z.enum(exportFormats), format) })
  .parse(parse(readFileSync(join(packageRoot, 'site', 'export.yml'), 'utf8')));

/** The page that a reader of an export opens first. */
export function readme(facts: ExportFacts, tables: readonly ExportedTable[]): string {
  const { request, manifest } = facts;
  const { notes, compat = notes } = about.formats[request.format];
  return fill(about.page, {
    ...{ version: facts.version, created: facts.createdAt },
    ...{ snapshot: manifest.snapshot_id, published: manifest.created_at },
    contents: tables.map(contentsLine).join('\n'),
    filters: filters(request),
    opening: opening(request.format, tables).join('\n\n'),
    notes: request.profile === 'compat' ? compat : notes,
  });
}

/** A text with values in the place of their names in braces. */
const fill = (text: string, values: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? '');

function contentsLine({ plan, files }: ExportedTable): string {
  const rows = count(sumOf(files, (file) => file.rows));
  const bytes = count(sumOf(files, (file) => file.bytes));
  return `| ${plan.name} | ${plan.grain} | ${rows} | ${plan.columns.length} | ${files.length} | ${bytes} |`;
}

function filters({ where, columns }: ExportFacts['request']): string {
  const which = columns === undefined ? 'all columns' : `the columns ${columns.join(', ')}`;
  if (where === undefined) return `All rows, and ${which}.`;
  return `Rows for which this is true, and ${which}.\n\n${fenced('sql', where)}`;
}

/** How to open the first table. */
function opening(name: ExportFacts['request']['format'], [table]: readonly ExportedTable[]): string[] {
  const { duckdb, pandas, spreadsheets } = about.formats[name];
  const [first = '', ...others] = table?.files.map(({ path }) => path) ?? [];
  const pattern = others.length === 0 ? first : first.replace(/-0001\./, '-*.');
  const instants = table?.plan.columns.filter(({ type }) => /^(TIMESTAMP|DATE)/.test(type)) ?? [];
  const times = instants.map((column) => `"${column.name}"`).join(', ');
  const read = (path: string): string => fill(pandas, { path, times });
  const python =
    others.length === 0
      ? [`table = ${read(`"${first}"`)}`]
      : [
          'import glob',
          `files = sorted(glob.glob("${pattern}"))`,
          `table = pd.concat([${read('file')} for file in files], ignore_index=True)`,
        ];
  return [
    ...(duckdb ? [fenced('sql', `-- DuckDB\nselect * from '${pattern}' limit 10;`)] : []),
    fenced('python', ['# pandas', 'import pandas as pd', ...python].join('\n')),
    spreadsheets,
  ];
}

/** A block of code that holds its text whatever is in it. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
