import { MINUTE } from '../world/instants.js';
import { badRequest } from './refusal.js';

/** The start of a scroll. It fixes the list, whatever happens to the world later. */
interface ScrollStart {
  /** Link to its list. */
  readonly link: string;
  readonly ids: readonly number[];
  /** The JSON of a record by its id. */
  readonly record: (id: number) => string;
  readonly limit: number;
  /** How long the scroll waits for its next request. */
  readonly minutes: number;
}

export type Scrolls = ReturnType<typeof createScrolls>;

interface Scroll extends ScrollStart {
  readonly number: number;
  expiresAt: number;
  continuations: number;
}

/** Keeps scrolls. `now` is in milliseconds; one scroll has at most `most` continuation requests. */
export function createScrolls(now: () => number, most: number) {
  const open = new Map<number, Scroll>();
  let started = 0;
  const refused = (reason: string): Error =>
    badRequest('scroll_id', `The scroll_id names a scroll that ${reason}.`);

  const pageFrom = (scroll: Scroll, from: number): string => {
    const records = scroll.ids.slice(from, from + scroll.limit).map(scroll.record);
    const scrollId = idOf(scroll.number, from + records.length);
    const next = `${scroll.link}?scroll_id=${scrollId}&scroll_time=${scroll.minutes}`;
    // A full answer may be the last one with records. Then the next one is empty.
    const nextUrl = records.length === scroll.limit ? next : '';
    return `{"data":[${records.join(',')}],"scroll_id":"${scrollId}","next_url":"${nextUrl}"}`;
  };

  return {
    /** Starts a scroll and returns the text of its first answer. */
    start(start: ScrollStart): string {
      for (const [number, scroll] of open) if (scroll.expiresAt < now()) open.delete(number);
      started += 1;
      const expiresAt = now() + start.minutes * MINUTE;
      const scroll: Scroll = { ...start, number: started, expiresAt, continuations: 0 };
      open.set(started, scroll);
      return pageFrom(scroll, 0);
    },
    /** The answer of a scroll id, always the same. Throws a 400 for a scroll that is unknown, expired or used up. */
    next(scrollId: string, minutes?: number): string {
      const { number, from } = placeOf(scrollId);
      const scroll = open.get(number);
      if (scroll === undefined || from > scroll.ids.length || scroll.expiresAt < now())
        throw refused('is unknown or has expired');
      scroll.continuations += 1;
      if (scroll.continuations > most) throw refused(`had its ${most} continuation requests`);
      scroll.expiresAt = now() + (minutes ?? scroll.minutes) * MINUTE;
      return pageFrom(scroll, from);
    },
    /** Drops a scroll before it expires. */
    forget(scrollId: string): void {
      open.delete(placeOf(scrollId).number);
    },
  };
}

const idOf = (number: number, from: number): string =>
  Buffer.from(`scroll:${number}:${from}`).toString('base64url');

/** The scroll of an id and the place in its list; both are NaN for any other text. */
function placeOf(scrollId: string) {
  const text = Buffer.from(scrollId, 'base64url').toString();
  const [, number, from] = /^scroll:(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  return { number: Number(number), from: Number(from) };
}
