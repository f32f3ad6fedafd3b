import { join } from 'node:path';
import { type BrokenDelta, brokenDeltas, checkPages, noteDamage } from '../../core/land/group.js';
import { findPasses, isWhole, leftOutOf, type Pass } from '../../core/land/pass.js';

/** A pass over `/cars` that deltas build on, and that landing lacks or has otherwise than it was landed. */
interface LandingProblem {
  readonly pass_id: string;
  readonly problem: string;
  /** Records that the pass has landed; null if it is not there. */
  readonly records: number | null;
  /** What else a rebuild can no longer replay because of it. */
  readonly lost: {
    /** Deltas, each of them the full pass of a night. */
    readonly deltas: readonly string[];
    /** Start of the first of them. */
    readonly since: string | null;
    /** Records in their files, and records that they leave out. */
    readonly landed: number;
    readonly left_out: number;
  };
}

/** What following the deltas of landing showed. */
export interface LandingReport {
  /** Deltas that were followed to their keyframe. */
  readonly deltas: number;
  readonly problems: readonly LandingProblem[];
  /** Whether the passes say now which of them are damaged, so that the next full pass lands every record. */
  readonly noted: boolean;
}

/**
 * Follows the published deltas of landing to their keyframes: every pass that one builds on must be there, whole, and as it was
 * landed. Notes damage in the passes.
 */
export async function verifyLanding(landing: string, now: Date, signal: AbortSignal): Promise<LandingReport> {
  const published = findPasses(landing, 'cars').passes.filter(
    ({ record }) => record.state === 'sealed' && record.published,
  );
  const deltas = published.filter(({ record }) => record.form === 'delta');
  const named = new Set(deltas.flatMap(({ record }) => [...record.group, record.pass_id]));
  const checked = published.filter(({ record }) => named.has(record.pass_id));
  const damaged = await checkPages(checked, signal);
  const problems = new Map<string, string>();
  const there = new Set(checked.map(({ record }) => record.pass_id));
  for (const id of named) if (!there.has(id)) problems.set(id, 'it is not there, or cannot be read');
  for (const pass of checked) {
    const pages = damaged.filter((page) => page.pass === pass);
    if (pages.length > 0)
      problems.set(
        pass.record.pass_id,
        `not as it was landed: ${pages.map(({ changed }) => changed).join(', ')}`,
      );
    if (!isWhole(pass))
      problems.set(
        pass.record.pass_id,
        `${join(landing, 'cars', pass.record.pass_id)} has ${pass.pages.length} of its ${pass.record.pages} pages`,
      );
  }
  const isSound = ({ record }: Pass): boolean => !problems.has(record.pass_id);
  const broken = [
    ...brokenDeltas(checked.filter(isSound)),
    ...deltas.filter((pass) => !isSound(pass)).map((pass) => ({ pass, lacking: [] })),
  ];
  return {
    deltas: deltas.length,
    problems: [...problems].map(([pass_id, problem]) => {
      const record = checked.find((pass) => pass.record.pass_id === pass_id)?.record;
      const records = record === undefined ? null : record.records - leftOutOf(record);
      return { pass_id, problem, records, lost: lostBy(pass_id, broken) };
    }),
    noted: isNoted(() => noteDamage(checked, damaged, now)),
  };
}

/** The deltas that cannot be replayed because of a pass. */
function lostBy(pass_id: string, broken: readonly BrokenDelta[]): LandingProblem['lost'] {
  const lost = broken
    .map(({ pass }) => pass.record)
    .filter((record) => record.group.includes(pass_id))
    .sort((a, b) => (a.started_at < b.started_at ? -1 : 1));
  const leftOut = lost.reduce((sum, record) => sum + leftOutOf(record), 0);
  const records = lost.reduce((sum, record) => sum + record.records, 0);
  return {
    deltas: lost.map((record) => record.pass_id),
    since: lost[0]?.started_at ?? null,
    landed: records - leftOut,
    left_out: leftOut,
  };
}

/** Whether a note could be written: someone may check a lake that they cannot write. */
function isNoted(note: () => void): boolean {
  try {
    note();
    return true;
  } catch {
    return false;
  }
}
