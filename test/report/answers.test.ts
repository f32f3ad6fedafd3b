/** What the sections again, often and repair of the report rest on, computed a second time in TypeScript. */
import { describe, expect, it } from 'vitest';
import { ask } from '../../src/ask/query/ask.js';
import { literal, openTemporarySession } from '../../src/base/duck/session.js';
import type { CostRow, CostTable } from '../../src/core/model/costs/columns.js';
import { costRowsSql } from '../../src/core/model/costs/read-tables.js';
import { scheduleOf } from '../../src/core/model/costs/schedule.js';
import { createFunctions } from '../../src/core/model/functions.js';

/** Runs a query of the report over tables that an SQL script creates. */
async function answer(query: string, tables: string) {
  const { session, close } = await openTemporarySession({ memory: '500MB', threads: 1 });
  try {
    await createFunctions(session.connection, 'values');
    await session.connection.run(
      `create table dim_settings as select timestamptz '2026-11-20 04:00:00+00' as as_of, 5 as minimum_group; ${tables}`,
    );
    return await ask(session.connection, `report/${query}`);
  } finally {
    close();
  }
}

/** A table of rows, whose columns have these types. */
const tableOf = (name: string, types: Readonly<Record<string, string>>, rows: readonly object[]): string =>
  `create table ${name} as select unnest(from_json(${literal(JSON.stringify(rows))}, ${literal(JSON.stringify([types]))}), recursive := true);`;

/** Numbers from 0 to 1 that are the same each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** One of some values, by a number from 0 to 1. */
const pick = <T>(values: readonly T[], at: number): T => {
  const found = values[Math.floor(at * values.length)];
  if (found === undefined) throw new RangeError('nothing to pick');
  return found;
};

function median(values: readonly number[]): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]];
  return low === undefined || high === undefined ? null : (low + high) / 2;
}

const isClose = (found: unknown, expected: number | null): void => {
  if (expected === null) expect(found).toBeNull();
  else expect(Number(found)).toBeCloseTo(expected, 6);
};

describe('lots that come back', () => {
  const random = randomFrom(7);
  const sales = Array.from({ length: 900 }, (_, i) => ({
    lot_id: i,
    domain_id: pick([1, 3], random()),
    attempt: pick([1, 2, 3, 4], random()),
    is_observed: random() < 0.7,
    outcome: pick(['sold', 'not_sold', 'not_sold', 'on_approval', 'unresolved', 'upcoming'], random()),
    currency: pick(['USD', 'CAD', null], random()),
    days_since_previous: Math.floor(4 + 70 * random() ** 3),
    amount_change_share: random() < 0.4 ? null : random() - 0.4,
  }));
  const tables = `create table dim_sources as from (values (1, 'iaai_com'), (3, 'copart_com')) as t(domain_id, domain_name);
    ${tableOf(
      'sales',
      {
        ...{ lot_id: 'BIGINT', domain_id: 'BIGINT', attempt: 'BIGINT', is_observed: 'BOOLEAN' },
        ...{ outcome: 'VARCHAR', currency: 'VARCHAR' },
        ...{ days_since_previous: 'BIGINT', amount_change_share: 'DOUBLE' },
      },
      sales,
    )}`;

  /** Where a share of the population would just be 1.96 standard errors from the share of n values. */
  function wilson(share: number, n: number, towards: 0 | 1): number {
    let [near, far] = [share, towards as number];
    for (let i = 0; i < 60; i += 1) {
      const middle = (near + far) / 2;
      if (Math.abs(share - middle) < 1.96 * Math.sqrt((middle * (1 - middle)) / n)) near = middle;
      else far = middle;
    }
    return near;
  }

  it('are those of observed attempts with a result, by the days since the attempt before', async () => {
    const found = await answer('again', tables);
    const bands: readonly [string, number, number][] = [
      ['4 to 7', 4, 7],
      ['8 to 14', 8, 14],
      ['15 to 30', 15, 30],
      ['31 to 60', 31, 60],
      ['more than 60', 61, 999],
    ];
    const groups = [
      ['all', null, null, 0, 999] as const,
      ...[1, 3].flatMap((source) => [
        ...bands.map(([name, from, to]) => ['days', source, name, from, to] as const),
        ['all', source, null, 0, 999] as const,
      ]),
    ];
    let told = 0;
    for (const [level, source, days, from, to] of groups) {
      const mine = sales.filter(
        (each) =>
          each.attempt > 1 &&
          each.is_observed &&
          ['sold', 'not_sold', 'on_approval'].includes(each.outcome) &&
          (source === null || each.domain_id === source) &&
          each.days_since_previous >= from &&
          each.days_since_previous <= to,
      );
      const row = found.find(
        (each) => each.level === level && each.domain_id === source && each.days === days,
      );
      if (mine.length === 0) expect(row).toBeUndefined();
      if (row === undefined) continue;
      const sold = mine.filter(({ outcome }) => outcome === 'sold').length;
      const ratios = mine.flatMap(({ currency, amount_change_share: change }) =>
        currency === null || change === null ? [] : [1 + change],
      );
      const share = mine.length < 5 ? null : sold / mine.length;
      expect([row.lots, row.lots_sold, row.compared_lots]).toEqual([mine.length, sold, ratios.length]);
      isClose(row.middle, share);
      isClose(
        row.waited_median,
        share === null ? null : median(mine.map((each) => each.days_since_previous)),
      );
      isClose(row.ratio_median, ratios.length < 5 ? null : median(ratios));
      if (share === null) expect([row.interval_low, row.interval_high]).toEqual([null, null]);
      else {
        expect(row.interval_low).toBeCloseTo(wilson(share, mine.length, 0), 3);
        expect(row.interval_high).toBeCloseTo(wilson(share, mine.length, 1), 3);
        told += 1;
      }
    }
    expect(found.some(({ middle }) => middle === null)).toBe(true);
    expect(told).toBeGreaterThan(8);
  });

  it('are none on a first night', async () => {
    expect(await answer('again', `${tables} update sales set is_observed = false`)).toEqual([]);
  });
});

describe('lots that are offered often', () => {
  const random = randomFrom(11);
  const lots = Array.from({ length: 400 }, (_, i) => {
    const buy_now = random() < 0.4 ? null : Math.round(9000 * random());
    const weak = random() < 0.2 ? 'such estimates are often far off' : null;
    return {
      ...{
        lot_id: i,
        vehicle_id: i + 1000,
        domain_id: pick([1, 3], random()),
        attempt: 1 + Math.floor(7 * random()),
      },
      ...{ buy_now, weak, estimate: random() < 0.1 ? null : Math.round(1000 + 9000 * random()), bid: null },
      ...{ prices_above: buy_now === null || weak !== null || random() < 0.8 ? null : random() },
    };
  });
  const sales = lots.flatMap(({ lot_id, attempt }) =>
    Array.from({ length: attempt }, (_, i) => ({
      ...{ lot_id, attempt: i + 1 },
      outcome: i + 1 === attempt ? 'upcoming' : pick(['not_sold', 'not_sold', 'unresolved'], random()),
      amount: pick(
        [null, 0, 1, 999_999, 1000 + Math.round(8000 * random()), 1000 + Math.round(8000 * random())],
        random(),
      ),
    })),
  );
  const tables = `
    ${tableOf('given', { lot_id: 'BIGINT', vehicle_id: 'BIGINT', domain_id: 'BIGINT', attempt: 'BIGINT', buy_now: 'DOUBLE', weak: 'VARCHAR', estimate: 'DOUBLE', bid: 'DOUBLE', prices_above: 'DOUBLE' }, lots)}
    create table lots_on_offer as select *, 'USD' as currency, lot_id::varchar as lot, null::varchar as link,
      2020 as year, 'Ford' as manufacturer_name, 'Focus' as model_name, estimate * 0.8 as low_80, estimate * 1.2 as high_80,
      'source_' || domain_id as domain_name from given;
    ${tableOf('sales', { lot_id: 'BIGINT', attempt: 'BIGINT', outcome: 'VARCHAR', amount: 'DOUBLE' }, sales)}`;
  const often = lots.filter(({ attempt }) => attempt > 3);

  it('are listed with their first and last top bid, the cheapest against the estimate first', async () => {
    const found = await answer('often', tables);
    const expected = often
      .map((lot) => {
        const bids = sales
          .filter(
            ({ lot_id, outcome, amount }) =>
              lot_id === lot.lot_id && outcome === 'not_sold' && Number(amount) >= 2,
          )
          .flatMap(({ amount }) => (amount === null || amount === 999_999 ? [] : [amount]));
        const [first_bid = null, last_bid = null] = [bids[0], bids.at(-1)];
        const { estimate, weak, prices_above, buy_now } = lot;
        const against = (price: number | null, isTold: boolean): number =>
          price === null || estimate === null || !isTold ? Number.POSITIVE_INFINITY : price / estimate;
        return {
          ...{ lot_id: lot.lot_id, offered: lot.attempt - 1, first_bid, last_bid },
          ...{ now: against(buy_now, prices_above !== null), before: against(last_bid, weak === null) },
        };
      })
      .sort((a, b) => compare(a.now, b.now) || compare(a.before, b.before) || a.lot_id - b.lot_id)
      .slice(0, 40);
    expect(
      found.map(({ lot_id, offered, first_bid, last_bid }) => ({ lot_id, offered, first_bid, last_bid })),
    ).toEqual(
      expected.map(({ lot_id, offered, first_bid, last_bid }) => ({ lot_id, offered, first_bid, last_bid })),
    );
    expect(expected.some(({ first_bid, last_bid }) => first_bid !== last_bid)).toBe(true);
  });

  const compare = (a: number, b: number): number => (a === b ? 0 : a < b ? -1 : 1);

  it('are counted by source', async () => {
    const found = await answer('often_sources', tables);
    expect(
      found.map(({ domain_id, lots: all, often_lots, share, most_offered }) => [
        domain_id,
        all,
        often_lots,
        share,
        most_offered,
      ]),
    ).toEqual(
      [1, 3]
        .map((source) => {
          const [all, mine] = [lots, often].map((each) =>
            each.filter(({ domain_id }) => domain_id === source),
          );
          const [n, k] = [all?.length ?? 0, mine?.length ?? 0];
          return [source, n, k, k / n, Math.max(...(mine ?? []).map(({ attempt }) => attempt - 1))];
        })
        .sort((a, b) => Number(b[2]) - Number(a[2])),
    );
  });
});

describe('discounts against repair', () => {
  /** Effects of the market, with their ends and numbers of prices. */
  const EFFECTS: readonly (readonly [
    factor: string,
    kind: string,
    effect: number,
    low: number,
    high: number,
    prices: number,
  ])[] = [
    ['damage_main_group', 'normal_wear', 1, 1, 1, 400],
    ['damage_main_group', 'front', 0.6, 0.55, 0.6 ** 2 / 0.55, 200],
    ['damage_main_group', 'hail', 0.9, 0.8, 0.9 ** 2 / 0.8, 50],
    ['damage_main_group', 'burn', 0.2, 0.1, 0.4, 4],
    ['damage_main_group', 'unknown', 0.95, 0.9, 0.95 ** 2 / 0.9, 90],
    ['title_brand', 'clean', 1, 1, 1, 300],
    ['title_brand', 'salvage', 0.5, 0.48, 0.25 / 0.48, 100],
    ['title_brand', 'parts_only', 0.2, 0.19, 0.04 / 0.19, 100],
  ];
  const FACTORS = `create table price_factors as
    select 'auction' as market, 'USD' as currency, *, case factor when 'title_brand' then 'clean' else 'normal_wear' end as reference
    from (values ${EFFECTS.map(([factor, kind, ...numbers]) => `('${factor}', '${kind}', ${numbers.map((n) => `${n}::double`).join()})`).join()}) as t(factor, level, effect, effect_low, effect_high, prices)
    union all select 'auction', 'USD', 'base', 'all', 9000, null, null, 700, 'all'
    union all select 'auction', 'PLN', 'base', 'all', 9000, null, null, 20, 'all'
    union all select 'auction', 'PLN', 'damage_main_group', 'hail', 0.1, 0.05, 0.2, 20, 'normal_wear'
    union all select 'asking', 'USD', 'damage_main_group', 'front', 0.1, 0.05, 0.2, 9000, 'normal_wear';`;
  const rowOf = (table: CostTable, line: number, values: Readonly<Record<string, string>>): CostRow => ({
    table,
    line,
    values,
  });
  /** Rows of repairs.csv from its second line on: damage, title, size, amount, currency, and the first and last day. */
  const repairsOf = (...rows: readonly (readonly string[])[]): CostRow[] =>
    rows.map(
      (
        [damage = '', title = '', size = '', amount = '', currency = 'USD', valid_from = '', valid_to = ''],
        i,
      ) => rowOf('repairs', i + 2, { damage, title, size, amount, currency, valid_from, valid_to }),
    );
  interface Lot {
    readonly estimate: number | null;
    readonly title: string;
    readonly isSound: boolean;
    readonly type: string | null;
    readonly body: string | null;
    readonly market: string;
    readonly currency: string;
  }
  const LOT: Lot = {
    estimate: 8000,
    title: 'clean',
    isSound: true,
    type: 'Automobile',
    body: 'sedan',
    market: 'auction',
    currency: 'USD',
  };
  const worldOf = (rows: readonly CostRow[], lots: readonly Lot[]): string => `${FACTORS}
    create table cost_rows as ${rows.length === 0 ? `from (${costRowsSql(repairsOf(['*', '*', '*', '1']))}) limit 0` : costRowsSql(rows)};
    ${tableOf(
      'given',
      {
        lot_id: 'BIGINT',
        estimate: 'DOUBLE',
        title: 'VARCHAR',
        isSound: 'BOOLEAN',
        type: 'VARCHAR',
        body: 'VARCHAR',
        market: 'VARCHAR',
        currency: 'VARCHAR',
      },
      lots.map((lot, lot_id) => ({ lot_id, ...lot })),
    )}
    create table lots_on_offer as select lot_id, lot_id as vehicle_id, estimate, title as title_brand, market, currency from given;
    create table lot_groups as select lot_id, isSound as is_sound from given;
    create table vehicles as select lot_id as vehicle_id, type as vehicle_type_name, body as body_type_name from given;`;
  const ofTenLots = Array.from({ length: 10 }, (_, i) => ({ ...LOT, estimate: 7000 + 200 * i }));

  it('are none without rows of repairs', async () => {
    expect(await answer('repair', worldOf([], ofTenLots))).toEqual([]);
    const charge = rowOf('charges', 2, {
      charge: 'gate',
      source: '*',
      destination: '*',
      size: '*',
      amount: '90',
      currency: 'USD',
    });
    expect(await answer('repair', worldOf([charge], ofTenLots))).toEqual([]);
  });

  it('take the row that names the damage before the others, and say whether they exceed it for sure', async () => {
    const rows = [
      ...repairsOf(
        ['*', '*', '*', '2000'],
        ['Front', '*', '*', '9000', 'PLN'],
        ['Front', '*', '*', '1', 'PLN', '2020-01-01', '2026-11-19'],
        ['hail', '*', '*', '780'],
        ['biohazard', '*', '*', '100', 'EUR'],
      ),
      rowOf('exchange', 2, { day: '2026-11-01', from: 'PLN', to: 'USD', rate: '0.2' }),
      rowOf('exchange', 3, { day: '2026-11-20', from: 'PLN', to: 'USD', rate: '0.25' }),
      rowOf('exchange', 4, { day: '2026-11-21', from: 'PLN', to: 'USD', rate: '9' }),
    ];
    const found = await answer('repair', worldOf(rows, ofTenLots));
    // The median estimate is 7,900, so that front damage takes off 0.4 of it. What is sound or unknown is left out, and so is a
    // title for parts, which stays one.
    expect(
      found.map(({ damage, title, cost_row, discount, repair, left_over, verdict }) => [
        ...[damage, title, cost_row],
        ...[discount, repair, left_over].map((amount) =>
          amount === null ? null : Math.round(Number(amount)),
        ),
        verdict,
      ]),
    ).toEqual([
      ['any', 'salvage', 'repairs.csv:2', 3950, 2000, 1950, 'more than repair'],
      ['front', 'any', 'repairs.csv:3', 3160, 2250, 910, 'more than repair'],
      ['hail', 'any', 'repairs.csv:5', 790, 780, 10, 'not sure'],
      ['biohazard', 'any', 'repairs.csv:6', null, null, null, 'no rate from EUR to USD'],
      ['burn', 'any', 'repairs.csv:2', null, 2000, null, null],
    ]);
    expect(found.at(-1)).toMatchObject({ based_on: 4, ratio: null, lots: 10 });
    expect(found[1]?.left_low).toBeCloseTo((1 - 0.6 ** 2 / 0.55) * 7900 - 2250, 6);
    expect(found[1]?.left_high).toBeCloseTo((1 - 0.55) * 7900 - 2250, 6);
  });

  it('need enough sound lots on offer', async () => {
    const rows = repairsOf(['front', '*', '*', '2000']);
    const [found] = await answer(
      'repair',
      worldOf(rows, [...ofTenLots.slice(0, 4), { ...LOT, isSound: false }]),
    );
    expect(found).toMatchObject({ lots: 4, estimate: null, discount: null, left_over: null, verdict: null });
    const [none] = await answer('repair', worldOf(rows, []));
    expect(none).toMatchObject({ lots: 0, estimate: null, verdict: null });
  });

  it('are those of the rows that the costs of lots would choose, by damage, title and size', async () => {
    const random = randomFrom(23);
    for (let world = 0; world < 25; world += 1) {
      const names = ['*', 'front', 'hail', 'burn'].flatMap((damage) =>
        ['*', 'salvage', 'clean'].flatMap((title) =>
          ['*', 'car', 'large'].map((size) => [damage, title, size]),
        ),
      );
      const rows = [
        ...repairsOf(
          ...names
            .filter(() => random() < 0.3)
            .map((row) => [
              ...row,
              String(Math.round(5000 * random())),
              pick(['USD', 'PLN', 'EUR'], random()),
            ]),
        ),
        rowOf('exchange', 2, { day: '2026-01-01', from: 'PLN', to: 'USD', rate: '0.25' }),
        ...[
          ['*', '*', 'large'],
          ['automobile', '*', 'car'],
          ['automobile', 'suv', 'large'],
          ['*', 'suv', 'other'],
        ]
          .filter(() => random() < 0.6)
          .map(([vehicle_type = '', body_type = '', size = ''], i) =>
            rowOf('sizes', i + 2, { vehicle_type, body_type, size }),
          ),
      ];
      const lots = Array.from({ length: 150 }, () => ({
        estimate: random() < 0.1 ? null : Math.round(2000 + 9000 * random()),
        title: pick(['clean', 'clean', 'salvage'], random()),
        isSound: random() < 0.7,
        type: pick(['Automobile', 'motorcycle', null], random()),
        body: pick(['SUV', 'sedan', null], random()),
        market: pick(['auction', 'auction', 'asking'], random()),
        currency: pick(['USD', 'USD', 'PLN'], random()),
      }));
      const found = await answer('repair', worldOf(rows, lots));
      const expected = expectedOf(rows, lots);
      expect(found.map((row) => `${row.damage} ${row.title} ${row.cost_row}`).sort()).toEqual(
        [...expected.keys()].sort(),
      );
      for (const row of found) {
        const mine = expected.get(`${row.damage} ${row.title} ${row.cost_row}`);
        expect([row.lots, row.based_on]).toEqual([mine?.estimates.length, mine?.prices]);
        const estimate = (mine?.estimates.length ?? 0) < 5 ? null : median(mine?.estimates ?? []);
        isClose(row.estimate, estimate);
        const ratio = mine?.ratio ?? null;
        isClose(row.ratio, ratio);
        isClose(
          row.left_over,
          estimate === null || ratio === null || mine?.repair === null
            ? null
            : (1 - ratio) * estimate - (mine?.repair ?? 0),
        );
      }
    }
  });

  /** The lines by damage, title and row, with the estimates that they rest on. */
  function expectedOf(rows: readonly CostRow[], lots: readonly Lot[]) {
    const schedule = scheduleOf(rows, '2026-11-20');
    const of = (table: CostTable) => rows.filter((row) => row.table === table);
    const sizeOf = ({ type, body }: Lot) =>
      schedule.choices('sizes', [])?.([type, body])?.[0]?.values.size ?? null;
    const sound = lots.filter(
      ({ isSound, market, currency, estimate }) =>
        isSound && market === 'auction' && currency === 'USD' && estimate !== null,
    );
    const targets = new Set(
      [
        ...['front', 'hail', 'burn'].map((damage) => [damage, null]),
        [null, 'salvage'],
        ...of('repairs').map(({ values: { damage = '', title = '' } }) =>
          [damage, title].map((name) => (name === '*' ? null : name)),
        ),
      ]
        .filter((names) => names.some((name) => name !== null))
        .map((names) => JSON.stringify(names)),
    );
    const lines = new Map<
      string,
      { estimates: number[]; prices: number; ratio: number | null; repair: number | null }
    >();
    for (const target of targets) {
      const [damage = null, title = null] = JSON.parse(target) as (string | null)[];
      const effects = [damage, title].flatMap((name) =>
        name === null ? [] : [EFFECTS.find(([, kind]) => kind === name)],
      );
      const prices = Math.min(...effects.map((effect) => effect?.[5] ?? 0));
      const lineOf = (size: string | null) => {
        const row = schedule.choices('repairs', [])?.([damage, title, size])?.[0];
        if (row === undefined) return undefined;
        const key = `${damage ?? 'any'} ${title ?? 'any'} repairs.csv:${row.line}`;
        const rate = { USD: 1, PLN: 0.25 }[row.values.currency ?? ''];
        const line = lines.get(key) ?? {
          ...{ estimates: [], prices },
          ratio: prices < 5 ? null : effects.reduce((product, effect) => product * (effect?.[2] ?? 1), 1),
          repair: rate === undefined ? null : Number(row.values.amount) * rate,
        };
        lines.set(key, line);
        return line;
      };
      for (const size of [null, ...of('repairs').map(({ values }) => values.size ?? '')])
        lineOf(size === '*' ? null : size);
      for (const lot of sound)
        if (title === null || lot.title === 'clean') lineOf(sizeOf(lot))?.estimates.push(lot.estimate ?? 0);
    }
    return lines;
  }
});
