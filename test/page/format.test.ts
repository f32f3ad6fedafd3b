import { describe, expect, it } from 'vitest';
import { fill, valueIn } from '../../src/ask/page/format.js';

const row = { name: 'ford_focus_rs', price: 12_345.6, currency: 'USD', values: 3, share: null, apart: null };

describe('a text of the report', () => {
  it('holds values of a row, each in its format', () => {
    expect(fill('{words name}: {money price}, {name}', row)).toBe('ford focus rs: $12,346, ford_focus_rs');
    expect(fill('{label:5 name}', row)).toBe('ford…');
  });

  it('says that a figure without a value is unknown, or how few values there are', () => {
    expect(fill('{percent share}', row)).toBe('–');
    expect(fill('{percent share}', { share: -0.0001 })).toBe('0.0%');
    expect(fill('{percent share of values}', row)).toBe('too few (3)');
  });

  it('leaves out a bracketed part if a value in it is null', () => {
    expect(fill('{words name}[, {apart}][ ({values})]', row)).toBe('ford focus rs (3)');
    expect(fill('[{percent share of values}][{apart}]', row)).toBe('too few (3)');
  });

  it('throws for an unknown column or format', () => {
    expect(() => fill('{prise}', row)).toThrow('no column prise');
    expect(() => fill('{monney price}', row)).toThrow('no format monney');
  });
});

describe('the value of a cell', () => {
  it('is the number of its one column, or a time; a mark is no value, and a text of several columns is none', () => {
    const row = {
      low: 6340,
      high: 9000,
      weak: 'far off',
      at: new Date('2026-11-20T16:30:00Z'),
      year: 2025,
      make: 'Ford',
    };
    expect(valueIn('[{mark weak}]{money low}', row)).toBe(6340);
    expect(valueIn('[{money low} and {money high}]', row)).toBeNull();
    expect(valueIn('[{text year} ][{label:24 make}]', row)).toBeNull();
    expect(valueIn('[{instant at}]', row)).toBe('2026-11-20T16:30:00.000Z');
    expect(valueIn('{text make}', row)).toBeNull();
  });
});
