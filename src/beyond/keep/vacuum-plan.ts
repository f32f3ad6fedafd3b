import type { Config } from '../../base/config/config.js';
import { DEFAULT_PASSES } from '../../base/config/settings.js';
import type { Manifest } from '../../core/lake/manifest.js';
import type { PassRecord } from '../../core/lake/passes/pass.js';
import type { Snapshot } from '../../core/lake/snapshots.js';
import type { StreamName } from '../../core/service/streams.js';

/** What a plan needs to know of a snapshot. */
type SnapshotFacts = Pick<Snapshot, 'id' | 'isSealed'> & {
  /** Undefined if it cannot be read. */
  readonly manifest: Pick<Manifest, 'created_at'> | undefined;
};

/** How much is kept. Days count back from the day of the last published snapshot. */
export type Retention = Pick<Config, 'keepSnapshots' | 'keepDays' | 'keepPasses'>;

/** What the lake holds, as far as a plan needs it. */
export interface LakeFacts {
  /** Undefined if nothing is published. */
  readonly current: string | undefined;
  /** Snapshots that were current once. */
  readonly published: ReadonlySet<string>;
  /** Whether `published` is complete; false if a snapshot that may name others cannot be read. */
  readonly isAllKnown: boolean;
  /** Passes that the current snapshot was made from. */
  readonly passes: ReadonlySet<string>;
}

/**
 * Finds the snapshots to remove: unfinished ones, sealed ones that were never published, and published ones other than the
 * last `keepSnapshots` and the last of each day that is kept. The current snapshot stays whatever its age. If there is
 * none, only unfinished ones go. Unless all published snapshots are known, only published ones go. Any other whose manifest
 * cannot be read stays, and does not count as one of the last.
 * @param snapshots oldest first
 */
export function planSnapshots<T extends SnapshotFacts>(
  snapshots: readonly T[],
  lake: Omit<LakeFacts, 'passes'>,
  { keepSnapshots, keepDays }: Omit<Retention, 'keepPasses'>,
) {
  const published = snapshots.filter(({ id, manifest }) => lake.published.has(id) && manifest !== undefined);
  const kept = new Set([...published.slice(-keepSnapshots), ...lastOfDays(published, keepDays)]);
  return going(snapshots, (snapshot) => {
    const { id, isSealed, manifest } = snapshot;
    if (id === lake.current || kept.has(snapshot)) return undefined;
    const isPublished = lake.published.has(id);
    if (!isPublished && !lake.isAllKnown) return undefined;
    if (!isPublished && !isSealed) return 'its run ended before it was finished';
    if (manifest === undefined || lake.current === undefined) return undefined;
    return isPublished ? `older than the last ${keepSnapshots} published` : 'never published';
  });
}

/** What a plan removes, each with the reason. */
function going<T>(all: readonly T[], reasonOf: (what: T) => string | undefined) {
  return all.flatMap((what) => {
    const reason = reasonOf(what);
    return reason === undefined ? [] : [{ what, reason }];
  });
}

/**
 * The last published snapshot of each of the last days, so that hourly runs do not push last night out. Days count back from the last
 * one: a clock that was ahead in an earlier one decides nothing.
 */
function lastOfDays<T extends SnapshotFacts>(published: readonly T[], days: number): T[] {
  const dayOf = ({ manifest }: T): number => Math.floor(Date.parse(manifest?.created_at ?? '') / 86_400_000);
  const lasts = [...new Map(published.map((snapshot) => [dayOf(snapshot), snapshot])).values()];
  const last = published.at(-1);
  if (last === undefined) return [];
  return lasts.filter((snapshot) => Math.max(0, dayOf(last) - dayOf(snapshot)) < days);
}

/**
 * Finds the passes to remove: abandoned ones, sealed ones that nothing can use any more, and published ones that have no
 * record or come before the oldest proof that is kept, in the order of the lake. Every pass of a stream since that proof is kept, whatever its kind,
 * because a rebuild that replays a full pass without the windows and lookups after it would bring old values back. The
 * passes over `/cars` go by whole groups: as long as a delta stays, so do its keyframe and every pass since.
 * @param passes by stream, oldest first
 * @returns the passes to remove with the reason, and those that are past retention and stay for a delta
 */
export function planPasses<T extends PassRecord>(
  passes: readonly T[],
  lake: LakeFacts,
  keep: Retention['keepPasses'],
) {
  const keptOf = (stream: StreamName): number =>
    typeof keep === 'number' ? keep : (keep[stream] ?? DEFAULT_PASSES);
  const isHeld = (pass: T): boolean => pass.state === 'sealed' && lake.passes.has(pass.pass_id);
  const places = new Map(passes.map(({ pass_id, sequence }) => [pass_id, sequence]));
  /** Whether a pass is a delta whose keyframe somebody has taken away. It can be replayed no more. */
  const isAlone = ({ keyframe }: T): boolean => keyframe != null && !places.has(keyframe);
  const proofs = passes.filter((pass) => isHeld(pass) && isProof(pass) && !isAlone(pass));
  const cuts = new Map<StreamName, number>();
  for (const { stream } of passes) {
    if (cuts.has(stream)) continue;
    const own = proofs.filter((pass) => pass.stream === stream);
    cuts.set(stream, oldestKept(own, keptOf(stream)));
  }
  const reasonWith =
    (cars: number | undefined) =>
    (pass: T): string | undefined => {
      // A replay of vehicles also reads the archive feed of their night, so every list is kept at least as long as vehicles.
      const own = cuts.get(pass.stream) ?? 0;
      if (isHeld(pass)) return pastRetention(pass, cars === undefined ? own : Math.min(own, cars));
      return useless(pass, passes.filter(isHeld));
    };
  const cars = cuts.get('cars');
  const pastCars = reasonWith(cars);
  const deltas = passes.filter((pass) => pass.keyframe != null && pastCars(pass) === undefined);
  const needed = deltas.flatMap(({ keyframe }) => places.get(keyframe ?? '') ?? []);
  // A group begins with its keyframe.
  const reasonOf = reasonWith(cars === undefined ? undefined : Math.min(cars, ...needed));
  return {
    removals: going(passes, reasonOf),
    staying: passes.filter(
      (pass) => pass.stream === 'cars' && pastCars(pass) !== undefined && reasonOf(pass) === undefined,
    ),
  };
}

/**
 * Whether a pass proves what the service has. For the feed of vehicles only a full pass does, because it alone shows what
 * left. Other lists, such as the archive, are read by windows and never whole again, so their windows count. A pass without
 * records proves nothing.
 */
function isProof({ stream, kind, complete, sources, records }: PassRecord): boolean {
  const isOfKind = kind === 'full' || (kind === 'window' && stream !== 'cars');
  return isOfKind && records > 0 && (sources === null ? complete : sources.length > 0);
}

/** Days after which a source without a new proof, such as one that the key lost, no longer keeps passes. */
const FORGOTTEN_DAYS = 31;

/**
 * Place of the oldest of the last `keep` proofs, which come oldest first. If passes are over some sources, each source keeps its own
 * last proofs. If there are fewer, the result is 0 and so before every pass.
 */
function oldestKept(proofs: readonly PassRecord[], keep: number): number {
  const sources = new Set(proofs.flatMap((pass) => pass.sources ?? [null]));
  const bySource = [...sources].map((source) =>
    proofs.filter((pass) => pass.sources === null || (source !== null && pass.sources.includes(source))),
  );
  const newest = startOf(proofs.at(-1));
  const known = bySource.filter((own) => newest - startOf(own.at(-1)) < FORGOTTEN_DAYS * 86_400_000);
  return known.length === 0 ? 0 : Math.min(...known.map((own) => own.at(-keep)?.sequence ?? 0));
}

const startOf = (pass: PassRecord | undefined): number => Date.parse(pass?.started_at ?? '');

function pastRetention({ records, sequence }: PassRecord, cut: number): string | undefined {
  if (records === 0) return 'it has no record';
  return sequence < cut ? 'before the oldest complete pass kept' : undefined;
}

/** Why no run will use a pass that the lake does not hold; undefined if a run may use it. */
function useless(pass: PassRecord, held: readonly PassRecord[]): string | undefined {
  if (pass.state === 'abandoned') return `abandoned: ${pass.reason ?? 'no reason given'}`;
  const isOutdated = held.some(
    ({ stream, kind, sequence }) => stream === pass.stream && kind !== 'lookup' && sequence > pass.sequence,
  );
  if (pass.state === 'open' || pass.published || !isOutdated) return undefined;
  return 'never published, and a later pass was';
}
