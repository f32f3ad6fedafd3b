/**
 * Which pass a run resumes, and what a pass proves according to the log of the service (docs/decisions/0004 and 0014).
 */

import { UNREADABLE_LIST } from '../support.js';
import type { Evidence, Values } from './knowledge.js';
import type { Answer } from './service.js';
import { type Archiving, UNREADABLE, type Vehicle } from './world.js';

/** Streams whose passes are followed. */
export type Followed = 'cars' | 'archived_lots';

/** A pass that a run fills. */
export interface Walk {
  readonly stream: Followed;
  readonly kind: 'full' | 'window' | 'lookup';
  readonly startedAt: number;
  readonly sources: readonly number[] | undefined;
  /** Minute at which a window begins; undefined for a full pass. */
  readonly begins?: number | undefined;
  /** Whether the total of a window's list had changed when a later run continued it. */
  hasMoved?: boolean;
  /** All answers with records, to this run and to the earlier runs of the pass. */
  answers: Answer[];
  /** Sources that the last run of the pass was refused. */
  refused: readonly string[];
  /** Sources that were refused when a run of the pass asked which sources the key has. */
  hidden: readonly number[];
  isSealed: boolean;
}

/** What later runs need to know about passes. */
export interface Ledger {
  /** Passes of runs that published nothing. */
  left: readonly Walk[];
  /** Start of the newest full pass that was published, by stream. */
  readonly newest: Map<Followed, number>;
  /**
   * Start of the last pass that was walked whole and published, over all sources and over one. Windows reach back to
   * it.
   */
  readonly whole: Map<Followed | `cars:${string}`, number>;
}

/** An open pass older than this is not resumed. */
const RESUME = 12 * 3_600_000;

/**
 * The pass that a run fills. A run resumes a pass that an earlier run left if it requested the same, is younger than 12
 * hours, and no newer full pass is in the lake. A window that was not walked whole is resumed only if it would start at
 * the same time now, that is, if no whole pass of its stream came in between. Other unfinished passes of the kind are
 * given up.
 */
export function begin(
  ledger: Ledger,
  wanted: Pick<Walk, 'stream' | 'kind' | 'sources' | 'begins'>,
  now: number,
): Walk {
  const isOfKind = (walk: Walk): boolean => walk.stream === wanted.stream && walk.kind === wanted.kind;
  const found = ledger.left.find(
    (walk) =>
      isOfKind(walk) &&
      (walk.isSealed || walk.kind === 'full' || Math.abs((walk.begins ?? 0) - (wanted.begins ?? 0)) < 2) &&
      String(walk.sources) === String(wanted.sources) &&
      walk.startedAt > (ledger.newest.get(walk.stream) ?? 0) &&
      now - walk.startedAt < RESUME,
  );
  ledger.left = ledger.left.filter((walk) => !isOfKind(walk));
  return found ?? { ...wanted, startedAt: now, answers: [], refused: [], hidden: [], isSealed: false };
}

const PATHS: Readonly<Record<Followed, string>> = { cars: '/cars', archived_lots: '/archived-lots' };

/** Adds the answers to a run to the pass that it filled. */
export function fill(walk: Walk, log: readonly Answer[]): void {
  const own = log.filter(({ path }) => path === PATHS[walk.stream]);
  const earlier = [...walk.answers];
  walk.answers.push(...own.filter(({ status }) => status === 200));
  if (walk.kind === 'window' && !walk.isSealed) {
    const lastTotal = new Map(walk.answers.map(({ list, total }) => [list, total]));
    walk.hasMoved =
      walk.hasMoved === true ||
      earlier.some(({ list, total }) => total === null || total !== lastTotal.get(list));
  }
  const refused = own.filter(({ status }) => status === 401);
  walk.hidden = [
    ...walk.hidden,
    ...refused.filter(({ asksForSource }) => asksForSource).map(({ list }) => Number(list)),
  ];
  if (!walk.isSealed)
    walk.refused = refused.filter(({ asksForSource }) => !asksForSource).map(({ list }) => list);
}

/** Notes that these passes are in the lake. */
export function publish(ledger: Ledger, walks: readonly Walk[]): void {
  for (const walk of walks) {
    const { stream, startedAt, kind } = walk;
    if (kind === 'lookup') continue;
    if (kind === 'full') ledger.newest.set(stream, Math.max(startedAt, ledger.newest.get(stream) ?? 0));
    const lists = walkedLists(walk);
    if (walk.sources === undefined && lists.every((list) => list.isComplete))
      ledger.whole.set(stream, startedAt);
    for (const { name, isComplete } of lists)
      if (name !== '' && isComplete) ledger.whole.set(`cars:${name}`, startedAt);
  }
}

interface List {
  readonly name: string;
  readonly answers: readonly Answer[];
  /** The last answer of each page. */
  readonly pages: ReadonlyMap<number, Answer>;
  readonly isComplete: boolean;
}

/** The lists of a pass that were walked: all lists except those of refused sources. */
function walkedLists({ answers, sources, refused, hasMoved }: Walk): List[] {
  const names = sources === undefined ? [''] : sources.map(String);
  return names
    .filter((name) => !refused.includes(name))
    .map((name) => {
      const own = answers.filter((answer) => answer.list === name);
      const pages = new Map(own.map((answer) => [answer.page, answer]));
      const totals = own.map(({ total }) => total).filter((total) => total !== null);
      return {
        name,
        answers: own,
        pages,
        isComplete: hasMoved !== true && isComplete([...pages.values()], totals),
      };
    });
}

/**
 * A list is complete if the number of its records matches the total of the service, give or take the change of that
 * total, and if no two pages have the same records.
 */
function isComplete(pages: readonly Answer[], totals: readonly number[]): boolean {
  const records = pages.reduce((sum, page) => sum + page.records.length, 0);
  const contents = pages
    .filter((page) => page.records.length > 0)
    .map((page) => JSON.stringify(page.records));
  if (new Set(contents).size < contents.length) return false;
  return totals.length === 0 || (records >= Math.min(...totals) && records <= Math.max(...totals));
}

/** Whether a record keeps to the contract. This service breaks it in one way only. */
const isValid = (record: unknown): boolean => {
  const listings: unknown = Reflect.get(Object(record), 'listings');
  return !Array.isArray(listings) || listings.length < UNREADABLE_LIST.length;
};

/** What the passes of a run prove. */
export function evidenceOf(cars: Walk, archive: Walk | undefined, guard: number): Evidence {
  const lists = walkedLists(cars);
  const whole = lists.filter((list) => list.isComplete).map((list) => Number(list.name));
  const isWhole = whole.length > 0;
  const broken = cars.answers
    .flatMap((answer) => answer.records)
    .filter((record) => !isValid(record)) as Vehicle[];
  return {
    seenAt: new Date(cars.startedAt).toISOString(),
    kind: cars.kind,
    delivered: cars.answers.flatMap(({ list, records }) =>
      (records.filter(isValid) as Vehicle[]).map((vehicle) => ({ list, vehicle })),
    ),
    rejected: new Set(broken.map((record) => record.id)),
    rejectedLots: new Set(broken.flatMap((record) => record.lots ?? []).map((lot) => lot.id)),
    rejects: rejectsOf(cars.answers),
    provesAbsence:
      cars.kind === 'full' && isWhole && cars.answers.some((answer) => answer.records.length > 0),
    sources: cars.sources === undefined ? undefined : whole,
    hidden: cars.hidden,
    unproven: lists.flatMap(openBorders),
    archive: (archive?.answers ?? []).flatMap((answer) => answer.records) as Archiving[],
    guard,
  };
}

/**
 * Borders at which a record may have been missed: those between two neighbouring pages. A border is proven if the first
 * page was requested after the second had arrived, and both met at the same ids as now.
 */
function openBorders({ pages, answers }: List): [number, number][] {
  const idAt = (page: Answer, place: number): number | undefined => (page.records as Vehicle[]).at(place)?.id;
  const between = (page: Answer, behind: Answer): [number, number] => [
    idAt(page, -1) ?? -1,
    idAt(behind, 0) ?? Number.POSITIVE_INFINITY,
  ];
  const readingsOf = (number: number): Answer[] => answers.filter(({ page }) => page === number);
  return [...pages.values()].flatMap((page): [number, number][] => {
    const behind = pages.get(page.page + 1);
    if (behind === undefined) return [];
    const range = between(page, behind);
    const isProven = readingsOf(page.page).some((first) =>
      readingsOf(behind.page).some(
        (second) => first.asked > second.answered && String(between(first, second)) === String(range),
      ),
    );
    return isProven ? [] : [range];
  });
}

/** Rejected records and rejected values, by their place. A page that was read twice rejects each place once. */
function rejectsOf(answers: readonly Answer[]): Values[] {
  const places = answers.flatMap(({ list, page, records, lines }) =>
    records.flatMap((record, position): [string, Values][] => {
      const place = {
        list,
        page,
        position: lines?.[position] ?? position,
        record_id: String((record as Vehicle).id),
      };
      const found = isValid(record) ? unreadable(record) : [{ path: '', raw: null }];
      return found.map((what) => [`${list} ${page} ${position} ${what.path}`, { ...place, ...what }]);
    }),
  );
  return [...new Map(places).values()];
}

/** Values of a record that cannot be read. */
function unreadable(value: unknown, path = ''): { readonly path: string; readonly raw: string | null }[] {
  if (UNREADABLE.has(value)) return [{ path, raw: JSON.stringify(value) }];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const step = Array.isArray(value) ? `[${name}]` : path === '' ? name : `.${name}`;
    return unreadable(inner, `${path}${step}`);
  });
}

/** How many records a pass landed and rejected. A page that was read twice counts twice. */
export function countsOf({ answers, stream }: Walk): {
  readonly landed: number;
  readonly rejected: number;
  readonly rejectedValues: number;
} {
  const records = answers.flatMap((answer) => answer.records);
  if (stream !== 'cars') return { landed: records.length, rejected: 0, rejectedValues: 0 };
  const valid = records.filter(isValid);
  const rejectedValues = valid.flatMap((record) => unreadable(record)).length;
  return { landed: records.length, rejected: records.length - valid.length, rejectedValues };
}
