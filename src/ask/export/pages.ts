import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile, version } from '../../base/config/package-root.js';
import { count, fillText, printable } from '../../base/config/printable.js';
import type { Manifest } from '../../core/lake/manifest.js';
import { type ColumnEntry, columnCells, markdownTable, markdownText } from '../../core/model/dictionary.js';
import { dbtSources } from '../docs/dbt-sources.js';
import { csvLine } from '../query/csv.js';
import type { ExportedTable } from './data-files.js';
import { type ExportRequest, exportFormats } from './request.js';

/** The export that its pages describe. */
export interface ExportFacts {
  readonly request: ExportRequest;
  /** Manifest of the exported snapshot. */
  readonly manifest: Manifest;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly tables: readonly ExportedTable[];
}

const format = z.strictObject({
  media: z.string(),
  /** Whether DuckDB reads it by its path. */
  duckdb: z.boolean(),
  /** Python that reads a file with pandas. */
  pandas: z.string(),
  spreadsheets: z.string(),
  notes: z.string(),
  /** Notes for the compat profile. */
  compat: z.string().optional(),
});

/** Texts about an export: its first page, how to open it, and each format. */
const about = z
  .strictObject({
    page: z.string(),
    llms: z.string(),
    open: z.strictObject({ duckdb: z.string(), file: z.string(), files: z.string() }),
    formats: z.record(z.enum(exportFormats), format),
  })
  .parse(load(packageFile('site/export.yml')));

/** The files that explain the data of an export, by their names. */
export const pagesOf = (facts: ExportFacts): Readonly<Record<string, string>> => ({
  'README.md': readme(facts),
  'datapackage.json': `${JSON.stringify(descriptor(facts), null, 2)}\n`,
  'dictionary.csv': dictionaryCsv(facts),
  'dictionary.md': ['# Dictionary', ...facts.tables.map(dictionarySection)].join('\n\n').concat('\n'),
  'llms.txt': fillText(about.llms, {
    tables: facts.tables.map(listed).join('\n'),
    snapshot: facts.manifest.snapshot_id,
    published: facts.manifest.created_at,
  }),
  ...(facts.request.format === 'parquet' ? { 'sources.yml': sourcesOf(facts) } : {}),
});

/** A table in the list of an export for agents. */
const listed = ({ name, description, rows }: ExportedTable): string =>
  `- ${name}: ${printable(description)} (${count(rows)} rows)`;

/** Sources of dbt-duckdb, which runs in the folder of the export. */
const sourcesOf = ({ manifest, tables }: ExportFacts): string =>
  dbtSources(
    manifest,
    `An export of snapshot ${manifest.snapshot_id}. Paths are those from the folder in which dbt runs.`,
    tables.map((table) => {
      const [first = '', ...others] = table.files.map(({ path }) => path);
      return { ...table, location: others.length === 0 ? first : first.replace(/-0001\./, '-*.') };
    }),
  );

/** When each list of the service was last read whole. */
const readAt = ({ last_pass_at: at }: Manifest): string =>
  Object.entries(at)
    .map(([stream, time]) => `${stream} ${time}`)
    .join(', ') || 'none of it is known';

/** The page that a reader of an export opens first. */
function readme({ request, manifest, createdAt, tables }: ExportFacts): string {
  const { notes, compat = notes } = about.formats[request.format];
  const lines = tables.map(
    ({ name, grain, rows, columns, files, bytes }) =>
      `| ${name} | ${grain} | ${count(rows)} | ${columns.length} | ${files.length} | ${count(bytes)} |`,
  );
  return fillText(about.page, {
    version,
    created: createdAt,
    snapshot: manifest.snapshot_id,
    published: manifest.created_at,
    contents: lines.join('\n'),
    filters: filters(request),
    opening: opening(request.format, tables).join('\n\n'),
    notes: request.profile === 'compat' ? compat : notes,
    read: readAt(manifest),
  });
}

function filters({ where, columns }: ExportRequest): string {
  const which = columns === undefined ? 'all columns' : `the columns ${columns.join(', ')}`;
  if (where === undefined) return `All rows, and ${which}.`;
  return `Rows for which this is true, and ${which}.\n\n${fenced('sql', where)}`;
}

/** How to open the first table. */
function opening(name: ExportRequest['format'], [table]: readonly ExportedTable[]): string[] {
  const { duckdb, pandas, spreadsheets } = about.formats[name];
  const [first = '', ...others] = table?.files.map(({ path }) => path) ?? [];
  const pattern = others.length === 0 ? first : first.replace(/-0001\./, '-*.');
  const instants = table?.columns.filter(({ type }) => /^(TIMESTAMP|DATE)/.test(type)) ?? [];
  const times = instants.map((column) => `"${column.name}"`).join(', ');
  const texts = table?.columns.filter(({ type }) => type === 'VARCHAR') ?? [];
  const types = texts.map((column) => `"${column.name}": str`).join(', ');
  const [code, path] = others.length === 0 ? [about.open.file, `"${first}"`] : [about.open.files, 'file'];
  return [
    ...(duckdb ? [fenced('sql', fillText(about.open.duckdb, { pattern }))] : []),
    fenced('python', fillText(code, { pattern, read: fillText(pandas, { path, times, texts: types }) })),
    spreadsheets,
  ];
}

/** A block of code, fenced by more backticks than its text has in a row. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/**
 * The `datapackage.json` of an export: a Frictionless Data Package, version 2. A resource of several files has their
 * hashes in `parts`, because the standard has no place for them. `unit` and `lotlake` are members of our own.
 */
function descriptor({ request, manifest, createdAt, tables }: ExportFacts): object {
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: `lotlake-${manifest.snapshot_id.toLowerCase()}`,
    title: `Vehicle auction data: ${tables.map(({ name }) => name).join(', ')}`,
    description: `Exported from the snapshot that lotlake published at ${manifest.created_at}.`,
    created: createdAt,
    lotlake: {
      version,
      snapshot: manifest.snapshot_id,
      published: manifest.created_at,
      profile: request.profile,
      where: request.where ?? null,
      columns: request.columns ?? null,
    },
    resources: tables.map((table) => resource(request.format, table)),
  };
}

function resource(format: ExportRequest['format'], table: ExportedTable): object {
  const { name, grain, description, files, bytes, rows, columns, key } = table;
  const parts = files.map(({ sha256, ...part }) => ({ ...part, hash: `sha256:${sha256}` }));
  const [first, ...others] = parts;
  return {
    name,
    type: 'table',
    title: grain,
    description,
    path: others.length === 0 ? first?.path : files.map(({ path }) => path),
    format,
    mediatype: about.formats[format].media,
    encoding: 'utf-8',
    bytes,
    ...(others.length === 0 ? { hash: first?.hash } : {}),
    rows,
    parts,
    schema: {
      fields: columns.map((column, i) => ({ ...field(column), filled: table.filled[i] ?? undefined })),
      ...(key.length === 0 ? {} : { primaryKey: key }),
      missingValues: [''],
    },
  };
}

/** Types of Table Schema by DuckDB's types. Lists are `array`; any type that is not listed is `string`. */
const FIELD_TYPES: readonly (readonly [RegExp, string])[] = [
  [/\]$/, 'array'],
  [/^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?)$/, 'integer'],
  [/^(DOUBLE|FLOAT|DECIMAL.*)$/, 'number'],
  [/^BOOLEAN$/, 'boolean'],
  [/^TIMESTAMP/, 'datetime'],
  [/^DATE$/, 'date'],
];

/** A field of the schema. JSON leaves out a unit that is undefined. */
const field = ({ name, type, description, unit }: ColumnEntry): object => ({
  name,
  type: FIELD_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? 'string',
  description,
  unit,
});

const HEAD = ['table', 'column', 'type', 'unit', 'description', 'source', 'filled'];

/** The cells of a column, and the share of rows in which it is not null. */
const cellsOf = ({ columns, filled }: ExportedTable): string[][] =>
  columns.map((column, i) => [...columnCells(column), filled[i]?.toFixed(4) ?? '']);

/** The dictionary of an export as CSV, one line a column. */
function dictionaryCsv({ request, tables }: ExportFacts): string {
  const lines = tables.flatMap((table) =>
    cellsOf(table).map((cells) => [table.name, ...cells].map((cell) => (cell === '' ? null : cell))),
  );
  const texts = HEAD.map((name) => ({ name, type: 'VARCHAR' }));
  const written = [HEAD, ...lines].map((line) => csvLine(line, texts));
  return `${request.bom ? '\uFEFF' : ''}${written.join('')}`;
}

/** What a mart is computed from, for people who get the export alone. */
const computedFrom = (reads: readonly string[]): string =>
  reads.length === 0
    ? ''
    : ` Computed from ${reads.join(', ')}, which lotlake describes in docs/ask/tables.md.`;

/** The dictionary of a table as a section in Markdown. */
function dictionarySection(table: ExportedTable): string {
  const { name, description, grain, key, reads = [] } = table;
  const lines = cellsOf(table).map((cells) => {
    const [first, ...rest] = cells;
    return [`\`${first}\``, ...rest.map(markdownText)];
  });
  return [
    `## ${name}`,
    `${markdownText(description)} Grain: ${markdownText(grain)}. Key: ${key.length === 0 ? 'not exported' : key.join(', ')}.${computedFrom(reads)}`,
    markdownTable([HEAD.slice(1), ...lines]),
  ].join('\n\n');
}
