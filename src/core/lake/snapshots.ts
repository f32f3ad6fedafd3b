import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { ConfigError, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { rows } from '../../base/duck/session.js';
import { tableRelation, writtenRelation } from './files.js';
import { ID } from './ids.js';
import { currentSnapshot, type Layout } from './layout.js';
import { type Manifest, manifestIn } from './manifest.js';

/** A folder of a snapshot. */
export interface Snapshot {
  readonly id: string;
  readonly folder: string;
  /** Whether it has a manifest, readable or not. A run writes the manifest last. */
  readonly isSealed: boolean;
  /** Undefined if there is none or it cannot be read. */
  readonly manifest: Manifest | undefined;
}

/** Which snapshot to read: by its id, or by a time at which it was current; by default the published one. */
export interface Choice {
  readonly snapshot?: string | undefined;
  readonly asOf?: string | undefined;
}

/**
 * Snapshot folders, oldest first by the `sequence` of their manifests: ids begin with a time, and clocks are set back. One whose
 * manifest cannot be read comes after those whose ids are smaller than its own.
 */
export function listSnapshots(layout: Layout): Snapshot[] {
  if (!existsSync(layout.snapshots)) return [];
  let last = 0;
  return readdirSync(layout.snapshots, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && ID.test(entry.name))
    .map((entry) => entry.name)
    .sort()
    .map((id) => {
      const folder = join(layout.snapshots, id);
      const manifest = manifestIn(folder);
      last = Math.max(last, manifest?.sequence ?? 0);
      const isSealed = existsSync(join(folder, 'manifest.json'));
      return { place: manifest?.sequence ?? last, snapshot: { id, folder, isSealed, manifest } };
    })
    .sort((a, b) => a.place - b.place)
    .map(({ snapshot }) => snapshot);
}

/** The snapshots of a list, oldest first, that are older than the one of an id; all if it is not among them. */
export function olderThan<T extends Pick<Snapshot, 'id'>>(snapshots: readonly T[], id: string): T[] {
  const at = snapshots.findIndex((snapshot) => snapshot.id === id);
  return at < 0 ? [...snapshots] : snapshots.slice(0, at);
}

/** All snapshots, and those that were current once. */
export interface Published {
  /** All snapshots, oldest first. */
  readonly snapshots: readonly Snapshot[];
  /** Ids of those that were current once. */
  readonly ids: ReadonlySet<string>;
  /** The snapshots of `ids` that are here and can be read, oldest first. */
  readonly kept: readonly SealedSnapshot[];
  /** Snapshots whose `runs` cannot be read. */
  readonly unreadable: readonly { readonly snapshot: Snapshot; readonly reason: string }[];
}

/**
 * Finds the snapshots that were current once: the current one, and each that another snapshot names in its `runs`. Snapshots
 * whose `runs` are unreadable may name more.
 */
export async function findPublished(connection: DuckDBConnection, layout: Layout): Promise<Published> {
  const snapshots = listSnapshots(layout);
  const current = currentSnapshot(layout);
  const ids = new Set(snapshots.filter(({ folder }) => folder === current).map(({ id }) => id));
  const unread: { snapshot: Snapshot; reason: string }[] = [];
  for (const snapshot of snapshots) {
    const { id, manifest } = snapshot;
    if (manifest !== undefined && manifest.tables.runs === undefined) continue;
    try {
      for (const other of await readIds(connection, snapshot, 'runs', 'snapshot_id'))
        if (other !== id) ids.add(other);
    } catch (error) {
      unread.push({ snapshot, reason: messageOf(error).replaceAll(/\s+/g, ' ') });
    }
  }
  // A snapshot of a killed run may have no `runs` yet, or half of the file.
  const unreadable = unread.filter(({ snapshot }) => snapshot.isSealed || ids.has(snapshot.id));
  const kept = snapshots.filter(hasManifest).filter(({ id }) => ids.has(id));
  return { snapshots, ids, kept, unreadable };
}

/** The ids in a column of a small table of a snapshot. One that a dead run left has no manifest, and its folder is listed. */
export async function readIds(
  connection: DuckDBConnection,
  { folder, manifest }: Pick<Snapshot, 'folder' | 'manifest'>,
  table: string,
  column: string,
): Promise<readonly string[]> {
  const relation =
    manifest === undefined
      ? writtenRelation(folder, table, false)
      : tableRelation({ folder, manifest }, table);
  const found = await rows(connection, `select ${column} as id from ${relation} where ${column} is not null`);
  return found.map((row) => String(row.id));
}

/** Folder of the chosen snapshot; undefined if none is chosen. Throws LAKE_NO_SNAPSHOT, which names the kept snapshots. */
export async function pickSnapshot(
  connection: DuckDBConnection,
  layout: Layout,
  { snapshot, asOf }: Choice,
): Promise<string | undefined> {
  if (asOf === undefined) return snapshot === undefined ? undefined : findSnapshot(layout, snapshot);
  const moment = parseTime(asOf);
  const { kept } = await findPublished(connection, layout);
  // Of two snapshots with the same time, or whose clock was set back between them, the later one was current.
  const found = kept.findLast(({ manifest }) => timeOf(manifest) <= moment);
  if (found === undefined) throw unknown(`no snapshot that is kept is as old as ${asOf}`, kept);
  return found.folder;
}

/** Folder of the snapshot of an id. Throws LAKE_NO_SNAPSHOT, which names the kept snapshots. */
export function findSnapshot(layout: Layout, id: string): string {
  const snapshots = listSnapshots(layout);
  const found = snapshots.find((snapshot) => snapshot.id === id);
  if (found === undefined) throw unknown(`there is no snapshot ${id}`, snapshots.filter(hasManifest));
  return found.folder;
}

/** A snapshot whose manifest can be read. */
export interface SealedSnapshot extends Snapshot {
  readonly manifest: Manifest;
}

/** Whether the manifest of a snapshot can be read. */
export function hasManifest(snapshot: Snapshot): snapshot is SealedSnapshot {
  return snapshot.manifest !== undefined;
}

const timeOf = (manifest: Manifest): number => Date.parse(manifest.created_at);

const TIME = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Reads a time, in milliseconds. A date means the end of its day; without a zone the time is in UTC. */
function parseTime(text: string): number {
  const [, date, time = '23:59:59.999', zone = 'Z'] = TIME.exec(text) ?? [];
  const moment = Date.parse(`${date}T${time}${zone}`);
  if (!Number.isNaN(moment)) return moment;
  throw new ConfigError(
    `${text} is no time`,
    'write a date (2026-11-18) or an instant (2026-11-18T06:00:00Z)',
  );
}

function unknown(message: string, kept: readonly SealedSnapshot[]): LotlakeError {
  const list = kept.map(({ id, manifest }) => `${id} (${manifest.created_at})`);
  return new LotlakeError('LAKE_NO_SNAPSHOT', message, {
    outcome: 'usage',
    hint: list.length === 0 ? 'no snapshot is kept' : `kept: ${list.join(', ')}`,
  });
}
