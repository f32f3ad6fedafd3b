import { existsSync, linkSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import type { VacuumPlan } from '../../src/beyond/keep/vacuum-lake.js';
import { measure } from '../../src/core/lake/files.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { runLotlake } from '../cli/support.js';
import { configFor, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const layout = layoutOf(folder.path);

function write(...path: string[]): void {
  const file = join(...path);
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, 'left');
}

it('a vacuum removes what dead runs left, and the next run resumes the open pass of one of them', async () => {
  let broken = false;
  const requested: string[] = [];
  const service = await serve(({ pathname, searchParams }) => {
    const page = Number(searchParams.get('page'));
    const isTotal = searchParams.get('per_page') === '1';
    if (pathname !== '/api/cars' || (broken && page === 1 && !isTotal))
      return { status: 404, body: { message: 'not here' } };
    if (!isTotal) requested.push(String(page));
    const meta = { current_page: page, last_page: 2, per_page: 2, total: 4 };
    const data = [2 * page - 1, 2 * page].map((id) => ({ id, lots: [] }));
    return { body: { data, links: { next: page < 2 ? 'http://x.example/api/cars?page=2' : null }, meta } };
  });
  const start = Date.now();
  const night = (days: number) => {
    const reporter = silentReporter();
    const now = () => new Date(start + days * 86_400_000);
    const run = nightly({
      ...WITHOUT_MARTS,
      config: configFor(service.url, folder.path, { concurrency: 1, perPage: 2 }),
      reporter,
      now,
    });
    return { reporter, run };
  };
  await night(0).run;
  broken = true;
  await expect(night(1).run).rejects.toThrow(/not here/);
  const cars = join(layout.landing, 'cars');
  const passes = readdirSync(cars);
  expect(passes.length).toBe(2);

  const [snapshot = ''] = readdirSync(layout.snapshots);
  write(layout.work, 'dead', 'state', 'data_0.parquet');
  write(layout.lake, '.trash', 'older', 'lots', 'data_0.parquet');
  write(layout.snapshots, '20990101T000000Z-abcdef', 'lots', 'data_0.parquet');
  write(layout.landing, 'cars', '20990101T000000Z-abcdef', 'page-000001.ndjson.gz.1.x.tmp');
  write(cars, passes[1] ?? '', 'page-000009.ndjson.gz.1.x.tmp');
  write(layout.snapshots, snapshot, 'manifest.json.tmp');
  write(folder.path, 'notes', 'mine.txt');
  const { code, out, err } = runLotlake(folder.path, 'vacuum', '--json');
  expect(code, err).toBe(0);
  const { removals, kept }: Pick<VacuumPlan, 'removals' | 'kept'> = JSON.parse(out);
  // Passes over the lists that the service does not have.
  const abandoned = removals.filter(({ kind }) => kind === 'pass');
  expect(abandoned.filter(({ reason }) => !reason.startsWith('abandoned: '))).toEqual([]);
  expect(removals.filter(({ kind }) => kind !== 'pass').map(({ path }) => path)).toEqual([
    'work',
    'lake/.trash/older',
    'landing/cars/20990101T000000Z-abcdef',
    `lake/snapshots/${snapshot}/manifest.json.tmp`,
    `landing/cars/${passes[1]}/page-000009.ndjson.gz.1.x.tmp`,
    'lake/snapshots/20990101T000000Z-abcdef',
  ]);
  expect(kept).toEqual({ snapshots: 1, passes: 2 });
  expect(readdirSync(folder.path).sort()).toEqual(['lake', 'landing', 'notes', 'runs']);
  expect(readdirSync(layout.lake).sort()).toEqual(['.lake.json', 'current', 'snapshots']);
  expect(readdirSync(cars)).toEqual(passes);

  broken = false;
  requested.length = 0;
  const next = night(1.1);
  await next.run;
  await service.close();
  expect(next.reporter.steps.join()).toContain(`resume pass ${passes[1]} of cars with 1 pages`);
  expect(requested).toEqual(['1']);
});

it('a folder without a lake is reported, and not created', () => {
  const typo = join(folder.path, 'typo');
  for (const more of [[], ['--dry-run'], ['--json']]) {
    const { code, err } = runLotlake(folder.path, 'vacuum', '--output', typo, ...more);
    expect(code).toBe(2);
    expect(err).toContain(`there is no lake in ${typo}`);
    expect(err).toContain('LAKE_NOT_FOUND');
  }
  expect(existsSync(typo)).toBe(false);
});

it('a file frees its bytes when its last link is removed', () => {
  const place = join(folder.path, 'links');
  write(place, 'a', 'shared');
  write(place, 'a', 'alone');
  for (const name of ['b', 'kept']) mkdirSync(join(place, name));
  linkSync(join(place, 'a', 'shared'), join(place, 'b', 'shared'));
  write(place, 'b', 'held');
  linkSync(join(place, 'b', 'held'), join(place, 'kept', 'held'));
  const [a, b] = [{ path: join(place, 'a') }, { path: join(place, 'b') }];
  expect(measure([a, b])).toEqual([
    { ...a, bytes: 8, freed: 4 },
    { ...b, bytes: 8, freed: 4 },
  ]);
  expect(existsSync(join(place, 'kept', 'held'))).toBe(true);
});
