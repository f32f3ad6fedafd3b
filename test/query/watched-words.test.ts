import { expect, it } from 'vitest';
import { matchText } from '../../src/ask/query/watched.js';

it.each([
  [
    { lot: '12', domain_name: 'iaai_com', currency: 'USD', estimate: 1969.4, low_80: 1500, high_80: 2500 },
    'lot 12 of iaai_com, estimate 1,969 USD (80 % from 1,500 to 2,500)',
  ],
  [{ lot: '12', estimate: 1969 }, 'lot 12, estimate 1,969'],
  [{ lot: 12, year: 2020, bid: 100, currency: null }, '2020, lot 12, bid 100'],
  [{ lot: '12', low_80: 1, high_80: null, estimate: null }, 'lot 12'],
  [
    { lot: null, lot_id: 3, at: new Date('2026-11-20T04:00:00.000Z') },
    'lot none, lot_id 3, at 2026-11-20 04:00:00 UTC',
  ],
  [{ lot_id: 3, n: undefined, found: { a: [1] } }, 'lot_id 3, n none, found {"a":[1]}'],
])('%j is told without what it lacks', (row, text) => {
  expect(matchText(row)).toBe(text);
});
