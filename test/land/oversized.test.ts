import { describe, expect, it } from 'vitest';
import { MOST_RECORD_BYTES, PageScanner } from '../../src/core/service/scan/scan-page.js';
import { cut, scanChunks, spaced, vehicleContract } from './support.js';

const LIMIT = 400;
const scan = (body: string, size = body.length) =>
  scanChunks(cut(Buffer.from(body), [size]), { mostRecordBytes: LIMIT });

/** Sizes of chunks that cut a body at every critical position. */
const SIZES = [1, 3, 97, LIMIT, LIMIT + 1, 10_000];

const long = 'x'.repeat(2 * LIMIT);
const beginning = (record: string): string => JSON.stringify(record.slice(0, LIMIT / 4));

describe('a record past the limit', () => {
  it.each([
    ['a long text', `{"id":7,"title":"${long}"}`],
    ['a text with quotes and brackets', `{"id":7,"title":"${'\\"}],{[\\\\'.repeat(LIMIT)}"}`],
    ['many values', `{"id":7,"lots":[${'{"id":1,"prices":[{},[]]},'.repeat(LIMIT)}{}]}`],
    ['white space', `{"id":7,${' \n'.repeat(LIMIT)}"title":"a"}`],
    ['a number without end', `{"id":7,"year":${'9'.repeat(2 * LIMIT)}}`],
  ])('becomes a line with its beginning, wherever the body is cut: %s', (_, record) => {
    for (const size of SIZES) {
      const { lines, scan: page } = scan(`{"data":[{"id":1},${record},{"id":3}],"meta":{"total":3}}`, size);
      expect(lines).toBe(`{"id":1}\n${beginning(record)}\n{"id":3}\n`);
      expect(page).toMatchObject({ records: 3, ids: [1, 7, 3], largestRecord: 8, bytes: lines.length });
      expect(page.oversized).toEqual([{ position: 1, id: 7, bytes: record.length, most: LIMIT }]);
      expect(page.envelope).toEqual({ meta: { total: 3 } });
    }
  });

  it.each([
    ['alone in a list', (record: string) => `[${record}]`, [0]],
    ['alone in a page', (record: string) => `{"data":[${record}],"links":{"next":null}}`, [0]],
    ['instead of a list', (record: string) => `{"data":${record},"message":"found"}`, [0]],
    ['last', (record: string) => `[{"id":1},${record}]`, [1]],
    ['after another', (record: string) => `[${record},${record}]`, [0, 1]],
  ])('may stand %s', (_, body, positions) => {
    const record = `{"id":7,"title":"${long}"}`;
    for (const size of SIZES) {
      const { scan: page } = scan(body(record), size);
      expect(page.oversized).toEqual(
        positions.map((position) => ({ position, id: 7, bytes: record.length, most: LIMIT })),
      );
      expect(page.hasData).toBe(true);
    }
  });

  it('may be a value other than an object', () => {
    for (const record of [`"${long}"`, `[${'1,'.repeat(LIMIT)}1]`, '1'.repeat(2 * LIMIT)])
      for (const size of SIZES) {
        const { lines, scan: page } = scan(`[{"id":1},${record},{"id":3}]`, size);
        expect(lines).toBe(`{"id":1}\n${beginning(record)}\n{"id":3}\n`);
        expect(page.ids).toEqual([1, Number.NaN, 3]);
      }
  });

  it('has no id if the id follows the part that was read', () => {
    const { scan: page } = scan(`[{"id":1},{"title":"${long}","id":7}]`, 50);
    expect(page.ids).toEqual([1, Number.NaN]);
    expect(page.oversized).toMatchObject([{ id: null }]);
  });

  it('may exceed the limit by one byte, whatever follows', () => {
    const sized = (bytes: number): string => `{"id":7,"title":"${'y'.repeat(bytes - 19)}"}`;
    for (const gap of ['', ' '.repeat(LIMIT / 2)])
      for (const size of SIZES) {
        const body = (bytes: number): string =>
          spaced(['[', sized(bytes), ',', '{"id":2}', ']'], ['', '', gap]);
        expect(scan(body(LIMIT), size).scan).toMatchObject({ oversized: [], largestRecord: LIMIT });
        expect(scan(body(LIMIT + 1), size).scan).toMatchObject({ oversized: [{ position: 0, id: 7 }] });
      }
  });

  it('is malformed if the page ends within it', () => {
    for (const body of [`[{"id":7,"title":"${long}`, `[{"id":7,"title":"${long}"}`, `[{"a":"${long}"}}`])
      for (const size of SIZES) expect(() => scan(body, size)).toThrow(/ended early|malformed/);
  });

  it('takes no more memory than one within the limit, however long it is', () => {
    const chunk = Buffer.alloc(1 << 18, 'z');
    const scanner = new PageScanner(vehicleContract);
    scanner.push(Buffer.from('{"data":[{"id":1},{"id":2,"title":"'));
    const before = process.memoryUsage();
    for (let i = 0; i < 280; i++) scanner.push(chunk);
    const after = process.memoryUsage();
    expect(after.external + after.heapUsed - before.external - before.heapUsed).toBeLessThan(
      3 * MOST_RECORD_BYTES,
    );
    scanner.push(Buffer.from('"},{"id":3}]}'));
    expect(scanner.finish()).toMatchObject({ ids: [1, 2, 3], oversized: [{ position: 1, id: 2 }] });
  });
});

describe('bytes outside of records', () => {
  it.each([
    ['white space between records', `[{"id":1}${' '.repeat(3 * LIMIT)},{"id":2}]`],
    ['white space before the first', `[${' '.repeat(3 * LIMIT)}{"id":2}]`],
    ['a member of the envelope', `{"meta":"${'x'.repeat(3 * LIMIT)}","data":[]}`],
  ])('are limited as well: %s', (_, body) => {
    expect(() => scan(body, 50)).toThrow(/bytes that belong to no record/);
  });
});
