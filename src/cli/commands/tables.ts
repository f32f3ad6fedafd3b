import { snapshotFolder } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import type { Config } from '../../base/config/config.js';
import { clip, count } from '../../base/config/printable.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { readManifest } from '../../core/lake/manifest.js';
import { columnCells, dictionary, type TableEntry } from '../../core/model/dictionary.js';
import { command } from '../command.js';

/** The place of each layer, in the order in which most people need them; tables come last. */
const ORDER: Readonly<Record<NonNullable<TableEntry['layer']>, number>> = {
  own: 0,
  examples: 1,
  sales: 2,
  market: 3,
  stock: 4,
  reports: 5,
  offers: 6,
  shared: 7,
  seeds: 8,
};

/** Default columns of a line. */
const WIDTH = 80;

/** Lists every table and mart with its layer, rows and description, the marts first. */
export const tables = command({
  run({ print, config }, { width = WIDTH }) {
    const entries = readDictionary(config).map(({ columns: _, ...entry }) => entry);
    const placeOf = ({ layer }: (typeof entries)[number]): number =>
      layer === undefined ? Object.keys(ORDER).length : ORDER[layer];
    const ordered = entries.toSorted((a, b) => placeOf(a) - placeOf(b));
    print(ordered, () =>
      ordered
        .map(({ name, layer = 'table', rows, description }) =>
          clip(`${name.padEnd(24)} ${layer.padEnd(7)} ${rowsOf(rows).padStart(11)}  ${description}`, width),
        )
        .join('\n'),
    );
  },
});

/** Describes a table or mart and its columns. */
export const describe = command({
  options: { table: { type: 'string', demandOption: true, describe: 'name of the table or mart' } },
  run({ table, print, config }) {
    const entries = readDictionary(config);
    const entry = entries.find((candidate) => candidate.name === table.toLowerCase());
    if (entry !== undefined) return print(entry, () => page(entry));
    throw unknownName('QUERY_NO_TABLE', 'there is no table', table, entries);
  },
});

/** A number of rows for people. A view has none before it is asked. */
const rowsOf = (rows: number | null): string => (rows === null ? 'view' : count(rows));

function page(entry: TableEntry): string {
  return [
    `${entry.name} (${entry.layer ?? entry.kind}): ${entry.description}`,
    `grain: ${entry.grain}; key: ${entry.key.join(', ')}; rows: ${rowsOf(entry.rows)}`,
    gridOf(
      ['column', 'type', 'unit', 'description', 'feed'],
      entry.columns.map(columnCells),
      [30, 14, 12, 58, 34],
    ),
  ].join('\n');
}

const readDictionary = (config: Config): TableEntry[] => dictionary(readManifest(snapshotFolder(config)));
