import { basename } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { packageFile } from '../../base/config/package-root.js';
import { literal } from '../../base/duck/session.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { type CatalogTable, readCatalog } from '../../core/model/dictionary.js';
import { type OpenLake, openSnapshot, type Reading } from '../query/open-lake.js';
import { valuesOf } from '../query/value.js';
import { type Names, readNames } from './names.js';

/** A snapshot that is shown, with its lots on offer as a table, so that a list over all of them takes milliseconds. */
interface Opened {
  readonly lake: OpenLake;
  readonly id: string;
  /** Names that people type or choose. */
  readonly names: Names;
  readonly catalog: readonly CatalogTable[];
}

/** A snapshot for one request, with a connection of its own. */
export interface Shown extends Opened {
  readonly connection: DuckDBConnection;
}

/** Shows the published snapshot, and the next one once it is published and its table is made. */
export interface Follower {
  /**
   * Takes a snapshot for a request. It stays open until it is released.
   * @param signal interrupts the statements of the request
   */
  take(signal: AbortSignal): Promise<{ readonly shown: Shown; readonly release: () => void }>;
  close(): Promise<void>;
}

/** A snapshot and the number of requests that read it. */
interface Held {
  readonly opened: Opened;
  readers: number;
}

/** Opens the published snapshot. Throws QUERY_NO_SNAPSHOT if there is none, and QUERY_NO_TABLE if it is too old. */
export async function followCurrent(config: Config): Promise<Follower> {
  const layout = layoutOf(config.output);
  let held: Held = { opened: await open(config), readers: 0 };
  let opening: Promise<void> | undefined;
  const closeUnread = (old: Held): void => {
    if (old !== held && old.readers === 0) old.opened.lake.close();
  };
  const follow = async (): Promise<void> => {
    const old = held;
    held = { opened: await open(config), readers: 0 };
    closeUnread(old);
  };
  return {
    async take(signal) {
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
      const leave = (): void => {
        mine.readers--;
        closeUnread(mine);
      };
      const connection = await mine.opened.lake.session.connect().catch((error: unknown) => {
        leave();
        throw error;
      });
      const interrupt = (): void => connection.interrupt();
      signal.addEventListener('abort', interrupt);
      return {
        shown: { ...mine.opened, connection },
        release: () => {
          signal.removeEventListener('abort', interrupt);
          connection.closeSync();
          leave();
        },
      };
    },
    async close() {
      await opening;
      held.opened.lake.close();
    },
  };
}

/** Opens the published snapshot once, for an export into a folder. The caller closes it. */
export async function openShown(config: Config, into: string): Promise<Shown> {
  const opened = await open(config, { into });
  return { ...opened, connection: opened.lake.session.connection };
}

async function open(config: Config, reading: Pick<Reading, 'into'> = {}): Promise<Opened> {
  const lake = await openSnapshot(config, reading);
  const { connection } = lake.session;
  try {
    await connection.run(`attach ${literal(`${lake.temp}/explore.db`)} as explore`);
    // Gives the marts of an older snapshot the columns that they lack, once for all requests.
    await valuesOf(connection, []);
    const select = packageFile('sql/models/market/lots_on_offer.sql');
    await connection.run(`create table explore.lots_on_offer as ${select}`).catch((cause: unknown) => {
      throw new LotlakeError('QUERY_NO_TABLE', 'the published snapshot lacks tables that explore reads', {
        cause,
        hint: 'run lotlake run rebuild, or wait for the next run',
      });
    });
    const catalog = await readCatalog(connection, lake.manifest);
    return { lake, id: basename(lake.snapshot), names: await readNames(connection), catalog };
  } catch (error) {
    lake.close();
    throw error;
  }
}
