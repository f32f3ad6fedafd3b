import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import { ask } from '../../ask/query/ask.js';
import { readLake } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { clip, count, printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { layoutOf } from '../../core/lake/layout.js';
import { readPass } from '../../core/lake/passes/pass.js';
import { WHOLE_ROW } from '../../core/load/rejected-values.js';
import { command } from '../command.js';
import { streamOf } from '../option-values.js';

/** Most characters of a value or record that are shown. */
const RAW = 160;

/** Lists rejected values and records by stream, place and reason, with an example of each group. */
export const rejects = command({
  options: {
    run: { type: 'string', describe: 'rejected by this run alone' },
    stream: { type: 'string', describe: 'of this stream alone' },
  },
  async run({ run, stream, print, config }, effects) {
    const { landing } = layoutOf(config.output);
    const chosen = stream === undefined ? undefined : streamOf(stream, '--stream');
    const found = await readLake(config, { named: 'rejects' }, ({ session }) =>
      ask(session.connection, 'cli/rejects', { run: run ?? null, stream: chosen ?? null }),
    );
    const groups = found.map((row) => groupOf(row, landing));
    print(groups, () => text(groups, effects.cwd));
  },
});

/** A group of rejects. `path` has no positions in lists; `column` is null if whole records were rejected, and `*` if rows were. */
function groupOf({ first, ...row }: Row, landing: string) {
  const example = Object(first);
  const stream = String(row.stream);
  const place = {
    pass_id: String(example.pass_id),
    list: String(example.list),
    page: Number(example.page),
    position: Number(example.position),
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
      record_id: example.record_id === null ? null : printable(example.record_id),
      run_id: String(example.run_id),
      path: printable(example.path),
      found: clip(printable(example.found), RAW),
      raw: clip(printable(example.raw), RAW),
      file,
      line: file === null ? null : place.position + 1,
    },
  };
}

type Group = ReturnType<typeof groupOf>;

/** The file of landing that holds a page, in its last version; null if landing no longer holds the pass. */
function fileOf(folder: string, list: string, page: number): string | null {
  if (!existsSync(join(folder, 'pass.json'))) return null;
  try {
    const landed = readPass(folder).pages.findLast((known) => known.list === list && known.page === page);
    return landed === undefined ? null : join(folder, landed.file);
  } catch (error) {
    // The table of rejects is still useful then, and lotlake status names a pass that cannot be read.
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
        ...[expected, found, column === WHOLE_ROW ? 'the whole row' : (column ?? 'the whole record')].map(
          (each) => clip(each, 50),
        ),
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
