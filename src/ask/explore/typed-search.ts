import type { FilterName } from './lot-filters.js';
import { meantChoice, meantName, type Names, plain } from './names.js';
import { numberIn } from './number-in.js';

/** The words of a text that name nothing of a lot on offer, and the search for the others, if they are one. */
export function partly(text: string, names: Names) {
  const left: string[] = [];
  for (let words = text.split(/\s+/); ; ) {
    const search = searchOf(words.join(' '), names);
    const word = search === undefined ? unread(words.join(' '), names) : undefined;
    const at = word === undefined ? -1 : words.indexOf(word);
    if (word === undefined || at < 0) return { left, search };
    left.push(word);
    words = words.toSpliced(at, 1);
  }
}

/** The first word of a text that names nothing of a lot on offer. */
function unread(text: string, names: Names): string | undefined {
  const { rest } = amountsIn(phrasesIn(text).rest.replaceAll(FILLERS, ' '));
  return (namedIn(rest, names)?.rest ?? rest).find(
    (each) => !YEAR.test(each) && searchOf(each, names) === undefined,
  );
}

/** Words of a text that name a state, a damage or a title, one or two at a time, as filters; and the other words. */
function namedIn(words: readonly string[], { states, choices, synonyms }: Names) {
  const found = new Map<string, string>();
  const rest: string[] = [];
  for (let i = 0; i < words.length; i++) {
    const meaning = (text: string): readonly [filter: string, value: string] | undefined => {
      // Front damage is front, and a clean title is clean.
      const name = text.toLowerCase().replace(/ (damage|title)$/, '');
      const state =
        states.get(name) ??
        (/^[A-Z]{2}$/.test(text) ? choices.state.find((code) => code === text) : undefined);
      if (state !== undefined) return ['state', state];
      for (const filter of ['damage', 'title'] as const) {
        const key = synonyms[filter].get(name) ?? name.replaceAll(/[ -]/g, '_');
        if (choices[filter].includes(key)) return [filter, key];
      }
      return undefined;
    };
    const two = meaning(words.slice(i, i + 2).join(' '));
    const named = words.length > i + 1 && two !== undefined ? two : meaning(words[i] ?? '');
    if (named === undefined) rest.push(words[i] ?? '');
    else {
      // Two of a kind cannot both be meant.
      const [filter, value] = named;
      if ((found.get(filter) ?? value) !== value) return undefined;
      found.set(filter, value);
      if (named === two && words.length > i + 1) i++;
    }
  }
  return { found, rest };
}

const YEAR = /^((?:19|20)\d\d)(?:[-–]((?:19|20)\d\d))?$/;

/** A year and those after it, such as 2019+, since 2019, or 2019 and newer. */
const SINCE =
  /\b(?:(?:from|since|after)\s+((?:19|20)\d\d)\b(?!,\d|\s*(?:to\b|[-–]))|((?:19|20)\d\d)(?:\s*\+|[-–](?=\s|$)|\s+(?:(?:or|and)\s+)?(?:newer|later|up(?!\s+to\b))\b))/i;

/** What an amount may look like, and what may stand before and after it. */
const AMOUNT =
  /(?:\b(under|below|max|at most|up to|over|above|from)\s+|<\s*)?(?<![\w-])(\$?\d[\d,]*(?:\.\d+)?k?)(?:\s*(km|mi|miles|usd|dollars?)\b)?/gi;

/** Kilometres of a mile. */
const MILE = 1.609_344;

/** Amounts of money and distances in a text as filters, and its other words. A bare number is none, but for one with k or $. */
function amountsIn(text: string): {
  readonly filters: Record<string, string>;
  readonly rest: readonly string[];
} {
  const filters: Record<string, string> = {};
  const rest = text.replaceAll(
    AMOUNT,
    (whole, before: string | undefined, amount: string, unit: string | undefined) => {
      const value = Number(numberIn(amount));
      const isYear = YEAR.test(amount);
      const isMoney = /[$k]/i.test(amount) || amount.includes(',') || (before !== undefined && !isYear);
      // MI is Michigan, and no distance is a year or has a dollar.
      const isDistance = unit !== 'MI' && /^(km|mi)/i.test(unit ?? '') && !isYear && !amount.startsWith('$');
      const isLeast = /^(over|above|from)$/i.test(before ?? '');
      const isCurrency = /^(usd|dollar)/i.test(unit ?? '');
      // There is no filter for the least distance.
      if (Number.isNaN(value) || !(isMoney || isDistance || isCurrency) || (isDistance && isLeast))
        return whole;
      if (isDistance) filters.km = String(Math.round(/^mi/i.test(unit ?? '') ? value * MILE : value));
      else filters[isLeast ? 'price_from' : 'price'] = String(value);
      return isDistance || isCurrency ? ' ' : ` ${unit ?? ''} `;
    },
  );
  return { filters, rest: rest.split(/\s+/).filter((word) => word !== '') };
}

/** What several words say of a lot, by the filter that they set to a number in them, or to yes. */
const PHRASES: readonly (readonly [FilterName, RegExp])[] = [
  ['days', /\b(?:within|in|next)\s+(\d{1,4})\s+days?\b/i],
  ['rollback', /\b(?:odometer\s+)?roll(?:ed)?[\s-]?back\b/i],
];

function phrasesIn(text: string): { readonly filters: Record<string, string>; readonly rest: string } {
  const filters: Record<string, string> = {};
  let rest = text;
  for (const [name, phrase] of PHRASES)
    rest = rest.replace(phrase, (_, number: unknown) => {
      filters[name] = typeof number === 'string' ? number : '1';
      return ' ';
    });
  return { filters, rest };
}

/** A make, model, years, amounts, state, damage and title in a text, in any order; undefined if a word is like none, or one too many. */
export const searchOf = (text: string, names: Names): string | undefined =>
  readSearch(text, text, names) ?? readSearch(text.replaceAll(FILLERS, ' '), text, names);

/** Words that say nothing of a lot. In capitals they are states, such as IN. */
const FILLERS = /(?<=^|\s)(?:in|with|and|the|of|for|at|on|is|[Cc]ars?|[Ll]ots?|[Vv]ehicles?)(?=\s|$)/g;

function readSearch(text: string, typed: string, names: Names): string | undefined {
  const { filters: said, rest: others } = phrasesIn(text);
  const [since = '', before, after] = SINCE.exec(others) ?? [];
  const { filters, rest: words } = amountsIn(others.replace(since, ' '));
  const years = words.flatMap(
    (word) =>
      YEAR.exec(word)
        ?.slice(1)
        .filter((year) => year !== undefined) ?? [],
  );
  const named = namedIn(
    words.filter((word) => !YEAR.test(word) && !(years.length === 2 && word.toLowerCase() === 'to')),
    names,
  );
  if (named === undefined || text.trim() === '' || years.length > 2) return undefined;
  const { found, rest } = named;
  // The make stands before the model, or after it.
  const car =
    rest.length === 0 ? {} : (makeIn(rest, names) ?? makeIn([...rest.slice(1), ...rest.slice(0, 1)], names));
  if (car === undefined) return undefined;
  const query = new URLSearchParams({ ...car, ...filters, ...said, ...Object.fromEntries(found), q: typed });
  const [from, to = from] = years.sort();
  const least = before ?? after;
  if (least !== undefined) query.set('year_from', least);
  if (from !== undefined && to !== undefined) {
    query.set('year_from', from);
    query.set('year_to', to);
  }
  return query.toString();
}

/** A make and model in a text: names as they are before names that are alike, so that Camry is no mistyped Chery. */
export function makeIn(words: readonly string[], names: Names): Record<string, string> | undefined {
  const text = words.join(' ');
  const isSame = (name: string): boolean => plain(name) === plain(text);
  const exact = names.makes.find(isSame);
  if (exact !== undefined) return { make: exact };
  for (const make of names.makes) {
    const model = names.models.get(make.toLowerCase())?.find(isSame);
    if (model !== undefined) return { make, model };
  }
  for (const taken of [Math.min(2, words.length), 1].filter((n) => n > 0)) {
    const make = meantChoice('make', words.slice(0, taken).join(' '), names);
    if (make === undefined) continue;
    const rest = words.slice(taken).join(' ');
    if (rest === '') return { make };
    const model = meantName(rest, names.models.get(make.toLowerCase()) ?? []);
    if (model !== undefined) return { make, model };
  }
  const like = meantName(text, [...names.models.values()].flat());
  return like === undefined ? undefined : { model: like };
}
