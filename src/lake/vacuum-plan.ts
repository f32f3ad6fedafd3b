import type { Config } from '../config/config.js';
import { DEFAULT_PASSES } from '../config/settings.js';
import type { PassManifest } from '../land/pass.js';
import type { StreamName } from '../service/streams.js';
import type { Manifest } from './manifest.js';
import type { Snapshot } from './snapshots.js';

/** What a plan needs to know of a snapshot. */
type SnapshotFacts = Pick<Snapshot, 'id' | 'isSealed'> & {
  /** Undefined where it cannot be read. */
  readonly manifest: Pick<Manifest, 'created_at'> | undefined;
};

/** How much is kept. Days go back from that of the last published snapshot. */
export type Retention = Pick<Config, 'keepSnapshots' | 'keepDays' | 'keepPasses'>;

/** What the lake holds, as far as a plan needs it. */
export interface LakeFacts {
  /** Undefined where nothing is published. */
  readonly current: string | undefined;
  /** Snapshots that were current once. */
  readonly published: ReadonlySet<string>;
  /** Whether a snapshot that is not among them never was; false where something that would tell cannot be read. */
  readonly isAllKnown: boolean;
  /** Passes that the current snapshot was made from. */
  readonly passes: ReadonlySet<string>;
  /** Start of the last pass over each stream that the current snapshot holds. */
  readonly lastPassAt: Readonly<Record<string, string>>;
}

/**
 * Snapshots that go: unfinished ones, those that were never current, and published ones beside the last ones and the
 * last ones of days. The current one stays whatever its age; without a current one only unfinished ones go. One whose
 * manifest cannot be read stays, and takes the place of no other.
 * @param snapshots oldest first
 */
export function planSnapshots<T extends SnapshotFacts>(
  snapshots: readonly T[],
  lake: Omit<LakeFacts, 'passes' | 'lastPassAt'>,
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

/** What goes, and why. */
function going<T>(all: readonly T[], reasonOf: (what: T) => string | undefined) {
  return all.flatMap((what) => {
    const reason = reasonOf(what);
    return reason === undefined ? [] : [{ what, reason }];
  });
}

/** The last published snapshot of each of the last days, so that hourly runs do not push last night out. */
function lastOfDays<T extends SnapshotFacts>(published: readonly T[], days: number): T[] {
  const dayOf = ({ manifest }: T): number => Math.floor(Date.parse(manifest?.created_at ?? '') / 86_400_000);
  const lasts = [...new Map(published.map((snapshot) => [dayOf(snapshot), snapshot])).values()];
  const newest = Math.max(...lasts.map(dayOf));
  return lasts.filter((snapshot) => newest - dayOf(snapshot) < days);
}

/**
 * Passes that go: abandoned ones, sealed ones that nothing can use any more, and of the published ones those without a
 * record and those before the oldest proof that is kept. Of a stream everything since that proof is kept, whatever its
 * kind, because a rebuild that replays a full pass without the windows and lookups after it would bring old values back.
 * @param passes by stream, oldest first
 */
export function planPasses<T extends PassManifest>(
  passes: readonly T[],
  lake: LakeFacts,
  keep: Retention['keepPasses'],
) {
  const keptOf = (stream: StreamName): number =>
    typeof keep === 'number' ? keep : (keep[stream] ?? DEFAULT_PASSES);
  const isHeld = (pass: T): boolean => pass.state === 'sealed' && lake.passes.has(pass.pass_id);
  const proofs = passes.filter((pass) => isHeld(pass) && isProof(pass));
  const cuts = new Map<StreamName, string>();
  for (const { stream } of passes) {
    if (cuts.has(stream)) continue;
    const own = proofs.filter((pass) => pass.stream === stream);
    cuts.set(stream, oldestKept(own, keptOf(stream)));
  }
  const cars = cuts.get('cars');
  return going(passes, (pass) => {
    // The archive feed of a night counts in the replay of its vehicles, so that no list is kept for less long than they.
    const cut = [cuts.get(pass.stream) ?? '', cars].filter((at) => at !== undefined).sort()[0] ?? '';
    return isHeld(pass) ? pastRetention(pass, cut) : useless(pass, lake);
  });
}

/**
 * Whether a pass showed all that it asked for. Of the feed only a full pass shows what left; a list that is read by
 * windows, such as the archive, is never read whole again, so that its windows count. No record proves nothing.
 */
function isProof({ stream, kind, complete, sources, records }: PassManifest): boolean {
  const isOfKind = kind === 'full' || (kind === 'window' && stream !== 'cars');
  return isOfKind && records > 0 && (sources === null ? complete : sources.length > 0);
}

/** Days after which a source that no pass proves any more, such as one that the key lost, keeps nothing back. */
const FORGOTTEN_DAYS = 31;

/**
 * Start of the oldest of the last `keep` proofs, and where passes are over some sources, of the last ones of each; empty,
 * before every start, where there are fewer.
 */
function oldestKept(proofs: readonly PassManifest[], keep: number): string {
  const sources = new Set(proofs.flatMap((pass) => pass.sources ?? [null]));
  const starts = [...sources].map((source) =>
    proofs
      .filter((pass) => pass.sources === null || (source !== null && pass.sources.includes(source)))
      .map(({ started_at }) => started_at)
      .sort(),
  );
  const newest = Math.max(...starts.map(lastOf));
  const known = starts.filter((of) => newest - lastOf(of) < FORGOTTEN_DAYS * 86_400_000);
  return known.map((of) => of.at(-keep) ?? '').sort()[0] ?? '';
}

const lastOf = (starts: readonly string[]): number => Date.parse(starts.at(-1) ?? '');

function pastRetention({ records, started_at }: PassManifest, cut: string): string | undefined {
  if (records === 0) return 'published, and without a record';
  return started_at < cut ? `published, and before the oldest complete pass kept (${cut})` : undefined;
}

/** Why no run will use a pass that the lake does not hold; undefined where one would. */
function useless(pass: PassManifest, lake: LakeFacts): string | undefined {
  if (pass.state === 'abandoned') return `abandoned: ${pass.reason ?? 'no reason given'}`;
  const isPassedBy = pass.started_at <= (lake.lastPassAt[pass.stream] ?? '');
  if (pass.state === 'open' || pass.published || !isPassedBy) return undefined;
  return 'its run was never published, and a later pass was';
}
