import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScanError } from '../../src/core/service/scan/scan-page.js';
import { cut, pageOf, scanChunks, scanText, spaced, spaces, type TokenPage, tokenPage } from './support.js';

const chunkSizes = fc.oneof(
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 8 }),
);

const compactLines = (page: TokenPage): string =>
  page.records.map((record) => `${record.join('')}\n`).join('');

/** The id of a parsed record. */
function parsedId(record: unknown): number {
  const id: unknown = typeof record === 'object' && record !== null ? Reflect.get(record, 'id') : undefined;
  if (Array.isArray(record)) return Number.NaN;
  return typeof id === 'number' || typeof id === 'string' ? Number(id) : Number.NaN;
}

describe('records of a page', () => {
  it('become lines of the same bytes, wherever the body is cut', () => {
    fc.assert(
      fc.property(tokenPage, chunkSizes, (page, sizes) => {
        const { lines, scan } = scanChunks(cut(Buffer.from(page.page.join('')), sizes));
        expect(lines).toBe(compactLines(page));
        expect(scan.records).toBe(page.records.length);
        expect(scan.bytes).toBe(Buffer.byteLength(lines));
        expect(scan.largestRecord).toBe(
          Math.max(0, ...page.records.map((record) => Buffer.byteLength(record.join('')))),
        );
        expect(scan.utf8).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('lose only the white space between tokens', () => {
    fc.assert(
      fc.property(tokenPage, spaces, chunkSizes, (page, gaps, sizes) => {
        const { lines } = scanChunks(cut(Buffer.from(spaced(page.page, gaps)), sizes));
        expect(lines).toBe(compactLines(page));
      }),
      { numRuns: 300 },
    );
  });

  it('give their ids and the envelope as JSON.parse does', () => {
    fc.assert(
      fc.property(tokenPage, spaces, chunkSizes, (page, gaps, sizes) => {
        const text = spaced(page.page, gaps);
        const { scan } = scanChunks(cut(Buffer.from(text), sizes));
        const whole: unknown = JSON.parse(text);
        const data: unknown = page.isBare ? whole : Reflect.get(Object(whole), 'data');
        expect(scan.ids).toEqual(Array.isArray(data) ? data.map(parsedId) : []);
        expect(scan.hasData).toBe(true);
        const { data: _, ...envelope } = page.isBare ? {} : Object(whole);
        expect(JSON.stringify(scan.envelope)).toBe(JSON.stringify(envelope));
      }),
      { numRuns: 300 },
    );
  });

  it('are the same for a pretty page and a compact one', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), (records) => {
        const pretty = scanText(JSON.stringify({ data: records, meta: { total: 1 } }, null, 2));
        expect(pretty.lines).toBe(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
        expect(pretty.scan.envelope).toEqual({ meta: { total: 1 } });
      }),
    );
  });

  it('may be values other than objects', () => {
    const { lines, scan } = scanText('{"data": [1, "a", null, [true], {}]}');
    expect(lines).toBe('1\n"a"\nnull\n[true]\n{}\n');
    expect(scan.ids).toEqual([Number.NaN, Number.NaN, Number.NaN, Number.NaN, Number.NaN]);
  });

  it('may follow a byte order mark', () => {
    expect(scanText('\ufeff{"data":[{"id":5}]}').scan.ids).toEqual([5]);
  });

  it('are marked when their bytes are not UTF-8, and are kept as they are', () => {
    const body = Buffer.concat([
      Buffer.from('{"data":[{"vin":"a'),
      Buffer.from([0xe9]),
      Buffer.from('b"}]}'),
    ]);
    const { pieces, scan } = scanChunks([body]);
    expect(scan.utf8).toBe(false);
    expect(Buffer.concat(pieces).includes(0xe9)).toBe(true);
    expect(scanText('{"data":[{"vin":"aéb"}]}').scan.utf8).toBe(true);
  });
});

describe('records that are JSON but that DuckDB does not accept', () => {
  it.each([
    ['a member that stands twice', '{"id":1,"vin":"a","vin":"b"}'],
    [
      'a member that stands twice further in',
      '{"id":1,"lots":[{"id":1},{"id":2,"bid":1,"lot":"a","bid":1}]}',
    ],
    ['a member that stands twice under two spellings', '{"id":1,"vin":"a","v\\u0069n":"b"}'],
    ['an unknown member that stands twice', '{"id":1,"new":1,"year":2020,"new":2}'],
    ['the first half of a surrogate pair', '{"id":1,"title":"\\ud83d, and more"}'],
    ['the second half of a surrogate pair', '{"id":1,"title":"\\ude97, and more"}'],
    ['halves in the wrong order', '{"id":1,"title":"\\ude97\\ud83d, and more"}'],
    ['half a pair in a name', '{"id":1,"a\\ud83d":"and more"}'],
  ])('are marked, and kept as they are: %s', (_, record) => {
    for (const size of [1, 3, 1000]) {
      const { lines, scan } = scanChunks(cut(Buffer.from(`[{"id":0},${record}]`), [size]));
      expect(scan.irregular).toBe(true);
      expect(lines).toBe(`{"id":0}\n${record}\n`);
    }
  });

  it.each([
    ['the same member in two records', '{"id":1,"vin":"a"},{"id":2,"vin":"a"}'],
    ['the same member in two lots', '{"id":1,"lots":[{"id":1,"bid":1},{"id":2,"bid":1}]}'],
    ['names that differ by case', '{"id":1,"vin":"a","VIN":"a"}'],
    ['a whole pair', '{"id":1,"title":"\\ud83d\\ude97 \\uD83D\\uDE97"}'],
    ['what looks like half a pair', '{"id":1,"title":"\\\\ud83d, and more"}'],
  ])('are not found in %s', (_, records) => {
    for (const size of [1, 3, 1000])
      expect(scanChunks(cut(Buffer.from(`[${records}]`), [size])).scan.irregular).toBe(false);
  });
});

describe('an answer with one record instead of a list', () => {
  it('is a page of that record', () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          fc.string().filter((name) => !/^\d+$/.test(name)),
          fc.jsonValue(),
          { minKeys: 1 },
        ),
        chunkSizes,
        fc.constantFrom(0, 2),
        (record, sizes, space) => {
          const text = JSON.stringify({ before: 1, data: record, after: [2] }, null, space);
          const { lines, scan } = scanChunks(cut(Buffer.from(text), sizes));
          expect(lines).toBe(`${JSON.stringify(record)}\n`);
          expect(scan).toMatchObject({ hasData: true, records: 1, envelope: { before: 1, after: [2] } });
        },
      ),
      { numRuns: 60 },
    );
    expect(scanText('{"data":{"id":7}}').scan.ids).toEqual([7]);
  });

  it.each(['{"data":{"id":1},{"id":2}}', '{"data":{"id":1}]}', '{"data":{"id":1}}{}', '{"data":{"id":1} 2}'])(
    'is refused if more follows: %s',
    (text) => {
      expect(() => scanText(text)).toThrow(/malformed JSON at byte/);
    },
  );
});

describe('a list that is written as an object', () => {
  it.each([
    ['with the numbers from 0', '{"data":{"0":{"id":1},"1":{"id":2}},"meta":{}}', [1, 2]],
    ['with a gap', '{"meta":{},"data": { "0" : {"id":1} , "7": {"id":3} }}', [1, 3]],
    ['in place of the page', '{"0":{"id":5},"12":{"id":6}}', [5, 6]],
    ['without a member', '{"data":{ }}', []],
  ])('is the list of its values: %s', (_, text, ids) => {
    for (const size of [1, 3, 1000]) {
      const { lines, scan } = scanChunks(cut(Buffer.from(text), [size]));
      expect(lines).toBe(ids.map((id) => `{"id":${id}}\n`).join(''));
      expect(scan).toMatchObject({ hasData: true, records: ids.length, ids });
    }
  });

  it.each(['{"data":{"0":{"id":1}]}', '{"data":{"0" {"id":1}}}', '{"data":{"0":{"id":1},{"id":2}}}'])(
    'is refused if it is malformed: %s',
    (text) => {
      expect(() => scanText(text)).toThrow(/malformed JSON at byte/);
    },
  );
});

describe('a word in place of a number', () => {
  it.each(['NaN', '-NaN', 'Infinity', '-Infinity'])(
    'is kept in its record, which does not fit: %s',
    (word) => {
      const record = `{"id":1,"year":${word},"new":[${word}],"vin":"NaN"}`;
      for (const size of [1, 1000]) {
        const { lines, scan } = scanChunks(
          cut(Buffer.from(`{"meta":{"x":${word}},"data":[${record}]}`), [size]),
        );
        expect(lines).toBe(`${record}\n`);
        expect(scan).toMatchObject({ records: 1, ids: [1], irregular: true });
        expect(scan.misfits.map(({ path }) => path)).toEqual(['year']);
      }
    },
  );
});

describe('a page without a list of records', () => {
  it.each([
    [
      'an error in its place',
      '{"error":"search backend unavailable"}',
      { error: 'search backend unavailable' },
    ],
    ['data that is null', '{"data":null,"message":"none"}', { data: null, message: 'none' }],
    ['data that is a text', '{"data":"[]"}', { data: '[]' }],
    ['data deeper down', '{"result":{"data":[{"id":1}]}}', { result: { data: [{ id: 1 }] } }],
    ['nothing', '{}', {}],
  ])('is marked as one: %s', (_, text, envelope) => {
    for (const size of [1, 1000]) {
      const { lines, scan } = scanChunks(cut(Buffer.from(text), [size]));
      expect({ lines, records: scan.records, hasData: scan.hasData }).toEqual({
        lines: '',
        records: 0,
        hasData: false,
      });
      expect(scan.envelope).toEqual(envelope);
    }
  });

  it.each(['{"data":[]}', '[]', ' [ ] ', '{"links":{"next":null},"data":[ ]}'])(
    'is not the same as an empty list: %s',
    (text) => {
      expect(scanText(text).scan).toMatchObject({ hasData: true, records: 0 });
    },
  );
});

describe('a body that ends early', () => {
  const record = { id: 7, vin: 'é"\\🚗', lots: [{ id: 1.5e3, ok: true, none: null }] };
  const pages = [
    JSON.stringify({ links: { next: null }, data: [record, {}, record], meta: { total: 3, per_page: 3 } }),
    JSON.stringify([record, record]),
    JSON.stringify({ data: [record] }, null, 1),
    JSON.stringify({ data: record, message: 'found' }),
  ];

  it.each(pages)('is refused at whatever offset it ends: %#', (page) => {
    const bytes = Buffer.from(page);
    for (let end = 0; end < bytes.length; end++) {
      const part = bytes.subarray(0, end);
      expect(() => scanChunks([part]), `ends at ${end}`).toThrow(ScanError);
      expect(() => scanChunks(cut(part, [3])), `ends at ${end}, in small chunks`).toThrow(/ended early/);
    }
    expect(scanChunks([bytes]).scan.hasData).toBe(true);
  });

  it('is reported with the bytes and records that came', () => {
    expect(() => scanText('{"data":[{"id":1},{"id":2},{"id"')).toThrow(/after 32 bytes and 2 records/);
  });
});

describe('memory', () => {
  it('follows the chunk and the largest record, not the page', () => {
    const chunk = 64 << 10;
    const record = `${JSON.stringify({ id: 1, title: 'x'.repeat(900), lots: [] })},`;
    const body = Buffer.from(record.repeat(Math.ceil(chunk / record.length) + 1));
    const scanned = (function* () {
      yield Buffer.from('[');
      let sent = 0;
      for (let i = 0; i < 500; i++) {
        const from = sent % record.length;
        yield body.subarray(from, from + chunk);
        sent += chunk;
      }
      const rest = record.length - (sent % record.length);
      yield body.subarray(sent % record.length, (sent % record.length) + rest);
      yield Buffer.from('{}]');
    })();
    const { pieces, scan } = scanChunks(scanned);
    expect(scan.bytes).toBeGreaterThan(500 * chunk);
    const largest = Math.max(...pieces.map((piece) => Math.max(piece.length, piece.buffer.byteLength)));
    expect(largest).toBeLessThan(2 * chunk);
  });

  it('allows a page of many records to exceed the limit of one', () => {
    const records = Array.from({ length: 500 }, (_, id) => ({ id, vin: 'a'.repeat(800) }));
    const chunks = cut(Buffer.from(pageOf(records)), [700]);
    expect(scanChunks(chunks, { mostRecordBytes: 1000 }).scan.records).toBe(500);
  });
});
