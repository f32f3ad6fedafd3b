import type { PageFacts } from './plan.js';

/** Pages in a row that bring nothing new, after which a list is not read on. */
export const MOST_BARREN = 20;

/**
 * Tells of each page that is read in turn whether it brings a record that none before it had. Of a list that ascends by
 * id, its ends tell; of another one the ids, where the page was received by this process, else its digest.
 */
export function noveltyOf(ascending: boolean): (page: PageFacts) => boolean {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  const seen = new Set<number | string>();
  const isUnseen = (id: number | string): boolean => seen.size < seen.add(id).size;
  return ({ records, firstId, lastId, ids, digest }) => {
    if (records === 0) return false;
    if (!ascending) return (ids ?? [digest]).filter(isUnseen).length > 0;
    const isNew = (firstId ?? low) < low || (lastId ?? high) > high;
    low = Math.min(low, firstId ?? low);
    high = Math.max(high, lastId ?? high);
    return isNew;
  };
}
