import type { Layout } from '../lake/layout.js';
import { listPasses } from '../lake/passes/pass.js';
import { listSnapshots } from '../lake/snapshots.js';

/** The place of the next run in the order of the lake: after every snapshot and pass, whatever came of them. */
export function nextSequence(layout: Layout): number {
  const places = [
    ...listSnapshots(layout).map(({ manifest }) => manifest?.sequence ?? 0),
    ...listPasses(layout.landing).map(({ record }) => record.sequence),
  ];
  return 1 + places.reduce((last, place) => Math.max(last, place), 0);
}
