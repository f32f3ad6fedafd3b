import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { createWorld } from '../../src/sandbox/index.js';
import { duplicatesOf } from '../../src/sandbox/vehicle-lookup.js';
import { CLOCK, PER_PAGE } from './data.js';
import { widen, widenArchived } from './wide.js';

/**
 * What one worker writes: a run of pages with the page of the window that has their changed vehicles, or the small lists of
 * the world.
 */
export interface PageBlock {
  readonly what: 'vehicles' | 'lists';
  readonly folder: string;
  /** Active vehicles of the world. */
  readonly population: number;
  /** Position of the block, from 0. */
  readonly block: number;
  /** Vehicles of the block, ascending. */
  readonly ids: readonly number[];
  /** Vehicles of all pages. */
  readonly total: number;
  readonly plain: boolean;
  readonly near: boolean;
}

/** One vehicle in so many changes between two nights. */
const CHANGED = 100;

/** An auction is near for so many milliseconds before and after it. Some eight vehicles in a thousand have one. */
const NEAR = 12 * 3_600_000;

const { what, folder, population, block, ids, total, plain, near } = workerData as PageBlock;
const world = createWorld({ vehicles: population, clock: CLOCK, seed: 1 });

if (what === 'vehicles') writeVehicles();
else writeLists();

function writeVehicles(): void {
  const changes: string[] = [];
  const pagesBefore = block * CHANGED;
  for (let i = 0; i * PER_PAGE < ids.length; i++) {
    const records = ids.slice(i * PER_PAGE, (i + 1) * PER_PAGE).map(wideRecord);
    const changed = records.map((record, n) => (n % CHANGED === 0 ? bidAgain(record) : record));
    const page = pagesBefore + i + 1;
    const body = bodyOf(records, page, total);
    if (plain) writeFileSync(join(folder, 'pages', nameOf(page)), body);
    write('gzipped', page, body);
    write('changed', page, bodyOf(changed, page, total));
    if (near) write('near', page, bodyOf(records.map(nearerRecord), page, total));
    changes.push(...changed.filter((_, n) => n % CHANGED === 0));
  }
  write('window', block + 1, bodyOf(changes, block + 1, Math.ceil(total / CHANGED)));
}

/** The record, with a new bid on each lot whose auction is near. */
function nearerRecord(text: string): string {
  const record = JSON.parse(text);
  const near = record.lots.filter(
    ({ sale_date }: { sale_date?: string | null }) =>
      Math.abs(Date.parse(sale_date ?? '') - CLOCK.getTime()) < NEAR,
  );
  for (const lot of near) lot.bid = (lot.bid ?? 0) + 100;
  return near.length === 0 ? text : JSON.stringify(record);
}

function wideRecord(id: number): string {
  const text = world.vehicleJson(id, { pricesHistory: true });
  return text === undefined ? '' : JSON.stringify(widen(JSON.parse(text)));
}

/** The archive feed of the last month, and the duplicates of source 12. */
function writeLists(): void {
  const archived = world.archivedLotIds().flatMap((id) => {
    const record = world.archivedLot(id);
    return record === undefined ? [] : JSON.stringify(widenArchived({ ...record }));
  });
  writeList('archived', archived);
  const pairs = duplicatesOf(world).map(({ original, duplicate }) =>
    JSON.stringify({ original_id: original, duplicate_id: duplicate }),
  );
  writeList('duplicates', pairs);
}

function writeList(name: string, records: readonly string[]): void {
  for (let page = 1; (page - 1) * PER_PAGE < records.length; page++) {
    const own = records.slice((page - 1) * PER_PAGE, page * PER_PAGE);
    write(name, page, bodyOf(own, page, records.length));
  }
}

function write(name: string, page: number, body: string): void {
  writeFileSync(join(folder, name, `${nameOf(page)}.gz`), gzipSync(body, { level: 1 }));
}

function nameOf(page: number): string {
  return `page-${String(page).padStart(5, '0')}.json`;
}

function bodyOf(records: readonly string[], page: number, of: number): string {
  const last = Math.max(1, Math.ceil(of / PER_PAGE));
  const meta = { current_page: page, last_page: last, per_page: PER_PAGE, total: of };
  const links = { next: page === last ? null : `http://service.example/api/cars?page=${page + 1}` };
  return `{"data":[${records.join(',')}],"links":${JSON.stringify(links)},"meta":${JSON.stringify(meta)}}`;
}

/** The record with a new bid on its first lot. */
function bidAgain(text: string): string {
  const record = JSON.parse(text);
  const [lot] = record.lots;
  lot.bid = (lot.bid ?? 0) + 100;
  return JSON.stringify(record);
}
