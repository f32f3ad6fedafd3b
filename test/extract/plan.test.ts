import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { countAgrees, nextPage, type PageFacts, planPages, unsafePages } from '../../src/extract/plan.js';

const at = (second: number): string => new Date(Date.UTC(2026, 10, 20, 0, 0, second)).toISOString();

function page(number: number, rest: Partial<PageFacts> = {}): PageFacts {
  return {
    page: number,
    records: 10,
    total: 100,
    lastPage: 10,
    next: 'http://service.example/api/cars?page=2',
    scrollId: null,
    digest: 'd',
    firstId: null,
    lastId: null,
    requestedAt: at(0),
    receivedAt: at(1),
    ...rest,
  };
}

describe('the plan of a list', () => {
  it('with totals asks from the last page to the first, without those that have landed', () => {
    expect(planPages(page(1, { lastPage: 5 }), new Set([1]))).toEqual({
      mode: 'numbers',
      pages: [5, 4, 3, 2],
    });
    expect(planPages(page(1, { lastPage: 5 }), new Set([1, 4, 5]))).toEqual({
      mode: 'numbers',
      pages: [3, 2],
    });
  });

  it('with totals does not look at links', () => {
    expect(planPages(page(1, { lastPage: 3, next: null }), new Set([1]))).toMatchObject({ mode: 'numbers' });
  });

  it('is done where one page is all, or all have landed', () => {
    expect(planPages(page(1, { lastPage: 1 }), new Set([1]))).toEqual({ mode: 'done' });
    expect(planPages(page(1, { lastPage: 3 }), new Set([1, 2, 3]))).toEqual({ mode: 'done' });
    expect(planPages(page(1, { lastPage: null, next: null }), new Set([1]))).toEqual({ mode: 'done' });
    expect(planPages(page(1, { lastPage: null, records: 0 }), new Set([1]))).toEqual({ mode: 'done' });
  });

  it('without totals follows the links', () => {
    expect(planPages(page(1, { lastPage: null }), new Set([1]))).toEqual({ mode: 'links', from: 1 });
  });

  it('never asks twice, and asks for every page that is not there', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: 2, max: 300 })),
        (last, landed) => {
          const have = new Set([1, ...landed]);
          const plan = planPages(page(1, { lastPage: last }), have);
          const asked = plan.mode === 'numbers' ? plan.pages : [];
          const all = new Set([...have, ...asked]);
          for (let number = 1; number <= last; number++) expect(all.has(number)).toBe(true);
          expect(asked.filter((number) => have.has(number))).toEqual([]);
          expect(asked).toEqual([...new Set(asked)].sort((a, b) => b - a));
        },
      ),
    );
  });
});

describe('the page that a link names', () => {
  it.each([
    ['http://service.example/api/cars?per_page=10&page=3', 3],
    ['http://service.example/api/cars?page=7', 7],
    ['/api/cars?page=3', 3],
    ['?page=3', 3],
    ['http://service.example/api/cars', 3],
    ['http://service.example/api/cars?page=abc', 3],
    ['http://service.example/api/cars?page=', 3],
    ['http://service.example/api/cars?page=2', 3],
    ['http://service.example/api/cars?page=1', 3],
    ['http://service.example/api/cars?page=-5', 3],
    ['http://service.example/api/cars?page=3.5', 3],
    ['http://[broken', 3],
    ['', 3],
    [null, undefined],
  ])('behind page 2 is, for %j, %j', (next, expected) => {
    expect(nextPage(page(2, { next }))).toBe(expected);
  });

  it('is none behind a page without records', () => {
    expect(nextPage(page(2, { records: 0 }))).toBeUndefined();
  });
});

describe('pages to be read again', () => {
  it('are those that were asked for before the page behind them came, when the total changed', () => {
    const together = [page(4, { total: 99 }), page(3), page(2), page(1)];
    expect(unsafePages(together)).toEqual([3]);
  });

  it('are none when the pages came one after the other, last first', () => {
    const inTurn = [4, 3, 2, 1].map((number, turn) =>
      page(number, { total: 100 - turn, requestedAt: at(turn * 2), receivedAt: at(turn * 2 + 1) }),
    );
    expect(unsafePages(inTurn)).toEqual([]);
  });

  it('are none when every page saw the same total, and none without a neighbour', () => {
    expect(unsafePages([page(1), page(2), page(3)])).toEqual([]);
    expect(unsafePages([page(1), page(3, { total: 99 })])).toEqual([]);
  });

  it('come last page first', () => {
    const pages = [1, 2, 3, 4, 5].map((number) => page(number, { total: number }));
    expect(unsafePages(pages)).toEqual([4, 3, 2, 1]);
  });
});

describe('a count', () => {
  it.each([
    [100, 100, true],
    [98, 100, true],
    [102, 100, true],
    [97, 100, false],
    [0, 2, true],
    [0, 3, false],
    [995_000, 1_000_000, true],
    [994_999, 1_000_000, false],
    [1_005_001, 1_000_000, false],
    [5, null, true],
  ])('of %i agrees with a total of %j: %s', (records, total, agrees) => {
    expect(countAgrees(records, total)).toBe(agrees);
  });
});
