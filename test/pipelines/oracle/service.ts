/** The service over a moving world: its answers, its faults, and a log of all answers. */

import { serve, UNREADABLE_LIST } from '../support.js';
import { type Archiving, type Entry, spoil, type Vehicle, type World } from './world.js';

/** What disturbs the service during a run. */
export interface Disturbance {
  /** A path that is answered with 500 after so many pages of `/cars`. */
  readonly cut?: { readonly path: string; readonly after: number };
  /** A source that is refused (401) after so many pages of `/cars`. */
  readonly refused?: { readonly source: number; readonly after: number };
  /** A source that the key loses or gets after so many pages of `/cars`. */
  readonly turn?: { readonly source: number; readonly after: number; readonly gets: boolean };
  /** The error of the totals of `/cars`. */
  readonly wrongTotal?: number;
  /** Lets the world move before a page of `/cars` is answered. Gets the number of pages answered so far. */
  readonly drift?: (answered: number) => void;
}

/** How the service behaves in a run. */
interface Manner extends Disturbance {
  readonly now: number;
  /** Sources that the key has. Records show nothing of other sources. */
  readonly key: readonly number[];
  readonly totals: boolean;
  /** Whether the list of one source shows vehicles with only the lots of that source. */
  readonly ownLots: boolean;
}

/** One answer. Requests for a single record are logged only if they were refused. */
export interface Answer {
  readonly path: string;
  /** Source that was requested; empty if the request named none. */
  readonly list: string;
  readonly page: number;
  readonly minutes: number | undefined;
  readonly status: number;
  readonly records: readonly unknown[];
  /** The line of each record in the landed file of the page, once the pass is read. */
  readonly lines?: readonly number[];
  readonly total: number | null;
  /** Whether the request was for one record, to learn whether the key has a source, and not for a page of a list. */
  readonly asksForSource: boolean;
  /** Positions in the order of all requests and answers. */
  readonly asked: number;
  readonly answered: number;
}

/** Sources that the key has after so many pages. */
function keyAt({ key, turn }: Manner, pages: number): readonly number[] {
  return turn === undefined || pages >= turn.after === turn.gets
    ? key
    : key.filter((source) => source !== turn.source);
}

/** The service, how to change its manner, and its log. */
export interface Service {
  readonly url: string;
  /** Sets the manner of the next run and returns the log that it will fill. */
  begin(manner: Manner): Answer[];
  close(): Promise<void>;
}

/** A vehicle as the service shows it to a key. */
function shown(
  { vehicle, broken, spoiled }: Pick<Entry, 'vehicle' | 'broken' | 'spoiled'>,
  key: readonly number[],
): Vehicle {
  const isOfKey = (source: number): boolean => key.includes(source);
  const reports = key.includes(12) ? {} : { inspections: [], vehicle_history_reports: [] };
  const record: Vehicle = {
    ...vehicle,
    lots: vehicle.lots?.filter((lot) => isOfKey(lot.domain.id)) ?? null,
    ...(vehicle.inspections === undefined ? {} : reports),
  };
  if (broken) Object.assign(record, { listings: UNREADABLE_LIST });
  return spoil(record, spoiled);
}

/** Whether a key sees a vehicle: by a lot on one of its sources, or because it has no lots. */
function isVisible({ lots }: Vehicle, key: readonly number[]): boolean {
  return (lots ?? []).length === 0 || (lots ?? []).some((lot) => key.includes(lot.domain.id));
}

/** Starts the service over a world. */
export async function startService(world: World): Promise<Service> {
  let manner: Manner = { now: 0, key: [1, 3, 12], totals: true, ownLots: false };
  let log: Answer[] = [];
  let clock = 0;
  let pages = 0;
  const server = await serve((url) => {
    const path = url.pathname.replace('/api', '');
    const asked = clock++;
    const { cut, refused, drift } = manner;
    const key = keyAt(manner, pages);
    const query = url.searchParams;
    const list = query.get('domain_id') ?? '';
    const minutes = query.has('minutes') ? Number(query.get('minutes')) : undefined;
    const isProbe = query.get('per_page') === '1';
    const note = (status: number, records: readonly unknown[] = [], total: number | null = null): void => {
      const page = Number(query.get('page') ?? 1);
      const asksForSource = isProbe && list !== '' && !query.has('page');
      const places = { asked, answered: clock++ };
      log.push({ path, list, page, minutes, status, records, total, asksForSource, ...places });
    };
    const refuse = (status: number) => {
      note(status);
      return { status, body: { message: 'not now' } };
    };
    if (cut !== undefined && path === cut.path && pages >= cut.after) return refuse(500);
    const isCut = refused?.source === Number(list) && pages >= refused.after;
    if (list !== '' && (isCut || !key.includes(Number(list)))) return refuse(401);
    const one = lookedUp(world, manner, path);
    if (one !== undefined) {
      note(200, [one]);
      return { body: { data: one } };
    }
    if (path !== '/cars' && path !== '/archived-lots') return refuse(404);
    if (path === '/cars' && !isProbe) drift?.(pages);
    const all = find(world, { ...manner, key }, path, list, minutes);
    const body = pageOf(all, query, manner, path);
    if (!isProbe) note(200, body.data, body.meta.total ?? null);
    if (path === '/cars' && !isProbe) pages++;
    return { body };
  });
  return {
    url: server.url,
    begin: (next) => {
      manner = next;
      pages = 0;
      log = [];
      return log;
    },
    close: server.close,
  };
}

function find(
  world: World,
  { key, now, ownLots }: Manner,
  path: string,
  list: string,
  minutes: number | undefined,
): readonly unknown[] {
  const since = minutes === undefined ? Number.NEGATIVE_INFINITY : now - minutes * 60_000;
  if (path === '/archived-lots')
    return world.archive.filter(({ archived_at }: Archiving) => Date.parse(archived_at) >= since);
  return [...world.feed.values()]
    .filter(({ vehicle, updated }) => updated >= since && isVisible(vehicle, key))
    .filter(({ vehicle }) => list === '' || vehicle.lots?.some((lot) => lot.domain.id === Number(list)))
    .sort((a, b) => a.vehicle.id - b.vehicle.id)
    .map((entry) => shown(entry, ownLots && list !== '' ? [Number(list)] : key));
}

/** The vehicle that a path names, in the feed or left. */
function lookedUp({ feed, left }: World, { key }: Manner, path: string): unknown {
  const id = Number(/^\/cars\/(\d+)$/.exec(path)?.[1]);
  const entry = feed.get(id) ?? left.get(id);
  return entry === undefined ? undefined : shown(entry, key);
}

function pageOf(
  all: readonly unknown[],
  query: URLSearchParams,
  { totals, wrongTotal }: Manner,
  path: string,
) {
  const size = Number(query.get('per_page'));
  const page = Number(query.get('page') ?? 1);
  const data = all.slice((page - 1) * size, page * size);
  const last = Math.max(1, Math.ceil(all.length / size));
  // No run accepts a total below the number of pages; the hostile answers test that.
  const total = Math.max(last === 1 ? 0 : last, all.length + (path === '/cars' ? (wrongTotal ?? 0) : 0));
  const numbers =
    data.length === 0 ? {} : { from: (page - 1) * size + 1, to: (page - 1) * size + data.length };
  const meta: { total?: number; last_page?: number; from?: number; to?: number } = {
    ...numbers,
    ...(totals ? { total, last_page: last } : {}),
  };
  const next = page < last ? `http://service.example/api${path}?page=${page + 1}` : null;
  return { data, links: { first: null, last: null, prev: null, next }, meta };
}
