import type { SnapshotFolder } from '../iceberg/tables.js';
import type { Current } from './layout.js';
import { busy, unusable } from './mirror-error.js';

/** A published snapshot of the lake on this machine. */
export interface LocalSnapshot extends SnapshotFolder {
  readonly id: string;
}

/** What is known of the lake that is pushed. */
export interface LocalLake {
  /** Snapshots that are kept and were published, oldest first; the last one is the current one. */
  readonly kept: readonly LocalSnapshot[];
  /** Ids of all snapshots that were ever published, as far as the lake can tell. */
  readonly published: ReadonlySet<string>;
}

/**
 * The snapshots to push, oldest first: those that are newer than the mirror's current one. Throws MIRROR_* where the
 * mirror is of another service (MIRROR_ORIGIN), has a snapshot that this lake did not come from (MIRROR_AHEAD), or is
 * being vacuumed (MIRROR_BUSY).
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
  const at = kept.findIndex(({ id }) => id === mirror.snapshot_id);
  if (at < 0 && !published.has(mirror.snapshot_id))
    throw unusable(
      'MIRROR_AHEAD',
      `${place} has snapshot ${mirror.snapshot_id}, which this lake (${kept.at(-1)?.id}) was not made from`,
      'nothing was sent; another machine has pushed, or this lake is an older copy: lotlake pull into an empty folder gets what the mirror has, and another place takes what is here',
    );
  return at >= 0 ? kept.slice(at + 1) : kept.filter(({ id }) => id > mirror.snapshot_id);
}

/** Throws MIRROR_BUSY while a vacuum may remove objects that a push would count on. */
export function assertNoVacuum({ vacuum_until: until }: Current, place: string, now: Date): void {
  if (until === null || Date.parse(until) <= now.getTime()) return;
  const hint =
    'nothing was changed; run the same command again when it is done, or after that time if it died';
  throw busy('MIRROR_BUSY', `a vacuum removes objects of ${place}, until ${until} at the latest`, hint);
}
