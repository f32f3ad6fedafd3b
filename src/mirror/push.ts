import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { killPoint } from '../config/kill-point.js';
import { version } from '../config/package-root.js';
import type { BaseState } from '../lake/base.js';
import { unsoundError } from '../lake/lake-error.js';
import type { Snapshot } from '../lake/snapshots.js';
import { findMissing } from '../lake/verify.js';
import { readHeads, stageHeads, writeHeads } from './heads.js';
import {
  assertNoVacuum,
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
  unusable,
} from './layout.js';
import { forEach, type Listed, type ObjectStore } from './store.js';
import type { DescribeTables } from './tables.js';

/** A published snapshot of the lake on this machine. */
export type LocalSnapshot = BaseState & Pick<Snapshot, 'id'>;

/** The lake that is pushed. */
export interface LocalLake {
  /** Kept snapshots that were published, oldest first; the last one is the current one. */
  readonly kept: readonly LocalSnapshot[];
  /** Ids of all snapshots that were ever published, with these, as far as the lake knows. */
  readonly published: ReadonlySet<string>;
}

/** What a push needs. */
export interface Pushing {
  readonly store: ObjectStore;
  readonly describeTables: DescribeTables;
  readonly now: () => Date;
  readonly warn: (message: string) => void;
}

/** The files that a push has sent. */
interface Sent {
  /** Objects of the mirror by name. */
  readonly existing: Map<string, Pick<Listed, 'bytes'>>;
  files: number;
  bytes: number;
}

/**
 * Pushes every kept snapshot that is newer than the mirror's current one, oldest first. Everything that a snapshot needs is
 * sent before `current.json` names it, by a conditional write that fails if somebody else has switched meanwhile. Objects
 * that are there already are not sent again. Throws MIRROR_*, and LAKE_UNSOUND if the current snapshot lacks a file.
 * @returns the snapshot that the mirror has now, the ids of those that were pushed, oldest first, and the number and bytes
 * of the files that were sent: those of snapshots and of their tables' metadata, without records and `current.json`
 */
export async function push(lake: LocalLake, pushing: Pushing) {
  const { store } = pushing;
  let mirror = await readCurrent(store);
  killPoint('mirror.current-read');
  const plan = withoutDamaged(
    planPush(lake, mirror?.current, { place: store.place, now: pushing.now() }),
    pushing,
  );
  if (mirror === undefined) await assertConditions(store);
  const existing = new Map([
    ...(await store.list(FILES)),
    ...(plan.length === 0 ? [] : await store.list(TABLES)),
  ]);
  const sent: Sent = { existing, files: 0, bytes: 0 };
  // A push that died after its switch may not have written all heads.
  if (mirror !== undefined) await writeHeads(store, mirror.current);
  for (const snapshot of plan) mirror = await pushSnapshot(snapshot, mirror, pushing, sent);
  const { files, bytes } = sent;
  const pushed = plan.map(({ id }) => id);
  return { place: store.place, snapshot_id: mirror?.current.snapshot_id ?? '', pushed, files, bytes };
}

/**
 * The snapshots to push, oldest first: those that are newer than the mirror's current one. Throws MIRROR_ORIGIN if the
 * mirror has data of another service, MIRROR_AHEAD if it has a snapshot that this lake was not made from, and MIRROR_BUSY
 * during a vacuum.
 */
export function planPush(
  { kept, published }: LocalLake,
  mirror: Current | undefined,
  { place, now }: { readonly place: string; readonly now: Date },
): readonly LocalSnapshot[] {
  if (mirror === undefined) return kept;
  const origin = kept.at(-1)?.manifest.origin ?? null;
  if (origin !== null && mirror.origin !== null && mirror.origin !== origin)
    throw unusable(
      'MIRROR_ORIGIN',
      `${place} is the mirror of ${mirror.origin}, and this lake is of ${origin}`,
      'nothing was sent; name another place for this lake',
    );
  assertNoVacuum(mirror, place, now);
  if (!published.has(mirror.snapshot_id))
    throw unusable(
      'MIRROR_AHEAD',
      `${place} has snapshot ${mirror.snapshot_id}, which this lake (${kept.at(-1)?.id}) was not made from`,
      'nothing was sent; another machine has pushed, or this lake is an older copy: lotlake pull into an empty folder gets what the mirror has, and another place takes what is here',
    );
  return kept.filter(({ id }) => id > mirror.snapshot_id);
}

/** Leaves out older snapshots that lack a file. Throws LAKE_UNSOUND if the current one does. */
function withoutDamaged(plan: readonly LocalSnapshot[], { warn }: Pushing): LocalSnapshot[] {
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

/** Throws MIRROR_CONDITIONS if the service ignores conditions, because two writers could then both win. */
async function assertConditions(store: ObjectStore): Promise<void> {
  // Two first pushes at once must not share a probe.
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
    throw unusable(
      'MIRROR_CONDITIONS',
      `${store.place}: the service ignores ${ignored.join(', ')}`,
      'nothing was sent; two machines could overwrite one another there. Use a service with conditional writes',
    );
}

async function pushSnapshot(
  snapshot: LocalSnapshot,
  mirror: Switched | undefined,
  { store, now, describeTables }: Pushing,
  sent: Sent,
): Promise<Switched> {
  const { id, folder, manifest } = snapshot;
  const files = await filesOfSnapshot(folder, manifest);
  await sendMissing(store, sent, files, async ({ object, path, ...content }) => {
    await store.sendFile(object, join(folder, path), content);
    killPoint('mirror.file-sent');
  });
  killPoint('mirror.files-sent');
  const added = { snapshot_id: id, created_at: manifest.created_at };
  const snapshots = [...(mirror?.current.snapshots ?? []), added];
  const kept = snapshots.map(({ snapshot_id }) => snapshot_id);
  const before = mirror === undefined ? new Map<string, string>() : await readHeads(store, mirror.current);
  const tables = await describeTables(snapshot, files, kept, before);
  const manifests = [...tables.before].map(([object, body]) => ({ object, body, bytes: body.length }));
  await sendMissing(store, sent, manifests, async ({ object, body }) => {
    await store.send(object, body);
    killPoint('mirror.table-described');
  });
  const record: SnapshotRecord = { snapshot_id: id, manifest, files, metadata: tables.named };
  await store.send(recordName(id), `${JSON.stringify(record)}\n`);
  killPoint('mirror.snapshot-described');
  const heads = await stageHeads(store, tables.after);
  store.signal.throwIfAborted();
  const facts = { lotlake_version: version, origin: manifest.origin ?? mirror?.current.origin ?? null };
  const next = { ...facts, snapshot_id: id, snapshots, heads, switched_at: now().toISOString() };
  const switched = await switchTo(store, { ...next, vacuum_until: null }, mirror);
  killPoint('mirror.switched');
  await writeHeads(store, next);
  killPoint('mirror.heads-written');
  return switched;
}

/** Sends the objects that are not there. The name of each has the hash of its content. */
async function sendMissing<T extends Pick<MirrorFile, 'object' | 'bytes'>>(
  store: ObjectStore,
  sent: Sent,
  objects: readonly T[],
  send: (object: T) => Promise<void>,
): Promise<void> {
  await forEach(store, objects, async (each) => {
    const { object, bytes } = each;
    if (sent.existing.get(object)?.bytes === bytes) return;
    await send(each);
    sent.existing.set(object, { bytes });
    sent.files++;
    sent.bytes += bytes;
  });
}
