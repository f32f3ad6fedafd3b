import type { DuckDBConnection } from '@duckdb/node-api';
import { openSnapshot } from '../ask/query/open-lake.js';
import { type Format, render } from '../ask/query/render.js';
import { openResult } from '../ask/query/result.js';
import { jsonValue } from '../ask/query/result-values.js';
import { readStanding, type Standing } from '../ask/report/alarms.js';
import { LotlakeError } from '../base/config/lotlake-error.js';
import { sumOf } from '../base/config/printable.js';
import type { Row } from '../base/duck/session.js';
import { layoutOf } from '../core/lake/layout.js';
import { allTables } from '../core/lake/manifest.js';
import { dictionary, type TableEntry } from '../core/model/dictionary.js';
import { readQuery } from '../core/model/read-only.js';
import { type LakeSettings, settingsOf } from './lake-settings.js';

/** A snapshot, and the run that made it. */
export interface SnapshotFacts {
  readonly id: string;
  /** Its folder: a whole dataset in Parquet, which stays as it is until `vacuum` removes it. */
  readonly path: string;
  readonly pipeline: string;
  /** When it was published, ISO 8601 in UTC. */
  readonly createdAt: string;
  /** The service that the data comes from; null in a snapshot of an early version. */
  readonly origin: string | null;
  /** Rows of all tables and marts. */
  readonly rows: number;
  /** Size of all tables and marts. */
  readonly bytes: number;
}

/** Formats of {@link Lake.stream}. */
export type StreamFormat = Exclude<Format, 'table' | 'vertical'>;

/** One snapshot of a lake, open for queries. A run that publishes meanwhile changes nothing for it. */
export interface Lake {
  readonly snapshot: SnapshotFacts;
  /** Tables and marts with their rows, keys and columns. */
  readonly tables: readonly TableEntry[];
  /**
   * Returns all rows of a read-only query. Integers are numbers if that is exact and texts otherwise, instants ISO 8601 in
   * UTC, dates `2026-11-20`. Rejects with LotlakeError (QUERY_FAILED) for a query that is wrong or could write.
   */
  query(sql: string): Promise<Row[]>;
  /**
   * Returns the result of a query in pieces: `json` and `csv` are text, `arrow` (an IPC stream) and `parquet` bytes. Rejects
   * as {@link Lake.query} does.
   */
  stream(sql: string, format: StreamFormat): AsyncIterable<string | Uint8Array>;
  /** Alarms, rejected records and new members of the feed, as `lotlake status` shows them. */
  status(): Promise<Standing>;
  /** Ends queries and streams, frees memory and removes the scratch folder. What is asked after that rejects (QUERY_CLOSED). */
  close(): void;
}

/** Options of `openLake`. */
export interface OpenOptions {
  /** The snapshot that was current then: an instant, or a date for its end (UTC). Default: the published one. */
  readonly asOf?: string | undefined;
  /** The snapshot of this id. */
  readonly snapshot?: string | undefined;
  /** Ends queries on the lake, which then reject with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** Opens a snapshot of a lake; `index.ts` describes it. */
export async function open(settings: LakeSettings, options: OpenOptions): Promise<Lake> {
  options.signal?.throwIfAborted();
  const closing = new AbortController();
  const { signal } = closing;
  const given = options.signal === undefined ? signal : AbortSignal.any([options.signal, signal]);
  const { config } = settingsOf(settings);
  const opened = await openSnapshot(config, { choice: options, signal: given });
  const { session, temp, snapshot, manifest } = opened;
  const idle: DuckDBConnection[] = [];
  let atWork = 0;
  /** Does work with the database, which is closed when nobody does. Rejects with the reason of the signal that ended it. */
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    atWork++;
    try {
      return await work();
    } catch (error) {
      given.throwIfAborted();
      throw error;
    } finally {
      atWork--;
      if (signal.aborted && atWork === 0) opened.close();
    }
  };
  /** Does work on a connection that no other work uses meanwhile; later work uses it again. */
  async function* onConnection<T>(
    work: (connection: DuckDBConnection) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    const connection = await working(async () => idle.pop() ?? (await session.connect()));
    const pieces = work(connection)[Symbol.asyncIterator]();
    try {
      for (;;) {
        const piece = await working(() => pieces.next());
        if (piece.done === true) return;
        yield piece.value;
      }
    } finally {
      if (!signal.aborted) {
        await working(async () => pieces.return?.());
        idle.push(connection);
      }
    }
  }
  const tables = Object.values(allTables(manifest));
  return {
    snapshot: {
      id: manifest.snapshot_id,
      path: snapshot,
      pipeline: manifest.pipeline,
      createdAt: manifest.created_at,
      origin: manifest.origin,
      rows: sumOf(tables, ({ rows }) => rows),
      bytes: sumOf(tables, ({ bytes }) => bytes),
    },
    tables: dictionary(manifest),
    async query(sql) {
      const found: Row[] = [];
      for await (const row of onConnection((connection) => rowsOf(connection, sql))) found.push(row);
      return found;
    },
    stream: (sql, format) =>
      onConnection(async function* (connection) {
        const query = await readQuery(connection, sql);
        yield* render(connection, query, format, { temp, view: { rows: 0, width: undefined } });
      }),
    status: () => working(() => readStanding(session.connection, layoutOf(config.output), manifest)),
    close: () => {
      if (signal.aborted) return;
      closing.abort(closedError());
      if (atWork === 0) opened.close();
    },
  };
}

const closedError = (): LotlakeError =>
  new LotlakeError('QUERY_CLOSED', 'the lake was closed', {
    outcome: 'usage',
    hint: 'open it again with openLake',
  });

async function* rowsOf(connection: DuckDBConnection, sql: string): AsyncGenerator<Row> {
  const { columns, rows } = await openResult(connection, await readQuery(connection, sql));
  for await (const piece of rows(jsonValue))
    for (const row of piece) yield Object.fromEntries(columns.map(({ name }, i) => [name, row[i]]));
}
