/** Random stories: a world, and steps in which things happen and a job runs. */
import fc from 'fast-check';
import { HAPPENINGS, type Happening } from './world.js';

/** What disturbs a run. */
export type Trouble =
  | { readonly kind: 'none' }
  | { readonly kind: 'cut'; readonly path: string; readonly after: number }
  | { readonly kind: 'refused'; readonly source: number; readonly after: number }
  | { readonly kind: 'turn'; readonly source: number; readonly after: number; readonly gets: boolean }
  | { readonly kind: 'wrong-total'; readonly by: number }
  | { readonly kind: 'drift'; readonly moves: readonly Move[]; readonly concurrency: number };

/** Something that happens before the page of this number is answered. */
export interface Move {
  readonly page: number;
  readonly happening: Happening;
}

/** A step: time passes, things happen, and a job runs. */
export interface Step {
  readonly minutes: number;
  readonly happenings: readonly Happening[];
  readonly run: 'nightly' | 'incremental' | 'rebuild' | 'lookup';
  readonly trouble: Trouble;
  readonly sources: readonly number[] | null;
  readonly key: readonly number[];
  readonly guard: number;
  readonly allowShrink: boolean;
  readonly concurrency: number;
  readonly who: number;
}

/** A world and what happens to it. */
export interface Story {
  readonly size: number;
  readonly mix: number;
  readonly perPage: number;
  readonly totals: boolean;
  /** Whether the list of one source shows vehicles with only the lots of that source. */
  readonly ownLots?: boolean;
  /** Days from one full pass that lands every record to the next; 0 if every one does. */
  readonly keyframeDays?: number;
  readonly steps: readonly Step[];
}

const HOUR = 60;
const DAY = 24 * HOUR;

/** Any number up to `most`; small numbers are no more likely than others. */
const upTo = (most: number): fc.Arbitrary<number> => fc.noBias(fc.nat(most));

/** Happenings that are drawn more often, because they have more consequences. */
const OFTEN = [
  'change',
  'leave',
  'leave-named',
  'back',
  'back',
  'move-lot',
  'share-lot',
  'archived',
  'sell',
  'sell',
  'price',
  'price',
] as const;

const happening: fc.Arbitrary<Happening> = fc.record({
  what: fc.constantFrom(...HAPPENINGS, ...OFTEN),
  who: upTo(40),
  which: upTo(3),
  value: upTo(60),
});

/** Happenings between pages. No lot moves, because no page shows a lot that moves to a page that was already read. */
const DRIFTS = [
  ...(['appear', 'leave', 'leave', 'leave-named', 'back', 'change', 'drop-lot', 'add-lot', 'break'] as const),
] as const;

const move: fc.Arbitrary<Move> = fc.record({
  page: upTo(8),
  happening: fc.tuple(fc.constantFrom(...DRIFTS), happening).map(([what, given]) => ({ ...given, what })),
});

const trouble: fc.Arbitrary<Trouble> = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ kind: 'none' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('cut' as const),
      path: fc.constantFrom('/cars', '/cars', '/archived-lots', '/statistics'),
      after: upTo(6),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('refused' as const),
      source: fc.constantFrom(1, 3, 12),
      after: upTo(4),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('turn' as const),
      source: fc.constantFrom(1, 3, 12),
      after: upTo(4),
      gets: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('wrong-total' as const), by: fc.constantFrom(-4, -2, 2, 3, 7) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('drift' as const),
      moves: fc.array(move, { minLength: 1, maxLength: 5 }),
      concurrency: fc.constantFrom(1, 1, 3),
    }),
  },
);

const step = (runs: readonly Step['run'][]): fc.Arbitrary<Step> =>
  fc.record({
    minutes: fc.constantFrom(DAY, 5, 50, 6 * HOUR, 13 * HOUR, DAY, 4 * DAY),
    happenings: fc.noBias(fc.array(happening, { maxLength: 16, size: 'max' })),
    run: fc.constantFrom(...runs),
    trouble,
    sources: fc.constantFrom(null, null, null, null, [1, 3, 12], [12, 1], [3]),
    key: fc.constantFrom([1, 3, 12], [1, 3, 12], [1, 3, 12], [1, 3, 12], [1, 3], [3, 12]),
    guard: fc.constantFrom(1, 0.2, 0.4),
    allowShrink: fc.constantFrom(false, false, true),
    concurrency: fc.constantFrom(1, 1, 3),
    who: upTo(40),
  });

const RUNS: readonly Step['run'][] = [
  ...(['nightly', 'nightly', 'nightly', 'nightly'] as const),
  ...(['incremental', 'incremental', 'incremental', 'rebuild', 'lookup'] as const),
];

/** Any story with a first night and at most `longest` steps after it. */
export const stories = (longest: number): fc.Arbitrary<Story> =>
  fc
    .record({
      size: upTo(17).map((more) => 3 + more),
      mix: upTo(50),
      perPage: upTo(4).map((more) => 2 + more),
      totals: fc.boolean(),
      ownLots: fc.boolean(),
      keyframeDays: fc.constantFrom(7, 3, 30, 0),
      first: step(['nightly']),
      rest: fc.noBias(fc.array(step(RUNS), { minLength: 1, maxLength: longest, size: 'max' })),
    })
    .map(({ first, rest, ...story }) => ({ ...story, steps: [first, ...rest].map(soonAfterACut) }));

/** After an interrupted run, the same run often starts again soon. */
function soonAfterACut(given: Step, i: number, steps: readonly Step[]): Step {
  const before = steps[i - 1];
  if (before?.trouble.kind !== 'cut' || given.who % 3 === 0) return given;
  return { ...given, minutes: 50, run: before.run, sources: before.sources };
}
