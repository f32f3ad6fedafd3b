import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../config/config.js';
import { ConfigError } from '../config/lotlake-error.js';
import { dictionary } from '../docs/dictionary.js';
import { unsoundError } from '../lake/lake-error.js';
import { currentId, type Layout, layoutOf } from '../lake/layout.js';
import { findPublished } from '../lake/snapshots.js';
import { pushLanding } from '../mirror/landing.js';
import { type LocalLake, push } from '../mirror/push.js';
import { openStore } from '../mirror/s3.js';
import { describeAsIceberg, updateCatalog } from '../mirror/tables.js';
import { snapshotFolder, withDatabase } from '../query/open-lake.js';
import { count, counted, megabytes } from '../query/printable.js';
import { textOf } from './command.js';
import type { Effects } from './effects.js';

/** Options of the commands that reach a mirror. They override `publish` of the configuration. */
export const mirrorOptions = {
  to: { type: 'string', describe: 'the mirror, such as s3://bucket/prefix (LOTLAKE_PUBLISH_TO)' },
  endpoint: { type: 'string', describe: 'URL of the S3 service (default AWS)' },
  region: { type: 'string', describe: 'region of the bucket (AWS_REGION)' },
  'path-style': { type: 'boolean', describe: 'name the bucket in the path, as MinIO and Ceph need it' },
} as const;

/** Opens the mirror that the configuration names, without a request. Throws ConfigError if it names none. */
export async function openMirror({ publish }: Config, signal: AbortSignal) {
  const { to } = publish;
  const hint = 'name one, such as s3://bucket/prefix, or set LOTLAKE_PUBLISH_TO';
  if (to === undefined) throw new ConfigError('no mirror is named', hint);
  const place = { ...publish, to };
  return { place, store: await openStore(place, signal) };
}

/** What a push did, with landing if that was pushed too. */
export type PushedLake = Awaited<ReturnType<typeof pushLake>>;

/** Pushes the published snapshots of a lake, and landing if it is configured so, to the configured mirror. */
export async function pushLake(config: Config, effects: Effects, warn: (message: string) => void) {
  const { signal, now } = effects;
  const { place, store } = await openMirror(config, signal);
  snapshotFolder(config);
  const layout = layoutOf(config.output);
  const pushed = await withDatabase(config, signal, async ({ session: { connection } }) => {
    const lake = await readLocal(connection, layout);
    const current = lake.kept.at(-1);
    const descriptions = current === undefined ? [] : dictionary(current.manifest);
    const describeTables = describeAsIceberg(connection, store, descriptions);
    return push(lake, { store, describeTables, now, warn });
  });
  const catalog = await updateCatalog(place, store, effects.env);
  const landing = place.landing ? await pushLanding(layout.landing, store) : null;
  return { ...pushed, catalog, landing };
}

/** The published snapshots of a lake. Throws LAKE_UNSOUND if the current one cannot be read. */
async function readLocal(connection: DuckDBConnection, layout: Layout): Promise<LocalLake> {
  const { ids: published, kept: readable } = await findPublished(connection, layout);
  const current = currentId(layout);
  const kept = readable.filter(({ id }) => current !== null && id <= current);
  if (kept.at(-1)?.id !== current)
    throw unsoundError(
      `the published snapshot ${current} cannot be read`,
      'nothing was sent; lotlake verify names what is wrong',
    );
  return { kept, published };
}

/** Describes a push to a person. */
export function pushedText(sent: PushedLake): string {
  const { place, snapshot_id, pushed, files, bytes, catalog, landing } = sent;
  return textOf([
    pushed.length === 0
      ? `${place} has snapshot ${snapshot_id} already; nothing was sent`
      : `${place} has snapshot ${snapshot_id}: ${counted(pushed.length, 'snapshot')} pushed, ${count(files)} files (${megabytes(bytes)}) sent`,
    catalog !== null && `catalog: ${catalog.registered} tables registered, ${catalog.committed} committed`,
    landing !== null && `${landingText(landing)} sent`,
  ]);
}

/** Describes passes of landing that were sent or fetched. */
export const landingText = ({ passes, files, bytes }: Awaited<ReturnType<typeof pushLanding>>): string =>
  `landing: ${count(passes)} passes, ${count(files)} files (${megabytes(bytes)})`;
