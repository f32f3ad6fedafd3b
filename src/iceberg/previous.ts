import { decodeManifest, decodeManifestList } from './avro.js';
import { parseMetadata } from './metadata.js';
import type { PreviousMetadata } from './plan.js';

/** Reads a file whole; undefined where there is none. */
export type ReadFile = (uri: string) => Promise<Buffer | undefined>;

/**
 * Reads the metadata that `version-hint.text` names, with the entries of its current manifest. Undefined where the table
 * has none yet. Throws IcebergError (ICEBERG_METADATA), and what `read` throws.
 */
export async function readPrevious(location: string, read: ReadFile): Promise<PreviousMetadata | undefined> {
  const hint = await read(`${location}/metadata/version-hint.text`);
  if (hint === undefined) return undefined;
  const version = Number(hint.toString());
  const place = `${location}/metadata/v${version}.metadata.json`;
  const metadata = parseMetadata(String(await read(place)), place);
  const id = metadata['current-snapshot-id'];
  const list = metadata.snapshots.find((each) => each['snapshot-id'] === id)?.['manifest-list'] ?? '';
  const manifests = decodeManifestList((await read(list)) ?? Buffer.alloc(0));
  const entries = [];
  for (const { manifest_path } of manifests)
    entries.push(...decodeManifest((await read(manifest_path)) ?? Buffer.alloc(0)));
  return { version, metadata, entries };
}
