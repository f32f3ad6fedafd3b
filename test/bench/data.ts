import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import pLimit from 'p-limit';
import { createWorld } from '../../src/sandbox/index.js';
import type { PageBlock } from './page-writer.js';

/** Pages of a world on disk, gzipped as a server sends them. */
export interface BenchData {
  readonly folder: string;
  readonly vehicles: number;
  readonly gzipped: readonly string[];
  /** The gzipped pages after the bid of one vehicle in a hundred has changed. */
  readonly changed: readonly string[];
  /** The same for the lots whose auction is at most 12 hours away, some eight vehicles in a thousand; none unless they were asked for. */
  readonly near: readonly string[];
  /** Gzipped pages with only the changed vehicles. */
  readonly window: readonly string[];
  /** The gzipped pages of the archive feed and of the duplicates; none for a world of one source. */
  readonly archived: readonly string[];
  readonly duplicates: readonly string[];
}

/** What a set of pages holds. */
export interface BenchWorld {
  readonly vehicles: number;
  /** Only vehicles of this source; all sources by default. */
  readonly source?: number;
  /** Whether to write the pages as plain JSON as well, below `pages`. */
  readonly plain?: boolean;
  /** Whether to write the pages after a change near auctions as well, below `near`. */
  readonly near?: boolean;
}

export const CLOCK: Date = new Date('2026-11-20T00:00:00Z');
export const PER_PAGE = 1000;

/** Pages that one worker writes in a row. The changed 1 % of their vehicles fill one page of the window. */
const BLOCK = 100;

/** Every source has lots of at least this share of the vehicles. */
const LEAST_SHARE = 0.095;

/** Pages of a world. One worker a core writes them once; then they stay in `cache`. */
export async function benchData(cache: string, wanted: BenchWorld): Promise<BenchData> {
  const { vehicles, source, near = false } = wanted;
  const kind = `${source === undefined ? '' : `-source-${source}`}${near ? '-near' : ''}`;
  const folder = join(cache, `wide-nights-${vehicles}${kind}`);
  if (!existsSync(folder)) await generate(folder, wanted);
  const list = (name: string): string[] =>
    readdirSync(join(folder, name))
      .sort()
      .map((file) => join(folder, name, file));
  return {
    ...{ folder, vehicles, gzipped: list('gzipped'), changed: list('changed'), window: list('window') },
    ...{ archived: list('archived'), duplicates: list('duplicates'), near: near ? list('near') : [] },
  };
}

async function generate(
  folder: string,
  { vehicles, source, plain = false, near = false }: BenchWorld,
): Promise<void> {
  const temporary = `${folder}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  const always = ['gzipped', 'changed', 'window', 'archived', 'duplicates'];
  for (const name of [...always, ...(plain ? ['pages'] : []), ...(near ? ['near'] : [])])
    mkdirSync(join(temporary, name), { recursive: true });
  const population = source === undefined ? vehicles : Math.ceil(vehicles / LEAST_SHARE);
  const ids = createWorld({ vehicles: population, clock: CLOCK, seed: 1 }).activeIds(
    source === undefined ? undefined : [source],
  );
  const wanted = source === undefined ? ids : ids.slice(0, vehicles);
  const limit = pLimit(availableParallelism());
  const blocks = Math.ceil(wanted.length / PER_PAGE / BLOCK);
  const shared = { folder: temporary, population, total: wanted.length, plain, near };
  const tasks: PageBlock[] = Array.from({ length: blocks }, (_, block) => {
    const first = block * BLOCK * PER_PAGE;
    return { ...shared, what: 'vehicles', block, ids: wanted.slice(first, first + BLOCK * PER_PAGE) };
  });
  if (source === undefined) tasks.unshift({ ...shared, what: 'lists', block: 0, ids: [] });
  await Promise.all(tasks.map((task) => limit(writeBlock, task)));
  renameSync(temporary, folder);
}

function writeBlock(block: PageBlock): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./page-writer.js', import.meta.url), { workerData: block });
    worker.once('error', reject);
    worker.once('exit', (code) =>
      code === 0 ? resolve() : reject(new Error(`page writer ended with ${code}`)),
    );
  });
}
