import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { checkPage, type Reject } from '../../src/core/load/check-page.js';
import { columnPlaces } from '../../src/core/load/column-places.js';
import { type StreamName, streams } from '../../src/core/service/streams.js';
import { createWorld } from '../../src/sandbox/index.js';
import { schemasOf } from './support.js';

const folder = makeScratch(join(tmpdir(), 'lotlake-check-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;
/** Checks the lines of a page. Returns the result with the lines that were kept. */
async function check(
  lines: readonly (string | Buffer)[],
  name: StreamName = 'cars',
  more: Partial<Parameters<typeof checkPage>[0]> = {},
) {
  const isPlain = more.lines !== undefined;
  const file = join(folder, `page-${files++}.ndjson${isPlain ? '' : '.gz'}`);
  const bytes = Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from('\n')])));
  writeFileSync(file, isPlain ? bytes : gzipSync(bytes));
  const stream = streams[name];
  const place = { file, passId: 'pass-1', list: '', irregular: true, page: 12, seq: 3, ...more };
  const places = columnPlaces(stream, await schemasOf(name));
  const rejects: Reject[] = [];
  const sizes: number[] = [];
  const result = await checkPage(place, { stream, places }, `${file}.clean`, (some) => {
    rejects.push(...some);
    sizes.push(some.length);
  });
  return { ...result, rejects, sizes, clean: readFileSync(`${file}.clean`) };
}

/** The only reject of a page with one record. */
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
const bad = '{"id":9,"lots":[{"id":"none","bid":{"amount":1}}]}';

describe('the new records of a page alone', () => {
  it('have the places of their lines in the landed file', async () => {
    const unserved = [{ position: 9, line: 7, error: 'no' }];
    const lines = [good[0] ?? '', bad, '"a text"', good[1] ?? ''];
    const { kept, rejected, rejects } = await check(lines, 'cars', { lines: [0, 4, 7, 8], unserved });
    expect([kept, rejected]).toEqual([2, 2]);
    expect(rejects.map(({ position, raw }) => [position, raw])).toEqual([
      [4, bad],
      [7, 'a text'],
    ]);
  });
});

describe('arrays as PHP writes them', () => {
  it.each([
    [
      'an empty list for an object',
      '{"id":1,"engine":[],"lots":[{"id":2,"damage":[],"seller_reserve":[]}]}',
      '{"id":1,"engine":null,"lots":[{"id":2,"damage":null,"seller_reserve":null}]}',
      3,
    ],
    [
      'an empty object for a list',
      '{"id":1,"lots":[{"id":2,"tags":{},"images":{"small":{}}}]}',
      '{"id":1,"lots":[{"id":2,"tags":[],"images":{"small":[]}}]}',
      2,
    ],
    [
      'a list with a gap',
      '{"id":1,"lots":{"0":{"id":2},"3":{"id":4,"damage":[]}}}',
      '{"id":1,"lots":[{"id":2},{"id":4,"damage":null}]}',
      2,
    ],
    [
      'a text that holds such a form',
      '{"id":1,"vin":"[]{}","lots":[]}',
      '{"id":1,"vin":"[]{}","lots":[]}',
      0,
    ],
  ])('are read as they are meant and counted: %s', async (_, line, clean, meant) => {
    const checked = await check([line]);
    expect(checked).toMatchObject({ kept: 1, rejected: 0, rejectedValues: 0, meant, rejects: [] });
    expect(String(checked.clean)).toBe(`${clean}\n`);
  });
});

describe('a word in place of a number', () => {
  it.each(['NaN', '-NaN', 'Infinity', '-Infinity'])(
    'costs its value, with its raw text: %s',
    async (word) => {
      const { rejects, kept, clean } = await check([
        `{"id":1,"year":${word},"vin":"NaN","lots":[{"id":2,"note":${word}}]}`,
      ]);
      expect(kept).toBe(1);
      expect(rejects.map(({ path, raw, found }) => ({ path, raw, found }))).toEqual([
        { path: 'year', raw: word, found: `the word ${word}` },
        { path: 'lots[0].note', raw: word, found: `the word ${word}` },
      ]);
      expect(JSON.parse(String(clean))).toMatchObject({ year: null, vin: 'NaN', lots: [{ note: null }] });
    },
  );

  it('in a key rejects the record, with its raw text', async () => {
    expect(await rejectOf('{"id":NaN}')).toMatchObject({
      path: 'id',
      found: 'the word NaN',
      raw: '{"id":NaN}',
    });
  });

  it('costs the value of any form that holds it', async () => {
    const { rejects, clean } = await check(['{"id":1,"lots":[{"id":2,"details":{"a":NaN}}]}']);
    expect(rejects.map(({ path }) => path)).toEqual(['lots[0].details']);
    expect(JSON.parse(String(clean))).toMatchObject({ lots: [{ id: 2, details: null }] });
  });
});

describe('a page that does not fit as a whole', () => {
  it('keeps its good records byte for byte, in their order', async () => {
    const [first = '', second = '', third = ''] = good;
    const { kept, rejects, clean } = await check([first, bad, second, bad, third]);
    expect(kept).toBe(3);
    expect(clean.toString()).toBe(`${first}\n${second}\n${third}\n`);
    expect(rejects.map(({ position }) => position)).toEqual([1, 3]);
  });

  it('reports a bad record with its place, its value and what was expected', async () => {
    const { rejects } = await check([...good, bad]);
    expect(rejects).toEqual([
      {
        stream: 'cars',
        pass_id: 'pass-1',
        list: '',
        page: 12,
        seq: 3,
        position: 3,
        record_id: '9',
        path: 'lots[0].id',
        expected: 'integer, integer as text (required)',
        found: 'text "none"',
        raw: bad,
      },
    ]);
  });

  it('may be entirely good or entirely bad', async () => {
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

  it('keeps all records of the sandbox', async () => {
    const world = createWorld({ vehicles: 60 });
    const lines = world.activeIds().map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');
    const { rejects, clean } = await check(lines);
    expect(rejects).toEqual([]);
    expect(clean.toString()).toBe(lines.map((line) => `${line}\n`).join(''));
  });
});

describe('a record whose keys or rows cannot be read', () => {
  it.each([
    ['{"id":"no-5"}', 'no-5', 'id', 'integer, integer as text (required)', 'text "no-5"'],
    ['{"id":1.5}', '1.5', 'id', 'integer, integer as text (required)', 'number 1.5'],
    ['{"id":null,"vin":"a"}', null, 'id', 'integer, integer as text (required)', 'null'],
    ['{"vin":"a"}', null, 'id', 'integer, integer as text (required)', 'nothing'],
    [
      '{"id":9007199254740993}',
      '9007199254740993',
      'id',
      'integer, integer as text (required)',
      'number 9007199254740993',
    ],
    ['{"id":-5}', '-5', 'id', 'integer, integer as text (required)', 'number -5'],
    ['{"id":"-5"}', '-5', 'id', 'integer, integer as text (required)', 'text "-5"'],
    ['{"id":1,"lots":[{"id":-7}]}', '1', 'lots[0].id', 'integer, integer as text (required)', 'number -7'],
    [
      '{"id":1,"lots":[{"id":1},{"bid":1}]}',
      '1',
      'lots[1].id',
      'integer, integer as text (required)',
      'nothing',
    ],
    ['{"id":1,"lots":[null]}', '1', 'lots[0]', 'object', 'null'],
    ['{"id":1,"lots":{"a":1}}', '1', 'lots', 'null, array', 'object {"a":1}'],
    ['{"id":1,"listings":"none"}', '1', 'listings', 'null, array', 'text "none"'],
    [
      '{"id":1,"inspections":[{"report_id":"r","vehicle_ref":{"domain_id":"x"}}]}',
      '1',
      'inspections[0].vehicle_ref.domain_id',
      'null, integer, integer as text',
      'text "x"',
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","vehicle_ref":"x"}]}',
      '1',
      'inspections[0].vehicle_ref',
      'null, object',
      'text "x"',
    ],
    ['[]', null, '', 'object', 'array []'],
    ['7', null, '', 'object', 'number 7'],
    ['null', null, '', 'object', 'null'],
  ])('is reported with path and value: %s', async (raw, record_id, path, expected, found) => {
    const match = (what: string | RegExp) => (typeof what === 'string' ? what : expect.stringMatching(what));
    expect(await rejectOf(raw)).toMatchObject({
      record_id,
      path,
      expected: match(expected),
      found: match(found),
      raw,
    });
  });

  it('of another stream is reported with the id of that stream', async () => {
    const raw = '{"lot_id":77,"archived_at":"soon"}';
    expect(await rejectOf(raw, 'archived_lots')).toMatchObject({
      stream: 'archived_lots',
      record_id: '77',
      path: 'archived_at',
      found: 'text "soon"',
    });
  });

  it('may be bytes that are not UTF-8', async () => {
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

describe('a value that breaks the contract', () => {
  it.each<[string, string, string, string, object, unknown, string]>([
    ['{"id":1,"year":2020.5}', 'year', 'number 2020.5', 'vehicles', { vehicle_id: 1 }, 'year', '2020.5'],
    [
      '{"id":1,"manufacturer":"BMW"}',
      'manufacturer',
      'text "BMW"',
      'vehicles',
      { vehicle_id: 1 },
      'manufacturer_id, manufacturer_name',
      '"BMW"',
    ],
    [
      '{"id":1,"lots":[{"id":5,"updated_at":"2026-02-30"}]}',
      'lots[0].updated_at',
      'text "2026-02-30"',
      'lots',
      { lot_id: 5 },
      'updated_at',
      '"2026-02-30"',
    ],
    [
      '{"id":1,"lots":[{"id":"6","seller":{"id":"x"}}]}',
      'lots[0].seller.id',
      'text "x"',
      'lots',
      { lot_id: '6' },
      'seller_id',
      '"x"',
    ],
    [
      '{"id":1,"lots":[{"id":7,"archived":"perhaps"}]}',
      'lots[0].archived',
      'text "perhaps"',
      'lots',
      { lot_id: 7 },
      'archived',
      '"perhaps"',
    ],
    [
      '{"id":1,"lots":[{"id":1},{"id":2,"prices":[{"id":3},{"id":4,"bid":[1, 2]}]}]}',
      'lots[1].prices[1].bid',
      'array [1, 2]',
      'prices',
      { price_id: 4 },
      'bid',
      '[1, 2]',
    ],
    [
      '{"id":1,"lots":[{"id":2,"images":[1]}]}',
      'lots[0].images',
      'array [1]',
      'lot_images',
      { lot_id: 2 },
      expect.stringContaining('images_id, video'),
      '[1]',
    ],
    [
      '{"id":1,"lots":[{"id":2,"images":{"small":["a",{},"c"]}}]}',
      'lots[0].images.small[1]',
      'object {}',
      'lot_images',
      { lot_id: 2 },
      'small',
      '{}',
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","vehicle_ref":{"domain_id":12,"listing_id":"l"},"checked_items":[{},{"measurements":[{"value_number":"1,5"}]}]}]}',
      'inspections[0].checked_items[1].measurements[0].value_number',
      'text "1,5"',
      'measurements',
      { domain_id: 12, listing_id: 'l', report_id: 'r', checked_item_position: 2, position: 1 },
      'value_number',
      '"1,5"',
    ],
    [
      '{"id":1,"vehicle_history_reports":[{"report_id":"r","files":[{"sort_order":1.5}]}]}',
      'vehicle_history_reports[0].files[0].sort_order',
      'number 1.5',
      'report_media',
      {
        report_type: 'history',
        media_type: 'file',
        domain_id: null,
        listing_id: null,
        report_id: 'r',
        position: 1,
      },
      'sort_order',
      '1.5',
    ],
  ])(
    'is reported with its place, row and column: %s',
    async (line, path, found, table_name, key, column_name, raw) => {
      const { kept, rejected, rejectedValues, rejects } = await check([line]);
      expect({ kept, rejected, rejectedValues }).toEqual({ kept: 1, rejected: 0, rejectedValues: 1 });
      expect(rejects).toMatchObject([{ record_id: '1', path, found, table_name, column_name, raw }]);
      expect(JSON.parse(rejects[0]?.row_key ?? '')).toEqual(key);
    },
  );

  it('becomes null, its row names it, and every other byte stays the same', async () => {
    const { clean } = await check([
      '{"id":1,"year": 2020.5 ,"vin":"\\u00e9","lots":[{"id":5 , "bid":"1,5","details":{"n":12345678901234567890}}]}',
      '{"id":2}',
    ]);
    expect(clean.toString()).toBe(
      '{"_lotlake_rejected":["year"],"id":1,"year": null ,"vin":"\\u00e9","lots":[{"_lotlake_rejected":["bid"],"id":5 , "bid":null,"details":{"n":12345678901234567890}}]}\n{"id":2}\n',
    );
  });

  it('that child rows inherit is named by each child row', async () => {
    const { clean } = await check([
      '{"id":1,"lots":[{"id":5,"domain":{"id":"x"},"images":{},"prices":[{"id":6}]},{"id":7,"prices":[{"id":8}]}]}',
    ]);
    expect(JSON.parse(clean.toString()).lots).toEqual([
      {
        _lotlake_rejected: ['domain_id'],
        id: 5,
        domain: { id: null },
        images: { _lotlake_rejected: ['domain_id'] },
        prices: [{ _lotlake_rejected: ['domain_id'], id: 6 }],
      },
      { id: 7, prices: [{ id: 8 }] },
    ]);
  });

  it('may stand beside others in one record', async () => {
    const { rejects } = await check([
      '{"id":1,"year":"x","doors":"y","lots":[{"id":1,"bid":{},"seller":{"id":{},"logo":[]}}]}',
    ]);
    expect(rejects.map(({ path }) => path)).toEqual([
      'year',
      'doors',
      'lots[0].bid',
      'lots[0].seller.id',
      'lots[0].seller.logo',
    ]);
  });

  it('is shortened in the text that was found, but not in its raw text', async () => {
    const reject = await rejectOf(JSON.stringify({ id: 1, year: 'x'.repeat(5000) }));
    expect(reject?.found.length).toBeLessThan(250);
    expect(reject?.raw).toBe(JSON.stringify('x'.repeat(5000)));
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

describe('a record that is JSON but that DuckDB does not accept', () => {
  it.each([
    ['a member that stands twice', '{"id":1,"vin":"a","vin":"b"}', '{"id":1,"vin":"b"}'],
    ['three times', '{"vin":"a","vin":"b","id":1,"vin":"c"}', '{"id":1,"vin":"c"}'],
    ['in another that does', '{"id":1,"lots":[{"a":1,"a":2}],"lots":[]}', '{"id":1,"lots":[]}'],
    ['beside a long number', '{"id":1,"x":1,"x":12345678901234567890}', '{"id":1,"x":12345678901234567890}'],
    ['by half of a pair in a name', '{"id":1,"a\\ud83d":7}', '{"id":1,"a\ufffd":7}'],
  ])('is kept in a form that DuckDB accepts: %s', async (_, line, expected) => {
    const { rejects, clean } = await check([line, '{"id":2,"title":"\\ud83d\\ude97"}']);
    expect(rejects).toEqual([]);
    expect(clean.toString()).toBe(`${expected}\n{"id":2,"title":"\\ud83d\\ude97"}\n`);
  });

  it.each([
    ['a text', '{"id":1,"title":"\\ud83d, cut"}', 'title', '"\\ud83d, cut"', 'title'],
    ['the other half', '{"id":1,"title":"\\uDE97, cut"}', 'title', '"\\uDE97, cut"', 'title'],
    ['a member that is not known', '{"id":1,"new":{"\\ud83d":1}}', 'new', '{"\\ud83d":1}', 'extra'],
    [
      'an element',
      '{"id":1,"lots":[{"id":2,"images":{"small":["\\udead"]}}]}',
      'lots[0].images.small[0]',
      '"\\udead"',
      'small',
    ],
  ])('loses the value with half of a surrogate pair: %s', async (_, line, path, raw, column_name) => {
    const { kept, rejects, clean } = await check([line]);
    expect(kept).toBe(1);
    expect(rejects).toMatchObject([{ path, raw, column_name }]);
    expect(rejects[0]?.expected).toContain('without half of a surrogate pair');
    expect(clean.toString()).toContain('null');
    expect(clean.toString()).not.toContain(raw);
  });

  it('is rejected whole if a key holds half of a surrogate pair', async () => {
    const raw = '{"id":1,"inspections":[{"report_id":"\\ud83d"}]}';
    expect(await rejectOf(raw)).toMatchObject({ path: 'inspections[0].report_id', raw });
  });
});

describe('a large record', () => {
  const nested = `${'['.repeat(15_000)}${']'.repeat(15_000)}`;

  it.each([
    ['in the wrong place', `{"id":1,"year":${nested}}`],
    ['beside a member that stands twice', `{"id":1,"year":1,"year":"x","new":${nested}}`],
    ['in a key', `{"id":1,"inspections":[{"report_id":${nested},"created_at":"x"}]}`],
    ['with half of a surrogate pair inside', `{"id":1,"details":${nested.replace('[]', '["\\ud83d"]')}}`],
  ])('may be nested as deep as a page can be: %s', async (_, line) => {
    const { kept, rejects } = await check([line]);
    expect(kept).toBe(1);
    expect(rejects).toHaveLength(1);
  });

  it('is reported in texts that are cut between characters', async () => {
    const [even, odd] = await Promise.all(
      ['', 'a'].map((more) => rejectOf(`{"id":1,"year":"${more}${'🚗'.repeat(300)}"}`)),
    );
    for (const reject of [even, odd]) expect(Buffer.from(reject?.found ?? '').toString()).toBe(reject?.found);
  });

  it.each([
    ['as many bad values as are reported', 10_000, 1, 10_000],
    ['one more', 10_001, 0, 1],
    ['more than zod can hold', 200_000, 0, 1],
  ])('is rejected whole if it has too many bad values: %s', async (_, values, kept, reported) => {
    const prices = Array.from({ length: values }, (_, i) => `{"id":${i},"bid":"x"}`);
    const result = await check([`{"id":7,"lots":[{"id":1,"prices":[${prices.join(',')}]}]}`]);
    expect(result).toMatchObject({ kept, rejected: 1 - kept });
    expect(result.rejects).toHaveLength(reported);
    expect(result.rejects[0]).toMatchObject({ record_id: '7' });
  });

  it('hands over its rejects in batches, and lets other work run in between', async () => {
    const lots = Array.from({ length: 5000 }, (_, i) => `{"id":${i},"buy_now":"x"}`);
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    const { rejects, sizes } = await check([`{"id":1,"lots":[${lots.join(',')}]}`]);
    clearInterval(timer);
    expect(rejects).toHaveLength(5000);
    expect(Math.max(...sizes)).toBe(1000);
    expect(turns).toBeGreaterThanOrEqual(5);
  });
});
