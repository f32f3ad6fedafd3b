import { printsOfPage } from './fingerprints.js';
import {
  changePass,
  type DamagedPage,
  damagedPages,
  isWhole,
  type Pass,
  type PassForm,
  type PassRecord,
} from './pass.js';

const DAY = 86_400_000;

/** A pass over `/cars` that the lake was made from. */
export interface KnownPass {
  readonly pass_id: string;
  /** Its place in the order of the lake. */
  readonly sequence: number;
}

interface FormFacts {
  /** All passes over `/cars` in landing that can be read, oldest first. */
  readonly passes: readonly Pass[];
  /** The passes over `/cars` with records that the base was made from. */
  readonly known: readonly KnownPass[];
  /** Whether the base has fingerprints by the rules of this lotlake. */
  readonly isComparable: boolean;
  /** Days (UTC) from one keyframe to the next. */
  readonly keyframeDays: number;
  readonly now: Date;
}

const KEYFRAME: PassForm = { form: 'keyframe', keyframe: null, group: [] };

/**
 * Decides whether a new full pass over `/cars` is a delta. Its group is the last keyframe with every pass of the lake since.
 * It is a keyframe if the base has nothing to compare with, if the last keyframe is too old or a pass since then is damaged,
 * or if the base was not made from the very passes that landing holds since the keyframe: a rebuild, which replays those,
 * would compare the delta with another state.
 */
export function chooseForm({ passes, known, isComparable, keyframeDays, now }: FormFacts): PassForm {
  if (keyframeDays === 0 || !isComparable) return KEYFRAME;
  const published = passes.filter(
    ({ record: { state, published, records } }) => state === 'sealed' && published && records > 0,
  );
  const keyframe = published.findLast(({ record }) => record.kind === 'full' && record.form !== 'delta');
  if (keyframe === undefined) return KEYFRAME;
  const { started_at, sequence: from, pass_id } = keyframe.record;
  const dayOf = (time: number): number => Math.floor(time / DAY);
  const days = dayOf(now.getTime()) - dayOf(Date.parse(started_at));
  // The clock may have been set back since the keyframe, and would not reach its day for long.
  if (days < 0 || days >= keyframeDays) return KEYFRAME;
  const group = published.slice(published.indexOf(keyframe));
  const ids = group.map(({ record }) => record.pass_id);
  const since = new Set(known.filter(({ sequence }) => sequence >= from).map((pass) => pass.pass_id));
  const isSame = since.size === ids.length && ids.every((id) => since.has(id));
  const isSound = group.every((pass) => isWhole(pass) && pass.record.damaged_at === null);
  return isSame && isSound ? { form: 'delta', keyframe: pass_id, group: ids } : KEYFRAME;
}

/** The passes that a pass builds on and that are not among some others, or not whole there; empty for all but deltas. */
export function lackingOf({ group }: Pick<PassRecord, 'group'>, passes: readonly Pass[]): string[] {
  const whole = new Set(passes.filter(isWhole).map(({ record }) => record.pass_id));
  return group.filter((id) => !whole.has(id));
}

/** Ascending hashes of the records in the files of passes: 8 bytes a record. */
export function landedHashes(passes: readonly Pass[]): BigUint64Array {
  const parts = passes.flatMap(({ folder, pages }) =>
    pages.flatMap(({ prints }) => (prints === undefined ? [] : [printsOfPage(folder, prints)[1].hashes])),
  );
  const all = new BigUint64Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all.sort();
}

/** A damaged page with its pass. */
export type DamagedPageOf = DamagedPage & { readonly pass: Pass };

/** Compares the pages of passes with their checksums. Returns the damaged ones. */
export async function checkPages(passes: readonly Pass[], signal: AbortSignal): Promise<DamagedPageOf[]> {
  const damaged: DamagedPageOf[] = [];
  for (const pass of passes)
    damaged.push(...(await damagedPages(pass, signal)).map((page) => ({ ...page, pass })));
  return damaged;
}

/**
 * Notes which of the checked passes are damaged, so that no full pass builds on them, and takes the note away from the others.
 * Throws LAND_FAILED.
 */
export function noteDamage(checked: readonly Pass[], damaged: readonly DamagedPageOf[], now: Date): void {
  for (const pass of checked) {
    const isDamaged = damaged.some((page) => page.pass === pass);
    if (isDamaged === (pass.record.damaged_at === null))
      changePass(pass.folder, { damaged_at: isDamaged ? now.toISOString() : null });
  }
}

/** A delta that cannot be replayed, and the passes of its group that landing lacks. */
export interface BrokenDelta {
  readonly pass: Pass;
  readonly lacking: readonly string[];
}

/**
 * The deltas that cannot be replayed with these passes, because a pass of their group is missing, not whole, or such a
 * delta itself.
 */
export function brokenDeltas(passes: readonly Pass[]): BrokenDelta[] {
  const broken: BrokenDelta[] = [];
  let left = passes;
  for (;;) {
    const found = left.map((pass) => ({ pass, lacking: lackingOf(pass.record, left) }));
    const more = found.filter(({ lacking }) => lacking.length > 0);
    if (more.length === 0) return broken;
    broken.push(...more);
    left = left.filter((pass) => !more.some((each) => each.pass === pass));
  }
}
