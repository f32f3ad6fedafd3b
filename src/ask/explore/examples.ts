import type { DuckDBConnection } from '@duckdb/node-api';
import { load } from 'js-yaml';
import { z } from 'zod';
import { packageFile } from '../../base/config/package-root.js';
import { literal } from '../../base/duck/session.js';
import { type Html, html, pathOf } from '../page/html.js';
import { ask } from '../query/ask.js';
import type { Shown } from './shown.js';

/** What pages begin with before a reader asks: queries and pivots, with what each answers. */
const EXAMPLES = z
  .strictObject({
    queries: z.array(z.strictObject({ about: z.string(), sql: z.string() })),
    pivots: z.array(
      z.strictObject({ about: z.string(), table: z.string(), pivot: z.record(z.string(), z.string()) }),
    ),
  })
  .parse(load(packageFile('sql/explore/examples.yml')));

/** The two most frequent names of each kind that can be compared, the first most. */
export async function frequentNames(
  connection: DuckDBConnection,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  for (const { kind, name } of await ask(connection, 'explore/frequent'))
    found.set(String(kind), [...(found.get(String(kind)) ?? []), String(name)]);
  return found;
}

/** Links to queries about the most frequent names of the lake. */
export async function queryLinks({ connection }: Pick<Shown, 'connection'>): Promise<Html> {
  const values = await valuesOf(connection);
  const links = EXAMPLES.queries.flatMap(({ about, sql }) => {
    const words = filled(about, values, String);
    const query = filled(sql, values, literal);
    return words === undefined || query === undefined
      ? []
      : [link(`/sql?q=${encodeURIComponent(query)}`, words)];
  });
  return list(links);
}

/** Links to pivots of the tables that the lake has. */
export const pivotLinks = ({ catalog }: Pick<Shown, 'catalog'>): Html =>
  list(
    EXAMPLES.pivots.flatMap(({ about, table, pivot }) => {
      const found = catalog.find(({ name }) => name === table);
      return found === undefined ? [] : [link(`/${pathOf(found)}?${new URLSearchParams(pivot)}`, about)];
    }),
  );

const link = (to: string, words: string): Html => html`<li><a href="${to}">${words}</a></li>`;
const list = (links: readonly Html[]): Html => html`<ul class="saved">${links}</ul>`;

async function valuesOf(connection: DuckDBConnection): Promise<Values> {
  const frequent = await frequentNames(connection);
  const [make, model] = frequent.get('model')?.[0]?.split(' | ') ?? [];
  return { make, model, state: frequent.get('place')?.[0] };
}

type Values = Readonly<Record<string, string | undefined>>;

/** A text with values in place of their names in braces; undefined if one is not known. */
function filled(text: string, values: Values, write: (value: string) => string): string | undefined {
  const isKnown = [...text.matchAll(/\{(\w+)\}/g)].every(([, name = '']) => values[name] !== undefined);
  return isKnown ? text.replaceAll(/\{(\w+)\}/g, (_, name: string) => write(values[name] ?? '')) : undefined;
}
