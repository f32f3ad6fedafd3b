import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { LotlakeError } from '../../config/lotlake-error.js';
import { literal, type Row, rows } from '../../duck/session.js';
import { layoutOf } from '../../lake/layout.js';
import { readPass } from '../../land/pass.js';
import { readLake } from '../../query/open-lake.js';
import { clip, count, printable } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import { command } from '../command.js';
import { streamOf } from '../option-values.js';

/** Longest beginning of a value or record that is shown. */
const RAW = 160;

/** Lists the values and records that were set aside, by stream, place and reason, with an example of each. */
export const rejects = command({
  options: {
    run: { type: 'string', describe: 'rejected by this run alone' },
    stream: { type: 'string', describe: 'of this stream alone' },
  },
  async run({ run, stream, print, config }, effects) {
    const { landing } = layoutOf(config.output);
    const chosen = stream === undefined ? undefined : streamOf(stream, '--stream');
    const sql = groupsSql({ run_id: run, stream: chosen });
    const found = await readLake(config, { named: 'rejects' }, ({ session }) =>
      rows(session.connection, sql),
    );
    const groups = found.map((row) => groupOf(row, landing));
    print(groups, () => text(groups, effects.cwd));
  },
});

/** Rejects in groups that break the contract in one way; an older lotlake did not set aside single values. */
function groupsSql(chosen: Readonly<Record<string, string | undefined>>): string {
  const first = ['pass_id', 'list', 'page', 'position', 'record_id', 'run_id', 'path', 'found', 'raw'].map(
    (column) => `first(${column} order by pass_id, list, page, position, path) as first_${column}`,
  );
  const conditions = Object.entries(chosen).map(([column, value]) =>
    value === undefined ? 'true' : `${column} = ${literal(value)}`,
  );
  return `
    select stream, regexp_replace(path, '\\[\\d+\\]', '[]', 'g') as place, expected,
      table_name || '.' || column_name as lacking,
      split_part(found, ' ', 1) as kind, count(*) as rejects, ${first.join(', ')}
    from (
      from rejects
      union all by name select cast(null as varchar) as table_name, cast(null as varchar) as column_name where false
    )
    where ${conditions.join(' and ')}
    group by all order by rejects desc, stream, place, expected, kind`;
}

/** A group as it is told; `path` is without positions in lists, and `column` null if the records were rejected whole. */
function groupOf(row: Row, landing: string) {
  const stream = String(row.stream);
  const place = {
    pass_id: String(row.first_pass_id),
    list: String(row.first_list),
    page: Number(row.first_page),
    position: Number(row.first_position),
  };
  const folder = join(landing, streamOf(stream, 'rejects'), place.pass_id);
  const file = fileOf(folder, place.list, place.page);
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

type Group = ReturnType<typeof groupOf>;

/** The file of landing that holds a page, as it was received last; null if landing no longer holds the pass. */
function fileOf(folder: string, list: string, page: number): string | null {
  if (!existsSync(join(folder, 'pass.json'))) return null;
  try {
    const landed = readPass(folder).pages.findLast((known) => known.list === list && known.page === page);
    return landed === undefined ? null : join(folder, landed.file);
  } catch (error) {
    // lotlake status names a pass that cannot be read; here the table still tells what it knows.
    if (error instanceof LotlakeError && error.stage === 'land') return null;
    throw error;
  }
}

function text(groups: readonly Group[], cwd: string): string {
  if (groups.length === 0) return 'nothing was rejected';
  return [
    gridOf(
      ['stream', 'path', 'expected', 'found', 'without a value', '>rejects'],
      groups.map(({ stream, path, expected, found, column, rejects: many }) => [
        stream,
        path,
        ...[expected, found, column ?? 'the whole record'].map((each) => clip(each, 50)),
        count(many),
      ]),
    ),
    ...groups.map((group) => exampleText(group, cwd)),
    'The raw values and records are in the column raw of the table rejects, and in landing while it keeps the pass.',
    'Once the contract has learned, lotlake run rebuild brings those in that landing keeps.',
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
