import { findChanges } from '../../ask/export/changes.js';
import {
  changesFormats,
  fileOf,
  headOf,
  ndjsonOf,
  rowsOf,
  type WrittenChanges,
  writeChanges,
} from '../../ask/export/write-changes.js';
import { withDatabase } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { readFolder } from '../../base/config/folder.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { count, counted } from '../../base/config/printable.js';
import { command, type Lines } from '../command.js';

const SNAPSHOT = 'id of a snapshot, or a time at which it was current';

/** Tells which rows of tables and marts were inserted, updated or left between two snapshots. */
export const changes = command({
  options: {
    tables: { type: 'string', array: true, describe: 'tables and marts (default all with a key)' },
    since: { type: 'string', describe: `what the recipient has: ${SNAPSHOT} (default nothing)` },
    until: { type: 'string', describe: `what it is to have: ${SNAPSHOT} (default the published one)` },
    to: { type: 'string', describe: 'folder to make, with a file a table' },
    format: { choices: changesFormats, describe: 'form of the rows; without --to they go to stdout' },
  },
  async run({ tables, since, until, to, format, config, print }, { cwd, signal, pipe, err }) {
    const request = { tables, since, until };
    if (to !== undefined) {
      const folder = readFolder('--to', to, cwd);
      const made = await writeChanges(
        { ...request, to: folder, format: format ?? 'parquet' },
        config,
        signal,
      );
      return print(made, () => [...text(made), `in ${made.path}`]);
    }
    await withDatabase(config, signal, async ({ session: { connection }, temp }) => {
      const found = await findChanges(connection, config, request);
      if (format === undefined) return print(headOf(found), () => text(headOf(found)));
      if (format === 'ndjson') return pipe(ndjsonOf(connection, found), signal);
      if (found.tables.length !== 1)
        throw new LotlakeError(
          'EXPORT_OPTIONS',
          `one file of ${format} holds one table, not ${found.tables.length}`,
          {
            outcome: 'usage',
            hint: 'name one table, or write a folder with --to',
          },
        );
      err(`${fromTo(headOf(found))}\n`);
      await pipe(fileOf(connection, found, format, temp), signal);
    });
  },
});

type Head = Omit<WrittenChanges, 'path'>;

const fromTo = ({ since, until }: Head): string =>
  since === null ? `everything, to ${until}` : `changes from ${since} to ${until}`;

function text(head: Head): Lines {
  const other = head.tables.filter(({ state }) => state !== 'same');
  const same = head.tables.length - other.length;
  return [
    fromTo(head),
    other.length > 0 &&
      gridOf(
        ['table', '>inserted', '>updated', '>left', ''],
        other.map(({ name, state, inserted, updated, left, schema }) => [
          ...[name, count(inserted), count(updated), count(left)],
          state === 'gone'
            ? 'no longer there'
            : state === 'whole' && head.since !== null
              ? 'every row, in place of what was there'
              : schema
                  .map(
                    (column) =>
                      `column ${column.name}: ${column.before ?? 'none'} to ${column.after ?? 'none'}`,
                  )
                  .join(', '),
        ]),
      ),
    `${counted(rowsOf(head.tables), 'row')}${same > 0 ? `; ${counted(same, 'table or mart is', 'tables and marts are')} the same` : ''}`,
  ];
}
