import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { makeScratch } from '../../src/base/config/owned.js';
import type { LandedPage } from '../../src/core/lake/passes/landed-page.js';
import {
  damagedPages,
  endPass,
  findPasses,
  listPasses,
  openPass,
  type Pass,
  readPass,
  recordPage,
} from '../../src/core/lake/passes/pass.js';
import { sinksOf } from '../../src/core/land/step.js';
import { landedPage } from './ledger.js';
import { pageOf } from './support.js';

let landing: string;
beforeEach(() => {
  landing = makeScratch(join(tmpdir(), 'lotlake-pass-'));
});
afterEach(() => rmSync(landing, { recursive: true, force: true }));

const request = {
  stream: 'cars',
  run_id: '20261118T020000Z-000001',
  sequence: 1,
  origin: null,
  kind: 'full',
  request: { per_page: 1000, simple_paginate: 0 },
  contract: 'abc',
} as const;
const night = new Date('2026-11-20T01:02:03.456Z');
const sealed = {
  state: 'sealed',
  reason: null,
  complete: true,
  total: 7,
  run_id: '20261118T020000Z-000002',
} as const;

const open = (now = night): Pass => openPass(landing, request, now);

/** Adds a page of so many bytes to the file and ledger of a pass. */
function put(pass: Pass, facts: Partial<LandedPage>): LandedPage {
  const page = landedPage({ fileBytes: 20, ...facts });
  writeFileSync(join(pass.folder, page.file), 'x'.repeat(page.fileBytes));
  recordPage(pass.folder, page);
  return page;
}

const drift = (path: string, kinds: number) => ({ path, kinds, firstRecord: 0 });

const pagesOf = (pass: Pass): number[] => readPass(pass.folder).pages.map(({ page }) => page);

describe('a new pass', () => {
  it('is a folder named after its start, below its stream', () => {
    const pass = open();
    expect(pass.folder).toBe(join(landing, 'cars', pass.record.pass_id));
    expect(pass.record.pass_id).toMatch(/^20261120T010203Z-[0-9a-f]{6}$/);
    expect(readPass(pass.folder)).toEqual(pass);
    expect(pass.record).toMatchObject({
      ...request,
      state: 'open',
      complete: false,
      pages: 0,
      ended_at: null,
    });
  });

  it('is different each time', () => {
    expect(new Set(Array.from({ length: 20 }, () => open().record.pass_id)).size).toBe(20);
  });
});

describe('the passes of a stream', () => {
  it('are listed oldest first, whatever the order in which they were made', () => {
    const days = ['2026-11-20', '2025-12-31', '2026-01-01', '2026-11-19'];
    for (const day of days) open(new Date(`${day}T00:00:00Z`));
    const listed = listPasses(landing, 'cars').map(({ record }) => record.started_at.slice(0, 10));
    expect(listed).toEqual(['2025-12-31', '2026-01-01', '2026-11-19', '2026-11-20']);
  });

  it('are none if nothing was landed, and exclude other streams and folders', () => {
    expect(listPasses(landing, 'cars')).toEqual([]);
    openPass(landing, { ...request, stream: 'statistics' }, night);
    mkdirSync(join(landing, 'cars', 'no-pass'), { recursive: true });
    expect(listPasses(landing, 'cars')).toEqual([]);
  });

  it.each([
    ['a torn text', () => '{"pass_id":'],
    ['no member', () => '{}'],
    ['no object', () => '[]'],
    ['no count of records', ({ records: _, ...rest }: Pass['record']) => JSON.stringify(rest)],
    ['no word of what was published', ({ published: _, ...rest }: Pass['record']) => JSON.stringify(rest)],
  ])('are listed apart from one whose manifest is broken: %s', (_, broken) => {
    const [pass, sound] = [open(), open(new Date('2026-12-01T00:00:00Z'))];
    writeFileSync(join(pass.folder, 'pass.json'), broken(pass.record));
    const reason = expect.stringContaining(join(pass.folder, 'pass.json'));
    const { folder, record } = pass;
    expect(findPasses(landing, 'cars')).toEqual({
      passes: [sound],
      unreadable: [{ folder, pass_id: record.pass_id, reason }],
    });
    expect(() => readPass(pass.folder)).toThrow(LotlakeError);
  });

  it('exclude a pass without its manifest or a readable ledger, which is reported as unreadable', () => {
    const [lost, broken] = [open(), open()];
    put(lost, { page: 1, seq: 0 });
    rmSync(join(lost.folder, 'pass.json'));
    mkdirSync(join(broken.folder, 'pages.ndjson'));
    const { passes, unreadable } = findPasses(landing, 'cars');
    expect(passes).toEqual([]);
    expect(unreadable.map(({ folder }) => folder).sort()).toEqual([lost.folder, broken.folder].sort());
  });
});

describe('the ledger of a pass', () => {
  it('gives the pages in the order in which they were received', () => {
    const pass = open();
    const pages = [5, 4, 3, 1].map((page, seq) => put(pass, { page, seq }));
    expect(readPass(pass.folder).pages).toEqual(pages);
  });

  it('ignores a torn last line, wherever it is torn', () => {
    const pass = open();
    put(pass, { page: 1 });
    put(pass, { page: 2 });
    const path = join(pass.folder, 'pages.ndjson');
    const whole = readFileSync(path);
    const second = whole.indexOf('\n') + 1;
    for (let end = second; end < whole.length; end++) {
      writeFileSync(path, whole.subarray(0, end));
      expect(pagesOf(pass)).toEqual([1]);
    }
  });

  it.each([
    ['is missing', (file: string) => rmSync(file)],
    ['is too short', (file: string) => truncateSync(file, 19)],
    ['is too long', (file: string) => appendFileSync(file, 'x')],
    ['is empty', (file: string) => truncateSync(file, 0)],
  ])('ignores a page whose file %s', (_, damage) => {
    const pass = open();
    const pages = [1, 2, 3].map((page) => put(pass, { page }));
    damage(join(pass.folder, pages[1]?.file ?? ''));
    expect(pagesOf(pass)).toEqual([1, 3]);
    expect(endPass(pass, sealed, night)).toMatchObject({ pages: 2 });
  });
});

describe('the end of a pass', () => {
  it('totals its pages and is read back as written', () => {
    const pass = open();
    put(pass, {
      page: 1,
      records: 3,
      bytes: 300,
      firstId: 11,
      lastId: 19,
      perPage: 3,
      drift: [drift('a', 4), drift('b', 32)],
    });
    put(pass, {
      page: 2,
      records: 3,
      bytes: 250,
      firstId: 20,
      lastId: 42,
      perPage: 3,
      drift: [drift('a', 1)],
    });
    put(pass, { page: 3, records: 0, bytes: 0 });
    const later = new Date('2026-11-20T02:00:00Z');
    const manifest = endPass(pass, { ...sealed, complete: false, reason: 'a page repeats' }, later);
    expect(manifest).toEqual({
      ...pass.record,
      run_id: '20261118T020000Z-000002',
      state: 'sealed',
      reason: 'a page repeats',
      complete: false,
      ended_at: '2026-11-20T02:00:00.000Z',
      ledger: expect.stringMatching(/^[0-9a-f]{16}$/),
      pages: 3,
      records: 6,
      landed: 6,
      bytes: 550,
      first_id: 11,
      last_id: 42,
      total: 7,
      per_page: 3,
      drift: [
        { path: 'a', kinds: 5 },
        { path: 'b', kinds: 32 },
      ],
    });
    expect(readPass(pass.folder).record).toEqual(manifest);
    expect(readdirSync(pass.folder).filter((name) => name.includes('tmp'))).toEqual([]);
  });

  it('has no first and last id without a record', () => {
    expect(endPass(open(), sealed, night)).toMatchObject({
      pages: 0,
      records: 0,
      first_id: null,
      last_id: null,
    });
  });
});

describe('the sink of a pass', () => {
  const answer = (records: readonly object[]) => ({
    url: 'https://service.example/api/cars',
    body: (async function* () {
      yield Buffer.from(pageOf(records));
    })(),
  });

  it('lands pages into the pass', async () => {
    const pass = open();
    const sink = sinksOf(pass)('');
    const first = await sink.land(3, answer([{ id: 9 }, { id: 10, lots: 'none' }]), night.toISOString());
    const second = await sink.land(1, answer([{ id: 1, colour: 'red' }]), night.toISOString());
    expect(first).toMatchObject({ page: 3, seq: 0, records: 2, firstId: 9, lastId: 10, fits: false });
    expect(second).toMatchObject({ page: 1, seq: 1, records: 1, firstId: 1, lastId: 1, fits: true });
    expect(second.drift.map(({ path }) => path)).toEqual(['colour']);
    expect(readPass(pass.folder).pages).toEqual([first, second]);
  });

  it('keeps a page that is read again beside the first reading, also after a restart', async () => {
    const pass = open();
    await sinksOf(pass)('').land(1, answer([{ id: 1 }]), night.toISOString());
    const resumed = sinksOf(readPass(pass.folder))('');
    expect(resumed.landed.map(({ page }) => page)).toEqual([1]);
    const again = await resumed.land(1, answer([{ id: 2 }]), night.toISOString());
    expect(again).toMatchObject({ file: 'page-000001.2.ndjson.gz', seq: 1 });
    expect(readPass(pass.folder).pages.map(({ firstId }) => firstId)).toEqual([1, 2]);
  });

  it('gives a page that is read again a new name, even if an earlier reading is lost', async () => {
    const pass = open();
    const sink = sinksOf(pass)('');
    const first = await sink.land(1, answer([{ id: 1 }]), night.toISOString());
    await sink.land(1, answer([{ id: 2 }]), night.toISOString());
    rmSync(join(pass.folder, first.file));
    const resumed = sinksOf(readPass(pass.folder))('');
    await resumed.land(1, answer([{ id: 3 }]), night.toISOString());
    expect(readPass(pass.folder).pages.map(({ firstId }) => firstId)).toEqual([2, 3]);
  });

  it('records the checksum of each file, so that a damaged file is found', async () => {
    const pass = open();
    const sink = sinksOf(pass)('');
    for (const page of [1, 2, 3])
      await sink.land(page, answer([{ id: page, vin: 'x'.repeat(99) }]), night.toISOString());
    const landed = readPass(pass.folder);
    expect(await damagedPages(landed)).toEqual([]);
    const path = join(pass.folder, landed.pages[1]?.file ?? '');
    const bytes = readFileSync(path);
    for (let i = 0; i < bytes.length; i++) {
      const damaged = Buffer.from(bytes);
      damaged[i] = ~(damaged[i] ?? 0) & 0xff;
      writeFileSync(path, damaged);
      expect(await damagedPages(landed)).toEqual([{ path, changed: path }]);
    }
  });

  it('records nothing about a failed page', async () => {
    const pass = open();
    const broken = {
      ...answer([]),
      body: (async function* () {
        yield Buffer.from('{"data":[');
      })(),
    };
    await expect(sinksOf(pass)('').land(1, broken, night.toISOString())).rejects.toThrow(/ended early/);
    expect(readPass(pass.folder).pages).toEqual([]);
    expect(readdirSync(pass.folder).filter((name) => /gz$|ndjson$/.test(name))).toEqual([]);
  });
});
