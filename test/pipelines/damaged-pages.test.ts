import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBConnection } from '@duckdb/node-api';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { createWorld } from '../../src/sandbox/index.js';
import { bareDuckDb, configFor, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

const world = createWorld({ vehicles: 80, seed: 9 });
const records: readonly string[] = world
  .activeIds()
  .map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
const SIZE = 20;
const PAGE_2 = 'page-000002.ndjson.gz';
const LAST = Math.ceil(records.length / SIZE);

let folder: ReturnType<typeof temporaryFolder>;
let service: Awaited<ReturnType<typeof serve>>;
/** Paths, or pages of `/cars`, that the service refuses. */
let refused: Set<string | number>;

beforeEach(async () => {
  folder = temporaryFolder();
  refused = new Set();
  service = await serve((url) => {
    const page = Number(url.searchParams.get('page') ?? url.searchParams.get('scroll_id') ?? 1);
    if (refused.has(url.pathname)) return { status: 403, body: { message: 'no' } };
    if (url.pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    if (refused.has(page)) return { status: 403, body: { message: 'no' } };
    const data = records.slice((page - 1) * SIZE, page * SIZE).join(',');
    if (!url.searchParams.has('page')) {
      const [id, next] = page < LAST ? [String(page + 1), 'more'] : ['', ''];
      return { body: `{"data":[${data}],"scroll_id":"${id}","next_url":"${next}"}` };
    }
    const next = page < LAST ? '"http://service.example/api/cars?page=2"' : null;
    const meta = `{"current_page":${page},"last_page":${LAST},"per_page":${SIZE},"total":${records.length}}`;
    return { body: `{"data":[${data}],"links":{"next":${next}},"meta":${meta}}` };
  });
});
afterEach(async () => {
  await service.close();
  folder.remove();
});

const job = (more: ConfigInput = {}) => ({
  config: configFor(service.url, folder.path, {
    ...{ referenceDays: 1000, concurrency: 1, perPage: SIZE },
    ...more,
  }),
  ...WITHOUT_MARTS,
  reporter: silentReporter(),
});

/** Runs a night. Returns the pages of `/cars` that it requested, and its warnings. */
async function night(more: ConfigInput = {}) {
  const before = service.requests.length;
  const { warnings } = await nightly(job(more));
  const requested = service.requests.slice(before).flatMap((path) => {
    const query = new URLSearchParams(path.split('?')[1]);
    return path.startsWith('/api/cars?') && query.get('per_page') === String(SIZE)
      ? [Number(query.get('page'))]
      : [];
  });
  return { requested: requested.sort(), warnings: warnings.join('\n') };
}

const cars = () => join(folder.path, 'landing', 'cars');
const passes = () => readdirSync(cars()).sort();
const passJson = (pass: string) => JSON.parse(readFileSync(join(cars(), pass, 'pass.json'), 'utf8'));

/** Inverts one byte in the middle of a landed page. */
function damage(page: number): string {
  const path = join(cars(), passes()[0] ?? '', `page-00000${page}.ndjson.gz`);
  const bytes = readFileSync(path);
  const middle = bytes.length >> 1;
  bytes[middle] = ~(bytes[middle] ?? 0) & 0xff;
  writeFileSync(path, bytes);
  return path;
}

async function expectWhole() {
  const duck = await bareDuckDb();
  const current = join(folder.path, 'lake', 'current');
  const found = await duck.query(
    `select vehicle_id from '${current}/vehicles/*.parquet' where not archived order by 1`,
  );
  duck.close();
  expect(found.map((row) => row.vehicle_id)).toEqual(world.activeIds());
}

/** Removes the checksums from the ledger, as in a lake of an older lotlake. */
function forgetChecksums() {
  const ledger = join(cars(), passes()[0] ?? '', 'pages.ndjson');
  const lines = readFileSync(ledger, 'utf8')
    .split('\n')
    .filter((line) => line !== '');
  const older = lines.map((line) => JSON.stringify({ ...JSON.parse(line), sha256: undefined }));
  writeFileSync(ledger, older.map((line) => `${line}\n`).join(''));
}

/** Leaves a sealed pass that no run has loaded and published. */
async function leaveSealed() {
  refused.add('/api/archived-lots');
  await expect(night()).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
  refused.clear();
}

describe('a flipped byte in a landed page', () => {
  it('of an open pass costs that page, which is requested again', async () => {
    refused.add(2);
    await expect(night()).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    refused.clear();
    const path = damage(3);
    const { requested, warnings } = await night();
    expect(requested).toEqual([1, 2, 3]);
    expect(warnings).toContain(path);
    expect(passes()).toHaveLength(1);
    await expectWhole();
  });

  it('of a sealed pass that was never published costs that page', async () => {
    await leaveSealed();
    expect(passJson(passes()[0] ?? '')).toMatchObject({ state: 'sealed', published: false, pages: LAST });
    const path = damage(2);
    const { requested, warnings } = await night();
    expect(requested).toEqual([2]);
    expect(warnings).toContain(path);
    expect(passJson(passes()[0] ?? '')).toMatchObject({ state: 'sealed', published: true, pages: LAST });
    await expectWhole();
  });

  it('of a sealed pass costs only that page even if the run that requests it again is refused', async () => {
    await leaveSealed();
    damage(2);
    refused.add(2);
    await expect(night()).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    expect(passJson(passes()[0] ?? '')).toMatchObject({ state: 'open', complete: false });
    refused.clear();
    expect((await night()).requested).toEqual([2]);
    await expectWhole();
  });

  it('of a published pass ends a rebuild with the name of the page, and the snapshot stays', async () => {
    await night();
    const path = damage(2);
    const failed = await rebuild(job()).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'LAND_FAILED',
      message: expect.stringContaining(path),
      hint: expect.stringContaining('the last snapshot stays current'),
    });
    await expectWhole();
    expect((await night()).requested).toEqual([1, 2, 3, 4]);
    renameSync(join(path, '..'), join(folder.path, 'aside'));
    await rebuild(job());
    await expectWhole();
  });

  it('of an open scroll, which only goes forward, costs the pass', async () => {
    refused.add(4);
    await expect(night({ paging: 'scroll' })).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    refused.clear();
    damage(2);
    const [damaged] = passes();
    const { warnings } = await night({ paging: 'scroll' });
    expect(warnings).toContain('is abandoned');
    // The names of two passes from the same second are in any order.
    const ended = passes().map((pass) => ({ isDamaged: pass === damaged, state: passJson(pass).state }));
    expect(ended).toHaveLength(2);
    expect(ended).toContainEqual({ isDamaged: true, state: 'abandoned' });
    expect(ended).toContainEqual({ isDamaged: false, state: 'sealed' });
    await expectWhole();
  });

  it('is not noticed if the ledger has no checksums yet', async () => {
    refused.add(2);
    await expect(night()).rejects.toMatchObject({ code: 'SERVICE_KEY_REFUSED' });
    refused.clear();
    forgetChecksums();
    expect((await night()).requested).toEqual([1, 2]);
    await expectWhole();
  });
});

describe('a page that fails to load', () => {
  afterEach(() => vi.restoreAllMocks());

  /** Makes every batch fail when it is staged. */
  const failWith = (message: string) => {
    const run = DuckDBConnection.prototype.run;
    vi.spyOn(DuckDBConnection.prototype, 'run').mockImplementation(async function (
      this: DuckDBConnection,
      ...given: Parameters<typeof run>
    ) {
      if (/^copy .* to '[^']*stage\/lots\//s.test(given[0])) throw new Error(message);
      return run.apply(this, given);
    });
  };

  it('twice sets its pass aside, and the next run starts anew', async () => {
    await leaveSealed();
    damage(2);
    forgetChecksums();
    const failed = { code: 'LOAD_FAILED', message: expect.stringMatching(/^page 2 of pass/) };
    await expect(night()).rejects.toMatchObject(failed);
    const [first = ''] = passes();
    expect(passJson(first)).toMatchObject({ state: 'sealed', load_failures: [{ page: PAGE_2 }] });
    await expect(night()).rejects.toMatchObject(failed);
    expect(passJson(first)).toMatchObject({
      state: 'abandoned',
      reason: expect.stringMatching(/page-000002.ndjson.gz could not be loaded in two runs: .*Malformed/),
    });
    expect((await night()).requested).toEqual([1, 2, 3, 4]);
    expect(passes()).toHaveLength(2);
    await expectWhole();
  });

  it.each([
    ['LAKE_OUT_OF_MEMORY', 'Out of Memory Error: failed to allocate data of size 16.0 MiB'],
    ['LAKE_DISK_FULL', 'IO Error: Could not write to file "x": No space left on device'],
    ['LOAD_FAILED', 'IO Error: Cannot open file "x": Too many open files'],
  ])('because of the machine does not set its pass aside: %s', async (code, message) => {
    await leaveSealed();
    failWith(message);
    for (const _ of [1, 2, 3]) await expect(night()).rejects.toMatchObject({ code });
    vi.restoreAllMocks();
    expect(passJson(passes()[0] ?? '')).toMatchObject({ state: 'sealed', load_failures: [] });
    expect((await night()).requested).toEqual([]);
    await expectWhole();
  });

  it('because of an interrupt does not set its pass aside', async () => {
    await leaveSealed();
    for (const _ of [1, 2, 3]) {
      const stop = new AbortController();
      failWith('INTERRUPT Error: Interrupted!');
      const step = (name: string): void => {
        if (name === 'resume') stop.abort();
      };
      const reporter = { ...silentReporter(), step };
      await expect(nightly({ ...job(), reporter, signal: stop.signal })).rejects.toThrow();
      vi.restoreAllMocks();
    }
    expect(passJson(passes()[0] ?? '')).toMatchObject({ state: 'sealed', load_failures: [] });
  });
});
