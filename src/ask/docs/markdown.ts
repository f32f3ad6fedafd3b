import type { Config } from '../../base/config/config.js';
import { ownNamed } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { fillText } from '../../base/config/printable.js';
import { assertUnbroken } from '../../core/lake/broken-link.js';
import { hasPartitions, patternOf } from '../../core/lake/files.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { allTables, readManifest } from '../../core/lake/manifest.js';
import {
  type CatalogTable,
  type Contents,
  columnCells,
  dictionary,
  markdownTable,
  markdownText,
  readCatalog,
} from '../../core/model/dictionary.js';
import type { PlannedTest } from '../../core/model/test-sql.js';
import { endpointsOf, type Lineage, lineageOf } from '../page/lineage.js';
import { snapshotFolder, withDatabase } from '../query/open-lake.js';
import { assertOurs, assertOutside, writeWhole, writingTo } from '../query/places.js';
import { dbtSources, parquetLocation } from './dbt-sources.js';
import { describeEmptyLake } from './empty-lake.js';

/** Command that writes docs/ask/tables.md, as the build does. */
const MARKDOWN_COMMAND = 'lotlake docs';

/**
 * Writes {@link tablesMarkdown} of the published snapshot to a file, or without one of what a run makes. Throws DOCS_FAILED if
 * it cannot be written, QUERY_PLACE if the path is inside the lake or holds another file, and LAKE_UNSOUND if a copy has broken
 * the link to the published snapshot.
 */
export async function writeMarkdown(config: Config, path: string): Promise<void> {
  assertOutside(path, config.output);
  assertOurs(path, ['# Tables and marts', MARKDOWN_COMMAND]);
  const layout = layoutOf(config.output);
  assertUnbroken(layout);
  const snapshot = currentSnapshot(layout);
  const text = await tablesMarkdown(snapshot === undefined ? undefined : readManifest(snapshot));
  writingTo(path, () => writeWhole(ownNamed(path), text));
}

/**
 * Writes the `sources.yml` of dbt-duckdb over the published snapshot, whichever that is when dbt reads it. Throws as
 * {@link writeMarkdown} does, and QUERY_NO_SNAPSHOT.
 */
export function writeSources(config: Config, path: string): void {
  assertOutside(path, config.output);
  assertOurs(path, ['# Sources of dbt-duckdb, made by lotlake.']);
  const manifest = readManifest(snapshotFolder(config));
  const current = layoutOf(config.output).current;
  const tables = dictionary(manifest).flatMap((entry) => {
    const stored = allTables(manifest)[entry.name];
    if (stored === undefined) return [];
    const isPartitioned = hasPartitions(stored.files, stored.partitioned);
    return [{ ...entry, location: parquetLocation(patternOf(current, entry.name), isPartitioned) }];
  });
  const text = dbtSources(manifest, 'The published snapshot of a lake of vehicle auctions.', tables);
  writingTo(path, () => writeWhole(ownNamed(path), text));
}

/**
 * Every table and mart with its columns and tests, and the lineage, as Markdown.
 * @param contents what there is; by default what a run makes without models of the user
 */
export function tablesMarkdown(contents?: Contents): Promise<string> {
  return withDatabase({ memory: '500MB' }, undefined, async (opened) => {
    const described = contents ?? (await describeEmptyLake(opened));
    const catalog = await readCatalog(opened.session.connection, described);
    const named = (tables: readonly CatalogTable[]): string => links(tables.map(({ name }) => name));
    const marts = layersOf(catalog).map(([, title, tables]) => `- ${title}: ${named(tables)}`);
    return fillText(packageFile('site/tables.md'), {
      command: MARKDOWN_COMMAND,
      marts: marts.join('\n'),
      tables: named(catalog.filter(({ kind }) => kind === 'table')),
      lineage: mermaid(lineageOf(catalog)),
      sections: catalog.map(section).join('\n\n'),
    });
  });
}

/** What each layer of marts holds, in the order of the page. */
export const LAYER_TITLES = {
  own: 'Your own models',
  sales: 'Sales: attempts, prices, and what follows from them',
  market: 'Market: estimates, and what reads them',
  stock: 'Stock: what is on offer, and what became of it',
  reports: 'Reports: what history and inspection reports say',
  offers: 'Offers: what estimates rest on, and which prices are doubted',
  shared: 'Shared: names, groups and settings',
  seeds: 'Seeds: assumptions in tables',
  examples: 'Examples: computed where the setting `examples` names them',
} as const;

/** The layers that have marts, each with its id, title and marts. */
export const layersOf = (catalog: readonly CatalogTable[]) =>
  Object.entries(LAYER_TITLES)
    .map(([layer, title]) => [layer, title, catalog.filter((table) => table.layer === layer)] as const)
    .filter(([, , tables]) => tables.length > 0);

/** The lineage as a graph of Mermaid. Nodes are named, not numbered, so that a new mart adds lines and changes no other. */
export function mermaid({ nodes, edges }: Lineage): string {
  const short = (id: string): string => id.replaceAll(/\W/g, '_');
  return [
    '```mermaid',
    'flowchart LR',
    ...nodes.map(({ id, name, kind }) => `  ${short(id)}["${name}"]:::${kind}`),
    ...edges.map(({ from, to }) => `  ${short(from.id)} --> ${short(to.id)}`),
    '```',
  ].join('\n');
}

function section(table: CatalogTable): string {
  const { name, kind, description, grain, key, stream, places, reads, tests, checks } = table;
  const facts = {
    [kind]: grain,
    key: codes(key),
    endpoints: stream === undefined ? '' : codes(endpointsOf(stream)),
    from: codes(places),
    reads: links(reads),
  };
  const known = Object.entries(facts).filter(([, value]) => value !== '');
  const own = tests.map((test) => item(test));
  const across = checks.map((check) => item(check, `: ${markdownText(check.description)}`));
  return [
    `## ${name}`,
    markdownText(description),
    known.map(([fact, value]) => `- ${fact}: ${value}`).join('\n'),
    columnTable(table),
    ...(own.length === 0 ? [] : ['Tests:', own.join('\n')]),
    ...(across.length === 0 ? [] : ['Checks across tables:', across.join('\n')]),
  ].join('\n\n');
}

const item = ({ test, severity }: PlannedTest, about = ''): string =>
  `- ${code(test)}${about}${severity === 'warn' ? ' (warns)' : ''}`;

const HEADS = ['column', 'type', 'unit', 'description', 'in the feed'];

/** The columns of a table or mart, without heads whose cells are all empty. */
function columnTable({ columns }: CatalogTable): string {
  const lines = columns.map((column) => {
    const [name = '', type = '', unit = '', description = '', source = ''] = columnCells(column);
    return [code(name), type, markdownText(unit), markdownText(description), source && code(source)];
  });
  const isUsed = HEADS.map((_, i) => lines.some((cells) => cells[i] !== ''));
  return markdownTable([HEADS, ...lines].map((cells) => cells.filter((_, i) => isUsed[i])));
}

const links = (names: readonly string[]): string => names.map((name) => `[${name}](#${name})`).join(', ');
const code = (sql: string): string => `\`${sql.replaceAll(/\s+/g, ' ')}\``;
const codes = (names: readonly string[]): string => names.map(code).join(', ');
