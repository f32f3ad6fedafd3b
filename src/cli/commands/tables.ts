import type { Config } from '../../config/config.js';
import { unknownName } from '../../config/nearest.js';
import { columnCells, dictionary, type TableEntry } from '../../docs/dictionary.js';
import { readManifest } from '../../lake/manifest.js';
import { snapshotFolder } from '../../query/open-lake.js';
import { clip, count } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import { command } from '../command.js';

/** Marts that most people need first, in this order. */
const FIRST: readonly string[] = [
  ...['sales', 'price_estimates', 'price_trends', 'price_index', 'price_levels', 'price_factors'],
  ...['price_accuracy', 'sell_through', 'sell_through_odds', 'days_on_market', 'time_to_sale', 'relisting'],
  ...['regional_prices', 'damage_breakdown', 'title_breakdown', 'odometer_curve', 'repair_economics'],
  ...['vehicle_timeline', 'claim_history', 'accident_discount', 'inspection_issues', 'check_breakdown'],
  ...['seller_profiles', 'branch_profiles', 'seller_types', 'inventory_daily', 'data_health'],
];

/** Default columns of a line. */
const WIDTH = 80;

/** Lists every table and mart with rows and description, the marts first. */
export const tables = command({
  run({ print, config }, { width = WIDTH }) {
    const entries = readDictionary(config).map(({ columns: _, ...entry }) => entry);
    const places = new Map(FIRST.map((name, place) => [name, place]));
    const placeOf = ({ name, kind }: (typeof entries)[number]): number =>
      kind === 'table' ? FIRST.length + 1 : (places.get(name) ?? FIRST.length);
    const ordered = entries.toSorted((a, b) => placeOf(a) - placeOf(b));
    print(ordered, () =>
      ordered
        .map(({ name, kind, rows, description }) =>
          clip(`${name.padEnd(24)} ${kind.padEnd(5)} ${rowsOf(rows).padStart(11)}  ${description}`, width),
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
    throw unknownName('SHARE_NO_TABLE', 'there is no table', table, entries);
  },
});

/** A number of rows for people. A view has none before it is asked. */
const rowsOf = (rows: number | null): string => (rows === null ? 'view' : count(rows));

function page(entry: TableEntry): string {
  return [
    `${entry.name} (${entry.kind}): ${entry.description}`,
    `grain: ${entry.grain}; key: ${entry.key.join(', ')}; rows: ${rowsOf(entry.rows)}`,
    gridOf(
      ['column', 'type', 'unit', 'description', 'feed'],
      entry.columns.map(columnCells),
      [30, 14, 12, 58, 34],
    ),
  ].join('\n');
}

const readDictionary = (config: Config): TableEntry[] => dictionary(readManifest(snapshotFolder(config)));
