import { z } from 'zod';

const url = z.string().nullish();

/** `links` of a paged answer; under simple pagination `last` is null and `next` alone says whether a page follows. */
export const linksSchema = z.looseObject({
  first: url.describe('First page.'),
  last: url.describe('Last page; null under simple pagination.'),
  prev: url.describe('Page before; null on the first.'),
  next: url.describe('Page after; null on the last.'),
});

/** A count, which some services write as decimal text. */
const count = z
  .union([
    z.int().nonnegative(),
    z
      .string()
      .regex(/^\d{1,15}$/, 'a text that is no count')
      .transform(Number),
  ])
  .nullish();

/** `meta` of a paged answer; `total` and `last_page` are missing under simple pagination. */
export const metaSchema = z.looseObject({
  current_page: count.describe('Number of this page, from 1.'),
  from: count.describe('Place of the first record in the whole list, from 1.'),
  last_page: count.describe('Number of the last page.'),
  path: url.describe('Address of the list.'),
  per_page: count.describe('Records a page.'),
  to: count.describe('Place of the last record in the whole list.'),
  total: count.describe('Records in the whole list.'),
});

/** Everything of a paged answer but its `data` (service.md#envelope), in both forms. */
export const envelopeSchema = z.looseObject({
  links: linksSchema.nullish(),
  meta: metaSchema.nullish(),
  /** Members of the scroll form of the feed. */
  scroll_id: z.string().nullish(),
  next_url: z.string().nullish(),
  /** A 200 with `error` and no `data` is a failure. */
  error: z.unknown().optional(),
});
