import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { boundOf } from '../../src/beyond/iceberg/bounds.js';

/** Characters at the points where the order or the number of bytes changes. */
const CHARACTERS = fc.constantFrom(
  '\u0000',
  'a',
  '\u007f',
  'é',
  '\ud7ff',
  '\ue000',
  '\uffff',
  '\u{10000}',
  '\u{10ffff}',
);

const text = (values: string[], side: 'lower' | 'upper'): string | undefined =>
  boundOf(values, 'string', side)?.toString();

describe('the bound of a text column', () => {
  it('keeps 16 characters, and still bounds all values', () => {
    expect(text(['abcdefghijklmnop'], 'upper')).toBe('abcdefghijklmnop');
    expect(text(['abcdefghijklmnopq'], 'lower')).toBe('abcdefghijklmnop');
    expect(text(['abcdefghijklmnopq'], 'upper')).toBe('abcdefghijklmnoq');
  });

  it('counts characters outside the basic plane as one, and has none above the last character', () => {
    const last = '\u{10ffff}';
    expect(text([`${'a'.repeat(15)}${last}x`], 'upper')).toBe(`${'a'.repeat(14)}b`);
    expect(text([last.repeat(17)], 'upper')).toBeUndefined();
    expect(text([last.repeat(17)], 'lower')).toBe(last.repeat(16));
    expect(text([`${'a'.repeat(15)}\ud7ffx`], 'upper')).toBe(`${'a'.repeat(15)}\ue000`);
  });

  it('compares as UTF-8 does', () => {
    expect(text(['\u{1f600}', '\uff5e'], 'upper')).toBe('\u{1f600}');
    expect(text(['\u{1f600}', '\uff5e'], 'lower')).toBe('\uff5e');
  });

  it('holds for any texts', () => {
    const texts = fc.array(fc.string({ unit: CHARACTERS, maxLength: 24 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(texts, (values) => {
        const [lower, upper] = [boundOf(values, 'string', 'lower'), boundOf(values, 'string', 'upper')];
        return values
          .map((value) => Buffer.from(value))
          .every(
            (value) =>
              (lower === undefined || lower.compare(value) <= 0) &&
              (upper === undefined || upper.compare(value) >= 0),
          );
      }),
    );
  });
});

describe('the bound of a column of numbers, instants or days', () => {
  it('is little-endian and keeps the sign', () => {
    expect(boundOf(['-5', '3', '10'], 'long', 'lower')?.readBigInt64LE()).toBe(-5n);
    expect(boundOf(['-5', '3', '10'], 'long', 'upper')?.readBigInt64LE()).toBe(10n);
    expect(boundOf(['9223372036854775807'], 'long', 'upper')?.readBigInt64LE()).toBe(9223372036854775807n);
    expect(boundOf(['-2.5', '1e300'], 'double', 'lower')?.readDoubleLE()).toBe(-2.5);
    expect(boundOf(['1969-12-31'], 'date', 'lower')?.readInt32LE()).toBe(-1);
    expect(boundOf(['false', 'true'], 'boolean', 'upper')).toEqual(Buffer.from([1]));
  });

  it('includes both zeros, which readers distinguish and SQL does not', () => {
    expect(Object.is(boundOf(['0.0'], 'double', 'lower')?.readDoubleLE(), -0)).toBe(true);
    expect(Object.is(boundOf(['-0.0'], 'double', 'upper')?.readDoubleLE(), 0)).toBe(true);
  });

  it('has the microseconds of an instant, before 1970 too', () => {
    const micros = (value: string) => boundOf([value], 'timestamptz', 'upper')?.readBigInt64LE();
    expect(micros('2026-11-01 08:34:32.000001+00')).toBe(1793522072000001n);
    expect(micros('1969-12-31 23:59:59.5+00')).toBe(-500000n);
  });

  it('is missing for NaN, infinities and dates before Christ, and for a file without values', () => {
    expect(boundOf(['nan'], 'double', 'upper')).toBeUndefined();
    expect(boundOf(['inf'], 'double', 'upper')).toBeUndefined();
    expect(boundOf(['infinity'], 'timestamptz', 'upper')).toBeUndefined();
    expect(boundOf(['0044-03-15 (BC)'], 'date', 'lower')).toBeUndefined();
    expect(boundOf([], 'long', 'lower')).toBeUndefined();
  });
});
