import { count, sumOf } from '../query/printable.js';
import type { ExportedTable, ExportFacts } from './plan.js';

/** The page that a reader of an export opens first. */
export function readme(facts: ExportFacts, tables: readonly ExportedTable[]): string {
  return [
    '# Vehicle auction data',
    introduction(facts),
    contents(tables),
    filters(facts),
    '## Open it',
    ...opening(facts, tables),
    '## Notes',
    notes(facts),
    '## Files',
    FILES,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

const introduction = ({ manifest, createdAt, version }: ExportFacts): string =>
  `Exported by lotlake ${version} at ${createdAt} from snapshot \`${manifest.snapshot_id}\`, published at ${manifest.created_at}. All times are UTC.`;

function contents(tables: readonly ExportedTable[]): string {
  const lines = tables.map(({ plan, files }) => {
    const rows = count(sumOf(files, (file) => file.rows));
    const bytes = count(sumOf(files, (file) => file.bytes));
    return `| ${plan.name} | ${plan.grain} | ${rows} | ${plan.columns.length} | ${files.length} | ${bytes} |`;
  });
  return [
    '| table | grain | rows | columns | files | bytes |',
    '| --- | --- | ---: | ---: | ---: | ---: |',
    ...lines,
  ].join('\n');
}

function filters({ request }: ExportFacts): string {
  const { where, columns } = request;
  const rows = where === undefined ? 'All rows' : 'Rows for which this is true';
  const which = columns === undefined ? 'all columns' : `the columns ${columns.join(', ')}`;
  const text = `${rows}, and ${which}.`;
  return where === undefined ? text : `${text}\n\n${fenced('sql', where)}`;
}

function opening(facts: ExportFacts, tables: readonly ExportedTable[]): string[] {
  const { format } = facts.request;
  const [first] = tables;
  const paths = first?.files.map(({ path }) => path) ?? [];
  const pattern = paths.length === 1 ? String(paths[0]) : `data/${first?.plan.name}-*.${format}`;
  const blocks = [fenced('python', PANDAS[format](paths, first))];
  if (format !== 'arrow') blocks.unshift(fenced('sql', `-- DuckDB\nselect * from '${pattern}' limit 10;`));
  return [...blocks, EXCEL[format]];
}

type Opening = (paths: readonly string[], table: ExportedTable | undefined) => string;

const together = (read: string, paths: readonly string[]): string =>
  paths.length === 1
    ? `table = ${read.replace('PATH', `"${paths[0]}"`)}`
    : [
        'import glob',
        `files = sorted(glob.glob("${String(paths[0]).replace(/-0001\./, '-*.')}"))`,
        `table = pd.concat([${read.replace('PATH', 'file')} for file in files], ignore_index=True)`,
      ].join('\n');

const PANDAS: Readonly<Record<ExportFacts['request']['format'], Opening>> = {
  parquet: (paths) => `# pandas\nimport pandas as pd\n${together('pd.read_parquet(PATH)', paths)}`,
  arrow: (paths) => `# pandas\nimport pandas as pd\n${together('pd.read_feather(PATH)', paths)}`,
  csv: (paths, table) => {
    const times = table?.plan.columns.filter(({ type }) => /^(TIMESTAMP|DATE)/.test(type)) ?? [];
    const names = times.map(({ name }) => `"${name}"`).join(', ');
    return `# pandas\nimport pandas as pd\n${together(`pd.read_csv(PATH, parse_dates=[${names}])`, paths)}`;
  },
};

const EXCEL: Readonly<Record<ExportFacts['request']['format'], string>> = {
  csv: 'Excel, LibreOffice: *Data, From Text/CSV*, UTF-8, comma. Opened by a double click, Excel reads the file as UTF-8 only where it was exported with `--bom`. Instants come in as text, which sorts right; Power Query, or `=DATEVALUE(LEFT(A2,10))`, makes dates of them. A sheet holds 1,048,576 rows.',
  parquet:
    'Excel: *Data, Get Data, From File, From Parquet*. Other spreadsheets read CSV: export with `--format csv`.',
  arrow:
    'polars: `pl.read_ipc(...)`; R: `arrow::read_feather(...)`. Spreadsheets read CSV: export with `--format csv`.',
};

function notes({ request }: ExportFacts): string {
  if (request.format === 'csv') return CSV_NOTES;
  if (request.profile === 'compat') return COMPAT_NOTES;
  return 'Ids are 64-bit integers, amounts doubles, instants UTC in microseconds, lists lists of text.';
}

const CSV_NOTES = [
  '- RFC 4180: UTF-8, commas, lines end with CR LF, a header in every file.',
  '- Nothing between two commas is null; an empty text is `""`.',
  '- Instants are ISO 8601 in UTC, dates `YYYY-MM-DD`, lists JSON.',
  '- A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, a tab or a carriage return and is no plain number) has an apostrophe before it. A text that begins with apostrophes and then one of these has one more. To get the text back, take one apostrophe away where one of these follows.',
].join('\n');

const COMPAT_NOTES =
  'Parquet for old readers: snappy, version 1 pages; ids are 64-bit integers, amounts doubles, instants UTC in microseconds, lists JSON text.';

const FILES = [
  '- `data/`: the tables',
  '- `dictionary.md`, `dictionary.csv`: what each column means, with type, unit and place in the feed',
  '- `datapackage.json`: the same for programs, a Frictionless Data Package',
  '- `SHA256SUMS`: check the files with `sha256sum -c SHA256SUMS`',
].join('\n');

/** A block of code that holds its text whatever is in it. */
function fenced(language: string, text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}
