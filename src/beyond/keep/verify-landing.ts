import { basename, dirname } from 'node:path';
import { type BrokenDelta, brokenDeltas, checkPages, noteDamage } from '../../core/lake/passes/group.js';
import { findPasses, inMergedOrder, isWhole, leftOutOf, type Pass } from '../../core/lake/passes/pass.js';

/** A pass that landing has otherwise than it was landed, or cannot read, or lacks although deltas build on it. */
interface LandingProblem {
  readonly pass_id: string;
  readonly stream: string;
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
 * Compares the published passes of landing with their ledgers, and follows the deltas to their keyframes: every pass must be whole and
 * as it was landed, and every pass that a delta builds on must be there. Notes damage in the passes.
 */
export async function verifyLanding(landing: string, now: Date, signal: AbortSignal): Promise<LandingReport> {
  const { passes, unreadable } = findPasses(landing);
  const checked = passes.filter(({ record }) => record.state === 'sealed' && record.published);
  const deltas = checked.filter(({ record }) => record.form === 'delta');
  const damaged = await checkPages(checked, signal);
  const problems = new Map<string, string>();
  const streamsOf = new Map(checked.map(({ record }) => [record.pass_id, record.stream as string]));
  for (const { record } of deltas)
    for (const id of record.group)
      if (!streamsOf.has(id)) problems.set(id, 'it is not there, or cannot be read');
  for (const { folder, pass_id, reason } of unreadable) {
    streamsOf.set(pass_id, basename(dirname(folder)));
    problems.set(pass_id, `it cannot be read: ${reason}`);
  }
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
        `${pass.folder} has ${pass.pages.length} of its ${pass.record.pages} pages`,
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
      return {
        pass_id,
        stream: streamsOf.get(pass_id) ?? 'cars',
        problem,
        records,
        lost: lostBy(pass_id, broken),
      };
    }),
    noted: isNoted(() => noteDamage(checked, damaged, now)),
  };
}

/** The deltas that cannot be replayed because of a pass. */
function lostBy(pass_id: string, broken: readonly BrokenDelta[]): LandingProblem['lost'] {
  const lost = broken
    .map(({ pass }) => pass)
    .sort(inMergedOrder)
    .map(({ record }) => record)
    .filter((record) => record.group.includes(pass_id));
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
