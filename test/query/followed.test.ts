import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type CarLot, eventsOf, follow, followedCars } from '../../src/ask/query/followed.js';
import { readConfig } from '../../src/base/config/config.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const LOT: CarLot = {
  ...{ lot_id: 7, lot: '61234567', domain_id: 3, domain_name: 'copart_com', link: null, archived: false },
  ...{ sale_date: '2026-11-24T15:00:00.000Z', bid: 1500, buy_now: null, currency: 'USD' },
  ...{ outcome: null, amount: null, sold_at: null },
};
const SINCE = '2026-11-23T04:00:00.000Z';
const LATER = '2026-11-26T15:00:00.000Z';
const told = (then: Partial<CarLot>, now: Partial<CarLot>): string[] =>
  eventsOf([{ ...LOT, ...then }], [{ ...LOT, ...now }], SINCE).map(({ event, text }) => `${event}: ${text}`);

describe('a lot of a followed car', () => {
  it.each<[string, Partial<CarLot>, Partial<CarLot>, string[]]>([
    ['did not change', {}, {}, []],
    ['got a date', { sale_date: null }, {}, ['date_set: auction set for 2026-11-24 15:00 UTC']],
    [
      'was moved',
      {},
      { sale_date: LATER },
      ['date_moved: auction moved to 2026-11-26 15:00 UTC, from 2026-11-24 15:00 UTC'],
    ],
    [
      'lost its date',
      {},
      { sale_date: null },
      ['date_taken_back: no auction any more; it was 2026-11-24 15:00 UTC'],
    ],
    ['has its first bid', { bid: null }, {}, ['bid: bid 1,500 USD']],
    ['has a higher bid', {}, { bid: 2000.4 }, ['bid: bid 2,000 USD, was 1,500 USD']],
    ['has a lower bid', {}, { bid: 900 }, ['bid: bid 900 USD, was 1,500 USD']],
    ['has no bid any more', {}, { bid: null }, []],
    ['got a Buy Now price', {}, { buy_now: 4000 }, ['buy_now: Buy Now 4,000 USD']],
    ['has another one', { buy_now: 4500 }, { buy_now: 4000 }, ['buy_now: Buy Now 4,000 USD, was 4,500 USD']],
    ['lost it', { buy_now: 4500 }, {}, ['buy_now_taken_back: no Buy Now any more; it was 4,500 USD']],
    [
      'asks less at source 12',
      { domain_id: 12, buy_now: 9, currency: null },
      { domain_id: 12, buy_now: 8, currency: null },
      ['buy_now: asking price 8, was 9'],
    ],
    [
      'was sold',
      {},
      { archived: true, outcome: 'sold', amount: 2500 },
      ['result: sold for 2,500 USD', 'left: no longer listed'],
    ],
    ['was sold for nobody knows what', {}, { outcome: 'sold' }, ['result: sold, for an unknown price']],
    ['was not sold', {}, { outcome: 'not_sold', amount: 2100 }, ['result: not sold at 2,100 USD']],
    [
      'waits for its seller',
      {},
      { outcome: 'on_approval', amount: 2100 },
      ['result: on approval at 2,100 USD'],
    ],
    [
      'has a corrected result',
      { outcome: 'sold', amount: 2400 },
      { outcome: 'sold', amount: 2500 },
      ['result: sold for 2,500 USD'],
    ],
    ['left without a result', {}, { archived: true }, ['left: no longer listed']],
    [
      'came back',
      { archived: true },
      { sale_date: LATER, bid: null, buy_now: 3000 },
      ['on_offer_again: on offer again, auction 2026-11-26 15:00 UTC, Buy Now 3,000 USD'],
    ],
    ['stays away', { archived: true }, { archived: true, bid: 99 }, []],
    [
      'has several news',
      { sale_date: null, bid: null },
      { buy_now: 10 },
      ['date_set: auction set for 2026-11-24 15:00 UTC', 'bid: bid 1,500 USD', 'buy_now: Buy Now 10 USD'],
    ],
  ])('that %s', (_, then, now, events) => expect(told(then, now)).toEqual(events));

  it('is new, is the next one of the car, or is of another car now', () => {
    const texts = (then: CarLot[], now: CarLot[]) => eventsOf(then, now, SINCE).map(({ text }) => text);
    const next = { ...LOT, lot_id: 8, lot: '7' };
    expect(texts([], [LOT])).toEqual(['listed, auction 2026-11-24 15:00 UTC, bid 1,500 USD']);
    expect(texts([LOT], [LOT, next])).toEqual([
      'on offer again, auction 2026-11-24 15:00 UTC, bid 1,500 USD',
    ]);
    expect(texts([LOT], [])).toEqual(['the lake has it under this car no more']);
  });

  it('tells a result that is of these days, again if another auction brought the same, and none of years ago', () => {
    const sold = {
      ...LOT,
      archived: true,
      outcome: 'not_sold',
      amount: 5,
      sold_at: '2026-11-22T15:00:00.000Z',
    };
    const texts = (then: CarLot[], now: CarLot[]) => eventsOf(then, now, SINCE).map(({ text }) => text);
    expect(texts([], [sold])).toEqual(['not sold at 5 USD']);
    expect(texts([], [{ ...sold, sold_at: '2024-11-22T15:00:00.000Z' }])).toEqual([]);
    expect(texts([sold], [{ ...sold, sold_at: '2026-11-22T16:00:00.000Z' }])).toEqual([]);
    expect(texts([sold], [{ ...sold, sold_at: '2026-11-29T15:00:00.000Z' }])).toEqual(['not sold at 5 USD']);
  });
});

describe('the list of followed cars', () => {
  const config = readConfig({ output: folder.path }, { env: {}, cwd: folder.path });
  const path = join(folder.path, 'followed.json');

  it('takes a car once, and lets it go', () => {
    expect(followedCars(config)).toEqual([]);
    expect(follow(config, { vin: 'A' }, true)).toBe(true);
    expect(follow(config, { vin: 'A' }, true)).toBe(false);
    expect(follow(config, { lot: '1' }, true)).toBe(true);
    expect(follow(config, { lot: '1', domain_id: 3 }, true)).toBe(true);
    expect(follow(config, { vin: 'B' }, false)).toBe(false);
    expect(followedCars(config)).toEqual([{ vin: 'A' }, { lot: '1' }, { lot: '1', domain_id: 3 }]);
    expect(follow(config, { lot: '1' }, false)).toBe(true);
    expect(followedCars(config)).toEqual([{ vin: 'A' }]);
    expect(follow(config, { lot: '2', domain_id: 3 }, true)).toBe(true);
    expect(follow(config, { lot: '2', domain_id: 1 }, false)).toBe(false);
    expect(follow(config, { lot: '2', domain_id: 3 }, false)).toBe(true);
  });

  it('takes nothing that it could not read again', () => {
    for (const car of [{}, { lot: ' ' }, { vin: 'A'.repeat(101) }, { vin: 'A', more: 1 }]) {
      expect(() => follow(config, car, true)).toThrow('cannot be followed');
      expect(followedCars(config)).toEqual([{ vin: 'A' }]);
    }
  });

  it('may be written by hand, and says where it is wrong', () => {
    writeFileSync(path, '[{"vin": " 1hgcm82633a004352 "}]');
    expect(followedCars(config)).toEqual([{ vin: '1HGCM82633A004352' }]);
    for (const text of [
      '',
      '{',
      '{}',
      '[{}]',
      '[{"vin": "A", "lot": "1"}]',
      '[{"vni": "A"}]',
      '[{"vin": " "}]',
    ]) {
      writeFileSync(path, text);
      expect(() => followedCars(config), text).toThrow(`${path} is no list of at most 1000 cars`);
      expect(() => follow(config, { vin: 'A' }, true), text).toThrow('is no list');
    }
  });
});
