import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { killPoint } from '../config/kill-point.js';
import { version } from '../config/package-root.js';
import { unsoundError } from '../lake/lake-error.js';
import type { Manifest } from '../lake/manifest.js';
import { findMissing } from '../lake/verify.js';
import { type DescribedTables, type DescribeTables, readHeads, stageHeads, writeHeads } from './heads.js';
import {
  type Current,
  FILES,
  filesOfSnapshot,
  type MirrorFile,
  readCurrent,
  recordName,
  type SnapshotRecord,
  type Switched,
  switchTo,
  TABLES,
} from './layout.js';
import { MirrorError } from './mirror-error.js';
import { type LocalLake, planPush } from './plan.js';
import { forEach, type Listed, type ObjectStore } from './store.js';

/** A published snapshot of the lake on this machine. */
export interface LocalSnapshot {
  readonly id: string;
  readonly folder: string;
  readonly manifest: Manifest;
}

/** What a push needs. */
export interface Pushing {
  readonly store: ObjectStore;
  /** Objects sent at once. */
  readonly concurrency: number;
  readonly describeTables: DescribeTables;
  readonly now: () => Date;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/** What a push did. */
export interface Pushed {
  readonly place: string;
  /** Snapshot that the mirror has now. */
  readonly snapshot_id: string;
  /** Snapshots that were pushed, oldest first. */
  readonly pushed: readonly string[];
  /** Files of snapshots and their tables' metadata that were sent; records and switches are not among them. */
  readonly files: number;
  readonly bytes: number;
}

/** What is in a mirror, and what this push has sent. */
interface Sent {
  readonly there: Map<string, Pick<Listed, 'bytes'>>;
  files: number;
  bytes: number;
}

/**
 * Pushes every kept snapshot that is newer than the mirror's current one, oldest first. For each, all that it needs is
 * sent before `current.json` names it, by a conditional write that fails if somebody else has switched meanwhile. What
 * is there already is not sent again. Throws MirrorError, and LakeError (LAKE_UNSOUND) where the current snapshot lacks
 * a file.
 */
export async function push(lake: LocalLake<LocalSnapshot>, pushing: Pushing): Promise<Pushed> {
  const { store } = pushing;
  let mirror = await readCurrent(store);
  killPoint('mirror.current-read');
  const plan = soundOnes(
    planPush(lake, mirror?.current, { place: store.place, now: pushing.now() }),
    pushing,
  );
  if (mirror === undefined) await assertConditions(store);
  const [files, tables] = [await store.list(FILES), plan.length === 0 ? [] : await store.list(TABLES)];
  const sent: Sent = { there: new Map([...files, ...tables]), files: 0, bytes: 0 };
  // A push that died after its switch has not written all that follows it.
  if (mirror !== undefined) await writeHeads(store, mirror.current, pushing.concurrency);
  for (const snapshot of plan) mirror = await pushSnapshot(snapshot, mirror, pushing, sent);
  const { place } = store;
  const snapshotId = mirror?.current.snapshot_id ?? '';
  return {
    place,
    snapshot_id: snapshotId,
    pushed: plan.map(({ id }) => id),
    files: sent.files,
    bytes: sent.bytes,
  };
}

/** Leaves out older snapshots that lack a file. Throws LakeError where the current one does. */
function soundOnes(plan: readonly LocalSnapshot[], { warn }: Pushing): LocalSnapshot[] {
  return plan.filter(({ id, folder, manifest }) => {
    const [missing] = findMissing(folder, manifest);
    if (missing === undefined) return true;
    const what = `${join(folder, missing.file ?? '')}: ${missing.found} instead of ${missing.expected}`;
    if (id === plan.at(-1)?.id)
      throw unsoundError(what, 'nothing was sent; lotlake verify names all that is wrong');
    warn(`snapshot ${id} is damaged and not pushed: ${what}`);
    return false;
  });
}

/** A tag that no version of an object has. */
const NO_TAG = `"${'0'.repeat(32)}"`;

/** Throws MirrorError (MIRROR_CONDITIONS) where the service ignores conditions: two writers could then both win. */
async function assertConditions(store: ObjectStore): Promise<void> {
  // Two first pushes at once must not meet one another's probe.
  const probe = `${FILES}condition-probe-${randomUUID()}`;
  await store.send(probe, 'once');
  const isIgnored = async (tag?: string): Promise<boolean> =>
    (await store.replace(probe, tag ?? 'twice', tag)) !== undefined;
  const ignored = [
    ...((await isIgnored()) ? ['If-None-Match'] : []),
    ...((await isIgnored(NO_TAG)) ? ['If-Match'] : []),
  ];
  await store.remove([probe]);
  if (ignored.length > 0)
    throw new MirrorError('MIRROR_CONDITIONS', `${store.place}: the service ignores ${ignored.join(', ')}`, {
      outcome: 'usage',
      hint: 'nothing was sent; two machines could overwrite one another there. Use a service with conditional writes',
    });
}

async function pushSnapshot(
  snapshot: LocalSnapshot,
  mirror: Switched | undefined,
  pushing: Pushing,
  sent: Sent,
): Promise<Switched> {
  const { store, now, signal, concurrency } = pushing;
  const { id, folder, manifest } = snapshot;
  const files = await filesOfSnapshot(folder, manifest);
  await sendFiles(folder, files, pushing, sent);
  killPoint('mirror.files-sent');
  const added = { snapshot_id: id, created_at: manifest.created_at };
  const snapshots = [...(mirror?.current.snapshots ?? []), added];
  const tables = await sendTables(snapshot, files, { mirror, snapshots }, pushing, sent);
  const record: SnapshotRecord = { snapshot_id: id, manifest, files, metadata: [...tables.before.keys()] };
  await store.send(recordName(id), `${JSON.stringify(record)}\n`);
  killPoint('mirror.snapshot-described');
  const heads = await stageHeads(store, tables.after);
  signal.throwIfAborted();
  const facts = { lotlake_version: version, origin: manifest.origin ?? mirror?.current.origin ?? null };
  const next = { ...facts, snapshot_id: id, snapshots, heads, switched_at: now().toISOString() };
  const switched = await switchTo(store, { ...next, vacuum_until: null }, mirror);
  killPoint('mirror.switched');
  await writeHeads(store, next, concurrency);
  killPoint('mirror.heads-written');
  return switched;
}

/** Describes the tables of a snapshot, and sends what no reader looks for before the switch. */
async function sendTables(
  snapshot: LocalSnapshot,
  files: readonly MirrorFile[],
  { mirror, snapshots }: { mirror: Switched | undefined; snapshots: Current['snapshots'] },
  { store, concurrency, describeTables }: Pushing,
  sent: Sent,
): Promise<DescribedTables> {
  const heads = mirror === undefined ? new Map<string, string>() : await readHeads(store, mirror.current);
  const kept = snapshots.map(({ snapshot_id }) => snapshot_id);
  const tables = await describeTables(snapshot, files, kept, heads);
  const missing = [...tables.before].filter(([name]) => !sent.there.has(name));
  await forEach(missing, concurrency, async ([name, body]) => {
    await store.send(name, body);
    note(sent, name, body.length);
    killPoint('mirror.table-described');
  });
  return tables;
}

/** Sends the files whose objects are not there. */
async function sendFiles(
  folder: string,
  files: readonly MirrorFile[],
  { store, concurrency, signal }: Pushing,
  sent: Sent,
): Promise<void> {
  const missing = files.filter(({ object, bytes }) => sent.there.get(object)?.bytes !== bytes);
  await forEach(missing, concurrency, async ({ path, object, ...content }) => {
    signal.throwIfAborted();
    await store.sendFile(object, join(folder, path), content);
    note(sent, object, content.bytes);
    killPoint('mirror.file-sent');
  });
}

function note(sent: Sent, name: string, bytes: number): void {
  sent.there.set(name, { bytes });
  sent.files++;
  sent.bytes += bytes;
}
