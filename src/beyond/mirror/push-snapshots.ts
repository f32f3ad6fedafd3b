import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { version } from '../../base/config/package-root.js';
import type { BaseState } from '../../core/lake/base.js';
import { unsoundError } from '../../core/lake/lake-error.js';
import { findMissing } from '../../core/lake/presence.js';
import type { Snapshot } from '../../core/lake/snapshots.js';
import { isManifestList } from '../iceberg/manifests.js';
import { changedHeads, type Heads, headOf, stageHeads, statesOf } from './heads.js';
import {
  assertNoVacuum,
  type Current,
  FILES,
  filesOfSnapshot,
  type MirrorFile,
  readRecord,
  type SnapshotRecord,
  type Switched,
  sendRecord,
  switchTo,
  TABLES,
  unusable,
} from './mirror-layout.js';
import type { DescribedTables, DescribeTables } from './mirror-tables.js';
import { finishHeads, openMirrored } from './open.js';
import { forEach, type Listed, type ObjectStore } from './store.js';

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
  /** Removes metadata that another program wrote, instead of refusing it. */
  readonly discardForeign?: boolean;
}

/** The mirror, and the files that a push has sent. */
interface Sent {
  mirror: Switched | undefined;
  heads: Heads;
  /** Record of the current snapshot, if this push has read or made it. */
  record?: SnapshotRecord;
  /** Objects of the mirror by name. */
  readonly existing: Map<string, Pick<Listed, 'bytes'>>;
  files: number;
  bytes: number;
}

/**
 * Pushes every kept snapshot that is newer than the mirror's current one, oldest first. Everything that a snapshot needs is
 * sent before `current.json` names it, by a conditional write that fails if somebody else has switched meanwhile. Objects
 * that are there already are not sent again. Throws MIRROR_*, and LAKE_UNSOUND if the current snapshot lacks a file.
 * @returns the snapshot that the mirror has now; the ids of those that were pushed, oldest first; the number and bytes of
 * their files that were sent; the bytes of all other objects, which are metadata; the number of heads that a killed push had
 * left and that were written; and the foreign metadata that was removed
 */
export async function push(lake: LocalLake, pushing: Pushing) {
  const { store, warn, discardForeign = false } = pushing;
  const before = store.requests.bytes;
  const opened = await openMirrored(store, { isWriter: true, warn, discardForeign });
  const { mirror, heads, objects, finished, discarded } = opened;
  killPoint('mirror.current-read');
  const plan = withoutDamaged(
    planPush(lake, mirror?.current, { place: store.place, now: pushing.now() }),
    pushing,
  );
  if (mirror === undefined) await assertConditions(store);
  const others = plan.length === 0 ? [] : await store.list(FILES);
  const sent: Sent = { mirror, heads, existing: new Map([...objects, ...others]), files: 0, bytes: 0 };
  for (const snapshot of plan) await pushSnapshot(snapshot, pushing, sent);
  const { files, bytes } = sent;
  return {
    place: store.place,
    snapshot_id: sent.mirror?.current.snapshot_id ?? '',
    pushed: plan.map(({ id }) => id),
    files,
    bytes,
    metadata_bytes: store.requests.bytes - before - bytes,
    finished,
    discarded,
  };
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
  const at = kept.findIndex(({ id }) => id === mirror.snapshot_id);
  if (at >= 0) return kept.slice(at + 1);
  // A vacuum has removed that snapshot here.
  const { sequence: last = 0 } = mirror.snapshots.at(-1) ?? {};
  const isLater = ({ id, manifest: { sequence } }: LocalSnapshot): boolean =>
    sequence === last ? id > mirror.snapshot_id : sequence > last;
  return kept.filter(isLater);
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

/** Pushes one snapshot after the mirror's current one, and notes in `sent` what the mirror has then. */
async function pushSnapshot(snapshot: LocalSnapshot, pushing: Pushing, sent: Sent): Promise<void> {
  const { store, now, describeTables } = pushing;
  const { id, folder, manifest } = snapshot;
  const { mirror, heads: before } = sent;
  const files = await filesOfSnapshot(folder, manifest);
  await sendMissing(store, sent, files, async ({ object, path, bytes, sha256 }) => {
    await store.sendFile(object, join(folder, path), { bytes, sha256 });
    sent.files++;
    sent.bytes += bytes;
    killPoint('mirror.file-sent');
  });
  killPoint('mirror.files-sent');
  const states = mirror?.current.tables ?? statesOf(before);
  const earlier = sent.record ?? (mirror && (await readRecord(store, mirror.current.snapshot_id)));
  const tables = await describeTables(snapshot, files, { heads: before, states, record: earlier });
  const manifests = [...tables.before].map(([object, body]) => ({ object, body, bytes: body.length }));
  await sendMissing(store, sent, manifests, async ({ object, body }) => {
    await store.send(object, body);
    killPoint('mirror.table-described');
  });
  const metadata = [...tables.named, ...unchangedIn(earlier, tables)];
  const lists = listsIn(metadata, earlier, tables);
  const record: SnapshotRecord = { snapshot_id: id, manifest, files, metadata, lists };
  await sendRecord(store, record);
  killPoint('mirror.snapshot-described');
  const added = { snapshot_id: id, created_at: manifest.created_at, sequence: manifest.sequence };
  const next = {
    lotlake_version: version,
    origin: manifest.origin ?? mirror?.current.origin ?? null,
    snapshot_id: id,
    snapshots: [...(mirror?.current.snapshots ?? []), added],
    heads: await stageHeads(store, tables.heads),
    tables: statesOf(tables.heads, states, tables.contents),
    switched_at: now().toISOString(),
    vacuum_until: null,
  };
  store.signal.throwIfAborted();
  Object.assign(sent, { mirror: await switchTo(store, next, mirror), heads: tables.heads, record });
  killPoint('mirror.switched');
  await finishHeads(store, next, changedHeads(tables.heads, before));
  killPoint('mirror.heads-written');
}

/** Manifests and lists of the snapshot before that still describe a table. */
function unchangedIn(
  record: SnapshotRecord | undefined,
  { heads, contents }: Pick<DescribedTables, 'heads' | 'contents'>,
): readonly string[] {
  const all = new Set([...heads.keys()].map((name) => headOf(name)?.table));
  const tableOf = (name: string): string => name.slice(TABLES.length).split('/')[0] ?? '';
  return (record?.metadata ?? []).filter((name) => all.has(tableOf(name)) && !contents.has(tableOf(name)));
}

/** The manifest lists among these objects, in base64, so that the next push need not read them one by one. */
function listsIn(
  metadata: readonly string[],
  earlier: SnapshotRecord | undefined,
  { before }: Pick<DescribedTables, 'before'>,
): SnapshotRecord['lists'] {
  const lists = metadata.filter(isManifestList).flatMap((name) => {
    const text = before.get(name)?.toString('base64') ?? earlier?.lists?.[name];
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(lists);
}

/** Sends the objects that are not there. The name of each has the hash of its content. */
async function sendMissing<T extends Pick<MirrorFile, 'object' | 'bytes'>>(
  store: ObjectStore,
  { existing }: Sent,
  objects: readonly T[],
  send: (object: T) => Promise<void>,
): Promise<void> {
  await forEach(store, objects, async (each) => {
    const { object, bytes } = each;
    if (existing.get(object)?.bytes === bytes) return;
    await send(each);
    existing.set(object, { bytes });
  });
}
