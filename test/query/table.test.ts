import { describe, expect, it } from 'vitest';
import { fittedGrid, tableText } from '../../src/ask/query/table.js';

const columns = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `c${i}`, type: 'VARCHAR' }));
const lines = (text: string) => text.trimEnd().split('\n').slice(0, -1);

describe('a table', () => {
  it.each([30, 40, 60, 79, 80, 120])('fits %i characters', (width) => {
    const text = tableText(columns(3), [['a', 'b'.repeat(30), 'c'.repeat(90)]], 1, { rows: 40, width });
    const widths = lines(text).map((line) => line.length);
    expect(Math.max(...widths)).toBeLessThanOrEqual(width);
    expect(text).toContain('│ a ');
  });

  it('clips no more than necessary', () => {
    const text = tableText(columns(2), [['b'.repeat(20), 'c'.repeat(50)]], 1, { rows: 40, width: 60 });
    expect(text).toContain('b'.repeat(20));
    expect(lines(text)[0]?.length).toBe(60);
  });

  it('is vertical if not even clipped columns fit', () => {
    const wide = { rows: 40, width: 80 };
    const row = Array.from({ length: 20 }, () => 'long enough');
    expect(tableText(columns(20), [row], 1, wide)).toMatch(/^row 1\n {2}c0 {3}long enough\n/);
    expect(tableText(columns(20), [row], 1, { rows: 40, width: undefined })).toMatch(/^┌/);
  });
});

it('a fitted table wraps its last column at 120 characters', () => {
  const folder = 'landing/archived_lots/20261120T020007Z-27db95';
  const why = 'abandoned: page 17 could not be loaded in two runs '.repeat(3);
  const lines = fittedGrid(['folder', '>size', 'why'], [[folder, '12 MB', why]]).split('\n');
  expect(new Set(lines.map((line) => line.length))).toEqual(new Set([120]));
  expect(lines.filter((line) => line.includes(folder))).toHaveLength(1);
  expect(fittedGrid(['folder', 'why'], [['a', 'b']]).split('\n')[1]).toBe('│ folder │ why │');
});
