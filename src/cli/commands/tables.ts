import Table from 'cli-table3';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { didYouMean } from '../../config/nearest.js';
import { dictionary, type TableEntry } from '../../docs/dictionary.js';
import { readManifest } from '../../lake/manifest.js';
import { publishedSnapshot } from '../../query/open-lake.js';
import { ShareError } from '../../query/share-error.js';
import type { Effects } from '../effects.js';

/** Lists every table and mart with rows and description. */
export function tables(
  options: { readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): void {
  const entries = readDictionary(options.config, effects);
  if (options.json) {
    effects.out(`${JSON.stringify(entries.map(({ columns: _, ...entry }) => entry))}\n`);
    return;
  }
  const grid = grid_(['name', 'kind', 'rows', 'grain', 'description'], [24, 6, 12, 30, 60]);
  for (const entry of entries)
    grid.push([entry.name, entry.kind, entry.rows.toLocaleString('en'), entry.grain, entry.description]);
  effects.out(`${grid.toString()}\n`);
}

/** Describes one table or mart: what it holds and each of its columns. */
export function describe(
  options: { readonly table: string; readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): void {
  const entries = readDictionary(options.config, effects);
  const entry = entries.find((candidate) => candidate.name === options.table.toLowerCase());
  if (entry === undefined) {
    const names = entries.map(({ name }) => name);
    const near = didYouMean(options.table, names);
    throw new ShareError('SHARE_NO_TABLE', `there is no table ${options.table}${near}`, {
      outcome: 'usage',
      hint: `there are: ${names.join(', ')}`,
    });
  }
  effects.out(options.json ? `${JSON.stringify(entry)}\n` : page(entry));
}

function page(entry: TableEntry): string {
  const grid = grid_(['column', 'type', 'unit', 'description', 'feed'], [30, 14, 12, 58, 34]);
  for (const column of entry.columns) {
    grid.push([
      column.name,
      column.type.replace('TIMESTAMP WITH TIME ZONE', 'TIMESTAMPTZ'),
      column.unit ?? '',
      column.description,
      column.source ?? '',
    ]);
  }
  return [
    `${entry.name} (${entry.kind}): ${entry.description}`,
    `grain: ${entry.grain}; key: ${entry.key.join(', ')}; rows: ${entry.rows.toLocaleString('en')}`,
    grid.toString(),
    '',
  ].join('\n');
}

const grid_ = (head: string[], widths: number[]): InstanceType<typeof Table> =>
  new Table({ head, colWidths: widths, wordWrap: true, style: { head: [], border: [], compact: true } });

function readDictionary(input: ConfigInput, effects: Effects): TableEntry[] {
  return dictionary(readManifest(publishedSnapshot(readConfig(input, effects))));
}
