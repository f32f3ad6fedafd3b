import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { killPoint } from '../config/kill-point.js';
import { messageOf } from '../config/lotlake-error.js';
import { poolOf, settled, type UseConnection } from '../duck/pool.js';
import { isOutOfMemory, type Session } from '../duck/session.js';
import type { TableSchema } from '../lake/schema.js';
import type { Changes } from '../land/changes.js';
import type { LandedPage } from '../land/page.js';
import type { PassManifest } from '../land/pass.js';
import type { ContractNode } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { type Batch, type BatchFile, loadBatch } from './batch.js';
import { checkPage } from './check-page.js';
import { columnPlaces } from './column-places.js';
import { Drift, type DriftReport } from './drift.js';
import { LoadError } from './load-error.js';
import { addRejects, dropRejects } from './rejects.js';

/** What loading one pass gave. */
interface LoadResult {
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

/** A pass whose records are staged. */
export interface LoadedPass extends LoadResult {
  readonly manifest: PassManifest;
  /** What a pass over vehicles brought that the lake did not have. */
  readonly changes?: Changes | undefined;
}

interface LoaderOptions {
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
}

/** A file of a batch, the records in it, and whether some lack a value. */
type LoadFile = BatchFile & { readonly kept: number; readonly isMended: boolean };

/** Bytes of JSON a batch, at most, and as a share of the memory; two batches are in work at once. */
const BATCH = { mostBytes: 96 << 20, share: 0.15 } as const;
const PARALLEL_BATCHES = 2;

/** A batch below this is staged without partitions: many tiny files cost more than reading past other rows. */
const SMALL_BATCH_BYTES = 4 << 20;

/**
 * Loads the pages of one pass into a stage while they come. Pages are gathered into batches. A batch that fails and has
 * several pages is staged page by page, so that a page that cannot be loaded is told from the others; one that does not
 * fit into memory when no other is under way. The first failure ends the work.
 */
export class Loader {
  /** Pages of the next batch. */
  #gathered: LandedPage[] = [];
  #isStopped = false;
  #batches = 0;
  /** Batches that did not fit into memory beside others. */
  #crowded = 0;
  readonly #tasks: Promise<void>[] = [];
  #connections: Promise<DuckDBConnection[]> | undefined;
  #use: UseConnection | undefined;
  readonly #lists = new Map<number, string>();
  readonly #counts = { served: 0, records: 0, staged: 0, unchanged: 0, rejected: 0, rejectedValues: 0 };
  readonly #drift: Drift;
  #places: ReturnType<typeof columnPlaces> | undefined;

  constructor(private readonly options: LoaderOptions) {
    this.#drift = new Drift(options);
    mkdirSync(options.stage, { recursive: true });
  }

  /** Takes a page; it is loaded with the next batch. */
  add(page: LandedPage): void {
    this.#drift.learn(page);
    this.#lists.set(page.seq, page.list);
    const fresh = this.#freshOf(page);
    this.#counts.served += page.announced ?? page.records;
    this.#counts.records += page.records;
    this.#counts.unchanged += page.records - fresh.records;
    if (fresh.records === 0) return;
    this.#gathered.push(page);
    const most = Math.min(BATCH.mostBytes, this.options.session.memoryBytes * BATCH.share);
    if (this.#bytesOf(this.#gathered) >= most) this.#flush();
  }

  /** Loads what is left and waits for every batch. Throws LoadError. */
  async finish(): Promise<LoadResult> {
    this.#flush();
    await this.#settle();
    if (this.#crowded > 0)
      this.options.warn(
        `${this.#crowded} of ${this.#batches} batches of ${this.options.stream.path} did not fit into memory beside others and are loaded page by page; more memory (LOTLAKE_MEMORY) spares that`,
      );
    const { staged, ...counts } = this.#counts;
    return {
      ...counts,
      loaded: staged + counts.unchanged,
      drift: this.#drift.reports(),
      lists: this.#lists,
    };
  }

  /** Gives up: waits for the batches under way and begins no other. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#settle().catch(() => undefined);
  }

  #freshOf(page: LandedPage): { readonly records: number; readonly bytes: number } {
    return this.options.changes?.freshOf(page) ?? page;
  }

  #bytesOf(pages: readonly LandedPage[]): number {
    return pages.reduce((sum, page) => sum + this.#freshOf(page).bytes, 0);
  }

  #flush(): void {
    if (this.#gathered.length === 0) return;
    const task = this.#load(
      this.#gathered,
      `${this.options.passId}-${String(this.#batches++).padStart(5, '0')}`,
    );
    // Heard where all are waited for.
    task.catch(() => undefined);
    this.#tasks.push(task);
    this.#gathered = [];
  }

  async #settle(): Promise<void> {
    try {
      await settled(this.#tasks);
    } finally {
      for (const connection of (await this.#connections) ?? []) connection.closeSync();
      this.#connections = undefined;
    }
  }

  async #load(pages: readonly LandedPage[], name: string): Promise<void> {
    const { session, stage, stream, warn, changes } = this.options;
    this.#connections ??= Promise.all(Array.from({ length: PARALLEL_BATCHES }, () => session.connect()));
    const connections = await this.#connections;
    this.#use ??= poolOf(connections, (work) => work());
    let batch: Batch | undefined;
    const apart = async (connection: DuckDBConnection): Promise<void> => {
      removeStaged(stage, name);
      for (const [i, file] of batch?.files.entries() ?? []) {
        if (batch === undefined || this.#isStopped) return;
        const own = pages.filter(({ seq }) => seq === file.seq);
        await this.#stage(connection, { ...batch, files: [file], name: `${name}-${i}` }, own);
      }
    };
    const whole = async (connection: DuckDBConnection): Promise<void> => {
      if (this.#isStopped) return;
      batch = await this.#batchOf(pages, name);
      if (batch.files.length === 0) return;
      try {
        await this.#stage(connection, batch, pages);
      } catch (error) {
        if (pages.length < 2 || isOutOfMemory(error)) throw error;
        warn(
          `a batch of ${stream.path} is loaded page by page: ${messageOf(error instanceof LoadError ? error.cause : error)}`,
        );
        await apart(connection);
      }
    };
    await this.#use(whole, (connection) => {
      this.#crowded++;
      return apart(connection);
    });
    for (const page of pages) changes?.release(page);
  }

  async #batchOf(pages: readonly LandedPage[], name: string): Promise<Batch> {
    const { stream, contract, stage } = this.options;
    const learned = this.#drift.paths();
    const ready = pages.map((page) =>
      this.#fileOf(page).catch((error: unknown) => {
        throw this.#failed([page], error);
      }),
    );
    const files = (await Promise.all(ready)).filter((file) => file.kept > 0);
    return {
      ...{ stream: stream.name, contract, learned, files, stage, name },
      largestRecord: Math.max(...pages.map((page) => page.largestRecord)),
      isSmall: this.#bytesOf(pages) < SMALL_BATCH_BYTES,
      isMended: files.some((file) => file.isMended),
    };
  }

  /** The file to load of a page: what is new in it, the page itself, or what can be loaded of one that does not fit. */
  async #fileOf(page: LandedPage): Promise<LoadFile> {
    const { changes, passFolder, passId, stage, stream, contract, signal } = this.options;
    const { seq, list } = page;
    const fresh = changes?.freshOf(page);
    if (fresh !== undefined) return { path: fresh.path, seq, list, kept: fresh.records, isMended: false };
    const file = join(passFolder, page.file);
    if (page.fits) return { path: file, seq, list, kept: page.records, isMended: false };
    const clean = join(stage, `clean-${stream.name}-${passId}-${seq}.ndjson`);
    const place = {
      ...{ file, passId, list, seq, page: page.page },
      ...{ oversized: page.oversized, irregular: page.irregular },
    };
    const schemas = [...this.options.schemas.values()].filter(({ table }) => table.stream === stream.name);
    this.#places ??= columnPlaces(contract, schemas);
    const checked = await checkPage(place, { stream, contract, places: this.#places }, clean, (rejects) => {
      signal?.throwIfAborted();
      addRejects(stage, rejects);
    });
    this.#counts.rejected += checked.rejected;
    this.#counts.rejectedValues += checked.rejectedValues;
    return { path: clean, seq, list, kept: checked.kept, isMended: checked.rejectedValues > 0 };
  }

  async #stage(connection: DuckDBConnection, batch: Batch, pages: readonly LandedPage[]): Promise<void> {
    try {
      killPoint('load.batch-begun');
      const count = await loadBatch(connection, batch);
      killPoint('load.batch-staged');
      this.#counts.staged += count;
    } catch (error) {
      throw this.#failed(pages, error);
    }
  }

  #failed(pages: readonly LandedPage[], error: unknown): LoadError {
    const { passId, passFolder } = this.options;
    const [first, ...others] = pages;
    const numbers = pages.map((page) => page.page).join(', ');
    const places = `${others.length === 0 ? 'page' : 'pages'} ${numbers} of pass ${passId}`;
    return new LoadError(`${places} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      ...(first === undefined || others.length > 0 ? {} : { page: first.file }),
      hint: `the last snapshot stays current and the pages stay in ${passFolder}; run the same command again`,
    });
  }
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
  dropRejects(stage, passId);
}
