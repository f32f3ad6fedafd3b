import { relative } from 'node:path';
import { type Exported, exportLake } from '../../ask/export/export-lake.js';
import { DEFAULT_MAX_BYTES, exportFormats, exportProfiles, exportRequest } from '../../ask/export/request.js';
import { readFolder } from '../../base/config/folder.js';
import { count, counted, megabytes, sumOf } from '../../base/config/printable.js';
import { command } from '../command.js';
import { snapshotOptions } from '../options.js';

/** Writes tables into a folder or a .zip to hand over, and says what is in it. */
export const exportTables = command({
  options: {
    tables: { type: 'string', array: true, demandOption: true, describe: 'tables and marts' },
    to: { type: 'string', demandOption: true, describe: 'folder to make' },
    where: { type: 'string', describe: 'one SQL expression over the table: rows to export' },
    columns: { type: 'string', describe: 'columns to export, such as lot_id,bid' },
    format: { choices: exportFormats, default: 'parquet', describe: 'format of the data' },
    profile: {
      choices: exportProfiles,
      default: 'default',
      describe: 'compat: Parquet that old readers know',
    },
    'max-bytes': { type: 'string', default: DEFAULT_MAX_BYTES, describe: 'size of a data file' },
    bom: { type: 'boolean', describe: 'begin CSV with a byte order mark, as Excel wants' },
    zip: { type: 'boolean', describe: 'make one .zip instead of a folder' },
    force: { type: 'boolean', describe: 'replace an earlier export' },
    ...snapshotOptions,
  },
  async run(given, effects) {
    const { config, print } = given;
    const to = readFolder('--to', given.to, effects.cwd);
    // yargs gives a list if the option is given twice.
    const names = given.columns === undefined ? undefined : String(given.columns).split(',');
    const columns = names?.flatMap((name) => name.trim() || []);
    const request = exportRequest({ ...given, to, columns });
    const options = { choice: given, signal: effects.signal };
    const made = await exportLake(request, config, effects.now(), options);
    print(made, () => summary(made, effects.cwd));
  },
});

function summary(made: Exported, cwd: string): string {
  const lines = made.tables.map(
    ({ name, rows, files }) =>
      `${name}: ${count(rows)} rows in ${counted(files.length, 'file')}, ${megabytes(sumOf(files, ({ bytes }) => bytes))}`,
  );
  const inside = relative(cwd, made.path);
  const path = inside.startsWith('..') ? made.path : inside;
  return [`exported snapshot ${made.snapshot}`, ...lines, `in ${path}`].join('\n');
}
