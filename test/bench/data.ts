import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createWorld } from '../../src/sandbox/index.js';

/** Pages of a world on disk: as JSON, and gzipped as a server sends them. */
export interface BenchData {
  readonly folder: string;
  readonly pages: readonly string[];
  readonly gzipped: readonly string[];
}

const PER_PAGE = 1000;
const CLOCK = new Date('2026-11-20T00:00:00Z');

/** Pages of a world of `vehicles`, made once and kept in `cache`. */
export function benchData(cache: string, vehicles: number): BenchData {
  const folder = join(cache, `world-${vehicles}`);
  if (!existsSync(folder)) generate(folder, vehicles);
  const list = (name: string): string[] =>
    readdirSync(join(folder, name))
      .sort()
      .map((file) => join(folder, name, file));
  return { folder, pages: list('pages'), gzipped: list('gzipped') };
}

function generate(folder: string, vehicles: number): void {
  const temporary = `${folder}.tmp`;
  rmSync(temporary, { recursive: true, force: true });
  for (const name of ['pages', 'gzipped']) mkdirSync(join(temporary, name), { recursive: true });
  const world = createWorld({ vehicles, clock: CLOCK, seed: 1 });
  const ids = world.activeIds();
  const last = Math.ceil(ids.length / PER_PAGE);
  for (let page = 1; page <= last; page++) {
    const records = ids
      .slice((page - 1) * PER_PAGE, page * PER_PAGE)
      .map((id) => world.vehicleJson(id, { pricesHistory: true }));
    const meta = { current_page: page, last_page: last, per_page: PER_PAGE, total: ids.length };
    const links = { next: page === last ? null : `http://service.example/api/cars?page=${page + 1}` };
    const body = `{"data":[${records.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
    const name = `page-${String(page).padStart(5, '0')}.json`;
    writeFileSync(join(temporary, 'pages', name), body);
    writeFileSync(join(temporary, 'gzipped', `${name}.gz`), gzipSync(body, { level: 1 }));
  }
  renameSync(temporary, folder);
}
