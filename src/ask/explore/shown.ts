import { basename } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { INTERRUPT_EVERY, literal } from '../../base/duck/session.js';
import { outOfMemoryError } from '../../core/lake/lake-error.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { type CatalogTable, readCatalog } from '../../core/model/dictionary.js';
import { failOlder, readSql } from '../query/ask.js';
import { type OpenLake, openSnapshot, type Reading } from '../query/open-lake.js';
import { type Figures, readFigures } from '../report/write-report.js';
import { type Desks, openDesks, ownMemory } from './desks.js';
import { facetsOf } from './facets.js';
import type { Job } from './jobs.js';
import { searchIn } from './lot-filters.js';
import { type Names, readNames } from './names.js';
import { LINKS } from './page-frame.js';
import { turnsOf } from './turns.js';

/** A snapshot that is shown, with its lots on offer and its prices as tables, so that a list over all of them takes milliseconds. */
interface Opened {
  readonly lake: OpenLake;
  readonly id: string;
  /** Database with the lots on offer. */
  readonly database: string;
  /** Names that people type or choose. */
  readonly names: Names;
  readonly catalog: readonly CatalogTable[];
  /** Numbers of lots by value of the facets that were counted, by facet and condition. */
  readonly counts: Map<string, ReadonlyMap<string, number>>;
}

/** The rows of `value/priced_lots`, as a table that is sorted by model: a page looks for those of one. */
export const PRICED_LOTS = 'from explore.priced_lots';

/** A snapshot for one page, with a connection of its own. */
export interface Shown extends Opened {
  readonly connection: DuckDBConnection;
}

/** A snapshot for one request. */
export interface Served extends Shown {
  /** What the report says of the snapshot; it is read once, from when the snapshot is opened. The turn of the page ends. */
  figures(): Promise<Figures>;
  /**
   * Runs what a reader typed, or what takes long, in another process ({@link Desks}). The turn of the page ends: it asks its own
   * connection before.
   */
  run(job: Job): AsyncGenerator<string | Uint8Array>;
}

/** Shows the published snapshot, and the next one once it is published and its table is made. */
export interface Follower {
  /**
   * Takes a snapshot for a request, once it is its turn. It stays open until it is released.
   * @param signal ends the statements and the other processes of the request
   * @param isSlow whether the page takes long, so that others do not wait for it
   */
  take(
    signal: AbortSignal,
    isSlow?: boolean,
  ): Promise<{ readonly shown: Served; readonly release: () => void }>;
  close(): Promise<void>;
}

/** Pages of each kind whose statements run at once, and requests that wait. DuckDB's calls take one of Node's four threads each. */
const PAGES = 2;
const WAITING = 500;

/** A snapshot, what the report says of it, the number of requests that read it, and its other processes. */
interface Held {
  readonly opened: Opened;
  figures: Promise<Figures> | undefined;
  readonly desks: Desks;
  readers: number;
}

/**
 * Opens the published snapshot. Throws QUERY_NO_SNAPSHOT if there is none, QUERY_NO_TABLE if it is too old, LAKE_OUT_OF_MEMORY,
 * and the reason of the signal, which ends the opening.
 */
export async function followCurrent(config: Config, signal?: AbortSignal): Promise<Follower> {
  const layout = layoutOf(config.output);
  const closing = new AbortController();
  const leave = (): void => closing.abort(signal?.reason);
  signal?.addEventListener('abort', leave, { once: true });
  if (signal?.aborted === true) leave();
  const own = { ...config, memory: ownMemory(config) };
  const hold = async (): Promise<Held> => {
    const opened = await open(own, { signal: closing.signal }).catch((error: unknown) => {
      throw closing.signal.aborted
        ? closing.signal.reason
        : (outOfMemoryError(error, config.memory) ?? error);
    });
    const desks = openDesks(config, {
      snapshot: opened.id,
      database: opened.database,
      temp: opened.lake.temp,
    });
    const holding: Held = { opened, figures: undefined, desks, readers: 0 };
    readOnce(holding).catch(() => undefined);
    return holding;
  };
  /** What the report says, read again if that failed. */
  const readOnce = (of: Held): Promise<Figures> =>
    (of.figures ??= figuresOf(own, of.opened, closing.signal).catch((error: unknown) => {
      of.figures = undefined;
      throw error;
    }));
  const end = async ({ opened, figures, desks }: Held): Promise<void> => {
    desks.close();
    await figures?.catch(() => undefined);
    opened.lake.close();
  };
  let held = await hold();
  let opening: Promise<void> | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  const [quick, slow] = [turnsOf(PAGES, WAITING), turnsOf(PAGES, WAITING)];
  const closeUnread = (old: Held): void => {
    if (old !== held && old.readers === 0) ended = Promise.all([ended, end(old)]);
  };
  const follow = async (): Promise<void> => {
    const old = held;
    held = await hold();
    closeUnread(old);
  };
  return {
    async take(signal, isSlow = false) {
      const turn = isSlow ? slow : quick;
      const published = currentSnapshot(layout);
      const isBehind = published !== undefined && basename(published) !== held.opened.id;
      // The one that is open answers until the next one is ready, and goes on answering if that cannot be opened.
      if (isBehind)
        opening ??= follow()
          .catch(() => undefined)
          .finally(() => {
            opening = undefined;
          });
      const mine = held;
      mine.readers++;
      const leaveSnapshot = (): void => {
        mine.readers--;
        closeUnread(mine);
      };
      let leaveTurn = (): void => undefined;
      try {
        leaveTurn = await turn(signal);
        const connection = await mine.opened.lake.session.connect();
        const calm = interruptOn(signal, connection);
        return {
          shown: {
            ...mine.opened,
            connection,
            // The statements of the page are done then, and others have its turn.
            run(job) {
              leaveTurn();
              return mine.desks.run(job, signal);
            },
            figures() {
              leaveTurn();
              return readOnce(mine);
            },
          },
          release: () => {
            calm();
            connection.closeSync();
            leaveTurn();
            leaveSnapshot();
          },
        };
      } catch (error) {
        leaveTurn();
        leaveSnapshot();
        throw error;
      }
    },
    async close() {
      closing.abort();
      await opening;
      await Promise.all([ended, end(held)]);
    },
  };
}

/**
 * Counts all lots by the facets, which most readers ask first, and reads what the report says of a snapshot, on a connection of
 * its own, while pages are already read.
 */
async function figuresOf(config: Config, opened: Opened, signal: AbortSignal): Promise<Figures> {
  const { lake } = opened;
  const connection = await lake.session.connect();
  const calm = interruptOn(signal, connection);
  try {
    await facetsOf({ ...opened, connection }, searchIn({}));
    const read = readFigures(config, { manifest: lake.manifest, connection }, { links: LINKS });
    return await read.catch(failOlder);
  } finally {
    calm();
    connection.closeSync();
  }
}

/**
 * Interrupts a connection once a signal is aborted, and again until it calms: an interrupt ends only the statement under way,
 * and none if that has not begun.
 */
function interruptOn(signal: AbortSignal, connection: DuckDBConnection): () => void {
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = setInterval(() => connection.interrupt(), INTERRUPT_EVERY);
  };
  if (signal.aborted) begin();
  else signal.addEventListener('abort', begin, { once: true });
  return () => {
    signal.removeEventListener('abort', begin);
    clearInterval(timer);
  };
}

/** Opens the published snapshot once, for an export into a folder. The caller closes it. */
export async function openShown(config: Config, into: string): Promise<Shown> {
  const opened = await open(config, { into });
  return { ...opened, connection: opened.lake.session.connection };
}

async function open(config: Config, reading: Pick<Reading, 'into' | 'signal'>): Promise<Opened> {
  const lake = await openSnapshot(config, reading);
  const { connection } = lake.session;
  try {
    const database = `${lake.temp}/explore.db`;
    await connection.run(`attach ${literal(database)} as explore`);
    const priced = `${readSql('value/priced_lots')} order by p.manufacturer_id, p.model_id, p.lot_id`;
    await connection.run('create table explore.lots_on_offer as from lots_on_offer').catch(failOlder);
    await connection.run(`create table explore.priced_lots as ${priced}`).catch(failOlder);
    // Other processes may read it then.
    await connection.run(`detach explore; attach ${literal(database)} as explore (read_only)`);
    const catalog = await readCatalog(connection, lake.manifest);
    const names = await readNames(connection);
    return { lake, id: basename(lake.snapshot), database, names, catalog, counts: new Map() };
  } catch (error) {
    lake.close();
    throw error;
  }
}
