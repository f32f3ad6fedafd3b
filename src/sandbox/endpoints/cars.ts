import { faultOf } from '../server/disturb.js';
import { sizeOf } from '../server/envelope.js';
import { pageSizes } from '../server/plan.js';
import { badRequest } from '../server/refusal.js';
import { endpoint, type Question } from './endpoint.js';
import { listPage, simplePaginate, sized } from './paging.js';
import { flag, integer, text, withDefault } from './parameter.js';
import { selectedIds, selection, sorted } from './selection.js';

/** `prices_history`, which several endpoints have. */
export const pricesHistory = {
  prices_history: withDefault(flag('1 adds the auctions of each lot as prices'), false),
} as const;

const MAX_SCROLL_MINUTES = 15;
const SCROLL_MINUTES = 10;

const scrolling = {
  limit: integer('starts a scroll: records an answer; default 1000, at most 50 on Demo and Small', {
    low: 1,
    high: pageSizes.scroll.highest.unlimited,
  }),
  scroll_time: integer(
    `starts a scroll: minutes that it waits for the next request; default ${SCROLL_MINUTES}`,
    { low: 1, high: MAX_SCROLL_MINUTES },
  ),
  scroll_id: text('goes on with a scroll; filters are those of its start', 'a scroll_id that was given'),
} as const;

interface Scrolling {
  readonly limit: number | undefined;
  readonly scroll_time: number | undefined;
  readonly scroll_id: string | undefined;
}

/** `/cars`: the feed, by pages or as a scroll. */
export const cars = endpoint({
  path: '/cars',
  what: 'Vehicles in the feed with their reports, by pages or as a scroll.',
  parameters: {
    ...selection,
    ...sorted,
    ...pricesHistory,
    ...sized(pageSizes.cars),
    ...simplePaginate,
    ...scrolling,
  },
  answer: (question, values) => {
    const scroll = values.limit !== undefined || values.scroll_time !== undefined;
    if (scroll || values.scroll_id !== undefined) refusePages(question);
    if (values.scroll_id !== undefined) return goOn(question, values.scroll_id, values.scroll_time);
    const { world } = question;
    const ids = selectedIds(question, values);
    const record = (id: number): string =>
      world.vehicleJson(id, { pricesHistory: values.prices_history }) ?? '';
    return scroll
      ? startScroll(question, values, ids, record)
      : listPage(question, values, pageSizes.cars, ids, record);
  },
});

function goOn({ scrolls, faults }: Question, scrollId: string, minutes: number | undefined): string {
  if (faultOf(faults, 'expired-scroll')) scrolls.forget(scrollId);
  return scrolls.next(scrollId, minutes);
}

function refusePages({ query }: Question): void {
  const name = ['page', 'per_page'].find((paging) => query.has(paging));
  if (name !== undefined) throw badRequest(name, `The ${name} must not be combined with a scroll.`);
}

function startScroll(
  { path, access, scrolls }: Question,
  { limit, scroll_time }: Scrolling,
  ids: readonly number[],
  record: (id: number) => string,
): string {
  const size = sizeOf('limit', limit, access.plan, pageSizes.scroll);
  const source = { size: ids.length, record: (place: number) => record(ids[place] ?? 0) };
  return scrolls.start(source, { path, limit: size, minutes: scroll_time ?? SCROLL_MINUTES });
}
