import { basename } from 'node:path';
import { partitionOf } from '../lake/files.js';
import type { Manifest } from '../lake/manifest.js';
import type { OpenLake } from '../query/open-lake.js';
import { type CatalogTable, readCatalog } from './catalog.js';
import { type ColumnFacts, columnFacts } from './facts.js';
import { type Lineage, lineageOf } from './lineage.js';
import { type TestResults, testResults } from './test-results.js';

/** How a table lies on disk. */
interface Stored {
  readonly rows: number;
  readonly files: number;
  readonly bytes: number;
  /** 0 if the table is not partitioned. */
  readonly partitions: number;
}

/** Everything that the pages tell of. */
export interface Site {
  readonly catalog: readonly CatalogTable[];
  readonly lineage: Lineage;
  readonly stored: ReadonlyMap<string, Stored>;
  /** By table and column. */
  readonly facts: ReadonlyMap<string, ReadonlyMap<string, ColumnFacts>>;
  readonly results: TestResults;
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
  const stored = storedIn(manifest);
  const facts = new Map<string, ReadonlyMap<string, ColumnFacts>>();
  for (const table of catalog)
    if (stored.has(table.name)) facts.set(table.name, await columnFacts(connection, table));
  return {
    catalog,
    lineage: lineageOf(catalog),
    stored,
    facts,
    results: await testResults(connection),
    source: `Snapshot ${basename(snapshot)}, made ${manifest.created_at.slice(0, 16).replace('T', ' ')} UTC by ${manifest.pipeline}.`,
  };
}

function storedIn(manifest: Manifest): ReadonlyMap<string, Stored> {
  return new Map(
    Object.entries({ ...manifest.tables, ...manifest.marts }).map(
      ([name, { rows, files, bytes, partitioned }]) => [
        name,
        {
          rows,
          files: files.length,
          bytes,
          partitions: partitioned ? new Set(files.map(partitionOf)).size : 0,
        },
      ],
    ),
  );
}
