import { describe, expect, it } from 'vitest';
import { fill } from '../../src/ask/report/format.js';

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
