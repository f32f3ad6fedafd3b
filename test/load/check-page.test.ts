import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { checkPage, type Reject } from '../../src/load/check-page.js';
import { createWorld } from '../../src/sandbox/index.js';
import { contractOf } from '../../src/service/contract/node.js';
import { type StreamName, streams } from '../../src/service/streams.js';

const folder = mkdtempSync(join(tmpdir(), 'lotlake-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** Checks the lines of a page and gives the lines that were kept beside the result. */
async function check(lines: readonly (string | Buffer)[], name: StreamName = 'cars') {
  const file = join(folder, `page-${files++}.ndjson.gz`);
  writeFileSync(
    file,
    gzipSync(Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')])))),
  );
  const stream = streams[name];
  const place = { file, passId: 'pass-1', list: '', irregular: true, page: 12 };
  const result = await checkPage(place, stream, contractOf(stream.schema), `${file}.clean`);
  return { ...result, clean: readFileSync(`${file}.clean`) };
}

/** The only reject of a page that consists of one record. */
async function rejectOf(line: string | Buffer, name: StreamName = 'cars'): Promise<Reject | undefined> {
  const { rejects } = await check([line], name);
  expect(rejects.length).toBeLessThanOrEqual(1);
  return rejects[0];
}

const good = [
  '{"id":1,"vin":"a"}',
  '{"id":"2","lots":[{"id":20,"bid":"7.5"}]}',
  '{"id":3,"new":{"x":[1, 2]}}',
];
const bad = '{"id":9,"lots":[{"id":90,"bid":{"amount":1}}]}';

describe('a page that does not fit as a whole', () => {
  it('keeps its good records byte for byte, in their order', async () => {
    const [first = '', second = '', third = ''] = good;
    const { kept, rejects, clean } = await check([first, bad, second, bad, third]);
    expect(kept).toBe(3);
    expect(clean.toString()).toBe(`${first}\n${second}\n${third}\n`);
    expect(rejects.map(({ position }) => position)).toEqual([1, 3]);
  });

  it('tells of a bad record where it is, what it is and what was expected', async () => {
    const { rejects } = await check([...good, bad]);
    expect(rejects).toEqual([
      {
        stream: 'cars',
        pass_id: 'pass-1',
        list: '',
        page: 12,
        position: 3,
        record_id: '9',
        path: 'lots[0].bid',
        expected: 'null, integer, long integer, number, integer as text, number as text',
        found: 'object {"amount":1}',
        raw: bad,
      },
    ]);
  });

  it('may be good throughout, or bad throughout', async () => {
    expect(await check(good)).toMatchObject({ kept: 3, rejects: [] });
    const { kept, rejects, clean } = await check([bad, bad]);
    expect({ kept, rejected: rejects.length, bytes: clean.length }).toEqual({
      kept: 0,
      rejected: 2,
      bytes: 0,
    });
  });

  it('may be larger than a buffer, with records of any size', async () => {
    const lines = Array.from({ length: 400 }, (_, i) =>
      JSON.stringify({ id: i % 7 === 0 ? `no-${i}` : i, title: 'ß🚗'.repeat((i * 37) % 4000) }),
    );
    const { kept, rejects, clean } = await check(lines);
    const expected = lines.filter((_, i) => i % 7 !== 0).map((line) => `${line}\n`);
    expect(clean.equals(Buffer.from(expected.join('')))).toBe(true);
    expect(kept + rejects.length).toBe(400);
    expect(rejects.map(({ raw }) => raw)).toEqual(lines.filter((_, i) => i % 7 === 0));
  });

  it('keeps all records that the sandbox writes', async () => {
    const world = createWorld({ vehicles: 60 });
    const lines = world.activeIds().map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
    const { rejects, clean } = await check(lines);
    expect(rejects).toEqual([]);
    expect(clean.toString()).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});

describe('a bad record', () => {
  it.each([
    ['{"id":"no-5"}', 'no-5', 'id', 'integer, integer as text (required)', 'text "no-5"'],
    ['{"id":1.5}', '1.5', 'id', 'integer, integer as text (required)', 'number 1.5'],
    ['{"id":null,"vin":"a"}', null, 'id', 'integer, integer as text (required)', 'null'],
    ['{"vin":"a"}', null, 'id', 'integer, integer as text (required)', 'nothing'],
    ['{"id":9007199254740993}', '9007199254740992', 'id', 'integer, integer as text (required)', /number/],
    ['{"id":1,"year":2020.5}', '1', 'year', 'null, integer, integer as text', 'number 2020.5'],
    [
      '{"id":1,"lots":[{"id":1},{"bid":1}]}',
      '1',
      'lots[1].id',
      'integer, integer as text (required)',
      'nothing',
    ],
    ['{"id":1,"lots":[null]}', '1', 'lots[0]', 'object', 'null'],
    ['{"id":1,"lots":{}}', '1', 'lots', 'null, array', 'object {}'],
    ['{"id":1,"manufacturer":"BMW"}', '1', 'manufacturer', 'null, object', 'text "BMW"'],
    [
      '{"id":1,"lots":[{"id":1,"updated_at":"2026-02-30"}]}',
      '1',
      'lots[0].updated_at',
      'null, timestamp',
      'text "2026-02-30"',
    ],
    [
      '{"id":1,"lots":[{"id":1,"seller":{"id":"x"}}]}',
      '1',
      'lots[0].seller.id',
      'null, integer, integer as text',
      'text "x"',
    ],
    [
      '{"id":1,"lots":[{"id":1},{"id":2,"prices":[{"id":1},{"id":2,"bid":[]}]}]}',
      '1',
      'lots[1].prices[1].bid',
      /number as text/,
      'array []',
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","checked_items":[{"part_key":{}}]}]}',
      '1',
      'inspections[0].checked_items[0].part_key',
      'null, integer, text',
      'object {}',
    ],
    ['[]', null, '', 'object', 'array []'],
    ['7', null, '', 'object', 'number 7'],
    ['null', null, '', 'object', 'null'],
  ])('is told by path and value: %s', async (raw, record_id, path, expected, found) => {
    const match = (what: string | RegExp) => (typeof what === 'string' ? what : expect.stringMatching(what));
    expect(await rejectOf(raw)).toMatchObject({
      record_id,
      path,
      expected: match(expected),
      found: match(found),
      raw,
    });
  });

  it('of another stream is told by the id of that stream', async () => {
    const raw = '{"lot_id":77,"archived_at":"soon"}';
    expect(await rejectOf(raw, 'archived_lots')).toMatchObject({
      stream: 'archived_lots',
      record_id: '77',
      path: 'archived_at',
      found: 'text "soon"',
    });
  });

  it('has a long value cut short in what was found, not in its raw text', async () => {
    const raw = JSON.stringify({ id: 1, year: 'x'.repeat(5000) });
    const reject = await rejectOf(raw);
    expect(reject?.found.length).toBeLessThan(250);
    expect(reject?.raw).toBe(raw);
  });

  it('may be bytes that are no UTF-8', async () => {
    const line = Buffer.concat([
      Buffer.from('{"id":4,"vin":"a'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from('"}'),
    ]);
    const { kept, rejects } = await check(['{"id":3,"vin":"é"}', line]);
    expect(kept).toBe(1);
    expect(rejects).toMatchObject([{ position: 1, record_id: '4', path: '', expected: 'JSON in UTF-8' }]);
  });
});

describe('a record that only looks odd', () => {
  it.each([
    ['a flag written as 1', '{"id":1,"has_inspections":1}'],
    ['a whole number written with a fraction', '{"id":1,"year":2020.0}'],
    ['an amount with an exponent', '{"id":1,"lots":[{"id":1,"bid":1.2e3}]}'],
    ['a timestamp with escapes', '{"id":1,"lots":[{"id":1,"updated_at":"2026-09-09\\u002019:37:39"}]}'],
    [
      'an integer of 16 digits within the safe range',
      '{"id":1,"lots":[{"id":1,"odometer":{"km":9007199254740991}}]}',
    ],
  ])('is kept: %s', async (_, line) => {
    const { rejects, clean } = await check([line]);
    expect(rejects).toEqual([]);
    expect(clean.toString()).toBe(`${line}\n`);
  });
});

describe('a record that is JSON and that the database does not take', () => {
  it.each([
    ['a member that stands twice', '{"id":1,"vin":"a","vin":"b"}', '{"id":1,"vin":"b"}'],
    ['half of a surrogate pair', '{"id":1,"title":"\\ud83d, cut"}', '{"id":1,"title":"\\ufffd, cut"}'],
    ['the other half', '{"id":1,"title":"\\ude97, cut"}', '{"id":1,"title":"\\ufffd, cut"}'],
  ])('is kept in a form that it does: %s', async (_, line, expected) => {
    const { rejects, clean } = await check([line, '{"id":2,"title":"\\ud83d\\ude97"}']);
    expect(rejects).toEqual([]);
    expect(clean.toString()).toBe(`${expected}\n{"id":2,"title":"\\ud83d\\ude97"}\n`);
  });
});
