import { basename } from 'node:path';
import { allTables, type Manifest } from '../lake/manifest.js';
import type { TestResult } from '../model/data-tests.js';
import type { OpenLake } from '../query/open-lake.js';
import { type CatalogTable, readCatalog } from './catalog.js';
import { type ColumnFacts, columnFacts } from './facts.js';
import { type Lineage, lineageOf } from './lineage.js';
import { runEachTest } from './test-results.js';

/** Everything that the pages tell of. */
export interface Site {
  readonly catalog: readonly CatalogTable[];
  readonly lineage: Lineage;
  /** Tables and marts of the snapshot. */
  readonly stored: Manifest['tables'];
  /** By table and column. */
  readonly facts: ReadonlyMap<string, ReadonlyMap<string, ColumnFacts>>;
  /** Number of rows that fail a data test; undefined if it could not be run. */
  readonly failuresOf: (test: Pick<TestResult, 'model' | 'test'>) => number | undefined;
  /** Which snapshot it is about, as a sentence. */
  readonly source: string;
}

/** Path of the page of a table or mart below the folder of the site. */
export function pathOf({ catalog }: Pick<Site, 'catalog'>, name: string): string {
  const kind = catalog.find((table) => table.name === name)?.kind ?? 'table';
  return `${kind}s/${name}.html`;
}

/** Reads what the pages tell from an open lake: every table is scanned once, and every data test is run. */
export async function readSite({ session, manifest, snapshot }: OpenLake): Promise<Site> {
  const { connection } = session;
  const catalog = await readCatalog(connection, manifest);
  const stored = allTables(manifest);
  const facts = new Map<string, ReadonlyMap<string, ColumnFacts>>();
  for (const table of catalog)
    if (table.name in stored) facts.set(table.name, await columnFacts(connection, table));
  const { results } = await runEachTest(connection);
  return {
    catalog,
    lineage: lineageOf(catalog),
    stored,
    facts,
    failuresOf: ({ model, test }) =>
      results.find((result) => result.model === model && result.test === test)?.failures,
    source: `Snapshot ${basename(snapshot)}, made ${manifest.created_at.slice(0, 16).replace('T', ' ')} UTC by ${manifest.pipeline}.`,
  };
}
