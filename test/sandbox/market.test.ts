import { describe, expect, it } from 'vitest';
import { damageFactors, damages } from '../../src/sandbox/data/market.js';
import { richLaw } from '../../src/sandbox/data/rich-law.js';
import { createWorld, expectedPrice, market, marketFactor, wearFactor } from '../../src/sandbox/index.js';
import { need, recordsOf } from '../served.js';
import { plantedLots } from './planted.js';

const world = createWorld({ vehicles: 8000 });
const lots = [...plantedLots(world)];
const sold = lots.flatMap((lot) =>
  lot.attempts.filter((attempt) => attempt.sold && !attempt.isBoughtNow).map((attempt) => ({ lot, attempt })),
);
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;
const logRatio = (bid: number, expected: number): number => Math.log(bid / expected);

describe('the planted market', () => {
  it('explains sold prices up to the declared noise', () => {
    const dear = sold.filter(({ attempt }) => attempt.expected > 1000);
    const noise = dear.map(({ attempt }) => logRatio(attempt.bid, attempt.expected));
    expect(noise.length).toBeGreaterThan(1000);
    expect(mean(noise)).toBeCloseTo(0, 1);
    expect(Math.sqrt(mean(noise.map((value) => value ** 2)))).toBeCloseTo(market.noise, 1);
  });

  it('has interactions, places and wide tails by the rich law, and the same cars and lots', () => {
    const rich = createWorld({ vehicles: 8000, law: 'rich' });
    const richLots = [...plantedLots(rich)];
    expect(richLots.map(({ lotId }) => lotId)).toEqual(lots.map(({ lotId }) => lotId));
    const pairs = richLots.flatMap((lot, i) => {
      const [own, plain] = [lot.attempts.at(-1), lots[i]?.attempts.at(-1)];
      return own?.sold && !own.isBoughtNow && plain && own.expected > 1000 ? [{ lot, own, plain }] : [];
    });
    const noise = pairs.map(({ own }) => logRatio(own.bid, own.expected));
    const far = noise.filter((value) => Math.abs(value) > 3 * market.noise).length / noise.length;
    expect(far).toBeGreaterThan(richLaw.tail.share * 0.2);
    expect(far).toBeLessThan(richLaw.tail.share);
    const [first] = pairs;
    const { rich: facts } = need(first, 'a sale').lot.facts;
    const at = Date.UTC(2026, 9, 1);
    const priceAt = (place: number): number =>
      expectedPrice(
        { ...need(first, 'a sale').lot.facts, rich: { ...need(facts, 'rich facts'), place } },
        at,
      );
    for (const [place, factor] of richLaw.branches)
      expect(priceAt(place) / priceAt(58)).toBeCloseTo(factor, 9);
    // What the law adds is even: it moves cars, and not the market.
    expect(
      Math.abs(mean(pairs.map(({ own, plain }) => logRatio(own.expected, plain.expected)))),
    ).toBeLessThan(0.1);
  });

  it('lets some lots go at their Buy Now price', () => {
    const bought = lots.flatMap((lot) => lot.attempts.filter((attempt) => attempt.isBoughtNow));
    const dear = bought.filter((attempt) => attempt.expected > 2000);
    expect(dear.length).toBeGreaterThan(50);
    const markup = Math.exp(mean(dear.map((attempt) => logRatio(attempt.bid, attempt.expected))));
    expect(markup).toBeGreaterThan(market.buyNowMarkup);
    expect(markup).toBeLessThan(market.buyNowMarkup * 1.1);
  });

  it('lowers prices by age, mileage, damage, title, claims and accident', () => {
    const at = Date.UTC(2026, 10, 1);
    const facts = {
      newPrice: 30_000,
      year: 2020,
      km: 110_000,
      domain: 1,
      damage: 2,
      title: 4241,
      claims: 0,
      accident: false,
    };
    const price = expectedPrice(facts, at);
    for (const worse of [
      { year: 2015 },
      { km: 200_000 },
      { damage: 3 },
      { title: 51 },
      { claims: 2 },
      { accident: true },
    ]) {
      expect(expectedPrice({ ...facts, ...worse }, at)).toBeLessThan(price);
    }
    expect(expectedPrice({ ...facts, domain: 3 }, at)).toBeGreaterThan(price);
  });

  it('values wear and minor scratches as no damage, and near-duplicate damages alike', () => {
    expect([1, 2].map((id) => damageFactors.get(id))).toEqual([1, 1]);
    const rear = damages.filter((damage) => ['Rear', 'Rear End', 'Re'].includes(damage.name));
    expect(new Set(rear.map((damage) => damage.factor)).size).toBe(1);
    expect(rear).toHaveLength(3);
  });

  it('falls month by month and has a season', () => {
    const january = (year: number): number => marketFactor(Date.UTC(year, 0, 1));
    expect(january(2026)).toBeCloseTo(market.season[0], 6);
    expect(january(2027) / january(2026)).toBeCloseTo((1 + market.trendPerMonth) ** 12, 2);
    expect(wearFactor(2024, 40_000, Date.UTC(2026, 0, 1))).toBeLessThan(1);
  });

  it('keeps bids of unsold lots below their value', () => {
    const unsold = lots.flatMap((lot) => lot.attempts.filter((attempt) => !attempt.sold));
    expect(mean(unsold.map((attempt) => attempt.bid / attempt.expected))).toBeLessThan(0.8);
  });

  it('gives enough sales of months and models for statistics', () => {
    const months = new Map<string, number>();
    for (const { attempt } of sold) {
      const month = attempt.saleAt.toISOString().slice(0, 7);
      months.set(month, (months.get(month) ?? 0) + 1);
    }
    expect([...months.values()].filter((count) => count > 30).length).toBeGreaterThanOrEqual(4);
    expect(new Set(sold.map(({ lot }) => lot.modelId)).size).toBeGreaterThan(30);
  });
});

describe('records', () => {
  it('show the planted price of a sale', () => {
    const bids = new Map(
      lots
        .filter((lot) => lot.priced)
        .flatMap((lot) => lot.attempts.map((attempt) => [`${lot.lotId} ${attempt.bid}`, true])),
    );
    const ids = [...new Set(sold.map(({ lot }) => lot.vehicleId))].slice(0, 400);
    const prices = recordsOf(world, ids).flatMap(({ lots }) => lots.flatMap((lot) => lot.prices ?? []));
    const hammered = prices.filter((price) => price.status.id === 6);
    expect(hammered.length).toBeGreaterThan(200);
    expect(hammered.every((price) => bids.has(`${price.lot_id} ${price.bid}`))).toBe(true);
  });

  it('of statistics agree with the sold lots', () => {
    const rows = world.statistics();
    expect(rows.length).toBeGreaterThan(200);
    expect(
      rows.every((row) => row.min_final_bid <= row.avg_final_bid && row.avg_final_bid <= row.max_final_bid),
    ).toBe(true);
    expect(rows.reduce((sum, row) => sum + row.lot_count, 0)).toBeGreaterThan(1000);
  });
});
