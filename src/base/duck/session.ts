import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DuckDBConnection, DuckDBValue, DuckDBValueConverter, JS } from '@duckdb/node-api';
import { messageOf } from '../config/lotlake-error.js';
import { parseBytes } from '../config/memory.js';
import { makeFolder, makeScratch, remove } from '../config/owned.js';
import { duckdb } from './api.js';
import { isOutOfMemory } from './out-of-memory.js';

/** Limits of one DuckDB database. */
interface SessionOptions {
  readonly memory: string;
  readonly threads?: number | undefined;
  /** Folder for what does not fit in memory. */
  readonly temp: string;
}

/** A row of a query result: BIGINT as number (lotlake's keys and counts are below 2^53), the rest as JSON has it. */
export type Row = Readonly<Record<string, unknown>>;

/** A DuckDB database in memory with lotlake's settings. */
export interface Session {
  readonly memoryBytes: number;
  readonly connection: DuckDBConnection;
  /** Opens another connection with the same settings and its own temporary tables. */
  connect(): Promise<DuckDBConnection>;
  /**
   * Runs work that writes large files, with a lower memory limit: DuckDB does not count the buffers of its Parquet
   * writers.
   */
  whileWriting<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Runs work again with all of the memory, because it did not fit beside other work. If it still does not fit, runs it
   * once more on one thread.
   */
  alone<T>(work: () => Promise<T>): Promise<T>;
  /** How often work ran alone. */
  readonly timesAlone: number;
  /**
   * Interrupts the database once a signal is aborted, and again until it is closed: an interrupt ends only the
   * statement under way, not the next one.
   */
  interruptOn(signal: AbortSignal | undefined): void;
  close(): void;
}

/** Share of the memory that is the limit while large files are written. */
const WRITING_SHARE = 0.8;

/** Milliseconds between interrupts. */
export const INTERRUPT_EVERY = 20;

/** Opens a DuckDB database that fetches nothing, spills below the output folder and works in UTC. */
export async function openSession(options: SessionOptions): Promise<Session> {
  makeFolder(options.temp);
  const instance = await duckdb.DuckDBInstance.create(':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: options.memory,
    temp_directory: options.temp,
    preserve_insertion_order: 'false',
    partitioned_write_max_open_files: '4096',
    ...(options.threads === undefined ? {} : { threads: String(options.threads) }),
  });
  const open: DuckDBConnection[] = [];
  const connect = async (): Promise<DuckDBConnection> => {
    const connection = await instance.connect();
    open.push(connection);
    return connection;
  };
  const connection = await connect();
  await connection.run("set global TimeZone = 'UTC'");
  const memoryBytes = parseBytes(options.memory);
  let share = 1;
  let timesAlone = 0;
  const within = async <T>(given: number, work: () => Promise<T>): Promise<T> => {
    const before = share;
    const limit = async (next: number): Promise<void> => {
      share = next;
      // If DuckDB cannot free so much at once, the limit stays as it is.
      await connection.run(`set memory_limit = '${Math.floor(memoryBytes * next)}B'`).catch(() => undefined);
    };
    await limit(given);
    try {
      return await work();
    } finally {
      await limit(before);
    }
  };
  /** One thread needs less memory, since each has its own buffers for reading, sorting and writing. */
  const onOneThread = async <T>(work: () => Promise<T>): Promise<T> => {
    await connection.run('set threads = 1');
    try {
      return await work();
    } finally {
      const given = options.threads === undefined ? 'reset threads' : `set threads = ${options.threads}`;
      await connection.run(given).catch(() => undefined);
    }
  };
  const interrupt = (): void => {
    for (const each of open) {
      try {
        each.interrupt();
      } catch {
        // A closed connection has nothing to interrupt.
      }
    }
  };
  const closed = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  return {
    memoryBytes,
    connection,
    connect,
    whileWriting: (work) => within(WRITING_SHARE, work),
    alone: (work) => {
      timesAlone++;
      return within(1, async () => {
        try {
          return await work();
        } catch (error) {
          if (!isOutOfMemory(error)) throw error;
          return await onOneThread(work);
        }
      });
    },
    get timesAlone() {
      return timesAlone;
    },
    interruptOn(signal) {
      const begin = (): void => {
        interrupt();
        timer = setInterval(interrupt, INTERRUPT_EVERY);
      };
      if (signal?.aborted === true) begin();
      else signal?.addEventListener('abort', begin, { once: true, signal: closed.signal });
    },
    close: () => {
      closed.abort();
      clearInterval(timer);
      connection.closeSync();
      instance.closeSync();
    },
  };
}

/** A database for reading a lake, with its own scratch folder. */
export interface TemporarySession {
  readonly session: Session;
  /** Folder that queries may write to; removed when the session is closed. */
  readonly temp: string;
  close(): void;
}

/** Opens a database in memory whose scratch folder is outside the lake, so that reading leaves no trace there. */
export async function openTemporarySession(
  limits: Pick<SessionOptions, 'memory' | 'threads'>,
): Promise<TemporarySession> {
  const temp = makeScratch(join(tmpdir(), 'lotlake-'));
  const session = await openSession({ memory: limits.memory, threads: limits.threads, temp });
  return {
    session,
    temp,
    close: () => {
      session.close();
      remove(temp);
    },
  };
}

/**
 * All rows of a query.
 * @param values values of its parameters by name
 */
export async function rows(
  connection: DuckDBConnection,
  sql: string,
  values?: Record<string, DuckDBValue>,
): Promise<Row[]> {
  const reader = await connection.runAndReadAll(sql, values);
  return reader.convertRowObjects(convert).map(plain);
}

/** Converts values as JavaScript has them. A date that no Date can hold, such as infinity, stays a text. */
const convert: DuckDBValueConverter<unknown> = (value, type, converter) => {
  try {
    return duckdb.JSDuckDBValueConverter(value, type, converter as DuckDBValueConverter<JS>);
  } catch (error) {
    if (!/out of range for JS Date/.test(messageOf(error))) throw error;
    // The text of an infinite date is that of a finite one.
    const isInfinite = value instanceof duckdb.DuckDBDateValue && !value.isFinite;
    return isInfinite ? `${value.days < 0 ? '-' : ''}infinity` : String(value);
  }
};

/** Runs statements in one transaction, which is rolled back if one of them fails. */
export async function inTransaction(connection: DuckDBConnection, statements: readonly string[]) {
  await connection.run('begin');
  try {
    await connection.run(statements.join(';\n'));
  } catch (error) {
    await connection.run('rollback').catch(() => undefined);
    throw error;
  }
  await connection.run('commit');
}

/**
 * Runs work in a database file, which is written and closed when the work ends. Throws the first error.
 * @param name name of the database while it is attached
 */
export async function inDatabase<T>(
  connection: DuckDBConnection,
  path: string,
  name: string,
  work: () => Promise<T>,
): Promise<T> {
  const leave = () => connection.run(`use memory; detach ${name}`);
  await connection.run(`attach ${literal(path)} as ${name}; use ${name}`);
  const result = await work().catch(async (error: unknown) => {
    await leave().catch(() => undefined);
    throw error;
  });
  await leave();
  return result;
}

/** The first row of a query that must have one. */
export async function row(connection: DuckDBConnection, sql: string): Promise<Row> {
  const [first] = await rows(connection, sql);
  if (first === undefined) throw new TypeError(`no row from: ${sql}`);
  return first;
}

/** The first value of the first row, as a number. */
export async function scalar(connection: DuckDBConnection, sql: string): Promise<number> {
  return Number(Object.values(await row(connection, sql))[0]);
}

function plain(row: Record<string, unknown>): Row {
  const out: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) out[name] = plainValue(value);
  return out;
}

/** A value that JSON can hold: numbers in lists and structs may be BIGINT, too. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plainValue);
  const isStruct =
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
  return isStruct ? plain({ ...value }) : value;
}

/** A text as an SQL literal. */
export function literal(value: string): string {
  return `'${value.replaceAll("'", "''")}'`;
}

/** A name as an SQL identifier. */
export function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** SQL condition that rows of two relations have the same key, parts of which may be null. */
export const sameKey = (key: readonly string[], a: string, b: string): string =>
  key.map((name) => `${a}.${identifier(name)} is not distinct from ${b}.${identifier(name)}`).join(' and ');

/** Texts as an SQL list. */
export function literals(values: readonly string[]): string {
  return `[${values.map(literal).join(', ')}]`;
}
