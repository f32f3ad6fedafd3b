import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { id, isTimestamp, number, text, timestamp } from '../../src/core/service/contract/field.js';
import * as Kind from '../../src/core/service/contract/kinds.js';
import { contractOf } from '../../src/core/service/contract/node.js';
import { cut, scanChunks, scanText, vehicleContract } from './support.js';

/** Lengths that span several lanes of 16 bytes, from every position in a lane. */
const LENGTHS = Array.from({ length: 70 }, (_, length) => length);

/** Whether the scanner accepts a body in one piece. */
function isTaken(body: Uint8Array): boolean {
  try {
    scanChunks([body]);
    return true;
  } catch {
    return false;
  }
}

describe('texts', () => {
  it('may hold every byte except the quote, the backslash and control characters, at any place', () => {
    for (let byte = 0; byte < 256; byte++) {
      const isPlain = byte >= 0x20 && byte !== 0x22 && byte !== 0x5c;
      const wrong = LENGTHS.filter((before) => {
        const body = Buffer.from(`[{"id":1,"title":"${'a'.repeat(before)}?${'x'.repeat(40)}"}]`);
        body[body.indexOf('?')] = byte;
        return isTaken(body) !== isPlain;
      });
      expect([byte, wrong]).toEqual([byte, []]);
    }
  });

  it('end at their quote, at any length and place', () => {
    for (const before of LENGTHS.slice(0, 18))
      for (const length of LENGTHS) {
        const record = `{"${'k'.repeat(before)}":1,"title":"${'é'.repeat(length >> 1)}${'a'.repeat(length & 1)}"}`;
        expect(scanText(`[${record},${record}]`).lines).toBe(`${record}\n${record}\n`);
      }
  });

  it.each(['\\"', '\\\\', '\\u0022', '\\ud83d\\ude97', '\\\\\\"'])(
    'may hold an escape at any place, however the body is cut: %s',
    (token) => {
      for (const before of LENGTHS.slice(0, 36)) {
        const record = `{"id":1,"title":"${'a'.repeat(before)}${token}","vin":"${token}"}`;
        const body = Buffer.from(`[${record}]`);
        for (const size of [1, 7, 16, 1000]) {
          const { lines, scan } = scanChunks(cut(body, [size]));
          expect([lines, scan.irregular]).toEqual([`${record}\n`, false]);
        }
      }
    },
  );
});

describe('surrogates', () => {
  const units = ['d7ff', 'd800', 'DBFF', 'dc00', 'de97', 'DFFF', 'e000', '0041'];

  it('are regular only when the first half stands before the second', () => {
    for (const first of units)
      for (const second of units)
        for (const between of ['', 'a', '\\n', '\\\\']) {
          const text = `"\\u${first}${between}\\u${second}"`;
          const value: string = JSON.parse(text);
          const isRegular = Buffer.from(value).toString() === value;
          expect([text, scanText(`[{"id":1,"title":${text}}]`).scan.irregular]).toEqual([text, !isRegular]);
        }
  });
});

describe('timestamps', () => {
  const CHARACTERS = Array.from({ length: 95 }, (_, i) => String.fromCharCode(0x20 + i)).filter(
    (character) => character !== '"' && character !== '\\',
  );
  const contract = contractOf(
    z.looseObject(Object.fromEntries(CHARACTERS.map((_, i) => [`t${i}`, timestamp('Any time.')]))),
  );

  it.each([
    '2026-08-17T20:00:00.000000Z',
    '2026-12-31 23:59:59',
    '2024-01-30T09:15:00+14:00',
    '0010-10-20T10:59:59-09:30',
    '2026-02-28T00:00:00+00:59',
  ])('are recognized at every place as the contract does: %s', (moment) => {
    for (let place = 0; place <= moment.length; place++) {
      const others = CHARACTERS.map((other) => moment.slice(0, place) + other + moment.slice(place + 1));
      const record = `{${others.map((other, i) => `"t${i}":"${other}"`).join(',')}}`;
      const misfits = new Set(scanText(`[${record}]`, contract).scan.misfits.map(({ path }) => path));
      const taken = others.filter((_, i) => !misfits.has(`t${i}`));
      expect(taken).toEqual(others.filter((other) => isTimestamp(other)));
    }
  });
});

describe('numbers', () => {
  it('may have any count of digits', () => {
    const contract = contractOf(z.looseObject({ n: number('Any number.') }));
    const kindOf = (token: string): number =>
      scanText(`[{"n":null},{"n":${token}},{"n":{}}]`, contract).scan.misfits[0]?.kinds ?? 0;
    const always = Kind.NULL | Kind.OBJECT;
    for (const digits of LENGTHS.slice(1)) {
      const whole = '7'.repeat(digits);
      expect(kindOf(whole)).toBe(always | (digits <= 15 ? Kind.INTEGER : Kind.LONG_INTEGER));
      expect(kindOf(`-${whole}`)).toBe(kindOf(whole));
      expect(kindOf(`${whole}.${whole}`)).toBe(always | Kind.REAL);
      expect(kindOf(`${whole}.5e-${whole}`)).toBe(always | Kind.EXPONENT);
      expect(kindOf(`"${whole}"`)).toBe(always | (digits <= 15 ? Kind.INTEGER_TEXT : Kind.TEXT));
      expect(kindOf(`"-${whole}.${whole}"`)).toBe(always | (digits <= 15 ? Kind.REAL_TEXT : Kind.TEXT));
      expect(kindOf(`"${whole}x"`)).toBe(always | Kind.TEXT);
    }
    for (const fraction of ['', '.5']) {
      expect(kindOf('7'.repeat(300) + fraction)).toBe(always | (fraction ? Kind.REAL : Kind.LONG_INTEGER));
      expect(kindOf('7'.repeat(301) + fraction)).toBe(always | Kind.EXPONENT);
    }
  });

  it('are read as ids of any length', () => {
    const ids = [...LENGTHS.slice(1, 40).map((digits) => '987654321'.repeat(5).slice(0, digits)), '0', '-0'];
    const records = ids.flatMap((digits) => [
      `{"id":${digits}}`,
      `{"id":"${digits}"}`,
      `{"id":"-${digits}"}`,
    ]);
    const expected = ids.flatMap((digits) => [
      Number(digits),
      Number(digits),
      digits === '0' ? -0 : Number.NaN,
    ]);
    const negated = records.map((record, place) => [record, expected[place]] as const);
    const allowed = negated.filter(([record]) => !record.includes('--'));
    expect(scanText(`[${allowed.map(([record]) => record).join(',')}]`).scan.ids).toEqual(
      allowed.map(([, number]) => number),
    );
    for (const text of ['', '-', '1x', 'x1', '1 ', '1.5', '--1', '1'.repeat(40).concat('x')])
      expect(scanText(`[{"id":"${text}"}]`).scan.ids).toEqual([Number.NaN]);
  });
});

describe('names', () => {
  const drift = (name: string): string[] =>
    scanText(`[{"id":1},{${JSON.stringify(name)}:1}]`).scan.drift.map(({ path }) => path);

  it('match the contract only if every byte is the same', () => {
    for (const name of vehicleContract.members.keys()) {
      expect(drift(name)).toEqual([]);
      const others = [`${name}_`, `_${name}`, name.slice(0, -1), name.toUpperCase(), `${name}\u0000`];
      for (let i = 0; i < name.length; i++) others.push(`${name.slice(0, i)}~${name.slice(i + 1)}`);
      for (const other of others) expect(drift(other)).toEqual([other]);
    }
  });

  it('may be of any length', () => {
    for (const length of LENGTHS.slice(1)) {
      const name = 'n'.repeat(length);
      const contract = contractOf(z.looseObject({ [name]: text('Any text.') }));
      const other = `${name.slice(1)}m`;
      const records = `{"${name}":"a"},{"${name}":[],"${other}":1},{"${other}":1,"${name}":null},{"${name}":"a"}`;
      const { scan, lines } = scanText(`[${records}]`, contract);
      expect(scan.misfits.map(({ path }) => path)).toEqual([name]);
      expect(scan.drift).toEqual([{ path: other, kinds: Kind.REAL, firstRecord: 1 }]);
      expect(lines).toBe(`${records.replaceAll('},{', '}\n{')}\n`);
    }
  });

  it('may be in any order and incomplete', () => {
    const contract = contractOf(
      z.looseObject({ id: id('Key.'), a: text('A.'), b: text('B.'), c: text('C.') }),
    );
    const names = ['id', 'a', 'b', 'c', 'd'];
    const records = Array.from({ length: 200 }, (_, i) => {
      const some = names.filter((_, bit) => ((i * 7) >> bit) & 1);
      const turned = [...some.slice(i % 5), ...some.slice(0, i % 5)];
      return `{${turned.map((name) => `"${name}":${name === 'id' ? 1 : '"x"'}`).join(',')}}`;
    });
    const { scan } = scanText(`[${records.join(',')}]`, contract);
    expect(scan.drift.map(({ path }) => path)).toEqual(['d']);
    expect(scan.misfits).toEqual([{ path: '', kinds: Kind.OBJECT | Kind.MISSING }]);
    expect(scan.irregular).toBe(false);
  });
});

describe('a body cut into two at every byte', () => {
  const record =
    '{"id":2553571660,"vin":"é\\"\\\\🚗\\ud83d\\ude97","year":"2020","title":1.5e3,"new":[null,{"a":[]}],' +
    '"lots":[{"id":-1.25,"bid":12345678901234567890,"sale_date":"2026-08-17T20:00:00.000000Z",' +
    '"updated_at":"2026-09-09 19:37:39","keys_available":true,"details":{"x":[1,false]}},{"id":"2"}]}';

  it.each([
    `{"data":[${record},${record}],"meta":{"total":2}}`,
    JSON.stringify({ links: null, data: [JSON.parse(record)] }, null, 2),
  ])('gives the same as in one piece: %#', (page) => {
    const body = Buffer.from(page);
    const whole = scanChunks([body]);
    expect(whole.scan.drift.length).toBe(1);
    for (let at = 0; at <= body.length; at++) {
      const { scan, lines } = scanChunks([body.subarray(0, at), body.subarray(at)]);
      expect({ at, scan, lines }).toEqual({ at, scan: whole.scan, lines: whole.lines });
    }
  });
});
