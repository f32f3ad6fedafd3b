import { type CatalogPlace, commitToCatalog } from '../iceberg/catalog.js';
import { parseMetadata } from '../iceberg/metadata.js';
import { readHeads } from './heads.js';
import { CATALOG, readCurrent, TABLES } from './layout.js';
import type { ObjectStore } from './store.js';

/**
 * Makes the tables of an Iceberg REST catalog like those that the mirror has now. Throws IcebergError (ICEBERG_CATALOG)
 * and MirrorError.
 */
export async function updateCatalog(store: ObjectStore, place: CatalogPlace, token: string | undefined) {
  const mirror = await readCurrent(store);
  const heads = mirror === undefined ? [] : [...(await readHeads(store, mirror.current))];
  const entries = heads
    .filter(([object]) => object.endsWith('.metadata.json'))
    .map(([object, text]) => {
      const name = object.slice(TABLES.length).split('/')[0] ?? '';
      const metadataUri = `${store.place}/${object}`;
      const metadata = parseMetadata(text, metadataUri);
      return { name, metadataUri, metadata, folder: `${store.place}/${CATALOG}${name}` };
    });
  return commitToCatalog(place, token, entries);
}
