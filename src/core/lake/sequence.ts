import { listPasses } from '../land/pass.js';
import type { Layout } from './layout.js';
import { listSnapshots } from './snapshots.js';

/** The place of the next run in the order of the lake: after every snapshot and pass, whatever came of them. */
export function nextSequence(layout: Layout): number {
  const places = [
    ...listSnapshots(layout).map(({ manifest }) => manifest?.sequence ?? 0),
    ...listPasses(layout.landing).map(({ record }) => record.sequence),
  ];
  return 1 + places.reduce((last, place) => Math.max(last, place), 0);
}
