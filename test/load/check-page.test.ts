import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { columnPlaces } from '../../src/core/lake/rows/column-places.js';
import { checkPage, type Reject } from '../../src/core/load/check-page.js';
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
const bad = '{"id":"none","lots":[{"id":9,"bid":{"amount":1}}]}';

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
        record_id: 'none',
        path: 'id',
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
});

const KEY = 'integer, integer as text (required)';

describe('a row of a list that cannot be read', () => {
  it.each<[string, string, string, string, string, string, object]>([
    [
      '{"id":1,"lots":[{"id":-7}]}',
      'lots[0].id',
      KEY,
      'number -7',
      '{"id":-7}',
      'lots',
      { _lotlake_rejected: ['lots'], id: 1, lots: [null] },
    ],
    [
      '{"id":1,"lots":[{"id":1,"bid":"x"},{"bid":1,"odometer":5}]}',
      'lots[1].id',
      KEY,
      'nothing',
      '{"bid":1,"odometer":5}',
      'lots',
      { _lotlake_rejected: ['lots'], id: 1, lots: [{ _lotlake_rejected: ['bid'], id: 1, bid: null }, null] },
    ],
    [
      '{"id":1,"lots":[{"id":1,"prices":[{"id":7},{"bid":5}]}]}',
      'lots[0].prices[1].id',
      'null, boolean, integer, text, integer as text, object, array (required)',
      'nothing',
      '{"bid":5}',
      'prices',
      { id: 1, lots: [{ _lotlake_rejected: ['prices'], id: 1, prices: [{ id: 7 }, null] }] },
    ],
    [
      '{"id":1,"lots":[7]}',
      'lots[0]',
      'object',
      'number 7',
      '7',
      'lots',
      { _lotlake_rejected: ['lots'], id: 1, lots: [null] },
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","vehicle_ref":{"domain_id":"x"}}]}',
      'inspections[0].vehicle_ref.domain_id',
      'null, integer, integer as text',
      'text "x"',
      '{"report_id":"r","vehicle_ref":{"domain_id":"x"}}',
      'inspections',
      { _lotlake_rejected: ['inspections'], id: 1, inspections: [null] },
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","vehicle_ref":"x"}]}',
      'inspections[0].vehicle_ref',
      'null, object',
      'text "x"',
      '{"report_id":"r","vehicle_ref":"x"}',
      'inspections',
      { _lotlake_rejected: ['inspections'], id: 1, inspections: [null] },
    ],
    [
      '{"id":1,"inspections":[{"report_id":"r","checked_items":["x",{"id":"a"}]}]}',
      'inspections[0].checked_items[0]',
      'object',
      'text "x"',
      '"x"',
      'checked_items',
      {
        _lotlake_rejected: ['checked_items'],
        id: 1,
        inspections: [{ report_id: 'r', checked_items: [null, { id: 'a' }] }],
      },
    ],
    [
      '{"id":1,"inspections":[{"report_id":"\\ud83d"}]}',
      'inspections[0].report_id',
      'without half of a surrogate pair (required)',
      'text "\\ud83d"',
      '{"report_id":"\\ud83d"}',
      'inspections',
      { _lotlake_rejected: ['inspections'], id: 1, inspections: [null] },
    ],
  ])('costs the row and no more: %s', async (line, path, expected, found, raw, table_name, clean) => {
    const checked = await check([line]);
    expect(checked).toMatchObject({ kept: 1, rejected: 0 });
    const reject = checked.rejects.find((each) => each.column_name === '*');
    expect(reject).toMatchObject({ record_id: '1', path, found, raw, table_name });
    expect(reject?.expected).toContain(expected.replace(/^null, boolean/, 'boolean'));
    expect(JSON.parse(String(checked.clean))).toEqual(clean);
  });

  it.each([
    ['{"id":1,"lots":{"a":1}}', 'lots', 'object {"a":1}', '{"a":1}'],
    ['{"id":1,"listings":"none"}', 'listings', 'text "none"', '"none"'],
    ['{"id":1,"lots":[{"id":2,"prices":5}]}', 'lots[0].prices', 'number 5', '5'],
  ])('costs the list if that is none: %s', async (line, path, found, raw) => {
    const { kept, rejects, clean } = await check([line]);
    expect(kept).toBe(1);
    expect(rejects).toMatchObject([{ path, found, raw, expected: 'null, array' }]);
    expect(String(clean)).toContain(':null');
  });

  it('is none if it is null, which costs nothing', async () => {
    const line =
      '{"id":1,"lots":[null,{"id":2,"prices":[{"id":1},null]}],"listings":[null],"inspections":[null,null]}';
    const checked = await check([line]);
    expect(checked).toMatchObject({ kept: 1, rejectedValues: 0, meant: 5, rejects: [] });
    expect(String(checked.clean)).toBe(`${line}\n`);
  });
});

describe('bytes that are no UTF-8', () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

  it('cost the text that holds them', async () => {
    const { kept, rejects, clean } = await check([
      '{"id":3,"vin":"é"}',
      latin('{"id":4,"vin":"a\xff\xfe","title":"b","lots":[{"id":1,"note":"caf\xe9"}]}'),
    ]);
    expect(kept).toBe(2);
    expect(rejects).toMatchObject([
      {
        position: 1,
        record_id: '4',
        path: 'vin',
        expected: 'null, integer, text in UTF-8',
        raw: '"a\ufffd\ufffd"',
      },
      { position: 1, path: 'lots[0].note', raw: '"caf\ufffd"', table_name: 'lots', column_name: 'note' },
    ]);
    expect(String(clean).split('\n')[1]).toBe(
      '{"_lotlake_rejected":["vin"],"id":4,"vin":null,"title":"b","lots":[{"_lotlake_rejected":["note"],"id":1,"note":null}]}',
    );
  });

  it('cost the row if they are in its key', async () => {
    const { kept, rejects } = await check([latin('{"id":4,"inspections":[{"report_id":"\xe9"}]}')]);
    expect(kept).toBe(1);
    expect(rejects).toMatchObject([{ path: 'inspections[0].report_id', table_name: 'inspections' }]);
  });

  it('in the name of a member make it one that is not known', async () => {
    const { kept, rejects, clean } = await check([latin('{"id":4,"ti\xe9tle":1,"vin":"a"}')]);
    expect({ kept, rejects }).toEqual({ kept: 1, rejects: [] });
    expect(JSON.parse(String(clean))).toEqual({ id: 4, 'ti\ufffdtle': 1, vin: 'a' });
  });
});

describe('a whole number that is written as a real', () => {
  it.each([
    ['{"id":10004.0,"lots":[{"id":2.0,"lot":7.00,"external_id":1.5e1}]}', 4],
    ['{"id":"10004.0","lots":[{"id":"2.0","prices":[{"id":1.0},{"id":"2.00"},{"id":3e2}]}]}', 5],
    ['{"id":1,"lots":[{"id":2,"damage":{"main":{"id":4.0,"name":9.0}},"bid":10.0}]}', 2],
  ])('is its digits in a key and in a text: %s', async (line, meant) => {
    const checked = await check([line]);
    expect(checked).toMatchObject({ kept: 1, meant, rejects: [] });
    const digits = (_: string, value: unknown): unknown =>
      typeof value === 'string' && /^\d+\.0+$/.test(value) ? Number(value) : value;
    expect(JSON.parse(String(checked.clean))).toEqual(JSON.parse(line, digits));
    expect(String(checked.clean).replace(/"bid":10\.0/, '')).not.toMatch(/\d\.\d|e\d/);
  });

  it.each([
    '{"id":1,"lots":[{"id":2,"prices":[{"id":1.5}]}]}',
    '{"id":1,"lots":[{"id":2,"prices":[{"id":"A1.0"}],"note":"costs 10.0"}]}',
  ])('stays if it is none: %s', async (line) => {
    const checked = await check([line]);
    expect(checked).toMatchObject({ kept: 1, meant: 0, rejects: [] });
    expect(String(checked.clean)).toBe(`${line}\n`);
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
      { lot_id: 2, price_id: 4 },
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
