import type { Element } from '../report/lake.js';

/** What a card of a lot tells, read as a program of its own would read it. */
export interface Card {
  /** Address of its page. */
  readonly page: string | null;
  readonly name: string;
  /** Address of the lot at its source. */
  readonly lot: string | null;
  readonly facts: readonly string[];
  readonly when: string;
  readonly badges: readonly string[];
  readonly warnings: readonly string[];
  /** Values and texts by their class. */
  readonly amounts: Readonly<Record<string, { readonly value: number; readonly text: string }>>;
  readonly words: string;
  readonly picture: string | null;
}

const plain = (text: string | null | undefined): string =>
  (text ?? '').replaceAll(/[\s\u00a0\u202f]+/g, ' ').trim();

/** The cards of a page or of a part of it, in their order. */
export function cardsOf(page: Pick<Element, 'querySelectorAll'>): Card[] {
  return [...page.querySelectorAll('article.lot')].map((card) => {
    const texts = (selector: string): string[] =>
      [...card.querySelectorAll(selector)].map((each) => plain(each.textContent));
    const amounts = [...card.querySelectorAll('.amounts data')].map((each) => [
      each.getAttribute('class') ?? '',
      { value: Number(each.getAttribute('value')), text: plain(each.textContent) },
    ]);
    return {
      page: card.querySelector('h3 a')?.getAttribute('href') ?? null,
      name: texts('h3')[0] ?? '',
      lot: card.querySelector('.line a')?.getAttribute('href') ?? null,
      facts: texts('.line li'),
      when: texts('.when')[0] ?? '',
      badges: texts('.chips .good'),
      warnings: texts('.chips .warn'),
      amounts: Object.fromEntries(amounts),
      words: texts('.worth .note')[0] ?? '',
      picture: card.querySelector('img')?.getAttribute('src') ?? null,
    };
  });
}
