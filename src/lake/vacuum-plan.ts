import type { PassManifest } from '../land/pass.js';
import type { StreamName } from '../service/streams.js';

/** What a plan needs to know of a snapshot. */
export interface SnapshotFacts {
  readonly id: string;
  /** Whether it has a manifest, which is the last that a run writes of it. */
  readonly sealed: boolean;
}

/** What a plan needs to know of a pass. */
export type PassFacts = Pick<
  PassManifest,
  'pass_id' | 'stream' | 'kind' | 'state' | 'published' | 'started_at' | 'reason'
>;

/** Something that goes, and why. */
export interface Going<T> {
  readonly what: T;
  readonly reason: string;
}

/** What the lake holds, as far as a plan needs it. */
export interface LakeFacts {
  /** Undefined where nothing is published. */
  readonly current: string | undefined;
  /** Snapshots that were current once. */
  readonly published: ReadonlySet<string>;
  /** Passes that the current snapshot was made from. */
  readonly passes: ReadonlySet<string>;
  /** Start of the last pass over each stream that the current snapshot holds. */
  readonly lastPassAt: Readonly<Record<string, string>>;
}

/**
 * Snapshots that go: unfinished ones, those that were never current, and published ones older than the last `keep`.
 * The current one stays whatever its age; without a current one nothing says which were published, so that only
 * unfinished ones go.
 * @param snapshots oldest first
 */
export function planSnapshots(
  snapshots: readonly SnapshotFacts[],
  lake: LakeFacts,
  keep: number,
): Going<string>[] {
  const kept = new Set(
    snapshots
      .filter(({ id }) => lake.published.has(id))
      .slice(-keep)
      .map(({ id }) => id),
  );
  return snapshots.flatMap(({ id, sealed }) => {
    if (id === lake.current || kept.has(id)) return [];
    if (!sealed && !lake.published.has(id))
      return [{ what: id, reason: 'its run ended before it was finished' }];
    if (lake.current === undefined) return [];
    const reason = lake.published.has(id) ? `older than the last ${keep} published` : 'never published';
    return [{ what: id, reason }];
  });
}

/**
 * Passes that go: abandoned ones, sealed ones that nothing can use any more, and published ones before the oldest full
 * pass that is kept. Of a stream everything since that pass is kept, whatever its kind, because a rebuild that replays
 * a full pass without the windows and lookups after it would bring old values back.
 * @param passes by stream, oldest first
 */
export function planPasses<T extends PassFacts>(
  passes: readonly T[],
  lake: LakeFacts,
  keep: (stream: StreamName) => number,
): Going<T>[] {
  const isHeld = (pass: T): boolean => pass.state === 'sealed' && lake.passes.has(pass.pass_id);
  const held = passes.filter(isHeld);
  const cutOf = (stream: StreamName): string =>
    oldestKept(
      held.filter((pass) => pass.stream === stream),
      keep(stream),
    );
  // The archive feed of a night counts in the replay of its vehicles, so that no list is kept for less long than they.
  const cars = held.some(({ stream }) => stream === 'cars') ? [cutOf('cars')] : [];
  return passes.flatMap((pass) => {
    const cut = [cutOf(pass.stream), ...cars].sort()[0] ?? '';
    const reason = isHeld(pass)
      ? pass.started_at < cut
        ? pastRetention(cut)
        : undefined
      : useless(pass, lake);
    return reason === undefined ? [] : [{ what: pass, reason }];
  });
}

/** Start of the oldest full pass that is kept; empty, before every start, where there are no more than are kept. */
function oldestKept(held: readonly PassFacts[], keep: number): string {
  const starts = held.filter(({ kind }) => kind === 'full').map(({ started_at }) => started_at);
  return starts.sort().at(-keep) ?? '';
}

const pastRetention = (cut: string): string => `published, and before the oldest full pass kept (${cut})`;

/** Why no run will use a pass that the lake does not hold; undefined where one would. */
function useless(pass: PassFacts, lake: LakeFacts): string | undefined {
  if (pass.state === 'abandoned') return `abandoned: ${pass.reason ?? 'no reason given'}`;
  const isPassedBy = pass.started_at <= (lake.lastPassAt[pass.stream] ?? '');
  if (pass.state === 'open' || pass.published || !isPassedBy) return undefined;
  return 'its run was never published, and a later pass was';
}
