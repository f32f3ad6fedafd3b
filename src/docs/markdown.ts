import { withDatabase } from '../query/open-lake.js';
import { assertOurs, assertOutside, writeWhole, writingTo } from '../query/places.js';
import { type CatalogTable, readCatalog } from './catalog.js';
import { typeName } from './dictionary.js';
import { describeEmptyLake } from './empty-lake.js';
import { endpointsOf, type Lineage, lineageOf } from './lineage.js';

/** Command that writes docs/tables.md. */
export const MARKDOWN_COMMAND = 'npm run docs:tables';

/**
 * Writes {@link tablesMarkdown} to a file. Throws ShareError where it cannot be written (SHARE_DOCS), or the place is not
 * its own (SHARE_PLACE).
 * @param output folder of the lake, which is kept from it
 */
export async function writeMarkdown(path: string, output: string): Promise<void> {
  assertOutside(path, output);
  assertOurs(path, ['# Tables and marts', MARKDOWN_COMMAND]);
  const text = await tablesMarkdown();
  writingTo(path, () => writeWhole(path, text));
}

/** Every table and mart with its columns, tests and the lineage, as Markdown: the same whatever the lake holds. */
export function tablesMarkdown(): Promise<string> {
  return withDatabase({ memory: '200MB' }, undefined, async ({ session }) => {
    const catalog = await readCatalog(session.connection, await describeEmptyLake());
    return `${[intro(catalog), mermaid(lineageOf(catalog)), ...catalog.map(section)].join('\n\n')}\n`;
  });
}

function intro(catalog: readonly CatalogTable[]): string {
  const names = (kind: CatalogTable['kind']): string =>
    catalog
      .filter((table) => table.kind === kind)
      .map(({ name }) => `[${name}](#${name})`)
      .join(', ');
  return [
    '# Tables and marts',
    `Generated from the contract of the feed, \`sql/\` and what DuckDB finds in them by \`${MARKDOWN_COMMAND}\`. The same with null rates, examples and test results of a lake, as pages with a search: \`lotlake docs\`. Rules and reading of the marts: [marts.md](marts.md).`,
    `Marts: ${names('mart')}.`,
    `Tables: ${names('table')}.`,
    '## Lineage',
    'From endpoints of the service over streams and tables to marts.',
  ].join('\n\n');
}

function mermaid({ nodes, edges }: Lineage): string {
  const short = new Map(nodes.map(({ id }, place) => [id, `n${place}`]));
  return [
    '```mermaid',
    'flowchart LR',
    ...nodes.map(({ id, name, kind }) => `  ${short.get(id)}["${name}"]:::${kind}`),
    ...edges.map(({ from, to }) => `  ${short.get(from)} --> ${short.get(to)}`),
    '```',
  ].join('\n');
}

function section(table: CatalogTable): string {
  const { name, kind, description, grain, key, stream, places, reads, columns } = table;
  const hasSource = columns.some(({ source }) => source !== undefined);
  const hasUnit = columns.some(({ unit }) => unit !== undefined);
  const head = [
    'column',
    'type',
    ...(hasUnit ? ['unit'] : []),
    'description',
    ...(hasSource ? ['in the feed'] : []),
  ];
  return [
    `## ${name}`,
    text(description),
    [
      `- ${kind}: ${grain}`,
      `- key: ${codes(key)}`,
      ...(stream === undefined ? [] : [`- endpoints: ${codes(endpointsOf(stream))}`]),
      ...(places.length === 0 ? [] : [`- from: ${codes(places)}`]),
      ...(reads.length === 0 ? [] : [`- reads: ${reads.map((read) => `[${read}](#${read})`).join(', ')}`]),
    ].join('\n'),
    [
      line(head),
      line(head.map(() => '---')),
      ...columns.map((column) =>
        line([
          `\`${column.name}\``,
          typeName(column.type),
          ...(hasUnit ? [text(column.unit ?? '')] : []),
          text(column.description),
          ...(hasSource ? [column.source === undefined ? '' : `\`${column.source}\``] : []),
        ]),
      ),
    ].join('\n'),
    ...testsOf(table),
  ].join('\n\n');
}

function testsOf({ tests, checks }: CatalogTable): readonly string[] {
  const own = tests.map(({ test, severity }) => `- ${code(test)}${severity === 'warn' ? ' (warns)' : ''}`);
  const across = checks.map(
    ({ test, description, severity }) =>
      `- ${code(test)}: ${text(description)}${severity === 'warn' ? ' (warns)' : ''}`,
  );
  return [
    ...(own.length === 0 ? [] : [`Tests:\n\n${own.join('\n')}`]),
    ...(across.length === 0 ? [] : [`Checks across tables:\n\n${across.join('\n')}`]),
  ];
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
const code = (sql: string): string => `\`${sql.replaceAll(/\s+/g, ' ')}\``;
const codes = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

/** Text that means nothing to Markdown. */
const text = (plain: string): string =>
  plain
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\\`*_|[\]]/g, '\\$&')
    .replaceAll('<', '&lt;');
