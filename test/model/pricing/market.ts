import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { type Row, rows } from '../../../src/base/duck/session.js';
import { readModels } from '../../../src/core/model/model-files.js';
import { runModels } from '../../../src/core/model/run-models.js';
import { FIT } from '../../../src/core/model/sql-tree.js';
import { fill, type Given, openLake, type TestLake } from '../support.js';

/** A law of prices unlike the sandbox's. Prices are logarithms, drawn from a hash of the lot. */
export interface Law {
  readonly lots: number;
  readonly seed?: number;
  readonly months?: number;
  /** Number of models of all makes. */
  readonly models?: number;
  /** Change of the log price per month. */
  readonly trend?: number;
  /** Effect of each calendar month, from January. */
  readonly season?: readonly number[];
  /** Change of the prices of one make in one month. */
  readonly shock?: { readonly make: number; readonly month: number; readonly change: number };
  /** Change of the prices of one make with one damage, in addition to the effect of the damage. */
  readonly special?: { readonly make: number; readonly damage: number; readonly change: number };
  /** Standard deviation of the noise, by source. */
  readonly noise?: readonly [number, number];
}

/** Effects of the levels, as logarithms, by position. */
export const EFFECTS = {
  damage_main_group: [0, -0.1, -0.45, -0.3, -0.8, -1.4],
  title_brand: [0, -0.25, -0.5, -1.1],
  domain_id: [0, -0.08],
  condition: [0, -0.05, -0.3],
};
export const LOSS_A_YEAR = 0.11;
export const LOSS_A_10000_KM = 0.025;
/** Usual distance per year, in 10,000 km. */
export const USUAL = 1.6;
export const FIRST_MONTH = '2024-01-01';

/** A SELECT of the lots of a law, with the columns of price_inputs. */
export function lotsOf({
  lots,
  seed = 1,
  months = 14,
  models = 60,
  trend = 0,
  season = [],
  shock = { make: -1, month: -1, change: 0 },
  special = { make: -1, damage: -1, change: 0 },
  noise = [0.15, 0.15],
}: Law): string {
  const draw = (salt: number): string => `((hash(i, ${seed * 1000 + salt}) % 1000003) / 1000003.0)`;
  const place = (salt: number, size: number): string => `cast(floor(${size} * ${draw(salt)}) as integer)`;
  const level = (name: keyof typeof EFFECTS, salt: number) =>
    `${place(salt, EFFECTS[name].length)} as ${name}`;
  const effect = (name: keyof typeof EFFECTS): string =>
    `list_extract([${EFFECTS[name].join(', ')}], ${name} + 1)`;
  const sold = `date '${FIRST_MONTH}' + to_months(month_place)`;
  const calendar = Array.from({ length: 12 }, (_, i) => season[i] ?? 0).join(', ');
  return `
    with drawn as (
      select i, ${place(1, 12)} as make, ${place(2, models / 12)} as model_place, ${place(3, months)} as month_place,
        ${level('damage_main_group', 4)}, ${level('title_brand', 5)}, ${level('domain_id', 6)}, ${level('condition', 7)},
        16 * ${draw(8)} * ${draw(9)} as age,
        -- no car has driven less than nothing
        greatest(10 * (${draw(10)} - 0.5), -${USUAL} * age) as km, ${place(11, 20)} as state,
        sqrt(-2 * ln(${draw(12)} + 1e-7)) * cos(6.283185307 * ${draw(13)}) as z
      from range(${lots}) as numbers(i)
    ),
    valued as (
      select *,
        9 + (hash(make, 1) % 1000) / 1000.0 + (hash(make, model_place) % 1000) / 2500.0
        + ${effect('damage_main_group')} + ${effect('title_brand')} + ${effect('domain_id')} + ${effect('condition')}
        - ${LOSS_A_YEAR} * age - ${LOSS_A_10000_KM} * km + ${trend} * month_place
        + list_extract([${calendar}], cast(month(${sold}) as integer))
        + case when make = ${shock.make} and month_place = ${shock.month} then ${shock.change} else 0 end
        + case when make = ${special.make} and damage_main_group = ${special.damage} then ${special.change} else 0 end
        + z * list_extract([${noise.join(', ')}], domain_id + 1) as log_price
      from drawn
    )
    select i as lot_id, i as vehicle_id, domain_id, 'auction' as market, 'USD' as currency, true as is_currency_known,
      i % 10 = 0 as is_offered, case when i % 10 > 0 then exp(log_price) end as price,
      cast(${sold} as timestamptz) as priced_at, cast(${sold} as date) as priced_month,
      make as manufacturer_id, make * 100 + model_place as model_id, make * 100 + model_place as generation_id,
      2024 as year, 'feed' as year_origin, 'body' as body_type, 'auction' as sold_by, cast(null as double) as buy_now, 'e' || ${place(14, 4)} as engine, 'gasoline' as fuel,
      'w' || ${place(15, 3)} as drive, 's' || ${place(16, 300)} as seller, 'b' || state as branch, 'd' || damage_main_group as damage_main_group,
      'none' as damage_second_group, 't' || title_brand as title_brand, 'c' || condition as condition, 'yes' as has_keys,
      'dealer' as seller_group, 'US' as country, 'US ' || state as state, age as age_years, 'all' as age_band,
      (km + ${USUAL} * age) * 10000 as odometer_km, 'usable' as odometer
    from valued`;
}

/** What levels make of the fit, with the steps that they rest on. */
const LEVELS = [
  'given_prices',
  'interval_factors',
  'lot_generations',
  'groups_above',
  'level_groups',
  'price_medians',
  'prices_by_value',
  'level_effects',
  'price_levels',
];

/** The marts that are fitted to the prices of some lots. */
export interface PricedMarket {
  readonly connection: DuckDBConnection;
  rows(sql: string): Promise<Row[]>;
  close(): void;
}

/**
 * Fits the prices that a SELECT returns in the columns of price_inputs, as a run does.
 * @param tables rows of other lake tables
 */
export async function fitted(
  inputs: string,
  tables: Readonly<Record<string, readonly Given[]>> = {},
): Promise<PricedMarket> {
  const lake: TestLake = await openLake();
  const runs = [{ run_id: 'r', started_at: '2030-01-01T00:00:00Z', minimum_group: 5 }];
  for (const [table, given] of Object.entries({ runs, ...tables })) await fill(lake.connection, table, given);
  // Here prices are given, and what they rest on follows from them.
  const sold =
    "select lot_id, price as amount, cast(null as varchar) as doubt, 'trusted' as trust_reason from price_inputs where price is not null";
  const selects: Readonly<Record<string, string>> = {
    price_inputs: inputs,
    rounds: sold,
    lot_groups: 'select lot_id, lot_id as vehicle_id, domain_id from price_inputs',
    lot_cars: 'select lot_id, manufacturer_id, model_id, generation_id from price_inputs',
    sales: "select *, 1 as attempt, '' as evidence from price_inputs where false",
  };
  const given = readModels().map((model) => ({ ...model, sql: selects[model.name] ?? model.sql }));
  const models = given.filter(
    ({ name, sql }) =>
      name === FIT ||
      /\bfit\./.test(sql) ||
      name in selects ||
      LEVELS.includes(name) ||
      /^(dim_(settings|sources|damages|titles|m.*)|damage_groups|title_brands|m\w+_joins)$/.test(name),
  );
  await runModels(lake.connection, { target: join(lake.folder, 'marts'), models });
  return { connection: lake.connection, rows: (sql) => rows(lake.connection, sql), close: lake.close };
}
