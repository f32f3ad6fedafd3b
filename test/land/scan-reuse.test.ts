import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { id } from '../../src/core/service/contract/field.js';
import * as Kind from '../../src/core/service/contract/kinds.js';
import { contractOf } from '../../src/core/service/contract/node.js';
import { type PageScan, PageScanner, ScanError } from '../../src/core/service/scan/scan-page.js';
import { MOST_DRIFT } from '../../src/core/service/scan/shape.js';
import { cut, pageOf, scanChunks, scanText, tokenPage, vehicleContract } from './support.js';

/** Sends pages through separate scanners, one chunk to each in turn. */
function interleaved(pages: readonly Buffer[], size: number): { scan: PageScan; lines: string }[] {
  const under = pages.map((page) => ({
    scanner: new PageScanner(vehicleContract),
    chunks: cut(page, [size]),
    pieces: [] as Buffer[],
  }));
  let open = [...under];
  while (open.length > 0) {
    open = open.filter(({ scanner, chunks, pieces }) => {
      const next = chunks.next();
      if (next.done !== true) pieces.push(scanner.push(next.value));
      return next.done !== true;
    });
  }
  return under.map(({ scanner, pieces }) => {
    pieces.push(scanner.flush());
    return { scan: scanner.finish(), lines: Buffer.concat(pieces).toString() };
  });
}

describe('scanners of several pages at a time', () => {
  it('give the same results as one page at a time', () => {
    fc.assert(
      fc.property(
        fc.array(tokenPage, { minLength: 2, maxLength: 6 }),
        fc.integer({ min: 1, max: 60 }),
        (pages, size) => {
          const bodies = pages.map((page) => Buffer.from(page.page.join('')));
          const alone = bodies.map((body) => scanChunks([body])).map(({ scan, lines }) => ({ scan, lines }));
          expect(interleaved(bodies, size)).toEqual(alone);
        },
      ),
      { numRuns: 150 },
    );
  });
});

describe('a scanner after another page', () => {
  const page = pageOf([
    { id: 1, lots: [] },
    { id: 2, year: null },
  ]);
  const fresh = scanText(page).scan;

  it.each([
    ['with drift', '[{"new":1,"id":1},{"id":1,"other":[],"lots":[{"id":2,"of":{"a":1}}]}]'],
    ['with misfits', '[{"id":"x","lots":{}},[],7]'],
    ['that was irregular', '[{"id":1,"id":2,"vin":"\\ud800"}]'],
    ['that was malformed', '[{"id":1,"new":tru}]'],
    ['that ended early', '[{"id":1,"new":["'],
    ['that was nested too deeply', `[{"id":1,"new":${'['.repeat(100_000)}`],
    ['of another order', '[{"lots":[],"vin":"a","id":1}]'],
  ])('keeps nothing of it: %s', (_, before) => {
    try {
      scanText(before);
    } catch (error) {
      expect(error).toBeInstanceOf(ScanError);
    }
    expect(scanText(page).scan).toEqual(fresh);
  });

  it('reports drift in the order of its own page', () => {
    const paths = (text: string): string[] => scanText(text).scan.drift.map((drift) => drift.path);
    expect(paths('[{"id":1,"a":1,"b":1}]')).toEqual(['a', 'b']);
    expect(paths('[{"id":1,"b":1,"a":1}]')).toEqual(['b', 'a']);
    expect(paths('[{"id":1,"c":1}]')).toEqual(['c']);
  });

  it('takes the id from the last member of the key', () => {
    const keys = [['id'], ['id', 'year'], [], ['id']];
    const contracts = keys.map((names) =>
      contractOf(z.looseObject(Object.fromEntries(names.map((name) => [name, id('Key.')])))),
    );
    const ids = contracts.map((contract) => scanText('[{"id":1,"year":2020}]', contract).scan.ids);
    expect(ids).toEqual([[1], [2020], [Number.NaN], [1]]);
  });
});

describe('a finished page', () => {
  it('gives the same result again and accepts no more bytes', () => {
    const scanner = new PageScanner(vehicleContract);
    scanner.push(Buffer.from('[{"id":1,"new":2}]'));
    const scan = scanner.finish();
    expect(scanText('[{"id":5}]').scan.ids).toEqual([5]);
    expect(scanner.finish()).toBe(scan);
    expect(() => scanner.push(Buffer.from(' '))).toThrow(TypeError);
  });

  it('stays refused after an error', () => {
    const scanner = new PageScanner(vehicleContract);
    expect(() => scanner.push(Buffer.from('[{"id":x}]'))).toThrow(/malformed JSON at byte 7/);
    expect(scanText('[{"id":5}]').scan.ids).toEqual([5]);
    expect(() => scanner.push(Buffer.from('[]'))).toThrow(/malformed JSON at byte 7/);
    expect(() => scanner.finish()).toThrow(/malformed JSON at byte 7/);
  });
});

describe('memory', () => {
  it('grows for a record larger than all before it, and serves small ones afterwards', () => {
    const large = JSON.stringify({ id: 1, title: 'é'.repeat(4 << 20), details: ['"\\'.repeat(1 << 20)] });
    const body = Buffer.from(`[{"id":0},${large},{"id":2}]`);
    for (const size of [1 << 16, 3 << 20, body.length]) {
      const { lines, scan } = scanChunks(cut(body, [size]), { mostRecordBytes: 64 << 20 });
      expect(lines === `{"id":0}\n${large}\n{"id":2}\n`).toBe(true);
      expect(scan.ids).toEqual([0, 1, 2]);
    }
    expect(scanText('[{"id":5}]').scan.ids).toEqual([5]);
  });

  it('grows for unknown names, in the middle of a record', () => {
    const names = Array.from({ length: 20_000 }, (_, i) => `name ${i}`);
    const object = `{${names.map((name) => `"${name}":1`).join(',')}}`;
    const body = Buffer.from(
      `[{"id":1},{"id":2,"manufacturer":${object}},{"id":3,"manufacturer":${object}}]`,
    );
    for (const size of [50_000, body.length]) {
      const { scan } = scanChunks(cut(body, [size]));
      expect(scan.drift).toEqual(
        names
          .slice(0, MOST_DRIFT + 1)
          .map((name) => ({ path: `manufacturer.${name}`, kinds: Kind.REAL, firstRecord: 1 })),
      );
      expect([scan.ids, scan.irregular, scan.misfits]).toEqual([[1, 2, 3], false, []]);
    }
  });

  it('is released by pages that break off', () => {
    const count = 1500;
    for (let i = 0; i < count; i++) new PageScanner(vehicleContract).push(Buffer.from('[{"id":1,"new":"'));
    // Each scan has more than 256 KiB. If all of them kept theirs, it would be twice as much.
    expect(process.memoryUsage().external).toBeLessThan((count << 18) / 2);
  });

  it('does not follow the number of pages', () => {
    const before = process.memoryUsage().external;
    for (let i = 0; i < 5000; i++) scanText(`[{"id":1,"name ${i}":1}]`);
    expect(process.memoryUsage().external - before).toBeLessThan(64 << 20);
  });
});

describe('nesting', () => {
  const nested = (depth: number): string => `${'[{"a":'.repeat(depth / 2)}1${'}]'.repeat(depth / 2)}`;

  it.each([
    ['in a member that is not known', (inner: string) => `[{"id":1,"new":${inner}}]`],
    ['in a value that is kept whole', (inner: string) => `[{"id":1,"lots":[{"id":1,"details":${inner}}]}]`],
    ['in the envelope', (inner: string) => `{"meta":${inner},"data":[{"id":1}]}`],
  ])('is taken to a depth of 12000 and refused when it does not end: %s', (_, page) => {
    for (const size of [5000, 1 << 20])
      expect(scanChunks(cut(Buffer.from(page(nested(12_000))), [size])).scan.ids).toEqual([1]);
    expect(() => scanText(page(nested(200_000)))).toThrow(/record 0 of the page is nested too deeply/);
    expect(() => scanText(page('['.repeat(200_000)))).toThrow(/record 0 of the page is nested too deeply/);
  });

  it('is closed by the brackets that opened it', () => {
    for (const inner of ['[[1}]', '[{"a":1]}', '{"a":[1}]', '[[1],]', '{"a":{}', '[{]}', '[1 2]', '{"a":1,}'])
      expect(() => scanText(`[{"id":1,"new":${inner}}]`)).toThrow(/malformed JSON/);
  });
});
