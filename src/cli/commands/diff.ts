import { withDatabase } from '../../ask/query/open-lake.js';
import {
  comparedTables,
  diffTable,
  type Side,
  sideOf,
  type TableDiff,
} from '../../ask/query/snapshot-diff.js';
import { gridOf } from '../../ask/query/table.js';
import { clip, count, counted, orNone, printable } from '../../base/config/printable.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { modellingOf, readOwn } from '../../core/model/own-models.js';
import { command, type Lines } from '../command.js';
import { wholeNumber } from '../option-values.js';

const SIDE = 'id, current, a time, or a folder of a snapshot or of lotlake model';

/** Shows which rows and columns of each table and mart differ between two snapshots. */
export const diff = command({
  options: {
    before: { type: 'string', demandOption: true, describe: SIDE },
    after: { type: 'string', default: 'current', describe: SIDE },
    table: { type: 'string', describe: 'this table or mart alone' },
    rows: { type: 'string', default: '0', describe: 'show so many of the rows that differ, of each table' },
  },
  async run({ before: from, after: to, table, rows, print, config }, { cwd, signal }) {
    const limit = wholeNumber('--rows', rows, 0, 10_000);
    await withDatabase(config, signal, async ({ session: { connection } }) => {
      const models = [...modellingOf({}).models, ...readOwn(config).models];
      const before = await sideOf(connection, config, from, cwd, models);
      const after = await sideOf(connection, config, to, cwd, models);
      const names = comparedTables(before, after);
      const name = table?.toLowerCase();
      const known = names.map((each) => ({ name: each }));
      if (name !== undefined && !names.includes(name))
        throw unknownName('QUERY_NO_TABLE', 'neither side has a table', name, known);
      const tables: TableDiff[] = [];
      for (const each of name === undefined ? names : [name])
        tables.push(await diffTable(connection, before, after, each, limit));
      const result = { before: before.id, after: after.id, tables };
      print(result, () => text(before, after, tables));
    });
  },
});

function text(before: Side, after: Side, tables: readonly TableDiff[]): Lines {
  const differing = tables.filter(({ state }) => state !== 'same');
  const same = tables.length - differing.length;
  const cell = orNone(count);
  return [
    `from ${before.id} to ${after.id}`,
    differing.length > 0 &&
      gridOf(
        ['table', '>rows', '>then', '>added', '>removed', '>changed', 'by column'],
        differing.map((table) => [
          ...[table.name, cell(table.rows_before), cell(table.rows_after)],
          ...[cell(table.added), cell(table.removed), cell(table.changed), clip(columnsText(table), 80)],
        ]),
      ),
    ...differing.flatMap(schemaLines),
    ...differing.flatMap(rowLines),
    same > 0 && `${counted(same, 'table or mart is', 'tables and marts are')} the same`,
  ];
}

const columnsText = ({ state, changed, columns }: TableDiff): string =>
  state === 'new' || state === 'gone'
    ? state
    : changed === null
      ? 'the keys differ, so rows are not compared'
      : columns.map(({ name, rows }) => `${name} ${count(rows)}`).join(', ');

const schemaLines = ({ name, schema }: TableDiff): string[] =>
  schema.map(({ name: column, before, after }) => {
    if (before === null) return `${name}: the column ${column} is new`;
    if (after === null) return `${name}: the column ${column} is gone`;
    return `${name}: the column ${column} was ${before} and is ${after}; its values are not compared`;
  });

function rowLines({ name, rows }: TableDiff): string[] {
  if (rows.length === 0) return [];
  const cells = rows.flatMap(({ change, key, columns }) => {
    const place = Object.values(key).map((value) => clip(printable(value), 30));
    const values = columns.map((each) => [each.name, each.before, each.after]);
    return (values.length === 0 ? [['', '', '']] : values).map((each) => [
      ...[change, ...place],
      ...each.map((value) => clip(printable(value), 40)),
    ]);
  });
  return [
    '',
    name,
    gridOf(['change', ...Object.keys(rows[0]?.key ?? {}), 'column', 'before', 'after'], cells),
  ];
}
