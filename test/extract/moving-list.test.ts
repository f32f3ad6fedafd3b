import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Churn, playStory, STEP, type Story } from './moving-list.js';

const STILL: Churn = { leave: [], join: 0 };

/** Stories in which at most so many records leave and join before each answer. */
const stories = (options: { concurrency: number; totals: boolean; leave: number; join: number }) =>
  fc.record<Story>({
    size: fc.integer({ min: 1, max: 40 }),
    perPage: fc.integer({ min: 2, max: 6 }),
    concurrency: fc.constant(options.concurrency),
    totals: fc.constant(options.totals),
    churn: fc.array(
      fc.record({ leave: fc.array(fc.nat(100), { maxLength: options.leave }), join: fc.nat(options.join) }),
      { maxLength: 20 },
    ),
    order: fc.array(fc.nat(10), { minLength: 1, maxLength: 10 }),
  });

const numRuns = 60;

describe.each([1, 4])('with %i requests in flight', (concurrency) => {
  it('a list that does not change is proven complete', async () => {
    for (const totals of [true, false]) {
      const still = stories({ concurrency, totals, leave: 0, join: 0 });
      await fc.assert(
        fc.asyncProperty(still, async (story) => {
          const { result, missed } = await playStory(story);
          expect({ missed, complete: result.complete }).toEqual({ missed: [], complete: true });
        }),
        { numRuns: numRuns / 2 },
      );
    }
  });

  it('no record is missed when others join', async () => {
    for (const totals of [true, false]) {
      await fc.assert(
        fc.asyncProperty(stories({ concurrency, totals, leave: 0, join: 3 }), async (story) => {
          expect((await playStory(story)).missed).toEqual([]);
        }),
        { numRuns: numRuns / 2 },
      );
    }
  });

  it('no record is missed when another leaves, at any moment', async () => {
    const leaves = fc.record({ place: fc.nat(100), answer: fc.nat(12) });
    const story = stories({ concurrency, totals: true, leave: 0, join: 0 });
    await fc.assert(
      fc.asyncProperty(story, leaves, async (quiet, { place, answer }) => {
        const churn = [...Array.from({ length: answer }, () => STILL), { leave: [place], join: 0 }];
        expect((await playStory({ ...quiet, churn })).missed).toEqual([]);
      }),
      { numRuns: numRuns * 2 },
    );
  });
});

describe('a list without totals, whose records were known before', () => {
  it('loses no record when another leaves, at any moment', async () => {
    const leaves = fc.record({ place: fc.nat(100), answer: fc.nat(12) });
    const quiet = stories({ concurrency: 1, totals: false, leave: 0, join: 0 });
    let reread = 0;
    await fc.assert(
      fc.asyncProperty(quiet, leaves, async (story, { place, answer }) => {
        const churn = [...Array.from({ length: answer }, () => STILL), { leave: [place], join: 0 }];
        const { missed, pages } = await playStory({ ...story, churn, known: true });
        if (new Set(pages.map(({ page }) => page)).size < pages.length) reread++;
        expect(missed).toEqual([]);
      }),
      { numRuns: numRuns * 3 },
    );
    expect(reread).toBeGreaterThan(0);
  });

  it('is not read again if nothing left', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ concurrency: 1, totals: false, leave: 0, join: 2 }), async (story) => {
        const { pages } = await playStory({ ...story, known: true });
        expect(new Set(pages.map(({ page }) => page)).size).toBe(pages.length);
      }),
      { numRuns: numRuns / 2 },
    );
  });
});

describe('with one request in flight, from the last page to the first', () => {
  it('no record is missed however many leave', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ concurrency: 1, totals: true, leave: 4, join: 0 }), async (story) => {
        expect((await playStory(story)).missed).toEqual([]);
      }),
      { numRuns: numRuns * 2 },
    );
  });

  it('no record is missed while others leave and join, as long as a total shows the change', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ concurrency: 1, totals: true, leave: 3, join: 3 }), async (story) => {
        const { missed, pages } = await playStory(story);
        fc.pre(new Set(pages.map(({ total }) => total)).size > 1);
        expect(missed).toEqual([]);
      }),
      { numRuns: numRuns * 2 },
    );
  });
});

describe('the list of these tests', () => {
  it('loses a record in a forward walk that reads no page again', async () => {
    const forward: Story = {
      size: 30,
      perPage: 5,
      concurrency: 1,
      totals: false,
      churn: [STILL, { leave: [0], join: 0 }],
      order: [0],
    };
    const { pages } = await playStory(forward);
    const [first, second] = pages;
    expect([first, second].map((page) => page?.ids.map((id) => id / STEP))).toEqual([
      [1, 2, 3, 4, 5],
      [7, 8, 9, 10, 11],
    ]);
  });
});

describe('a list that moves in every way', () => {
  it('hides no record outside the ranges that the walk calls unproven', async () => {
    for (const concurrency of [1, 2, 4]) {
      for (const totals of [true, false]) {
        await fc.assert(
          fc.asyncProperty(
            stories({ concurrency, totals, leave: 4, join: 3 }),
            fc.boolean(),
            async (story, known) => {
              const { result, missed } = await playStory({ ...story, known });
              fc.pre(result.complete);
              const isUnproven = (id: number) => result.unproven.some(([low, high]) => id > low && id < high);
              expect(missed.filter((id) => !isUnproven(id))).toEqual([]);
            },
          ),
          { numRuns: numRuns * 2 },
        );
      }
    }
  });

  it('hides no known record behind one that joins in between', async () => {
    let reread = 0;
    const enter = fc.array(fc.nat(100), { maxLength: 2 });
    for (const concurrency of [1, 4]) {
      for (const totals of [true, false]) {
        await fc.assert(
          fc.asyncProperty(
            stories({ concurrency, totals, leave: 0, join: 0 }),
            fc.array(enter, { maxLength: 20 }),
            async (story, entries) => {
              const churn = entries.map((enter) => ({ ...STILL, enter }));
              const { result, missed, pages } = await playStory({ ...story, churn, known: true });
              fc.pre(result.complete);
              if (new Set(pages.map(({ page }) => page)).size < pages.length) reread++;
              const isUnproven = (id: number) => result.unproven.some(([low, high]) => id > low && id < high);
              expect(missed.filter((id) => !isUnproven(id))).toEqual([]);
            },
          ),
          { numRuns: numRuns / 2 },
        );
      }
    }
    expect(reread).toBeGreaterThan(0);
  });

  it('leaves nothing unproven in a walk from the last page to the first with one request at a time', async () => {
    await fc.assert(
      fc.asyncProperty(stories({ concurrency: 1, totals: true, leave: 0, join: 0 }), async (story) => {
        const { result } = await playStory(story);
        expect(result.unproven).toEqual([]);
      }),
      { numRuns: numRuns / 2 },
    );
  });
});
