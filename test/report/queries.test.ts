import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../src/ask/query/ask.js';
import { packageFile } from '../../src/base/config/package-root.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { createFunctions } from '../../src/core/model/functions.js';

let opened: TemporarySession;
beforeEach(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
});
afterEach(() => opened.close());

/** Runs a query of the report over tables that an SQL script creates. */
async function answer(query: string, tables: string) {
  await createFunctions(opened.session.connection, 'values');
  await opened.session.connection.run(tables);
  return ask(opened.session.connection, `report/${query}`);
}

const SETTINGS = "create table dim_settings as select timestamptz '2026-11-20' as as_of, 5 as minimum_group;";

describe('events of history reports', () => {
  it('are separated by source, even events of a report that names none', async () => {
    const found = await answer(
      'history_events',
      `create table dim_settings as select 2 as minimum_group;
      create table check_breakdown as select 12 as domain_id, 'encar_com' as domain_name;
      create table claim_history as
      select unnest([12, 12, 12, null, null]) as domain_id, 'insurance_claim' as type_key, 'krw' as currency,
        100 as amount_total`,
    );
    expect(found.map(({ source, apart, events }) => [source, apart, Number(events)])).toEqual([
      ['encar_com', 'encar_com', 3],
      ['source not given', 'source not given', 2],
    ]);
  });
});

describe('moves of the sell-through', () => {
  /** Months from September on, with their sold lots of 1,000 and how each was observed. */
  const moves = (...months: readonly (readonly [number, string])[]) =>
    answer(
      'sell_through_moves',
      `${SETTINGS} create table sell_through as from (values ${months
        .map(([sold, observed], i) => `(date '2026-${9 + i}-01', '${observed}', ${sold}, ${1000 - sold})`)
        .join()}) as t(sale_month, observed, lots_sold, lots_not_sold),
      (select 'month' as level, 3 as domain_id, 'copart_com' as domain_name)`,
    );

  it('are the significant moves of the last whole month', async () => {
    const [move, ...more] = await moves([400, 'whole'], [450, 'whole'], [10, 'part']);
    expect(more).toEqual([]);
    expect(move).toMatchObject({ lots: 1000, share: 0.45, share_before: 0.4, direction: 'up' });
  });

  it('need a difference of 1.96 standard errors, and two fully observed months', async () => {
    // The standard error of the difference of two shares of 0.42 of 1,000 is 0.0221.
    expect(await moves([400, 'whole'], [442, 'whole'])).toEqual([]);
    await opened.session.connection.run('drop table sell_through; drop table dim_settings');
    expect(await moves([400, 'part'], [450, 'whole'])).toEqual([]);
  });
});

describe('the sell-through of three months', () => {
  it('has the observed counts, and the Wilson interval', async () => {
    const found = await answer(
      'sell_through',
      `create table dim_settings as select timestamptz '2026-11-20' as as_of;
      create table sell_through as from (values
        (date '2026-08-01', 'none', null, null, null), (date '2026-09-01', 'part', 10, 2, 0.2),
        (date '2026-10-01', 'whole', 30, 18, 0.5), (date '2026-11-01', 'part', 3, 3, null))
        as t(sale_month, observed, lots_offered, lots_sold, sell_through_3m), (select 'month' as level, 3 as domain_id)`,
    );
    // A month that was not observed is none.
    expect(found.map(({ based_on, state }) => [based_on, state])).toEqual([
      [10, 'in part'],
      [40, null],
      [null, 'so far'],
    ]);
    // Brown, Cai and DasGupta (2001): 20 of 40 is 0.352 to 0.648.
    expect(found[1]?.interval_low).toBeCloseTo(0.352, 3);
    expect(found[1]?.interval_high).toBeCloseTo(0.648, 3);
  });
});

describe('the auctions of the next days', () => {
  it('begin with Buy Now prices clearly below the estimate, and say what stands out', async () => {
    const found = await answer(
      'coming_up',
      `create table dim_settings as select timestamptz '2026-11-20' as as_of;
      create table given as from (values
        (1, 2, 5000, 4000, 4500, 5500, 6200, 0.5, null, false, null, 4900),
        (2, 1, 5000, 4000, 4500, 5500, 6200, 0.9, null, false, 7000, null),
        (3, 3, 5000, 4000, 4500, 5500, 6200, 0.05, null, false, null, 3900),
        (4, 4, 5000, 4000, 4500, 5500, 6200, 0.01, null, false, 100, 2000),
        (5, 3, 5000, 4000, 4500, 5500, 6200, 0, null, true, null, 100),
        (6, 5, 5000, null, null, null, null, null, 'few_prices_in_band', false, null, 100),
        (7, 6, 5000, 4000, 4500, 5500, 6200, 0.7, null, false, 5600, null),
        (8, 8, 5000, 4000, 4500, 5500, 6200, 0, null, false, null, 100),
        (9, 6, 5000, 4000, 4500, 5500, 6200, 0.01, null, false, 3000, 2000),
        (10, 6, 5000, 4000, 4500, 5500, 6200, 0.01, null, false, null, 2000)
      ) as t(lot_id, days, estimate, low_80, low_50, high_50, high_80, prices_below, interval_reason, is_unreliable, bid, buy_now);
      create table price_estimates as select *, if(lot_id = 10, 0, 20) as comparable_prices, lot_id as vehicle_id, 'USD' as currency, 'auction' as market, true as is_offered,
        true as is_currency_known, null::double as price, null::varchar as reason from given;
      create table lots as select lot_id, lot_id::varchar as lot, lot_id || '~US' as external_id, 1 as domain_id,
        'iaai_com' as domain_name, lot_id as vehicle_id, 'dallas' as location_city_name, null as selling_branch_name,
        null as seller_name, 'Front' as damage_main_name, 'St - Salvage' as title_name, 3 as status_id, 'sale' as status_name, bid, buy_now from given;
      create table lot_groups as select lot_id, 'front' as damage_main_group, 'none' as damage_second_group, 'salvage' as title_brand, 'US' as country_code,
        'TX' as state_code, 'insurance' as seller_group from given;
      create table vehicles as select lot_id as vehicle_id, null as vin from given;
      create table vehicle_facts as select lot_id as vehicle_id, 2020 as year, 'feed' as year_origin, 1 as manufacturer_id, 1 as model_id from given;
      create table vin_facts as select lot_id as vehicle_id, null::varchar as reason from given;
      create table lot_findings as select lot_id, 1 as inspection_finding from given;
      create table lot_images as select lot_id, ['https://pictures.test/' || lot_id] as small, []::varchar[] as normal from given;
      create table dim_manufacturers as select 1 as manufacturer_id, 'Ford' as manufacturer_name;
      create table dim_models as select 1 as model_id, 'Focus' as model_name;
      create table odometer_readings as select lot_id, 100.0 as odometer_km from given;
      create table odometer_rollbacks as select lot_id as vehicle_id from given where false;
      create table sell_through_odds as select lot_id, 1 as attempt, timestamptz '2026-11-20' + to_days(days) as sale_date,
        0.5 as sell_probability, 0.4 as sell_probability_low, 0.6 as sell_probability_high from given;
      create view offered_lots as ${packageFile('sql/models/market/offered_lots.sql')};
      create table landed_costs as select lot_id, true as is_default, 'warsaw' as destination, 'PLN' as currency, 4 * least(estimate, case when buy_now > coalesce(bid, 0) then buy_now end) as cost, 4 * estimate as cost_estimate,
        4 * low_80 as cost_low_80, 4 * high_80 as cost_high_80, 4 * buy_now as cost_buy_now, 4500 as most_to_bid, null::varchar as missing from given;
      create view lots_on_offer as ${packageFile('sql/models/market/lots_on_offer.sql')}`,
    );
    expect(found.map(({ lot_id, stands_out }) => [lot_id, stands_out])).toEqual([
      [4, 'Buy Now below 9 in 10 of such prices'],
      [3, 'Buy Now below 9 in 10 of such prices'],
      [2, 'bid above 9 in 10 of such prices'],
      [1, null],
      [5, null],
      [6, null],
      [7, 'bid above 3 in 4 of such prices'],
      // a bid above it takes the Buy Now price away
      [9, null],
      [10, null],
    ]);
    expect(found.filter(({ weak }) => weak !== null).map(({ lot_id, weak }) => [lot_id, weak])).toEqual([
      [5, 'such estimates are often far off'],
      [6, 'too few prices of this class for an interval'],
      [10, 'no price of a like car is known'],
    ]);
    expect(found[0]).toMatchObject({
      state_code: 'TX',
      city_name: 'dallas',
      link: 'https://www.iaai.com/VehicleDetail/4~US',
      manufacturer_name: 'Ford',
      weak: null,
    });
    // What is paid is four times the price here. The bid of the ninth has passed its Buy Now price.
    expect(found.map(({ cost, room_to_bid }) => [cost, room_to_bid])).toEqual([
      ...[
        [8000, 4400],
        [15_600, 4500],
        [20_000, -2500],
        [19_600, 4500],
        [400, 4500],
      ],
      ...[
        [400, 4500],
        [20_000, -1100],
        [20_000, 1500],
        [8000, 4500],
      ],
    ]);
  });
});

describe('the models most traded', () => {
  it('have medians by month, model year and damage, with rank intervals', async () => {
    const found = await answer(
      'models',
      `${SETTINGS}
      create table dim_damages as from (values ('Front', 'front'), ('Fe', 'front'), ('unknown', 'unknown'))
        as t(damage_name, damage_group);
      create table lots as select i as lot_id, ['Front', ' Fe', null][1 + i // 12 % 3] as damage_main_name
        from range(200) as t(i);
      create table sales as select *, date_trunc('month', sale_date)::date as sale_month from (
        select i as lot_id, i % 12 as model_id, 'USD' as currency, 1000 * i as price,
          timestamptz '2026-11-01' - interval (i // 4) day as sale_date from range(200) as t(i)
        union all select 0, 0, 'CAD', 7, timestamptz '2026-11-01'
        union all select 0, 0, 'USD', 7, timestamptz '2025-11-01'
      ), (select 1 as manufacturer_id, 'Ford' as manufacturer_name, 2020 as year), lateral (select 'Model ' || model_id as model_name)`,
    );
    // 200 sales of 12 models: models 0 to 7 have 17, the others 16.
    const models = found.filter(({ level }) => level === 'all');
    expect(models.map((row) => [row.model_name, row.based_on])).toEqual(
      Array.from({ length: 10 }, (_, i) => [`Model ${i}`, i < 8 ? 17 : 16]),
    );
    // The prices of model 0 are 0, 12, ..., 192 thousand. By the binomial distribution, the median of their population
    // lies between the 4th and the 14th of 17 values in 98.7 of 100 cases, and between the 2nd and the 9th of 10 values
    // in 97.9.
    expect(models[0]).toMatchObject({
      ...{ low: 48_000, middle: 96_000, high: 144_000 },
      ...{ interval_low: 36_000, interval_high: 156_000 },
    });
    const cut = (kind: string, ...columns: string[]) =>
      found
        .filter(({ place, level }) => place === 1 && level === kind)
        .map((row) => columns.map((column) => row[column]));
    expect(cut('damage', 'damage_group', 'based_on')).toEqual([
      ['front', 12],
      ['unknown', 5],
    ]);
    expect(cut('year', 'year', 'based_on', 'middle')).toEqual([[2020, 17, 96_000]]);
    expect(cut('month', 'based_on', 'value', 'interval_low', 'state')).toEqual([
      [6, 162_000, 132_000, null],
      [10, 66_000, 24_000, null],
      [1, null, null, 'so far'],
    ]);
  });
});

describe('the shares sold by day', () => {
  it('are two lines for each source that begin with the listing, as far as they are known', async () => {
    const found = await answer(
      'sold_by_day',
      `create table sold_by_day as
      select 'source' as level, domain_id, 'copart_com' as domain_name, day, 50 as lots, sold, sold - 0.01 as sold_low,
        sold + 0.01 as sold_high, sold + 0.2 as sold_at_most, sold as sold_at_most_low, sold + 0.3 as sold_at_most_high
      from (values (3, 7, 0.1), (3, 14, 0.2), (3, 30, null), (1, 7, null)) as t(domain_id, day, sold)
      union all select 'make', 3, 'copart_com', 7, 50, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1`,
    );
    const lines = found.map((row) => [row.day, row.counted, row.value && Number(row.value), row.domain_id]);
    const gone = 'sold, or left the feed unsold';
    expect(lines).toEqual([
      [7, 'sold', null, null],
      [7, gone, null, null],
      ...[0, 0.1, 0.2, null].map((value, i) => [[0, 7, 14, 30][i], 'sold', value, null]),
      ...[0, 0.3, 0.4, null].map((value, i) => [[0, 7, 14, 30][i], gone, value, null]),
    ]);
  });
});
