import type { Config } from '../../config/config.js';
import { didYouMean } from '../../config/nearest.js';
import { columnCells, dictionary, type TableEntry } from '../../docs/dictionary.js';
import { readManifest } from '../../lake/manifest.js';
import { publishedSnapshot } from '../../query/open-lake.js';
import { count } from '../../query/printable.js';
import { ShareError } from '../../query/share-error.js';
import { gridOf } from '../../query/table.js';
import { command } from '../command.js';

/** Lists every table and mart with rows and description. */
export const tables = command({
  run({ print, config }) {
    const entries = readDictionary(config);
    const told = entries.map(({ columns: _, ...entry }) => entry);
    print(told, () =>
      gridOf(
        ['name', 'kind', 'rows', 'grain', 'description'],
        told.map(({ name, kind, rows, grain, description }) => [name, kind, count(rows), grain, description]),
        [24, 6, 12, 30, 60],
      ),
    );
  },
});

/** Describes one table or mart: what it holds and each of its columns. */
export const describe = command({
  options: { table: { type: 'string', demandOption: true } },
  run({ table, print, config }) {
    const entries = readDictionary(config);
    const entry = entries.find((candidate) => candidate.name === table.toLowerCase());
    if (entry !== undefined) return print(entry, () => page(entry));
    const names = entries.map(({ name }) => name);
    throw new ShareError('SHARE_NO_TABLE', `there is no table ${table}${didYouMean(table, names)}`, {
      outcome: 'usage',
      hint: `there are: ${names.join(', ')}`,
    });
  },
});

function page(entry: TableEntry): string {
  return [
    `${entry.name} (${entry.kind}): ${entry.description}`,
    `grain: ${entry.grain}; key: ${entry.key.join(', ')}; rows: ${count(entry.rows)}`,
    gridOf(
      ['column', 'type', 'unit', 'description', 'feed'],
      entry.columns.map(columnCells),
      [30, 14, 12, 58, 34],
    ),
  ].join('\n');
}

const readDictionary = (config: Config): TableEntry[] => dictionary(readManifest(publishedSnapshot(config)));
