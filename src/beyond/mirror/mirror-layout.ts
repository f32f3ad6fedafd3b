import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { byName } from '../../base/config/json.js';
import { type Code, LotlakeError } from '../../base/config/lotlake-error.js';
import { remove } from '../../base/config/owned.js';
import { checksumOf } from '../../core/lake/disk.js';
import { FINGERPRINTS } from '../../core/lake/ids.js';
import { WAREHOUSE } from '../../core/lake/layout.js';
import { allFiles, type Manifest } from '../../core/lake/manifest.js';
import type { ObjectStore, Versioned } from './store.js';

/** Where a mirror is and how it is reached. */
export type MirrorPlace = Config['publish'] & { readonly to: string };

/** Version of the layout of a mirror that this code writes. */
const MIRROR_VERSION = 2;

/** The only object that is ever switched. It leads to everything that a reader needs. */
const CURRENT = 'current.json';

/** Folders of objects of a mirror. */
export const TABLES = 'tables/';
export const FILES = 'files/';
export const SNAPSHOTS = 'snapshots/';
export const LANDING = 'landing/';

/** Marts that Spark computed over the mirror, by snapshot. No table names them. */
export const MODELS = 'models/';

/** Metadata files that an Iceberg REST catalog writes, by table. */
export const CATALOG = 'catalog/';

export const recordName = (snapshotId: string): string => `${SNAPSHOTS}${snapshotId}.json`;

/** Ids of snapshots and names of files become paths on the machine that pulls them. */
const id = z.string().regex(/^[\w-]+$/);
const path = z.string().regex(/^(?!.*(^|\/)\.\.?(\/|$))[^/\p{Cc}\\][^\p{Cc}\\]*$/su);
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const tableStateSchema = z.object({
  /** N of the newest `vN.metadata.json` that lotlake wrote. */
  version: z.int(),
  /** Snapshot of the lake whose rows that metadata has; null once no kept snapshot has rows of the table. */
  night: id.nullable(),
  /** Hash of the objects and columns that the metadata describes. */
  content: sha256.optional(),
});

const currentSchema = z.object({
  mirror_version: z.literal(MIRROR_VERSION),
  lotlake_version: z.string(),
  /** Service that the data comes from; null if the lake does not know. */
  origin: z.string().nullable(),
  snapshot_id: id,
  /** Snapshots that are kept, oldest first, the current one last. */
  snapshots: z.array(z.object({ snapshot_id: id, created_at: z.string(), sequence: z.int() })),
  /** Object that stores the heads of the tables, which are written after each switch. */
  heads: path,
  /** The tables by name. */
  tables: z.record(id, tableStateSchema).transform(byName),
  switched_at: z.string(),
  /** Until when a vacuum may remove objects and nobody may push; null if no vacuum is running. */
  vacuum_until: z.string().nullable(),
});

/** `current.json`. */
export type Current = Readonly<z.output<typeof currentSchema>>;

/** What `current.json` says of each table. */
export type TableStates = Readonly<Record<string, z.output<typeof tableStateSchema>>>;

const recordSchema = z.object({
  snapshot_id: id,
  /** `manifest.json` of the snapshot. */
  manifest: z.record(z.string(), z.unknown()),
  /** Every file of the snapshot except its manifest: its path in the snapshot, and its object. */
  files: z.array(z.object({ path, object: path, bytes: z.int(), sha256 })),
  /** Manifests and manifest lists of Iceberg that describe the snapshot. */
  metadata: z.array(path),
  /** Those of them that are lists, whole. */
  lists: z.record(path, z.base64()),
});

/** `snapshots/<id>.json`, gzipped: the parts of a snapshot. */
export type SnapshotRecord = Readonly<z.output<typeof recordSchema>>;

export type MirrorFile = SnapshotRecord['files'][number];

/** `current.json` with the tag of this version. */
export type Switched = Readonly<NonNullable<Awaited<ReturnType<typeof readCurrent>>>>;

/** Reads `current.json`; undefined if nothing was pushed yet. Throws MIRROR_FORMAT. */
export async function readCurrent(store: ObjectStore) {
  const found = await store.read(CURRENT);
  return found === undefined
    ? undefined
    : { current: parse(store, CURRENT, currentSchema, found), tag: found.tag };
}

/** Throws MIRROR_NOT_FOUND if nothing was pushed to a place. */
export function existing(mirror: Switched | undefined, { place }: ObjectStore): Switched {
  if (mirror !== undefined) return mirror;
  const hint = 'name the place that a push was given; nothing was changed';
  throw unusable('MIRROR_NOT_FOUND', `there is no mirror at ${place}`, hint);
}

/** Writes the record of a snapshot, gzipped. */
export const sendRecord = (store: ObjectStore, record: SnapshotRecord): Promise<void> =>
  store.send(recordName(record.snapshot_id), gzipSync(JSON.stringify(record)));

/** Reads the record of a snapshot. Throws MIRROR_FORMAT, MIRROR_DAMAGED. */
export async function readRecord(store: ObjectStore, snapshotId: string): Promise<SnapshotRecord> {
  const found = await findRecord(store, snapshotId);
  if (found === undefined) throw damaged(store, recordName(snapshotId), 'is missing');
  return found;
}

/** Reads the record of a snapshot; undefined if the mirror no longer has it. Throws MIRROR_FORMAT. */
export async function findRecord(
  store: ObjectStore,
  snapshotId: string,
): Promise<SnapshotRecord | undefined> {
  const name = recordName(snapshotId);
  const found = await store.read(name);
  return found === undefined ? undefined : parse(store, name, recordSchema, found);
}

const isGzipped = (body: Buffer): boolean => body[0] === 0x1f && body[1] === 0x8b;

function parse<T extends z.ZodType>(
  store: ObjectStore,
  name: string,
  schema: T,
  { body }: Versioned,
): z.output<T> {
  try {
    const text = isGzipped(body) ? gunzipSync(body) : body;
    return schema.parse(JSON.parse(text.toString()));
  } catch (error) {
    const reason = error instanceof z.ZodError ? `: ${z.prettifyError(error)}` : '';
    throw unusable(
      'MIRROR_FORMAT',
      `${store.place}/${name} is not of a mirror that this lotlake knows${reason}`,
      'nothing was changed; name another place, or install the version of lotlake that wrote it',
    );
  }
}

/** The error for a place or a lake that the same command can never use. */
export const unusable = (code: Code, message: string, hint: string): LotlakeError =>
  new LotlakeError(code, message, { outcome: 'usage', hint });

/** The error for a place that somebody else is changing. The same command may succeed later. */
const busy = (code: Code, message: string, hint: string): LotlakeError =>
  new LotlakeError(code, message, { outcome: 'locked', retryable: true, hint });

/** The error for a mirror that lacks an object or holds a wrong one. */
export const damaged = (store: ObjectStore, name: string, problem: string): LotlakeError =>
  new LotlakeError('MIRROR_DAMAGED', `${store.place}/${name} ${problem}`, {
    outcome: 'held',
    hint: 'nothing was switched; bring the object back, or push a sound lake to another place',
  });

/**
 * Fetches an object into a file. Throws MIRROR_DAMAGED if it is missing, or has another checksum; then there is no file.
 * @param sha256 checksum of what was sent
 */
export async function fetchWhole(
  store: ObjectStore,
  object: string,
  path: string,
  sha256: string,
): Promise<void> {
  const checksum = await store.fetch(object, path);
  if (checksum === undefined) throw damaged(store, object, 'is missing');
  if (checksum === sha256) return;
  remove(path);
  throw damaged(store, object, `has checksum ${checksum}, and a file of checksum ${sha256} was sent`);
}

/** Throws MIRROR_BUSY while a vacuum may remove objects that a push would rely on. */
export function assertNoVacuum({ vacuum_until: until }: Current, place: string, now: Date): void {
  if (until === null || Date.parse(until) <= now.getTime()) return;
  const hint =
    'nothing was changed; run the same command again when it is done, or after that time if it died';
  throw busy('MIRROR_BUSY', `a vacuum removes objects of ${place}, until ${until} at the latest`, hint);
}

/**
 * Switches `current.json` if it is unchanged since it was read, and throws MIRROR_OVERTAKEN otherwise.
 * @param before what was read; undefined if there was no `current.json`
 */
export async function switchTo(
  store: ObjectStore,
  next: Omit<Current, 'mirror_version'>,
  before: Switched | undefined,
): Promise<Switched> {
  const current: Current = { mirror_version: MIRROR_VERSION, ...next };
  const tag = await store.replace(CURRENT, `${JSON.stringify(current, null, 1)}\n`, before?.tag);
  if (tag !== undefined) return { current, tag };
  throw overtaken(store, await readCurrent(store));
}

/** The error for a mirror that somebody else has switched meanwhile. */
export const overtaken = ({ place }: ObjectStore, mirror: Switched | undefined): LotlakeError =>
  busy(
    'MIRROR_OVERTAKEN',
    `${place} was switched meanwhile; it has snapshot ${mirror?.current.snapshot_id}`,
    'nothing of the other writer was changed; run the same command again: it sends only what is missing, or says what is newer there',
  );

/** The files of a local snapshot and the objects that hold them. Files without a checksum are read. */
export async function filesOfSnapshot(folder: string, manifest: Manifest): Promise<MirrorFile[]> {
  const found: MirrorFile[] = [];
  for (const { path, bytes, sha256: known } of allFiles(manifest)) {
    const checksum = known ?? (await checksumOf(join(folder, path)));
    // Below the folder of its table and partition, named by its checksum.
    const object = `${TABLES}${dirname(path)}/${checksum}.parquet`;
    found.push({ path, object, bytes, sha256: checksum });
  }
  for (const name of [WAREHOUSE, FINGERPRINTS].filter((each) => existsSync(join(folder, each)))) {
    const checksum = await checksumOf(join(folder, name));
    const { size } = statSync(join(folder, name));
    found.push({ path: name, object: FILES + checksum, bytes: size, sha256: checksum });
  }
  return found;
}
