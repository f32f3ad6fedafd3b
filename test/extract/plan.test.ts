import { describe, expect, it } from 'vitest';
import { pagesBack, unnamedRanges, unsafePages as unsafeOf } from '../../src/core/extract/plan.js';
import type { PageFacts } from '../../src/core/lake/passes/landed-page.js';

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

it('pages of a list are requested from the last to the first, except those that have landed', () => {
  const landed = (...pages: number[]) => new Map(pages.map((page) => [page, {}]));
  expect([...pagesBack(5, landed())]).toEqual([5, 4, 3, 2, 1]);
  expect([...pagesBack(5, landed(1, 4, 5))]).toEqual([3, 2]);
  expect([...pagesBack(3, landed(1, 2, 3))]).toEqual([]);
  expect(pagesBack(Number.MAX_SAFE_INTEGER, landed()).next().value).toBe(Number.MAX_SAFE_INTEGER);
});

describe('pages to be read again', () => {
  const unsafePages = (pages: readonly PageFacts[]) =>
    unsafeOf(new Map(pages.map((each) => [each.page, each])));

  it('are the pages requested before the page behind them arrived, if the total changed', () => {
    const together = [page(4, { total: 99 }), page(3), page(2), page(1)];
    expect(unsafePages(together)).toEqual([3]);
  });

  it('are none when the pages arrived one after the other, last first', () => {
    const inTurn = [4, 3, 2, 1].map((number, turn) =>
      page(number, { total: 100 - turn, requestedAt: at(turn * 2), receivedAt: at(turn * 2 + 1) }),
    );
    expect(unsafePages(inTurn)).toEqual([]);
  });

  it('are none if every page saw the same total, and never a page without a neighbour', () => {
    expect(unsafePages([page(1), page(2), page(3)])).toEqual([]);
    expect(unsafePages([page(1), page(3, { total: 99 })])).toEqual([]);
  });

  it('are ordered last page first', () => {
    const pages = [1, 2, 3, 4, 5].map((number) => page(number, { total: number }));
    expect(unsafePages(pages)).toEqual([4, 3, 2, 1]);
  });
});

describe('records whose ids cannot be read', () => {
  const pages = (unnamed: PageFacts['unnamed']) =>
    new Map(
      [
        page(1, { firstId: 10, lastId: 100 }),
        page(2, { firstId: 110, lastId: 200, unnamed }),
        page(3, { firstId: 210, lastId: 300 }),
      ].map((each) => [each.page, each]),
    );

  it.each<[string, PageFacts['unnamed'], [number, number][]]>([
    ['are none on most pages', undefined, []],
    ['may be any between the ids around them', [140, 160], [[140, 160]]],
    ['may be any from the page before if they come first', [null, 120], [[100, 120]]],
    ['may be any up to the page behind if they come last', [190, null], [[190, 210]]],
  ])('%s', (_, unnamed, ranges) => {
    expect(unnamedRanges(pages(unnamed), true)).toEqual(ranges);
  });

  it('may be any at all in a list that does not ascend', () => {
    expect(unnamedRanges(pages([140, 160]), false)).toEqual([[-1, Number.MAX_SAFE_INTEGER]]);
  });
});
