import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { readModels } from '../../src/core/model/model-files.js';
import { base } from './cases.js';
import {
  attemptsOf,
  type OracleLot,
  type OraclePrice,
  type OracleVehicle,
  type OracleWorld,
} from './oracle-attempts.js';
import { damagesOf, trendsOf } from './oracle-marts.js';
import { computeMarts, computeModels, type Given, openLake, type TestLake, texts } from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const HOUR = 3_600_000;
const NOW = Date.UTC(2026, 8, 10, 2);
const instant = fc.oneof(
  fc.integer({ min: -72, max: 40 }).map((hours) => NOW + hours * HOUR),
  fc.integer({ min: -100 * 24, max: 0 }).map((hours) => NOW + hours * HOUR),
);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null, freq: 3 });
const status = maybe(fc.constantFrom(6, 6, 6, 6, 3, 4, 7, 8));
const rawAmount = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 100, max: 999_999 }).map((cents) => cents / 100) },
  { weight: 1, arbitrary: fc.constantFrom(0, -5, 0.99, 1, 5_000_000, 5_000_000.01, 999_999, 99_999_999_999) },
);
/** There are few amounts, so a bid is often the Buy Now price. */
const fewAmounts = maybe(fc.constantFrom(0, 4000, 4500.5));
const amount = maybe(
  fc.oneof({ weight: 4, arbitrary: rawAmount }, { weight: 1, arbitrary: fc.constantFrom(4000, 4500.5) }),
);
const damage = maybe(
  fc.constantFrom('Rear', ' Rear ', 'Rear End', 'Normal Wear', 'Minor Dent/Scratches', ''),
);
const country = fc.constantFrom('us', ' US', 'us', 'CA', null);
const lotFacts = fc.record({
  vehicle: fc.integer({ min: 1, max: 12 }),
  domain: fc.constantFrom(1, 3, 3, 3, 12),
  country,
  status,
  saleDate: maybe(instant),
  finalBid: amount,
  finalBidAt: maybe(instant),
  buyNow: fewAmounts,
  archived: fc.boolean(),
  lastSeen: maybe(instant),
  main: damage,
  second: damage,
  km: maybe(fc.integer({ min: 0, max: 300_000 })),
  repair: amount,
  before: amount,
});
/** A lot of one of a few models that was sold some months ago, to have enough values for statistics. */
const plainSale: typeof lotFacts = fc
  .record({
    rough: lotFacts,
    vehicle: fc.integer({ min: 1, max: 60 }),
    saleDate: fc.integer({ min: -110 * 24, max: -13 }).map((hours) => NOW + hours * HOUR),
    finalBid: fc.integer({ min: 100, max: 999_999 }).map((cents) => cents / 100),
    main: fc.constantFrom('Rear', 'Normal Wear', null),
  })
  .map(({ rough, ...sale }) => ({
    ...rough,
    ...sale,
    domain: 3,
    country: rough.country === 'CA' ? 'CA' : 'us',
    status: 6,
    archived: false,
    second: null,
  }));
const priceFacts = fc.record({
  lot: fc.integer({ min: 0, max: 39 }),
  status,
  saleDate: maybe(instant),
  bid: amount,
  bidAt: maybe(instant),
  buyNow: fewAmounts,
  gone: fc.option(instant, { nil: null, freq: 1 }),
});
const rawArchiving = fc.record({
  lot: fc.integer({ min: 0, max: 99 }),
  vehicle: fc.integer({ min: 1, max: 60 }),
  domain: fc.constantFrom(1, 3, 3, 12),
  at: instant,
  status,
  saleDate: maybe(instant),
  finalBid: amount,
  finalBidAt: maybe(instant),
  buyNow: fewAmounts,
});
/** An archiving, or the archiving of a sale. */
const archiving = fc.oneof(
  rawArchiving,
  fc.tuple(rawArchiving, fc.integer({ min: 100, max: 999_999 })).map(([raw, cents]) => ({
    ...raw,
    ...{ status: 6, saleDate: raw.at - HOUR, finalBid: cents / 100 },
  })),
);
const DAY = 24 * HOUR;
const empty = {
  ...{ status: null, saleDate: null, finalBid: null, finalBidAt: null, buyNow: null, archived: false },
  ...{ country: null, lastSeen: null, main: null, second: null, km: null, repair: null, before: null },
};
const unknown = { manufacturer: null, model: null, generation: null };
const models = [
  ...[1, 2, 3, 4, 5].map(() => ({ manufacturer: 1, model: 11 })),
  { manufacturer: 1, model: 12, generation: 121 },
  {},
];
/** Passes every two days, over one source after the other, with a gap of ten days. */
const PASSES = [
  { source: 3, from: NOW - 70 * DAY, to: NOW - 40 * DAY },
  { source: 3, from: NOW - 30 * DAY, to: NOW },
  { source: 1, from: NOW - 20 * DAY, to: NOW },
];
/** In the 12 hours before the last pass, only sales can be settled. */
const SPANS = PASSES.map(({ source, from, to }) => ({ domain: source, from, to: to - 12 * HOUR }));
const world: fc.Arbitrary<OracleWorld> = fc
  .record({
    lots: fc.oneof(
      fc.array(lotFacts, { minLength: 20, maxLength: 40 }),
      fc.array(fc.oneof({ weight: 9, arbitrary: plainSale }, { weight: 1, arbitrary: lotFacts }), {
        minLength: 50,
        maxLength: 80,
      }),
    ),
    prices: fc.array(priceFacts, { maxLength: 80 }),
    archivings: fc.uniqueArray(archiving, { maxLength: 40, selector: ({ lot, at }) => `${lot} ${at}` }),
  })
  .map(({ lots, prices, archivings }) => ({
    now: NOW,
    least: 5,
    relistingDays: 30,
    spans: SPANS,
    lots: [
      ...lots.map((lot, id): OracleLot => ({ id, ...lot })),
      // Vehicles of one source each. They show that the source is there.
      ...[1, 3, 12].map(
        (domain): OracleLot => ({ ...empty, id: 900 + domain, vehicle: 900 + domain, domain }),
      ),
    ],
    prices: prices.flatMap((price, id): OraclePrice[] => (price.lot < lots.length ? [{ id, ...price }] : [])),
    archivings,
    // The last vehicles are unknown.
    vehicles: Array.from({ length: 58 }, (_, place) => ({
      id: place + 1,
      ...models[place % models.length],
    })).map(({ id, ...model }): OracleVehicle => ({ id, ...unknown, ...model })),
  }));

const at = (instant: number | null): string | null =>
  instant === null ? null : new Date(instant).toISOString();

/** The lake rows of a world. */
function tablesOf(given: OracleWorld): Record<string, Given[]> {
  return {
    runs: [{ run_id: 'r', started_at: at(given.now), minimum_group: 5, relisting_days: given.relistingDays }],
    passes: [
      ...PASSES.flatMap(({ source, from, to }) =>
        Array.from({ length: (to - from) / (2 * DAY) + 1 }, (_, night) => ({
          ...{ pass_id: `${source} ${from} ${night}`, stream: 'cars', kind: 'full', state: 'sealed' },
          ...{ complete: false, sources: `[${source}]`, started_at: at(from + night * 2 * DAY) },
        })),
      ),
      // A pass over the archive feed says nothing about these vehicles.
      { pass_id: 'a', stream: 'archived_lots', state: 'sealed', started_at: at(given.now + 9 * HOUR) },
    ],
    vehicles: given.vehicles.map((vehicle) => ({
      vehicle_id: vehicle.id,
      manufacturer_id: vehicle.manufacturer,
      model_id: vehicle.model,
      generation_id: vehicle.generation,
    })),
    lots: given.lots.map((lot) => ({
      lot_id: lot.id,
      vehicle_id: lot.vehicle,
      domain_id: lot.domain,
      first_seen_at: at(given.now - 70 * DAY),
      location_country_iso: lot.country,
      status_id: lot.status,
      sale_date: at(lot.saleDate),
      final_bid: lot.finalBid,
      final_bid_updated_at: at(lot.finalBidAt),
      buy_now: lot.buyNow,
      archived: lot.archived,
      damage_main_name: lot.main,
      damage_second_name: lot.second,
      odometer_km: lot.km,
      estimate_repair_price: lot.repair,
      pre_accident_price: lot.before,
    })),
    sightings: given.lots.map(({ id, lastSeen }) => ({ lot_id: id, seen_at: at(lastSeen) })),
    prices: given.prices.map((price) => ({
      price_id: price.id,
      lot_id: price.lot,
      status_id: price.status,
      sale_date: at(price.saleDate),
      bid: price.bid,
      buy_now_price: price.buyNow,
      final_bid_updated_at: at(price.bidAt),
      gone_at: at(price.gone),
    })),
    archived_lots: given.archivings.map((record) => ({
      lot_id: record.lot,
      vehicle_id: record.vehicle,
      domain_id: record.domain,
      archived_at: at(record.at),
      status_id: record.status,
      sale_date: at(record.saleDate),
      final_bid: record.finalBid,
      buy_now: record.buyNow,
      final_bid_updated_at: at(record.finalBidAt),
    })),
  };
}

/** Numbers in the form that is compared, because the marts round amounts to the cent. */
function compared(row: Readonly<Record<string, unknown>>, key: RegExp): Record<string, unknown> {
  const numbers = Object.entries(row).filter(([name]) => !key.test(name));
  return Object.fromEntries(
    numbers.map(([name, value]) => {
      if (typeof value !== 'number') return [name, value];
      return [name, expect.closeTo(value, /^price_(m.*n|p\d+|median_3m)$/.test(name) ? 1 : 4)];
    }),
  );
}

/** Names, keys, and figures that need a hundred prices. */
const KEY =
  /^level$|_id$|_name$|^sale_month$|^damage_|^currency$|^price_index|^index_|^price_ratio_alike|^ratio_/;

async function byKey(mart: string, key: string): Promise<Record<string, unknown>> {
  const found = await texts(lake, `select *, cast(${key} as varchar) as key_text from ${mart}`);
  return Object.fromEntries(found.map(({ key_text, ...row }) => [String(key_text), compared(row, KEY)]));
}

const MARTS = ['price_trends', 'damage_breakdown'];
/** What these marts read besides what is fitted. */
const READ = ['sales', 'sell_through', 'lot_groups', 'vehicle_facts', 'odometer_readings'];

const plain = (rows: Map<string, Record<string, unknown>>) => Object.fromEntries(rows);
const CURRENCY = `',' || coalesce('"' || currency || '"', 'null')`;
const GROUP = `'["' || level || '"' || ${['domain_id', 'manufacturer_id', 'model_id']
  .map((id) => `',' || coalesce(cast(${id} as varchar), 'null')`)
  .join(' || ')}`;

describe('the marts and their rules in JavaScript', () => {
  it('agree on random lots', { timeout: 180_000 }, async () => {
    // So few prices are not fitted, so what the fit tells stays empty from one world to the next.
    await computeMarts(lake, base, ...MARTS);
    const found = readModels().filter(({ name }) => MARTS.includes(name));
    let prices = 0;
    let again = 0;
    let archiveOnly = 0;
    let medians = 0;
    let ratios = 0;
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        await computeMarts(lake, tablesOf(given), ...READ);
        await computeModels(lake, found);
        const attempts = attemptsOf(given);
        const expected = attempts.map((a) => [
          ...[a.lot.id, a.attempt, a.saleDate, a.outcome, a.reason, a.price],
          ...[a.basis, a.daysSince, a.change, a.isObserved, a.round, a.vehicleAttempt],
        ]);
        const actual = await texts(
          lake,
          `select lot_id, attempt, epoch_ms(sale_date) as sale_date, outcome, trust_reason, price,
             trust_basis, days_since_previous, amount_change, is_observed, vehicle_round, vehicle_attempt
           from sales order by lot_id, attempt`,
        );
        expect(actual.map((row) => Object.values(row))).toEqual(expected);
        const trends = await byKey(
          'price_trends',
          `sale_month || ' ' || ${GROUP} || ',' || coalesce(cast(generation_id as varchar), 'null') || ${CURRENCY} || ']'`,
        );
        expect(plain(trendsOf(given))).toEqual(trends);
        const damages = await byKey(
          'damage_breakdown',
          `damage_main || ' + ' || damage_second || ' ' || ${GROUP} || ${CURRENCY} || ']'`,
        );
        expect(plain(damagesOf(given))).toEqual(damages);
        again += attempts.filter(({ reason }) => reason === 'offered_again').length;
        archiveOnly += attempts.filter(({ lot, price }) => lot.isArchiveOnly && price !== null).length;
        prices += expected.filter(([, , , , , price]) => price !== null).length;
        ratios += [...damagesOf(given).values()].filter((row) => row.price_ratio_to_sound !== null).length;
        medians += [...trendsOf(given).values()].filter((row) => row.price_median !== null).length;
      }),
      { numRuns: 50 },
    );
    expect(prices).toBeGreaterThan(200);
    expect(again).toBeGreaterThan(50);
    expect(archiveOnly).toBeGreaterThan(10);
    expect(medians).toBeGreaterThan(10);
    expect(ratios).toBeGreaterThan(3);
  });

  it('pass the data tests that hold for any input', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(world, async (given) => {
        await computeMarts(lake, tablesOf(given));
        const failed = (await runDataTests(lake.connection)).filter(
          ({ severity, failures }) => severity === 'error' && failures > 0,
        );
        expect(failed).toEqual([]);
      }),
      { numRuns: 8 },
    );
  });
});
