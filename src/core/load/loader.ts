import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import pLimit, { type LimitFunction } from 'p-limit';
import { killPoint } from '../../base/config/kill-point.js';
import { causesOf, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { makeFolder, remove } from '../../base/config/owned.js';
import { isOutOfMemory } from '../../base/duck/out-of-memory.js';
import type { Session } from '../../base/duck/session.js';
import { diskFullError } from '../lake/lake-error.js';
import type { Fingerprints } from '../lake/passes/fingerprints.js';
import { heldBy, type LandedPage } from '../lake/passes/landed-page.js';
import type { StagedRecords } from '../lake/passes/loaded-pass.js';
import type { Pass } from '../lake/passes/pass.js';
import { type ColumnPlaces, columnPlaces } from '../lake/rows/column-places.js';
import type { TableSchema } from '../lake/schema.js';
import { type Stream, streams } from '../service/streams.js';
import { type Batch, type BatchFile, loadBatch } from './batch.js';
import { addRejects, checkPage } from './check-page.js';
import { Drift } from './drift.js';

/** Landed pages could not be turned into tables. */
export class LoadError extends LotlakeError {
  override readonly name = 'LoadError';
  /** File of the page that could not be loaded; undefined if any of several pages may be the cause. */
  readonly page: string | undefined;
  constructor(message: string, { page, ...rest }: { page?: string; hint?: string; cause?: unknown } = {}) {
    super('LOAD_FAILED', message, rest);
    this.page = page;
  }
}

/** Whether the content of the pages caused the error, and not a lack of memory, disk space or open files. */
export function isCausedByPages(error: LoadError): boolean {
  if (isOutOfMemory(error) || diskFullError(error) !== undefined) return false;
  return !causesOf(error).some(
    (cause) => 'syscall' in cause || cause.message.startsWith('IO Error: Cannot open file'),
  );
}

export interface LoaderOptions {
  readonly session: Session;
  readonly pass: Pick<Pass, 'folder' | 'record'>;
  /** Columns of every table of the lake. */
  readonly schemas: ReadonlyMap<string, TableSchema>;
  readonly stage: string;
  /** Ends the check of a page record by record. */
  readonly signal?: AbortSignal | undefined;
  /** Gets messages for the user; loading goes on. */
  readonly warn: (message: string) => void;
}

type LoadFile = BatchFile & { readonly kept: number; readonly isMended: boolean };

/** Most bytes of JSON in a batch, and the same as a share of the memory. Two batches are loaded at once. */
const BATCH_SIZE = { mostBytes: 96 << 20, share: 0.15 } as const;
const PARALLEL_BATCHES = 2;

/**
 * A smaller batch is staged without partitions: many tiny files cost more than reading rows of other partitions. The only batch
 * of a pass, which is less than a full one, may be larger: merging mostly writes all of its partitions at once.
 */
const SMALL_BATCH = { bytes: 4 << 20, onlyBytes: 64 << 20 } as const;

/**
 * Stages the pages of one pass in batches, while the pages come. If a batch of several pages fails, it is set apart and
 * staged page by page after all others: then no other batch uses memory, and it shows which page cannot be loaded. The
 * first failure ends the work.
 */
export class Loader {
  /** Whether no further batch begins. */
  #isOver = false;
  #failure: LoadError | undefined;
  #gathered: LandedPage[] = [];
  #apart: { readonly batch: Batch; readonly pages: readonly LandedPage[] }[] = [];
  #batches = 0;
  /** Batches that did not fit into memory beside others. */
  #crowded = 0;
  readonly #tasks: Promise<void>[] = [];
  readonly #idle: DuckDBConnection[] = [];
  readonly #prints: Fingerprints[] = [];
  readonly #unchangedIds = new Map<number, readonly number[]>();
  /** As in {@link LoadCounts}. `meant`: empty lists in place of objects and the reverse, which are read as they are meant. */
  readonly #counts = {
    served: 0,
    records: 0,
    staged: 0,
    unchanged: 0,
    rejected: 0,
    rejectedValues: 0,
    meant: 0,
  };
  readonly #stream: Stream;
  readonly #passId: string;
  readonly #drift: Drift;
  readonly #limit: LimitFunction = pLimit(PARALLEL_BATCHES);
  #places: ColumnPlaces | undefined;

  constructor(private readonly options: LoaderOptions) {
    const { stream, pass_id } = options.pass.record;
    this.#stream = streams[stream];
    this.#passId = pass_id;
    this.#drift = new Drift(options);
    makeFolder(options.stage);
  }

  /** Takes a page; it is loaded with the next batch. */
  add(page: LandedPage): void {
    this.#drift.learn(page);
    if (page.fresh !== undefined) {
      if (page.fits) this.#prints.push(page.fresh.prints);
      this.#unchangedIds.set(page.seq, page.fresh.unchanged);
    }
    const toLoad = partToLoad(page);
    this.#counts.served += page.announced ?? page.records;
    this.#counts.records += page.records;
    this.#counts.unchanged += page.records - toLoad.records;
    if (toLoad.records > 0) this.#gather(page);
  }

  #gather(page: LandedPage): void {
    this.#gathered.push(page);
    const most = Math.min(BATCH_SIZE.mostBytes, this.options.session.memoryBytes * BATCH_SIZE.share);
    if (bytesOf(this.#gathered) >= most) this.#flush();
  }

  /** Loads what is left and waits for every batch. Throws LoadError. */
  async finish(): Promise<StagedRecords> {
    this.#flush();
    await this.#settle();
    if (this.#failure !== undefined) throw this.#failure;
    const { staged, meant, ...counts } = this.#counts;
    if (meant > 0)
      this.options.warn(
        `${meant} values of ${this.#stream.path} came in another form, such as an empty list in place of an object; they are read as they are meant`,
      );
    const loaded = staged + counts.unchanged;
    return {
      ...counts,
      loaded,
      drift: this.#drift.reports(),
      prints: this.#prints,
      unchangedIds: this.#unchangedIds,
    };
  }

  /** Begins no further batch, and waits for those under way. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#settle();
  }

  #flush(): void {
    if (this.#gathered.length === 0) return;
    const pages = this.#gathered;
    this.#gathered = [];
    const name = `${this.#passId}-${String(this.#batches++).padStart(5, '0')}`;
    this.#tasks.push(this.#limit(() => this.#load(pages, name)));
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#tasks);
    await this.#loadApart();
    for (const connection of this.#idle) connection.closeSync();
  }

  async #load(pages: readonly LandedPage[], name: string): Promise<void> {
    if (this.#isOver) return;
    try {
      const batch = await this.#batchOf(pages, name);
      if (batch.files.length > 0 && !(await this.#stage(batch, pages))) {
        this.#apart.push({ batch, pages });
        return;
      }
    } catch (error) {
      this.#fail(pages, error);
    }
    release(pages);
  }

  async #batchOf(pages: readonly LandedPage[], name: string): Promise<Batch> {
    const { stage } = this.options;
    const learned = this.#drift.paths();
    const ready = pages.map((page) =>
      this.#fileOf(page).catch((error: unknown) => {
        this.#fail([page], error);
        throw error;
      }),
    );
    const files = (await Promise.all(ready)).filter((file) => file.kept > 0);
    return {
      stream: this.#stream,
      learned,
      files,
      stage,
      name,
      largestRecord: Math.max(...pages.map((page) => page.largestRecord)),
      isSmall: bytesOf(pages) < (this.#batches === 1 ? SMALL_BATCH.onlyBytes : SMALL_BATCH.bytes),
      isMended: files.some((file) => file.isMended),
    };
  }

  /** The file to load for a page: its new records, or the file in landing; if the page does not fit, their loadable records. */
  async #fileOf(page: LandedPage): Promise<LoadFile> {
    const { pass, schemas, stage, signal } = this.options;
    const stream = this.#stream;
    const { seq, list } = page;
    const fresh = page.fresh?.file;
    const file = fresh?.path ?? join(pass.folder, page.file);
    if (page.fits) return { path: file, seq, list, kept: partToLoad(page).records, isMended: false };
    const clean = join(stage, `clean-${stream.name}-${this.#passId}-${seq}.ndjson`);
    this.#places ??= columnPlaces(stream, schemas.values());
    const rules = { stream, places: this.#places };
    const rejected = new Set<string | null>();
    const place = { ...page, file, lines: fresh?.lines, passId: this.#passId };
    const checked = await checkPage(place, rules, clean, (rejects) => {
      signal?.throwIfAborted();
      for (const { record_id } of rejects) rejected.add(record_id);
      addRejects(stage, this.#passId, rejects);
    });
    if (page.fresh !== undefined) this.#prints.push(loadedPrints(page, page.fresh.prints, rejected));
    this.#counts.rejected += checked.rejected;
    this.#counts.rejectedValues += checked.rejectedValues;
    this.#counts.meant += checked.meant;
    return { path: clean, seq, list, kept: checked.kept, isMended: true };
  }

  /** Stages a batch. Returns false if a batch of several pages fails; then none of it stays staged. */
  async #stage(batch: Batch, pages: readonly LandedPage[]): Promise<boolean> {
    const { session, stage, warn } = this.options;
    const connection = this.#idle.pop() ?? (await session.connect());
    try {
      killPoint('load.batch-begun');
      const count = await loadBatch(connection, batch);
      killPoint('load.batch-staged');
      this.#counts.staged += count;
      return true;
    } catch (error) {
      if (pages.length < 2) throw error;
      discardStaged(stage, batch.name);
      if (isOutOfMemory(error)) this.#crowded++;
      else warn(`a batch of ${this.#stream.path} is loaded page by page: ${messageOf(error)}`);
      return false;
    } finally {
      this.#idle.push(connection);
    }
  }

  async #loadApart(): Promise<void> {
    if (!this.#isOver && this.#crowded > 0)
      this.options.warn(
        `${this.#crowded} of ${this.#batches} batches of ${this.#stream.path} did not fit into memory beside others and are loaded page by page; more memory (LOTLAKE_MEMORY) spares that`,
      );
    for (const { batch, pages } of this.#apart) {
      for (const [i, file] of batch.files.entries()) {
        if (this.#isOver) return;
        const own = pages.filter(({ seq }) => seq === file.seq);
        const alone = { ...batch, files: [file], name: `${batch.name}-${i}` };
        await this.#stage(alone, own).catch((error: unknown) => this.#fail(own, error));
      }
      release(pages);
    }
  }

  #fail(pages: readonly LandedPage[], error: unknown): void {
    this.#isOver = true;
    if (this.#failure !== undefined) return;
    const [first, ...others] = pages;
    const numbers = pages.map((page) => page.page).join(', ');
    const places = `${others.length === 0 ? 'page' : 'pages'} ${numbers} of pass ${this.#passId}`;
    this.#failure = new LoadError(`${places} cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      ...(first === undefined || others.length > 0 ? {} : { page: first.file }),
      hint: `the last snapshot stays current and the pages stay in ${this.options.pass.folder}; run the same command again`,
    });
  }
}

/**
 * The fingerprints of the records of a page that does not fit the contract. What the lake has of a record with a rejected value
 * is not that record, so that its fingerprint is unknown; so is that of every record if not all can be told apart by their ids.
 * @param rejected ids of the records with rejects
 */
function loadedPrints(
  { irregular }: LandedPage,
  prints: Fingerprints,
  rejected: ReadonlySet<string | null>,
): Fingerprints {
  const ids = new Set([...rejected].map((id) => (id === null ? Number.NaN : Number(id))));
  return prints.unknownWhere((id) => irregular || ids.has(Number.NaN) || ids.has(id));
}

/** What is loaded of a page: its new records, or all that its file in landing holds. */
const partToLoad = (page: LandedPage): { readonly records: number; readonly bytes: number } =>
  page.fresh?.file ?? heldBy(page);

const bytesOf = (pages: readonly LandedPage[]): number =>
  pages.reduce((sum, page) => sum + partToLoad(page).bytes, 0);

/** Removes the files with the new records of loaded pages. */
function release(pages: readonly LandedPage[]): void {
  for (const { fresh } of pages) if (fresh?.file !== undefined) remove(fresh.file.path);
}

/** Removes the staged files of one batch, or of a pass that is given up, so that none of its rows are merged. */
export function discardStaged(stage: string, name: string): void {
  for (const entry of readdirSync(stage, { recursive: true, withFileTypes: true }))
    if (entry.isFile() && (entry.name.startsWith(`${name}-`) || entry.name === `${name}.parquet`))
      remove(join(entry.parentPath, entry.name));
}
