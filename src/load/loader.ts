import {
  appendFileSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit from 'p-limit';
import { killPoint } from '../config/kill-point.js';
import { messageOf } from '../config/lotlake-error.js';
import { isOutOfMemory, literal, type Session } from '../duck/session.js';
import type { TableSchema } from '../lake/schema.js';
import type { Changes } from '../land/changes.js';
import type { LandedPage } from '../land/page.js';
import { kindNames, MOST_DRIFT } from '../land/shape.js';
import type { ContractNode } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { type Batch, type BatchFile, loadBatch } from './batch.js';
import { checkPage } from './check-page.js';
import { columnPlaces } from './column-places.js';
import { LoadError } from './load-error.js';
import { isLoadable } from './types.js';

/** A member that the contract does not know, as a run reports it. */
export interface DriftReport {
  readonly stream: string;
  readonly path: string;
  readonly kinds: readonly string[];
  /** Where it was first seen. */
  readonly pass_id: string;
  readonly page: number;
  readonly position: number;
  /** Whether it is kept in `extra`; a member that differs from another only by case is kept in landing alone. */
  readonly kept: boolean;
}

/** What loading one pass gave. */
export interface LoadResult {
  /** Records that the answers number; as many as were cut where they do not say. */
  readonly served: number;
  readonly records: number;
  /** Records that the lake now holds, with those that it held before. */
  readonly loaded: number;
  /** Records that came as the lake held them, and were not read again. */
  readonly unchanged: number;
  readonly rejected: number;
  /** Values that loaded records lack, since they break the contract. */
  readonly rejectedValues: number;
  readonly drift: readonly DriftReport[];
  /** The list that each page is of, by the order of its receipt. */
  readonly lists: ReadonlyMap<number, string>;
}

/** A file of a batch, the records in it, and whether some lack a value. */
type LoadFile = BatchFile & { readonly kept: number; readonly isMended: boolean };

/** Loads the pages of one pass while they come. */
export interface Loader {
  add(page: LandedPage): void;
  /** Loads what is left and waits for every batch. Throws LoadError. */
  finish(): Promise<LoadResult>;
  /** Gives up: waits for the batches under way and begins no other. */
  stop(): Promise<void>;
}

/** Bytes of JSON a batch, at most, and as a share of the memory; two batches are in work at once. */
const BATCH = { mostBytes: 96 << 20, share: 0.15 } as const;
const PARALLEL_BATCHES = 2;

/** A batch below this is staged without partitions: many tiny files cost more than reading past other rows. */
const SMALL_BATCH_BYTES = 4 << 20;

/** File of the stage that gathers the rejects of a run, newline-delimited. */
export const REJECTS_FILE = 'rejects.ndjson';

/** Starts loading the pages of a pass into `stage`. */
export function createLoader(options: {
  readonly session: Session;
  readonly stream: Stream;
  readonly contract: ContractNode;
  /** Columns of every table of the lake. */
  readonly schemas: ReadonlyMap<string, TableSchema>;
  readonly passId: string;
  readonly passFolder: string;
  readonly stage: string;
  /** What of each page has to be loaded; whole pages without it. */
  readonly changes?: Changes | undefined;
  /** Ends the look at a page record by record. */
  readonly signal?: AbortSignal | undefined;
  /** Is told what the reader should know; loading goes on. */
  readonly warn: (message: string) => void;
}): Loader {
  const { stream, contract, changes } = options;
  const batchBytes = Math.min(BATCH.mostBytes, options.session.memoryBytes * BATCH.share);
  const limit = pLimit(PARALLEL_BATCHES);
  const idle: DuckDBConnection[] = [];
  const drift = new Map<string, DriftReport>();
  const lists = new Map<number, string>();
  const tasks: Promise<void>[] = [];
  /** Batches that could not be loaded at once. */
  const apart: { readonly batch: Batch; readonly pages: readonly LandedPage[] }[] = [];
  let pending: LandedPage[] = [];
  let pendingBytes = 0;
  let batches = 0;
  /** Batches that did not fit into memory beside others. */
  let crowded = 0;
  let served = 0;
  let records = 0;
  let loaded = 0;
  let unchanged = 0;
  let rejected = 0;
  let rejectedValues = 0;
  let places: ReturnType<typeof columnPlaces> | undefined;
  let failure: unknown;
  let isStopped = false;
  let isDriftFull = false;
  mkdirSync(options.stage, { recursive: true });

  const bytesOf = (page: LandedPage): number => (changes?.freshOf(page) ?? page).bytes;

  const learn = (page: LandedPage): void => {
    for (const { path, kinds, firstRecord } of page.drift) {
      const known = drift.get(path);
      if (known === undefined && drift.size >= MOST_DRIFT) {
        if (!isDriftFull)
          options.warn(
            `${stream.path} brings more than ${MOST_DRIFT} members that lotlake does not know; the others are kept in landing alone`,
          );
        isDriftFull = true;
        continue;
      }
      drift.set(path, {
        stream: stream.name,
        path,
        kinds: [...new Set([...(known?.kinds ?? []), ...kindNames(kinds)])],
        pass_id: options.passId,
        page: known?.page ?? page.page,
        position: known?.position ?? firstRecord,
        kept: known?.kept ?? isLoadable(path, contract, learnedPaths()),
      });
    }
  };

  const learnedPaths = (): string[] =>
    [...drift.values()].filter((entry) => entry.kept).map((entry) => entry.path);

  const toFile = async (page: LandedPage): Promise<LoadFile> => {
    const fresh = changes?.freshOf(page);
    const { seq, list } = page;
    if (fresh !== undefined) return { path: fresh.path, seq, list, kept: fresh.records, isMended: false };
    const path = join(options.passFolder, page.file);
    if (page.fits) return { path, seq, list, kept: page.records, isMended: false };
    const clean = join(options.stage, `clean-${stream.name}-${options.passId}-${page.seq}.ndjson`);
    const place = {
      file: path,
      passId: options.passId,
      list: page.list,
      page: page.page,
      seq,
      oversized: page.oversized,
      irregular: page.irregular,
    };
    places ??= columnPlaces(
      contract,
      [...options.schemas.values()].filter(({ table }) => table.stream === stream.name),
    );
    const rejectsFile = join(options.stage, REJECTS_FILE);
    const checked = await checkPage(place, { stream, contract, places }, clean, (rejects) => {
      options.signal?.throwIfAborted();
      appendFileSync(rejectsFile, rejects.map((reject) => `${JSON.stringify(reject)}\n`).join(''));
    });
    rejected += checked.rejected;
    rejectedValues += checked.rejectedValues;
    return { path: clean, seq, list, kept: checked.kept, isMended: checked.rejectedValues > 0 };
  };

  const run = async (pages: readonly LandedPage[], name: string): Promise<void> => {
    if (failure !== undefined || isStopped) return;
    // Sorted, so that `extra` does not depend on the order in which members were met.
    const learned = learnedPaths().sort();
    try {
      const ready = pages.map((page) =>
        toFile(page).catch((error: unknown) => {
          fail([page], error);
          throw error;
        }),
      );
      const files = (await Promise.all(ready)).filter((file) => file.kept > 0);
      const batch: Batch = {
        stream: stream.name,
        contract,
        learned,
        files,
        largestRecord: Math.max(...pages.map((page) => page.largestRecord)),
        stage: options.stage,
        name,
        isSmall: pages.reduce((sum, page) => sum + bytesOf(page), 0) < SMALL_BATCH_BYTES,
        isMended: files.some((file) => file.isMended),
      };
      if (files.length > 0 && !(await load(batch, pages))) {
        apart.push({ batch, pages });
        return;
      }
    } catch (error) {
      fail(pages, error);
    }
    release(pages);
  };

  /** Loads a batch; false where one of several pages may be why it cannot be, and then nothing of it stays staged. */
  const load = async (batch: Batch, pages: readonly LandedPage[]): Promise<boolean> => {
    const connection = idle.pop() ?? (await options.session.connect());
    try {
      killPoint('load.batch-begun');
      const count = await loadBatch(connection, batch);
      killPoint('load.batch-staged');
      loaded += count;
      return true;
    } catch (error) {
      if (pages.length < 2) throw error;
      removeStaged(options.stage, batch.name);
      if (isOutOfMemory(error)) crowded++;
      else options.warn(`a batch of ${stream.path} is loaded page by page: ${messageOf(error)}`);
      return false;
    } finally {
      idle.push(connection);
    }
  };

  /**
   * Loads the batches that failed, a file at a time: no other takes memory meanwhile, and a page that cannot be loaded is
   * told from the others.
   */
  const loadApart = async (): Promise<void> => {
    if (failure !== undefined || isStopped) return;
    if (crowded > 0)
      options.warn(
        `${crowded} of ${batches} batches of ${stream.path} did not fit into memory beside others and are loaded page by page; more memory (LOTLAKE_MEMORY) spares that`,
      );
    for (const { batch, pages } of apart) {
      for (const [i, file] of batch.files.entries()) {
        if (failure !== undefined || isStopped) return;
        const own = pages.filter(({ seq }) => seq === file.seq);
        await load({ ...batch, files: [file], name: `${batch.name}-${i}` }, own).catch((error: unknown) =>
          fail(own, error),
        );
      }
      release(pages);
    }
  };

  const fail = (pages: readonly LandedPage[], error: unknown): void => {
    const [first, ...others] = pages;
    const numbers = pages.map((page) => page.page).join(', ');
    const places = `${others.length === 0 ? 'page' : 'pages'} ${numbers} of pass ${options.passId}`;
    failure ??= new LoadError(`${places} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      ...(first === undefined || others.length > 0 ? {} : { page: first.file }),
      hint: `the last snapshot stays current and the pages stay in ${options.passFolder}; run the same command again`,
    });
  };

  const release = (pages: readonly LandedPage[]): void => {
    for (const page of pages) changes?.release(page);
  };

  const flush = (): void => {
    if (pending.length === 0) return;
    const pages = pending;
    const name = `${options.passId}-${String(batches++).padStart(5, '0')}`;
    pending = [];
    pendingBytes = 0;
    tasks.push(limit(() => run(pages, name)));
  };

  const settle = async (): Promise<void> => {
    await Promise.all(tasks);
    await loadApart();
    for (const connection of idle) connection.closeSync();
  };

  return {
    add(page) {
      learn(page);
      lists.set(page.seq, page.list);
      served += page.announced ?? page.records;
      records += page.records;
      const fresh = changes?.freshOf(page) ?? page;
      unchanged += page.records - fresh.records;
      if (fresh.records === 0) return;
      pending.push(page);
      pendingBytes += fresh.bytes;
      if (pendingBytes >= batchBytes) flush();
    },
    async finish() {
      flush();
      await settle();
      if (failure !== undefined) throw failure;
      return {
        served,
        records,
        loaded: loaded + unchanged,
        unchanged,
        rejected,
        rejectedValues,
        drift: [...drift.values()],
        lists,
      };
    },
    async stop() {
      isStopped = true;
      await settle();
    },
  };
}

/** Removes the staged files of one batch, or of all those of a pass. */
function removeStaged(stage: string, name: string): void {
  for (const entry of readdirSync(stage, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && (entry.name.startsWith(`${name}-`) || entry.name === `${name}.parquet`))
      rmSync(join(entry.parentPath, entry.name));
}

/** Removes what was staged of a pass that is given up, so that nothing of it is merged. */
export function discardStaged(stage: string, passId: string): void {
  removeStaged(stage, passId);
  const rejects = join(stage, REJECTS_FILE);
  if (!existsSync(rejects)) return;
  const lines = readFileSync(rejects, 'utf8').split('\n');
  const others = lines.filter((line) => line !== '' && JSON.parse(line).pass_id !== passId);
  writeFileSync(rejects, others.map((line) => `${line}\n`).join(''));
}

/** Columns of a reject as it is written to {@link REJECTS_FILE}. */
const REJECT_COLUMNS =
  "{stream: 'VARCHAR', pass_id: 'VARCHAR', list: 'VARCHAR', page: 'BIGINT', seq: 'BIGINT', position: 'BIGINT', record_id: 'VARCHAR', " +
  "path: 'VARCHAR', expected: 'VARCHAR', found: 'VARCHAR', raw: 'VARCHAR', table_name: 'VARCHAR', row_key: 'VARCHAR', " +
  "column_name: 'VARCHAR'}";

/** A relation with the rejects that loading left in a stage; empty where there are none. */
export function rejectsRelation(stage: string): string {
  const file = join(stage, REJECTS_FILE);
  if (!existsSync(file)) writeFileSync(file, '');
  return `read_json(${literal(file)}, format = 'newline_delimited', maximum_object_size = ${largestLine(file)}, columns = ${REJECT_COLUMNS})`;
}

/** Bytes of the longest line of a file, for the reader's buffers. */
function largestLine(file: string): number {
  let longest = 1 << 20;
  let current = 0;
  const handle = openSync(file, 'r');
  const chunk = Buffer.alloc(1 << 20);
  try {
    for (let size = readSync(handle, chunk); size > 0; size = readSync(handle, chunk)) {
      let start = 0;
      for (let end = chunk.indexOf(0x0a); end >= 0 && end < size; end = chunk.indexOf(0x0a, start)) {
        longest = Math.max(longest, current + end - start + 1);
        current = 0;
        start = end + 1;
      }
      current += size - start;
    }
    return Math.max(longest, current);
  } finally {
    closeSync(handle);
  }
}
