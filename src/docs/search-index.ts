import { pathOf, type Site } from './site.js';

/** One thing that can be found: `[name, table of a column, kind, description, path of its page]`. */
type Entry = readonly [name: string, table: string, kind: string, description: string, path: string];

/** The names that the search knows, as a script: a page that is opened as a file may not fetch JSON. */
export function searchIndex(site: Site): string {
  const entries = site.catalog.flatMap((table): Entry[] => [
    [table.name, '', table.kind, table.description, pathOf(site, table.name)],
    ...table.columns.map(
      ({ name, description }): Entry => [
        name,
        table.name,
        'column',
        description,
        `${pathOf(site, table.name)}#c-${name}`,
      ],
    ),
  ]);
  return `globalThis.searchIndex = [\n${entries.map((entry) => JSON.stringify(entry)).join(',\n')}\n];\n`;
}
