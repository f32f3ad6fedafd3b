import { describe, expect, it } from 'vitest';
import { contradictionIn, contradictions, whyNotWhole, wrongRanges } from '../../src/core/extract/proof.js';
import type { PageFacts } from '../../src/core/lake/passes/landed-page.js';

/** Page of a list of 95 records, ten a page, with the ids 10, 20, 30 and so on. */
function page(number: number, rest: Partial<PageFacts> = {}): PageFacts {
  const records = number === 10 ? 5 : 10;
  return {
    ...{
      page: number,
      current: number,
      records,
      announced: records,
      from: (number - 1) * 10 + 1,
      perPage: 10,
    },
    ...{ total: 95, lastPage: 10, next: number < 10 ? `?page=${number + 1}` : null, repeats: 0 },
    ...{
      digest: String(number),
      firstId: (number - 1) * 100 + 10,
      lastId: (number - 1) * 100 + records * 10,
    },
    ...{ requestedAt: '2026-11-20T00:00:00Z', receivedAt: '2026-11-20T00:00:01Z' },
    ...rest,
  };
}

const list = (changed: Partial<PageFacts> & { page: number }): Map<number, PageFacts> =>
  new Map(Array.from({ length: 10 }, (_, i) => [i + 1, page(i + 1, changed.page === i + 1 ? changed : {})]));

const simple = { total: null, lastPage: null } as const;

describe('a page', () => {
  it.each<[string, Partial<PageFacts>, Partial<PageFacts> | undefined]>([
    ['that agrees with its numbers', {}, undefined],
    [
      'of a service that gives no numbers',
      { ...simple, perPage: null, from: null, announced: null, current: null },
      undefined,
    ],
    ['of an older lotlake', { current: undefined, from: undefined, repeats: undefined }, undefined],
    ['that shares records with the one before', { firstId: 300 }, { page: 3, lastId: 320 }],
    [
      'behind the end of a list that has shrunk',
      { records: 0, announced: null, total: 28, lastPage: 3, next: null },
      undefined,
    ],
    ['that is the last and short', { ...simple, next: null, records: 4, announced: 4 }, undefined],
  ])('%s contradicts nothing', (_, given, before) => {
    expect(contradictionIn(page(4, given), before && page(3, before), true)).toBeUndefined();
  });

  it.each<[string, Partial<PageFacts>, RegExp]>([
    ['empty in the middle', { records: 0 }, /came empty where 10 records belong/],
    ['empty, naming the next', { ...simple, records: 0, perPage: null }, /names another/],
    [
      'empty, though the page before names it',
      { ...simple, records: 0, next: null },
      /the page before names it/,
    ],
    ['short of its own numbers', { records: 9 }, /announces 10 records and holds 9/],
    ['short, and not the last', { ...simple, records: 9, announced: 9 }, /holds 9 records where 10 belong/],
    ['longer than its size', { records: 11, announced: 11 }, /holds 11 records where 10 belong/],
    ['of another number', { current: 5 }, /says that it is page 5/],
    ['of another place', { from: 41 }, /begins with record 41/],
    ['with records twice', { repeats: 2 }, /holds 2 records twice/],
  ])('%s contradicts itself', (_, given, message) => {
    const before = page(3, given.total === null ? simple : {});
    expect(contradictionIn(page(4, given), before, true)).toMatch(message);
  });
});

describe('a list', () => {
  const received = (pages: Map<number, PageFacts>, totals = [95]) => ({
    ...{ pages, wrong: contradictions(pages, true), totals: new Set(totals), ascending: true },
  });

  it('with a wrong page is complete except for the ids around it', () => {
    const wrong = received(list({ page: 4, records: 3 }));
    expect([...wrong.wrong.keys()]).toEqual([4]);
    expect(whyNotWhole(wrong)).toBeUndefined();
    expect(wrongRanges(wrong)).toEqual([[300, 410]]);
  });

  it.each<[string, Partial<PageFacts>]>([
    ['begins', { firstId: 110 }],
    ['ends', { firstId: 191, lastId: 199 }],
  ])('has two wrong pages if one %s before the other, and proves nothing around both', (_, given) => {
    const wrong = received(list({ page: 4, ...given }));
    expect([...wrong.wrong.keys()]).toEqual([3, 4]);
    expect(wrongRanges(wrong)).toEqual([
      [200, 410],
      [200, 410],
    ]);
  });

  it('that is not sorted gives no range for a wrong page', () => {
    expect(wrongRanges({ ...received(list({ page: 4, records: 3 })), ascending: false })).toEqual([]);
  });

  it('needs as many records as its totals, which may have changed', () => {
    const unsized = (records: number) =>
      new Map([
        [1, page(1, { records, announced: null, from: null, perPage: null, lastPage: 1, next: null })],
      ]);
    expect(whyNotWhole(received(unsized(94)))).toBe('94 records came where the service counts 95');
    expect(whyNotWhole(received(unsized(95)))).toBeUndefined();
    expect(whyNotWhole(received(unsized(94), [93, 95]))).toBeUndefined();
    expect(whyNotWhole(received(unsized(92), [93, 95]))).toMatch('counts 93 to 95');
  });
});
