import { readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { digestOf, landPage, pagingOf, rescanPage } from '../../src/core/land/page.js';
import { streams } from '../../src/core/service/streams.js';
import { createWorld } from '../../src/sandbox/index.js';
import { landedPage } from './ledger.js';
import { cut, pageOf, vehicleContract } from './support.js';

const root = makeScratch(join(tmpdir(), 'lotlake-page-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const world = createWorld({ vehicles: 150 });
const texts = world.activeIds().map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');

async function* inChunks(body: string | Uint8Array, size = 1000): AsyncGenerator<Uint8Array> {
  yield* cut(typeof body === 'string' ? Buffer.from(body) : body, [size]);
}

let folders = 0;
/** Lands a body in its own folder. */
async function land(body: AsyncIterable<Uint8Array>) {
  const folder = join(root, String(folders++));
  const path = join(folder, 'page-000001.ndjson.gz');
  const target = {
    path,
    url: 'https://service.example/api/cars?page=1',
    contract: vehicleContract,
  };
  const landing = landPage(body, target);
  return { folder, path, landing };
}

/** Finished pages in a folder. Unfinished files have another ending. */
const filesIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.endsWith('.gz'));

describe('a page that is landed', () => {
  it('holds each record as a line of the same bytes', async () => {
    const body = `{"data":[${texts.join(',\n ')}],"meta":{"current_page":1}}`;
    const { folder, path, landing } = await land(inChunks(body, 65_536));
    const { scan, fileBytes } = await landing;
    expect(gunzipSync(readFileSync(path)).toString()).toBe(texts.map((text) => `${text}\n`).join(''));
    expect(scan.ids).toEqual(world.activeIds());
    expect(fileBytes).toBe(statSync(path).size);
    expect(filesIn(folder)).toEqual(['page-000001.ndjson.gz']);
  });

  it('may be empty', async () => {
    const { path, landing } = await land(inChunks('{"data":[],"links":{"next":null}}'));
    expect((await landing).scan.records).toBe(0);
    expect(gunzipSync(readFileSync(path)).length).toBe(0);
  });

  it('replaces an earlier file of its name', async () => {
    const { path, landing } = await land(inChunks(pageOf([{ id: 1 }])));
    await landing;
    const target = { path, url: 'u', contract: vehicleContract };
    await landPage(inChunks(pageOf([{ id: 2 }])), target);
    expect(gunzipSync(readFileSync(path)).toString()).toBe('{"id":2}\n');
  });

  it('keeps bytes that are not UTF-8', async () => {
    const body = Buffer.concat([Buffer.from('[{"id":1,"vin":"'), Buffer.from([0xff]), Buffer.from('"}]')]);
    const { path, landing } = await land(inChunks(body));
    expect((await landing).scan.utf8).toBe(false);
    expect(gunzipSync(readFileSync(path))).toEqual(
      Buffer.concat([body.subarray(1, body.length - 1), Buffer.from('\n')]),
    );
  });
});

describe('a body that is not a page', () => {
  it.each([
    ['ends early', '{"data":[{"id":1},{"id":2}', /ended early/],
    ['is empty', '', /ended early/],
    ['is malformed', '{"data":[{"id":1},]}', /malformed JSON at byte 18/],
    ['is HTML', '<html>502 Bad Gateway</html>', /malformed JSON at byte 0/],
    [
      'is an error in a 200',
      '{"error":"search backend unavailable"}',
      /the service says "search backend unavailable"/,
    ],
    ['is a message in a 200', '{"message":"busy","data":null}', /the service says "busy"/],
    ['has no list of records', '{"total":5}', /no list of records/],
    ['has an error beside its numbers', '{"error":"busy","meta":{"total":5}}', /the service says "busy"/],
    ['has a total that is a text', '{"data":[],"meta":{"total":"many"}}', /the envelope is not valid/],
    ['has links that are a list', '{"data":[],"links":[]}', /the envelope is not valid/],
  ])('leaves no file and can be requested again when it %s', async (_, body, message) => {
    const { folder, landing } = await land(inChunks(body, 5));
    const error = await landing.catch((caught: unknown) => caught);
    const expected = { code: 'LAND_PAGE_BROKEN', retryable: true, stage: 'land' };
    expect(error).toMatchObject({ ...expected, message: expect.stringMatching(message) });
    expect(String(error)).toContain('https://service.example/api/cars?page=1');
    expect(filesIn(folder)).toEqual([]);
  });

  it('leaves no file when the connection breaks, and the error says why', async () => {
    const broken = (async function* () {
      yield Buffer.from(`{"data":[${texts.slice(0, 50).join(',')}`);
      throw new Error('socket hang up');
    })();
    const { folder, landing } = await land(broken);
    await expect(landing).rejects.toThrow('socket hang up');
    expect(filesIn(folder)).toEqual([]);
  });

  it('keeps the page that was there before', async () => {
    const { folder, path, landing } = await land(inChunks(pageOf([{ id: 1 }])));
    await landing;
    const target = { path, url: 'u', contract: vehicleContract };
    const again = landPage(inChunks('{"data":[{"id":2}'), target);
    await expect(again).rejects.toMatchObject({ code: 'LAND_PAGE_BROKEN' });
    expect(filesIn(folder)).toEqual(['page-000001.ndjson.gz']);
    expect(gunzipSync(readFileSync(path)).toString()).toBe('{"id":1}\n');
  });
});

describe('the paging members of a page', () => {
  const pagingOfText = async (text: string) => pagingOf((await (await land(inChunks(text))).landing).scan);

  it('are read in the form with totals', async () => {
    const meta = {
      current_page: 2,
      from: 3,
      last_page: 7,
      path: 'p',
      per_page: 2,
      to: 4,
      total: 13,
      links: [],
    };
    const text = JSON.stringify({ data: [], links: { next: 'http://x/?page=3', last: 'l' }, meta });
    expect(await pagingOfText(text)).toMatchObject({
      total: 13,
      lastPage: 7,
      perPage: 2,
      next: 'http://x/?page=3',
    });
  });

  it('are null if simple pagination leaves them out', async () => {
    const text =
      '{"data":[],"links":{"first":"f","last":null,"prev":null,"next":null},"meta":{"per_page":"50"}}';
    expect(await pagingOfText(text)).toMatchObject({ total: null, lastPage: null, perPage: 50, next: null });
  });

  it.each([
    ['{"data":[],"scroll_id":"abc","next_url":"https://other.example/scroll"}', 'abc'],
    ['{"data":[],"scroll_id":"abc","next_url":""}', null],
    ['{"data":[],"scroll_id":null,"next_url":null}', null],
    ['{"data":[]}', null],
  ])('name what continues a scroll, and nothing at its end: %s', async (text, scrollId) => {
    expect((await pagingOfText(text)).scrollId).toBe(scrollId);
  });

  it('are null in a bare list', async () => {
    expect(await pagingOfText('[]')).toMatchObject({
      total: null,
      lastPage: null,
      perPage: null,
      next: null,
    });
  });
});

describe('the fingerprint of a page', () => {
  it('is the hash of its ids in their order', () => {
    expect(digestOf([1, 2, 3], 0)).toBe(digestOf([1, 2, 3], 0));
    const others = [[], [1, 2], [1, 3, 2], [1, 2, 3, 4], [1, 2, 4]].map((ids) => digestOf(ids, 0));
    expect(new Set([digestOf([1, 2, 3], 0), ...others]).size).toBe(6);
  });
});

describe('a landed page under another contract', () => {
  it('is checked against it from the file', async () => {
    const { folder, landing } = await land(inChunks(`[${texts.join(',')}]`));
    const { scan, fileBytes } = await landing;
    const page = landedPage({ records: scan.records, bytes: scan.bytes, fileBytes, fits: true });
    const same = await rescanPage(page, folder, streams.cars);
    expect(same).toEqual({ ...page, fits: true, drift: [], misfits: [] });
    const other = await rescanPage(page, folder, streams.statistics);
    expect(other.drift.map(({ path }) => path)).toEqual(expect.arrayContaining(['vin', 'title', 'lots']));
    expect(other.records).toBe(texts.length);
  });

  it('is refused if its file is truncated', async () => {
    const { folder, path, landing } = await land(inChunks(pageOf([{ id: 1 }, { id: 2 }])));
    const { fileBytes } = await landing;
    truncateSync(path, fileBytes - 9);
    const page = landedPage({ records: 2 });
    await expect(rescanPage(page, folder, streams.cars)).rejects.toThrow(`${path} cannot be read`);
  });
});
