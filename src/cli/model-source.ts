import { basename, join } from 'node:path';
import { snapshotFolder } from '../ask/query/open-lake.js';
import type { Config } from '../base/config/config.js';
import { existing, MODELS, readRecord, TABLES } from '../beyond/mirror/mirror-layout.js';
import { openMirrored } from '../beyond/mirror/open.js';
import type { SparkConf } from '../beyond/spark/script.js';
import type { SparkTable } from '../beyond/spark/spark-models.js';
import { partitionOf } from '../core/lake/files.js';
import { layoutOf } from '../core/lake/layout.js';
import { type LakeFile, type Manifest, readManifest } from '../core/lake/manifest.js';
import { assertPresent, assertUnmixed } from '../core/lake/presence.js';
import type { Effects } from './effects.js';
import { openMirror } from './mirror.js';

/** A table that models read, with the paths of its files below the snapshot. */
type SourceTable = SparkTable & { readonly paths: readonly Pick<LakeFile, 'path'>[] };

/** A snapshot that models are computed from, on this machine or in a mirror. */
export interface ModelSource {
  readonly id: string;
  /** Its tables, and its marts that are not computed anew, with the places where Spark finds them. */
  readonly tables: readonly SourceTable[];
  /** Default folder or URL for the computed marts. */
  readonly target: string;
  /** Folder of a snapshot on this machine. */
  readonly folder?: string;
  /** What Spark needs to reach a mirror. */
  readonly conf?: SparkConf;
}

/** A snapshot on this machine, by default the published one. Throws QUERY_* or LAKE_* if there is none. */
export function localSource(
  config: Config,
  snapshot: string | undefined,
  computed: ReadonlySet<string>,
): ModelSource {
  const folder = snapshotFolder(config, snapshot);
  const id = basename(folder);
  const manifest = readManifest(folder);
  const read = tablesOf(manifest, computed);
  const names = new Set(read.map(({ name }) => name));
  assertPresent(folder, manifest, names);
  // Spark lists the folder of a table.
  assertUnmixed(folder, manifest, names);
  const tables = read.map((table) => ({ ...table, folder: `file:${join(folder, table.name)}` }));
  return { id, tables, target: join(layoutOf(config.output).models, id), folder };
}

/** A snapshot in the mirror that the configuration names, by default the current one. Throws MIRROR_*. */
export async function pushedSource(
  config: Config,
  snapshot: string | undefined,
  computed: ReadonlySet<string>,
  { signal, err }: Pick<Effects, 'signal' | 'err'>,
): Promise<ModelSource> {
  const { place, store } = await openMirror(config, signal);
  const warn = (message: string): void => void err(`warning    ${message}\n`);
  const { current } = existing((await openMirrored(store, { isWriter: false, warn })).mirror, store);
  const id = snapshot ?? current.snapshot_id;
  const { manifest, files } = await readRecord(store, id);
  const url = store.place.replace(/^s3:/, 's3a:');
  const tables = tablesOf(manifest as Manifest, computed).map((table) => ({
    ...table,
    folder: `${url}/${TABLES}${table.name}`,
    files: files
      .filter(({ path }) => path.startsWith(`${table.name}/`))
      .map(({ object }) => basename(object)),
  }));
  return { id, tables, target: `${url}/${MODELS}${id}`, conf: confOf(place) };
}

/** The tables of a snapshot, and those of its marts that are not computed anew. */
function tablesOf({ tables, marts }: Pick<Manifest, 'tables' | 'marts'>, computed: ReadonlySet<string>) {
  const published = Object.entries(marts).filter(([mart]) => !computed.has(mart));
  return [...Object.entries(tables), ...published].map(([name, { columns, files }]) => ({
    name,
    columns,
    partitioned: files.some((file) => partitionOf(file) !== ''),
    paths: files,
  }));
}

/** Names of Hadoop for the ways of encryption. */
const ENCRYPTIONS = { AES256: 'AES256', 'aws:kms': 'SSE-KMS', 'aws:kms:dsse': 'DSSE-KMS' } as const;

/** Settings of Spark for a mirror. It finds credentials by itself, in the environment or on the machine. */
export function confOf({ endpoint, region, pathStyle, encryption, kmsKey }: Config['publish']): SparkConf {
  return {
    ...(encryption && { 'spark.hadoop.fs.s3a.encryption.algorithm': ENCRYPTIONS[encryption] }),
    ...(kmsKey && { 'spark.hadoop.fs.s3a.encryption.key': kmsKey }),
    ...(endpoint === undefined ? {} : { 'spark.hadoop.fs.s3a.endpoint': endpoint }),
    ...(region === undefined ? {} : { 'spark.hadoop.fs.s3a.endpoint.region': region }),
    ...(pathStyle ? { 'spark.hadoop.fs.s3a.path.style.access': true } : {}),
  };
}
