import { faultOf } from '../server/disturb.js';
import { type PagingValues, pageRequest, pageText } from '../server/envelope.js';
import type { PageSizes } from '../server/plan.js';
import type { Question } from './endpoint.js';
import { flag, integer, withDefault } from './parameter.js';

/** `page`, which every list has. */
export const pageOnly = {
  page: withDefault(integer('number of the page', { low: 1 }), 1),
} as const;

/** `page` and `per_page` of a list. */
export const sized = (sizes: PageSizes) =>
  ({
    ...pageOnly,
    per_page: integer(
      `records a page; default ${sizes.fallback}; at most ${sizes.highest.demo} on Demo, ${sizes.highest.small} on Small`,
      { low: 1, high: sizes.highest.unlimited },
    ),
  }) as const;

/** `simple_paginate`, whose default belongs to the key. */
export const simplePaginate = {
  simple_paginate: flag('1 leaves totals out; the default is set for the key'),
} as const;

/** One page of a list of entries, written by `record`. */
export function listPage<T>(
  question: Question,
  values: PagingValues,
  sizes: PageSizes,
  list: readonly T[],
  record: (entry: T) => string = JSON.stringify,
): string {
  const repeated = faultOf(question.faults, 'repeat-page');
  return pageText(list, pageRequest(question, values, sizes), record, repeated && (repeated.page ?? 1));
}

/** A list that ignores `page`: every page holds all of it and names another one (field-notes.md). */
export function endlessPage<T>(
  question: Question,
  values: PagingValues,
  sizes: PageSizes,
  list: readonly T[],
) {
  return pageText(list, pageRequest(question, values, sizes), (entry) => JSON.stringify(entry), 1);
}
