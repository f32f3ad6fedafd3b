import type { DuckDBConnection } from '@duckdb/node-api';
import { snapshotFolder, withDatabase } from '../ask/query/open-lake.js';
import type { Config } from '../base/config/config.js';
import { ConfigError } from '../base/config/lotlake-error.js';
import { count, counted, megabytes } from '../base/config/printable.js';
import { costOf, S3_PRICES } from '../beyond/mirror/cost.js';
import { dryStore } from '../beyond/mirror/dry.js';
import { pushLanding } from '../beyond/mirror/landing.js';
import { describeAsIceberg, updateCatalog } from '../beyond/mirror/mirror-tables.js';
import { type LocalLake, push } from '../beyond/mirror/push-snapshots.js';
import { openStore } from '../beyond/mirror/s3.js';
import { unsoundError } from '../core/lake/lake-error.js';
import { currentId, type Layout, layoutOf } from '../core/lake/layout.js';
import { findPublished } from '../core/lake/snapshots.js';
import { dictionary } from '../core/model/dictionary.js';
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

/** How a lake is pushed. */
interface PushOptions {
  /** Sends nothing, and returns what a push would send. */
  readonly dryRun?: boolean;
  /** Removes metadata that another program wrote, instead of refusing it. */
  readonly discardForeign?: boolean;
}

/** Pushes the published snapshots of a lake, and landing if it is configured so, to the configured mirror. */
export async function pushLake(
  config: Config,
  effects: Effects,
  warn: (message: string) => void,
  { dryRun = false, discardForeign = false }: PushOptions = {},
) {
  const { signal, now } = effects;
  const { place, store: real } = await openMirror(config, signal);
  const store = dryRun ? dryStore(real, now) : real;
  snapshotFolder(config);
  const layout = layoutOf(config.output);
  const pushed = await withDatabase(config, signal, async ({ session: { connection } }) => {
    const lake = await readLocal(connection, layout);
    const current = lake.kept.at(-1);
    const descriptions = current === undefined ? [] : dictionary(current.manifest);
    const describeTables = describeAsIceberg(connection, store, descriptions);
    return push(lake, { store, describeTables, now, warn, discardForeign });
  });
  const catalog = dryRun ? null : await updateCatalog(place, store, effects.env);
  const landing = place.landing ? await pushLanding(layout.landing, store) : null;
  const requests = { ...store.requests };
  const cost = { ...costOf(requests), prices: `${S3_PRICES.service}, ${S3_PRICES.date}` };
  return { dry_run: dryRun, ...pushed, catalog, landing, requests, cost };
}

/** The published snapshots of a lake. Throws LAKE_UNSOUND if the current one cannot be read. */
async function readLocal(connection: DuckDBConnection, layout: Layout): Promise<LocalLake> {
  const { ids: published, kept: readable } = await findPublished(connection, layout);
  const current = currentId(layout);
  const last = readable.findIndex(({ id }) => id === current);
  const kept = readable.slice(0, last + 1);
  if (kept.at(-1)?.id !== current)
    throw unsoundError(
      `the published snapshot ${current} cannot be read`,
      'nothing was sent; lotlake verify names what is wrong',
    );
  return { kept, published };
}

/** Describes a push to a person. */
export function pushedText(sent: PushedLake): string {
  const { dry_run, place, snapshot_id, finished, discarded, catalog, landing, requests, cost } = sent;
  const { put, get, list, bytes } = requests;
  return textOf([
    `${dry_run ? `dry run of a push to ${place}` : `${place} has snapshot ${snapshot_id}`}: ${sentText(sent)}`,
    finished > 0 && `${counted(finished, 'object')} of metadata written that an earlier push had left`,
    ...discarded.map(({ table, version, object }) => `removed foreign ${version} of ${table}: ${object}`),
    catalog !== null && `catalog: ${catalog.registered} tables registered, ${catalog.committed} committed`,
    landing !== null && `${landingText(landing)} sent`,
    `requests: ${count(put)} PUT, ${count(get)} GET, ${count(list)} LIST; ${megabytes(bytes)} sent`,
    dry_run && `cost: $${dollars(cost.requests)} and $${dollars(cost.month)} a month (${cost.prices})`,
    dry_run && 'nothing was sent',
  ]);
}

/** What a push sent of snapshots. */
function sentText(sent: PushedLake): string {
  const { dry_run, pushed, files, bytes, metadata_bytes, finished, discarded } = sent;
  if (pushed.length > 0)
    return `${counted(pushed.length, 'snapshot')} ${dry_run ? 'to push' : 'pushed'}, ${count(files)} files (${megabytes(bytes)}) and ${megabytes(metadata_bytes)} of metadata ${dry_run ? 'to send' : 'sent'}`;
  return finished + discarded.length > 0 ? 'no snapshot was pushed' : 'no newer snapshot; nothing was sent';
}

/** An amount with two significant digits, without an exponent. */
const dollars = (amount: number): string =>
  amount.toLocaleString('en-US', { maximumSignificantDigits: 2, useGrouping: false });

/** Describes passes of landing that were sent or fetched. */
export const landingText = ({ passes, files, bytes }: Awaited<ReturnType<typeof pushLanding>>): string =>
  `landing: ${count(passes)} passes, ${count(files)} files (${megabytes(bytes)})`;
