import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { type Expectation, expectArchivedLot, expectVehicle, unmet } from './record-oracle.js';
import { bareDuckDb, configFor, type PlainRow, serve, silentReporter, temporaryFolder } from './support.js';

/** Records in the shapes of the real ones, with values of our own. */
const samples = join(import.meta.dirname, '..', 'records');
const read = (name: string) => JSON.parse(readFileSync(join(samples, name), 'utf8'));

describe('records in the shapes of the real ones', () => {
  const folder = temporaryFolder();
  let expectations: Expectation[] = [];
  let result: RunResult;
  let rows: Map<string, PlainRow[]>;

  beforeAll(async () => {
    const cars = read('cars-page-domain3.json');
    const vehicles = [
      ...cars.data,
      read('car-domain1-abridged.json'),
      read('search-lot-domain12.json').data,
      read('prices-history-domain1.json').data,
    ].sort((a, b) => a.id - b.id);
    const archived = read('archived-lots-page.json');
    expectations = [...vehicles.flatMap(expectVehicle), ...archived.data.flatMap(expectArchivedLot)];
    const service = await serve((url) => {
      const page = Number(url.searchParams.get('page') ?? 1);
      // Simple pagination: three records a page, `links.next` to another host.
      if (url.pathname === '/api/cars') {
        const data = vehicles.slice((page - 1) * 3, page * 3);
        const next = `http://auctionsapi.com/api/cars?per_page=3&page=${page + 1}`;
        return {
          body: {
            ...cars,
            data,
            links: { ...cars.links, next: page * 3 < vehicles.length ? next : null },
            meta: { ...cars.meta, current_page: page, from: page * 3 - 2, to: page * 3 - 3 + data.length },
          },
        };
      }
      if (url.pathname === '/api/archived-lots')
        return { body: { ...archived, links: { ...archived.links, next: null } } };
      return { status: 404, body: { message: 'no such endpoint' } };
    });
    const reporter = silentReporter();
    result = await nightly({ config: configFor(service.url, folder.path), reporter });
    await service.close();
    expect(reporter.warnings.join('\n')).toContain('/statistics is skipped');
    const duck = await bareDuckDb();
    rows = new Map();
    for (const table of new Set(expectations.map((e) => e.table))) {
      const glob = join(folder.path, 'lake', 'current', table, '**', '*.parquet');
      rows.set(table, await duck.query(`select * from '${glob}'`));
    }
    duck.close();
  }, 60_000);

  afterAll(() => folder.remove());

  it('are all loaded, without a reject and without drift', () => {
    expect(result.passes.map((pass) => [pass.record.stream, pass.loaded, pass.rejected])).toEqual([
      ['cars', 6, 0],
      ['archived_lots', 3, 0],
    ]);
    expect(result.drift).toEqual([]);
  });

  it('are found again in the lake, value by value', () => {
    expect(expectations.length).toBeGreaterThan(500);
    expect(unmet(expectations, rows)).toEqual([]);
  });

  it('make no row that no record has', () => {
    const keys = (table: string, key: string): unknown[] =>
      [...new Set(expectations.filter((e) => e.table === table).map((e) => e.key[key]))].sort();
    for (const [table, key] of [
      ['vehicles', 'vehicle_id'],
      ['lots', 'lot_id'],
      ['prices', 'price_id'],
    ] as const)
      expect((rows.get(table) ?? []).map((row) => row[key]).sort()).toEqual(keys(table, key));
  });
});
