import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createWorld } from '../../src/sandbox/index.js';

/** Pages of a world on disk: as JSON, and gzipped as a server sends them. */
export interface BenchData {
  readonly folder: string;
  readonly pages: readonly string[];
  readonly gzipped: readonly string[];
  /** The gzipped pages after one vehicle in a hundred got another bid. */
  readonly changed: readonly string[];
  /** Pages of those vehicles alone, gzipped. */
  readonly window: readonly string[];
}

const PER_PAGE = 1000;
const CLOCK = new Date('2026-11-20T00:00:00Z');

/** Pages of a world of `vehicles`, made once and kept in `cache`. */
export function benchData(cache: string, vehicles: number): BenchData {
  const folder = join(cache, `nights-${vehicles}`);
  if (!existsSync(folder)) generate(folder, vehicles);
  const list = (name: string): string[] =>
    readdirSync(join(folder, name))
      .sort()
      .map((file) => join(folder, name, file));
  return {
    folder,
    pages: list('pages'),
    gzipped: list('gzipped'),
    changed: list('changed'),
    window: list('window'),
  };
}

/** One vehicle in so many changes between two nights. */
const CHANGED = 100;

const nameOf = (page: number): string => `page-${String(page).padStart(5, '0')}.json`;

function bodyOf(records: readonly string[], page: number, total: number): string {
  const last = Math.max(1, Math.ceil(total / PER_PAGE));
  const meta = { current_page: page, last_page: last, per_page: PER_PAGE, total };
  const links = { next: page === last ? null : `http://service.example/api/cars?page=${page + 1}` };
  return `{"data":[${records.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
}

/** The record with another bid on its first lot. */
function bidAgain(text: string): string {
  const record = JSON.parse(text);
  const [lot] = record.lots;
  lot.bid = (lot.bid ?? 0) + 100;
  return JSON.stringify(record);
}

function generate(folder: string, vehicles: number): void {
  const temporary = `${folder}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  for (const name of ['pages', 'gzipped', 'changed', 'window'])
    mkdirSync(join(temporary, name), { recursive: true });
  const world = createWorld({ vehicles, clock: CLOCK, seed: 1 });
  const ids = world.activeIds();
  const last = Math.ceil(ids.length / PER_PAGE);
  const window: string[] = [];
  for (let page = 1; page <= last; page++) {
    const records = ids
      .slice((page - 1) * PER_PAGE, page * PER_PAGE)
      .map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
    const body = bodyOf(records, page, ids.length);
    writeFileSync(join(temporary, 'pages', nameOf(page)), body);
    writeFileSync(join(temporary, 'gzipped', `${nameOf(page)}.gz`), gzipSync(body, { level: 1 }));
    const changed = records.map((record, i) => (i % CHANGED === 0 ? bidAgain(record) : record));
    const after = bodyOf(changed, page, ids.length);
    writeFileSync(join(temporary, 'changed', `${nameOf(page)}.gz`), gzipSync(after, { level: 1 }));
    window.push(...changed.filter((_, i) => i % CHANGED === 0));
  }
  for (let page = 1; (page - 1) * PER_PAGE < window.length; page++) {
    const records = window.slice((page - 1) * PER_PAGE, page * PER_PAGE);
    const body = bodyOf(records, page, window.length);
    writeFileSync(join(temporary, 'window', `${nameOf(page)}.gz`), gzipSync(body, { level: 1 }));
  }
  renameSync(temporary, folder);
}
