import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { literal, type Row, rows } from '../../duck/session.js';
import { layoutOf } from '../../lake/layout.js';
import { LandError } from '../../land/land-error.js';
import { passFolder, readPass } from '../../land/pass.js';
import { openLake } from '../../query/open-lake.js';
import { clip, printable } from '../../query/printable.js';
import type { StreamName } from '../../service/streams.js';
import type { Effects } from '../effects.js';
import { gridOf, number } from '../grid.js';
import { streamOf } from '../stream-name.js';

/** Values or records of one stream that break the contract in one way. */
interface Group {
  readonly stream: string;
  /** Place in the record, without positions in lists. */
  readonly path: string;
  readonly expected: string;
  /** Kind of what was found. */
  readonly found: string;
  /** Column that lacks the values, with its table; null where records were rejected whole. */
  readonly column: string | null;
  readonly rejects: number;
  readonly example: Example;
}

/** The first of a group. */
interface Example {
  readonly pass_id: string;
  readonly list: string;
  readonly page: number;
  /** Position in the page, from 0. */
  readonly position: number;
  readonly record_id: string | null;
  readonly run_id: string;
  readonly path: string;
  readonly found: string;
  /** The beginning of the value or record. */
  readonly raw: string;
  /** File in landing, and the line in it; null where landing no longer holds the pass. */
  readonly file: string | null;
  readonly line: number | null;
}

/** Longest beginning of a value or record that is shown. */
const RAW = 160;

/** Lists the values and records that were set aside, by stream, place and reason, and says how they come in. */
export async function rejects(
  options: {
    readonly run: string | undefined;
    readonly stream: string | undefined;
    readonly json: boolean;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const stream = options.stream === undefined ? undefined : streamOf(options.stream, '--stream');
  const lake = await openLake(config, 'rejects');
  try {
    const found = await rows(lake.session.connection, groupsSql(options.run, stream));
    const { landing } = layoutOf(config.output);
    const groups = found.map((row) => groupOf(row, landing));
    effects.out(options.json ? `${JSON.stringify(groups)}\n` : text(groups, effects.cwd));
  } finally {
    lake.close();
  }
}

/** What was rejected; an older lotlake did not set aside single values. */
const REJECTS = `(
  from rejects
  union all by name select cast(null as varchar) as table_name, cast(null as varchar) as column_name where false
)`;

function groupsSql(run: string | undefined, stream: StreamName | undefined): string {
  const first = ['pass_id', 'list', 'page', 'position', 'record_id', 'run_id', 'path', 'found', 'raw'].map(
    (column) => `first(${column} order by pass_id, list, page, position, path) as first_${column}`,
  );
  return `
    select stream, regexp_replace(path, '\\[\\d+\\]', '[]', 'g') as place, expected,
      table_name || '.' || column_name as lacking,
      split_part(found, ' ', 1) as kind, count(*) as rejects, ${first.join(', ')}
    from ${REJECTS}
    where ${run === undefined ? 'true' : `run_id = ${literal(run)}`}
      and ${stream === undefined ? 'true' : `stream = ${literal(stream)}`}
    group by all order by rejects desc, stream, place, expected, kind`;
}

function groupOf(row: Row, landing: string): Group {
  const stream = String(row.stream);
  const place = {
    pass_id: String(row.first_pass_id),
    list: String(row.first_list),
    page: Number(row.first_page),
    position: Number(row.first_position),
  };
  const file = fileOf(landing, stream, place);
  return {
    stream,
    path: printable(row.place),
    expected: printable(row.expected),
    found: printable(row.kind),
    column: row.lacking === null ? null : printable(row.lacking),
    rejects: Number(row.rejects),
    example: {
      ...place,
      record_id: row.first_record_id === null ? null : printable(row.first_record_id),
      run_id: String(row.first_run_id),
      path: printable(row.first_path),
      found: clip(printable(row.first_found), RAW),
      raw: clip(printable(row.first_raw), RAW),
      file,
      line: file === null ? null : place.position + 1,
    },
  };
}

/** The file of landing that holds a page; of a page that was read again, the one that was received last. */
function fileOf(
  landing: string,
  stream: string,
  { pass_id, list, page }: Pick<Example, 'pass_id' | 'list' | 'page'>,
): string | null {
  const folder = passFolder(landing, { stream: streamOf(stream, 'rejects'), pass_id });
  if (!existsSync(join(folder, 'pass.json'))) return null;
  try {
    const landed = readPass(folder).pages.findLast((known) => known.list === list && known.page === page);
    return landed === undefined ? null : join(folder, landed.file);
  } catch (error) {
    // lotlake status names a pass that cannot be read; what the table knows is told all the same.
    if (error instanceof LandError) return null;
    throw error;
  }
}

function text(groups: readonly Group[], cwd: string): string {
  if (groups.length === 0) return 'nothing was rejected\n';
  const grid = gridOf(['stream', 'path', 'expected', 'found', 'without a value', '>rejects']);
  for (const { stream, path, expected, found, column, rejects } of groups) {
    const lacking = clip(column ?? 'the whole record', 50);
    grid.push([stream, path, clip(expected, 50), clip(found, 50), lacking, number(rejects)]);
  }
  return [
    grid.toString(),
    ...groups.map((group) => exampleText(group, cwd)),
    'The raw values and records are in the column raw of the table rejects, and in landing while it keeps the pass.',
    'Once the contract has learned, lotlake run rebuild brings those in that landing keeps.',
    '',
  ].join('\n');
}

function exampleText({ stream, example }: Group, cwd: string): string {
  const { path, found, pass_id, list, page, position, record_id, file, line, raw } = example;
  const inList = list === '' ? '' : ` of list ${printable(list)}`;
  return [
    `${stream} ${path}: ${found}`,
    `  pass ${pass_id}, page ${page}${inList}, position ${position}, record ${record_id ?? 'without id'}, run ${example.run_id}`,
    file === null ? '  landing no longer holds the pass' : `  ${relative(cwd, file)}, line ${line}`,
    `  ${raw}`,
  ].join('\n');
}
