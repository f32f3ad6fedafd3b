import { describe, expect, it } from 'vitest';
import { below, between, chance, pick, type Rng, stream } from '../../../src/sandbox/world/random.js';
import { BASE, BROKEN } from './broken.js';
import { type Car, type CostRow, landed, type Medians, mostToBid, targetOf } from './oracle.js';
import { COLUMNS, DAY, DAYS, randomCar, randomTables, toFiles } from './random.js';

const CAR: Car = {
  ...{ source: 1, sourceName: 'iaai_com', currency: 'USD', title: 'clean' },
  ...{ branch: 'Dallas', postal: '75201', state: 'TX', vehicleType: 'automobile', bodyType: 'sedan' },
  ...{ fuel: 'gasoline', cm3: 1500, year: 2018, make: 'Toyota', model: 'Camry' },
};

const cellsOf = (line: string): string[] =>
  [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
    ([, inQuotes, plain]) => inQuotes?.replaceAll('""', '"') ?? plain ?? '',
  );

/** The rows of files; those of a table that is given stand in place of the base. */
function rowsOf(files: Readonly<Record<string, string>>): CostRow[] {
  return Object.entries(files).flatMap(([file, text]) => {
    const [header = '', ...lines] = text.split('\n').filter((line) => line !== '');
    const columns = cellsOf(header);
    return lines.map((line, place) => ({
      table: file.replace('.csv', ''),
      line: place + 2,
      values: Object.fromEntries(cellsOf(line).map((cell, at) => [columns[at] ?? '', cell])),
    }));
  });
}

type Rows = Readonly<Record<string, readonly Readonly<Record<string, string>>[]>>;

/** Tables of one destination, `home`, where everything is free and in USD but for what is given. */
function tablesOf(given: Rows): CostRow[] {
  const any = { source: '*', member: '*', title: '*', branch: '*', postal: '*', state: '*', size: '*' };
  const free: Rows = {
    destinations: [{ destination: 'home', country: 'US', currency: 'USD' }],
    buyer_fees: [{ fee: 'auction', fixed: '0' }],
    inland: [{ to: 'home', amount: '0' }],
    taxes: [{ country: 'US', tax: 'duty', fuel: '*', fixed: '0' }],
  };
  return Object.entries({ ...free, ...given }).flatMap(([table, rows]) =>
    rows.map((values, place) => ({
      table,
      line: place + 2,
      values: { currency: 'USD', destination: '*', ...any, ...values },
    })),
  );
}

const totalOf = (rows: readonly CostRow[], price: bigint, car: Car = CAR): bigint | null =>
  landed(rows, car, 'home', DAY, price).total;

const none: Medians = () => null;

describe('landed', () => {
  it('adds the parts of the small tables', () => {
    // One dollar is 4 zloty from 2026-06-01 on.
    // price     1000.01                                      = 4000.04
    // auction   50 + 0.05 x 1000.01 = 50 + 50.0005 = 100.00  =  400.00
    // gate      85.50                                        =  342.00
    // charges   papers 75 = 300.00; handling, not large, 200 =  800.00
    // way       Houston 300 + 1200 = 1500, Newark 600 + 1000 = 1600
    // duty      0.1 x (4000.04 + 1200 + 4800) = 1000.004     = 1000.00
    // excise    0.031 x (4000.04 + 1000) = 155.00124         =  155.00
    // vat       0.23 x (4000.04 + 742 + 6000 + 1155) = 0.23 x 11897.04 = 2736.3192
    const { parts, total, isMissing } = landed(rowsOf(BASE), CAR, 'Warsaw', DAY, 100_001n);
    expect(
      parts.map(({ part, name, line, amount, converted }) => [part, name, line, amount, converted]),
    ).toEqual([
      ['price', null, 0, 100_001n, 400_004n],
      ['fees', 'auction', 3, 10_000n, 40_000n],
      ['fees', 'gate', 6, 8_550n, 34_200n],
      ['charges', 'papers', 2, 7_500n, 30_000n],
      ['charges', 'handling', 4, 20_000n, 80_000n],
      ['inland', null, 2, 30_000n, 120_000n],
      ['ocean', null, 2, 120_000n, 480_000n],
      ['taxes', 'duty', 2, 100_000n, 100_000n],
      ['taxes', 'excise', 3, 15_500n, 15_500n],
      ['taxes', 'vat', 6, 273_632n, 273_632n],
    ]);
    // 4000.04 + 742 + 1100 + 6000 + 1000 + 155 + 2736.32
    expect([total, isMissing]).toEqual([1_573_336n, false]);
  });

  it('rounds half a cent up, in the currency of the row and again in that of the destination', () => {
    const buyer_fees = [{ fee: 'auction', share: '0.5' }];
    expect(totalOf(tablesOf({ buyer_fees }), 1n)).toBe(2n); // 0.01 + 0.005
    expect(totalOf(tablesOf({ buyer_fees: [{ fee: 'auction', share: '0.499999' }] }), 1n)).toBe(1n);
    // 0.10 USD are 0.125 = 0.13 EUR, half of them 0.065 = 0.07 EUR, and these 0.056 = 0.06 USD.
    const exchange = [
      { day: '2026-01-01', from: 'USD', to: 'EUR', rate: '1.25' },
      { day: '2026-01-01', from: 'EUR', to: 'USD', rate: '0.8' },
    ];
    const inEuro = [{ fee: 'auction', share: '0.5', currency: 'EUR' }];
    expect(totalOf(tablesOf({ buyer_fees: inEuro, exchange }), 10n)).toBe(16n);
  });

  it('converts into a weak currency', () => {
    const rows = tablesOf({
      destinations: [{ destination: 'home', country: 'US', currency: 'UZS' }],
      inland: [{ to: 'home', amount: '60', currency: 'UZS' }],
      exchange: [
        { day: '2026-01-01', from: 'USD', to: 'UZS', rate: '12000' },
        { day: '2026-01-01', from: 'UZS', to: 'USD', rate: '0.00008333' },
      ],
      // 12000 sum are 0.99996 = 1.00 dollar, so the second band.
      taxes: [
        { country: 'US', tax: 'duty', fuel: '*', base: 'price', share: '0.5', value_to: '1' },
        { country: 'US', tax: 'duty', fuel: '*', base: 'price', share: '0.25', value_from: '1.00' },
      ],
    });
    // 1 USD = 12000 sum, the tow 60 sum, duty 0.25 USD = 3000 sum
    expect(totalOf(rows, 100n)).toBe(1_506_000n);
  });

  it('takes the newest rate whose day has come, and no rate the other way round', () => {
    const exchange = [
      { day: '2026-09-11', from: 'USD', to: 'PLN', rate: '5' },
      { day: '2026-09-10', from: 'USD', to: 'PLN', rate: '4' },
      { day: '2026-09-09', from: 'USD', to: 'PLN', rate: '3' },
    ];
    const destinations = [{ destination: 'home', country: 'US', currency: 'PLN' }];
    expect(totalOf(tablesOf({ destinations, exchange }), 100n)).toBe(400n);
    expect(totalOf(tablesOf({ destinations, exchange }), 100n, { ...CAR, currency: 'PLN' })).toBeNull();
  });

  it('takes the larger of the fee and its minimum, and a band from its first cent on', () => {
    const buyer_fees = [
      { fee: 'auction', to: '100', fixed: '10' },
      { fee: 'Auction', from: '100', fixed: '1', share: '0.1', minimum: '12.5' },
    ];
    const rows = tablesOf({ buyer_fees });
    expect(totalOf(rows, 9_999n)).toBe(10_999n);
    expect(totalOf(rows, 10_000n)).toBe(11_250n);
    expect(totalOf(rows, 20_000n)).toBe(22_100n);
  });

  it('decides by names from the first column on', () => {
    const buyer_fees = [
      { fee: 'auction', fixed: '1' },
      { fee: 'auction', title: 'clean', fixed: '2' },
      { fee: 'auction', source: '1', fixed: '4' },
      { fee: 'auction', source: 'copart_com', title: 'clean', fixed: '8' },
    ];
    const rows = tablesOf({ buyer_fees });
    expect(totalOf(rows, 0n)).toBe(400n);
    expect(totalOf(rows, 0n, { ...CAR, source: 3, sourceName: 'copart_com' })).toBe(800n);
    expect(totalOf(rows, 0n, { ...CAR, source: 3, sourceName: 'copart_com', title: 'salvage' })).toBe(100n);
    expect(totalOf(rows, 0n, { ...CAR, source: 12, sourceName: 'encar_com' })).toBe(200n);
  });

  it('misses a fee that the source has for other titles, and not one of other sources', () => {
    const auction = { fee: 'auction', fixed: '1' };
    const ofTitle = [auction, { fee: 'gate', source: 'iaai_com', title: 'salvage', fixed: '2' }];
    expect(totalOf(tablesOf({ buyer_fees: ofTitle }), 0n)).toBeNull();
    const ofSource = [auction, { fee: 'gate', source: '3', fixed: '2' }];
    expect(totalOf(tablesOf({ buyer_fees: ofSource }), 0n)).toBe(100n);
    expect(totalOf(tablesOf({ buyer_fees: ofSource.slice(1) }), 0n)).toBeNull();
  });

  it('tows from the longest postal code, and takes the first of two ports alike', () => {
    const inland = [
      { to: 'newark', amount: '90' },
      { to: 'newark', postal: '75', amount: '50' },
      { to: 'newark', postal: '752', amount: '60' },
      { to: 'newark', postal: '76', amount: '1' },
      { to: 'Houston', state: 'tx', amount: '20' },
    ];
    const ocean = [
      { from: 'newark', to: 'US', amount: '10' },
      { from: 'newark', to: 'gdynia', amount: '40' },
      { from: 'houston', to: 'us', amount: '80' },
    ];
    const destinations = [{ destination: 'home', country: 'US', currency: 'USD', arrives: 'Gdynia' }];
    const rows = tablesOf({ destinations, inland, ocean });
    const linesFor = (car: Car) =>
      landed(rows, car, 'home', DAY, 0n)
        .parts.filter((part) => part.table !== 'taxes' && part.table !== 'buyer_fees')
        .map(({ line }) => line);
    // Newark 60 + 40 to the port before the country, Houston 20 + 80.
    expect(linesFor(CAR)).toEqual([0, 6, 4]);
    // Elsewhere 50 + 40 by Newark; no way by Houston.
    expect(linesFor({ ...CAR, postal: '75019', state: null })).toEqual([0, 3, 3]);
    expect(linesFor({ ...CAR, postal: null, state: null })).toEqual([0, 2, 3]);
  });

  it('multiplies volume and age, and needs them only where a row has them', () => {
    const duty = { country: 'US', tax: 'duty', base: 'price' };
    const taxes = [
      { ...duty, fuel: 'electric', fixed: '7' },
      { ...duty, fuel: '*', age_to: '5', share: '0.5', per_cm3: '0.25', minimum: '1', minimum_per_cm3: '1' },
      { ...duty, fuel: '*', age_from: '5', share: '0.5', per_cm3: '0.1', per_cm3_year: '0.000333' },
    ];
    const rows = tablesOf({ taxes });
    // 8 years: 0.5 x 100 + 0.1 x 1500 + 0.000333 x 1500 x 8 = 50 + 150 + 3.996
    expect(totalOf(rows, 10_000n)).toBe(30_400n);
    // 4 years: 50 + 375 = 425, at least 1 + 1500
    expect(totalOf(rows, 10_000n, { ...CAR, year: 2022 })).toBe(160_100n);
    expect(totalOf(rows, 10_000n, { ...CAR, fuel: 'electric', cm3: null, year: null })).toBe(10_700n);
    for (const unknown of [{ fuel: null }, { cm3: null }, { year: null }]) {
      expect(totalOf(rows, 10_000n, { ...CAR, ...unknown })).toBeNull();
    }
  });

  it('needs a size if a table names one', () => {
    const charges = [
      { charge: 'papers', amount: '1' },
      { charge: 'lift', size: 'large', amount: '2' },
    ];
    const sizes = [{ vehicle_type: 'automobile', body_type: 'SUV', size: 'Large' }];
    const rows = tablesOf({ charges, sizes });
    expect(totalOf(rows, 0n, { ...CAR, bodyType: 'suv' })).toBe(300n);
    expect(totalOf(rows, 0n)).toBeNull();
    expect(totalOf(tablesOf({ charges: charges.slice(0, 1), sizes }), 0n)).toBe(100n);
  });

  it('reads only the rows of the day', () => {
    const buyer_fees = [
      { fee: 'auction', fixed: '1', valid_to: '2026-09-09' },
      { fee: 'auction', fixed: '2', valid_from: DAY, valid_to: DAY },
      { fee: 'auction', fixed: '4', valid_from: '2026-09-11' },
    ];
    expect(totalOf(tablesOf({ buyer_fees }), 0n)).toBe(200n);
    expect(totalOf(tablesOf({ buyer_fees: buyer_fees.slice(0, 1) }), 0n)).toBeNull();
  });
});

describe('targetOf', () => {
  it('takes margins from the price of the model and year', () => {
    // 50000 - 0.05 x 50000 - 2000
    expect(targetOf(rowsOf(BASE), CAR, 'warsaw', DAY, none)).toBe(4_550_000n);
    expect(targetOf(rowsOf(BASE), { ...CAR, year: 2020 }, 'warsaw', DAY, none)).toBe(6_450_000n);
    expect(targetOf(rowsOf(BASE), { ...CAR, year: 2023 }, 'warsaw', DAY, none)).toBeNull();
    expect(targetOf(rowsOf(BASE), { ...CAR, model: null }, 'warsaw', DAY, none)).toBeNull();
  });

  it('takes them from the median of a market', () => {
    const medians: Medians = (source, country) =>
      source === 3 && country === 'CA' ? { price: 1_000_001n, currency: 'USD' } : null;
    // 10000.01 USD = 13700.0137 = 13700.01 CAD, less 500
    expect(targetOf(rowsOf(BASE), CAR, 'toronto', DAY, medians)).toBe(1_320_001n);
    expect(targetOf(rowsOf(BASE), CAR, 'toronto', DAY, none)).toBeNull();
  });
});

describe('mostToBid', () => {
  it('bids above the edge at which a fee falls', () => {
    const buyer_fees = [
      { fee: 'auction', to: '100', fixed: '10' },
      { fee: 'auction', from: '100', fixed: '0' },
    ];
    const most = (limit: bigint) => mostToBid(tablesOf({ buyer_fees }), CAR, 'home', DAY, limit);
    expect(most(10_500n)).toBe(10_500n);
    expect(most(10_000n)).toBe(10_000n);
    expect(most(9_999n)).toBe(8_999n);
    expect(most(1_001n)).toBe(1n);
    expect(most(1_000n)).toBeNull();
    expect(most(-5n)).toBeNull();
  });

  it('bids above the edge at which a tax falls', () => {
    const duty = { country: 'US', tax: 'duty', fuel: '*', base: 'price' };
    const taxes = [
      { ...duty, value_to: '8500', share: '0.54' },
      { ...duty, value_from: '8500', share: '0.48' },
    ];
    const most = (limit: bigint) => mostToBid(tablesOf({ taxes }), CAR, 'home', DAY, limit);
    expect(most(1_258_000n)).toBe(850_000n); // 8500 x 1.48
    // 8168.82 + 4411.1628 = 12579.98; 8168.83 + 4411.1682 = 12580.00
    expect(most(1_257_999n)).toBe(816_882n);
  });

  it('is null if something is missing', () => {
    expect(mostToBid(tablesOf({}), { ...CAR, currency: null }, 'home', DAY, 100n)).toBeNull();
  });

  it('finds the same as trying every bid', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = stream(seed, 1, 77);
      const rows = narrowTables(random);
      const limit = BigInt(between(random, 0, 2500));
      let best: bigint | null = null;
      for (let price = 1n; price <= limit; price++) {
        const total = totalOf(rows, price);
        if (total !== null && total <= limit) best = price;
      }
      expect([seed, mostToBid(rows, CAR, 'home', DAY, limit)]).toEqual([seed, best]);
    }
  });
});

/** Fees and taxes that rise and fall at edges of a few dollars. */
function narrowTables(random: Rng): CostRow[] {
  const bands = (prefix: string): Record<string, string>[] => {
    const edges = Array.from({ length: between(random, 1, 5) }, (_, place) =>
      ((place * 350 + below(random, 300)) / 100).toFixed(2),
    );
    return edges.map((edge, place) => ({
      [`${prefix}from`]: place === 0 ? '' : edge,
      [`${prefix}to`]: edges[place + 1] ?? (chance(random, 0.1) ? '25' : ''),
      fixed: (below(random, 300) / 100).toFixed(2),
      share: (below(random, 600) / 1000).toFixed(3),
      minimum: chance(random, 0.3) ? (below(random, 400) / 100).toFixed(2) : '',
    }));
  };
  const fees = ['auction', 'gate'].flatMap((fee) => {
    const currency = pick(random, ['USD', 'EUR']);
    return bands('').map((band) => ({ fee, currency, ...band }));
  });
  const taxes = ['vat', 'excise', 'duty'].flatMap((tax) => {
    const currency = pick(random, ['USD', 'EUR']);
    const base = { duty: 'price+auction', excise: 'price+duty', vat: 'price+fees+duty+excise' }[tax] ?? '';
    return bands('value_').map((band) => ({ country: 'US', tax, fuel: '*', base, currency, ...band }));
  });
  const exchange = [
    { day: '2026-01-01', from: 'USD', to: 'EUR', rate: '0.87654321' },
    { day: '2026-01-01', from: 'EUR', to: 'USD', rate: '1.14' },
  ];
  return tablesOf({ buyer_fees: fees, taxes, exchange });
}

/** The columns by which rows of a table differ, and the ranges of which two rows of the same names must differ in one. */
const KEYS: Readonly<
  Record<string, { names: readonly string[]; ranges: readonly (readonly [string, string])[] }>
> = {
  destinations: { names: ['destination'], ranges: [] },
  buyer_fees: { names: ['fee', 'source', 'member', 'title'], ranges: [['from', 'to']] },
  charges: { names: ['charge', 'source', 'destination', 'size'], ranges: [] },
  inland: { names: ['source', 'branch', 'postal', 'state', 'to', 'size'], ranges: [] },
  ocean: { names: ['from', 'to', 'size'], ranges: [] },
  sizes: { names: ['vehicle_type', 'body_type'], ranges: [] },
  taxes: {
    names: ['country', 'tax', 'fuel'],
    ranges: [
      ['age_from', 'age_to'],
      ['cm3_from', 'cm3_to'],
      ['value_from', 'value_to'],
    ],
  },
  exchange: { names: ['day', 'from', 'to'], ranges: [] },
  targets: { names: ['destination', 'make', 'model'], ranges: [['year_from', 'year_to']] },
};

const IDS: Readonly<Record<string, string>> = { iaai_com: '1', copart_com: '3', encar_com: '12' };

const keyOf = ({ table, values }: CostRow): string =>
  [table, ...(KEYS[table]?.names ?? []).map((column) => (values[column] ?? '').trim().toLowerCase())]
    .map((name) => IDS[name] ?? name)
    .join('|');

/** Ranges of numbers have no `to`; those of years have. */
function isApart(a: CostRow, b: CostRow, [from, to]: readonly [string, string]): boolean {
  const start = (row: CostRow): number => Number(row.values[from] || 0);
  const end = (row: CostRow): number => Number(row.values[to] || 1e15) + (to === 'year_to' ? 1 : 0);
  return end(a) <= start(b) || end(b) <= start(a);
}

const isOnOtherDays = (a: CostRow, b: CostRow): boolean =>
  (a.values.valid_to || '9999') < (b.values.valid_from || '0000') ||
  (b.values.valid_to || '9999') < (a.values.valid_from || '0000');

function byKey(rows: readonly CostRow[]): CostRow[][] {
  const groups = new Map<string, CostRow[]>();
  for (const row of rows) groups.set(keyOf(row), [...(groups.get(keyOf(row)) ?? []), row]);
  return [...groups.values()];
}

const conflictsIn = (rows: readonly CostRow[]): string[] =>
  byKey(rows).flatMap((group) =>
    group.flatMap((row, place) =>
      group
        .slice(place + 1)
        .filter((other) => !isOnOtherDays(row, other))
        .filter((other) => !KEYS[row.table]?.ranges.some((range) => isApart(row, other, range)))
        .map((other) => `${keyOf(row)} ${row.line} ${other.line}`),
    ),
  );

/** Fees whose bands on a day do not begin at 0 or do not follow each other. */
const gapsIn = (rows: readonly CostRow[]): string[] =>
  byKey(rows.filter(({ table }) => table === 'buyer_fees')).flatMap((group) =>
    DAYS.flatMap((day) => {
      const bands = group
        .filter(({ values }) => (values.valid_from || '0000') <= day && day <= (values.valid_to || '9999'))
        .map(({ values }) => [Number(values.from || 0), Number(values.to || 1e15)] as const)
        .sort(([a], [b]) => a - b);
      const isWhole = bands.every(([from], place) => from === (bands[place - 1]?.[1] ?? 0));
      return isWhole ? [] : [`${group[0] === undefined ? '' : keyOf(group[0])} ${day}`];
    }),
  );

describe('random tables', () => {
  it('give totals, targets and bids', () => {
    const count = { totals: 0, missing: 0, targets: 0 };
    for (let seed = 1; seed <= 20; seed++) {
      const rows = randomTables(seed);
      const random = stream(seed, 2, 77);
      for (const row of rows) expect(Object.keys(row.values)).toEqual(COLUMNS[row.table]);
      for (const home of rows.filter(({ table }) => table === 'destinations')) {
        const destination = home.values.destination ?? '';
        for (const day of DAYS) {
          const car = randomCar(random, rows);
          const price = BigInt(between(random, 1, 3_000_000)) * (car.currency === 'KRW' ? 1350n : 1n);
          const { parts, total } = landed(rows, car, destination, day, price);
          if (total === null) {
            count.missing++;
            continue;
          }
          count.totals++;
          expect(parts.reduce((sum, { converted }) => sum + converted, 0n)).toBe(total);
          const target = targetOf(rows, car, destination, day, () => ({ price: 900_000n, currency: 'USD' }));
          if (target !== null) count.targets++;
          if (!chance(random, 0.3)) continue;
          const most = mostToBid(rows, car, destination, day, total) ?? 0n;
          expect(most).toBeGreaterThanOrEqual(price);
          expect(landed(rows, car, destination, day, most).total).toBeLessThanOrEqual(total);
          const above = landed(rows, car, destination, day, most + 1n).total;
          expect(above === null || above > total).toBe(true);
        }
      }
    }
    expect(count.totals).toBeGreaterThan(count.missing);
    expect(count.targets).toBeGreaterThan(20);
  });

  it('have no rows that conflict, and no gaps', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const rows = randomTables(seed);
      expect([seed, ...conflictsIn(rows)]).toEqual([seed]);
      expect([seed, ...gapsIn(rows)]).toEqual([seed]);
    }
  });

  it('repeat by seed, and differ', () => {
    expect(randomTables(7)).toEqual(randomTables(7));
    expect(randomTables(7)).not.toEqual(randomTables(8));
  });

  it('are read back from their files', () => {
    for (let seed = 1; seed <= 20; seed++) {
      const rows = randomTables(seed);
      const order = Object.keys(COLUMNS);
      const sorted = [...rows].sort((a, b) => order.indexOf(a.table) - order.indexOf(b.table));
      expect(rowsOf(toFiles(rows))).toEqual(sorted);
    }
  });
});

describe('broken tables', () => {
  it('name files and lines that exist, and differ from the base', () => {
    expect(new Set(BROKEN.map(({ what }) => what)).size).toBe(BROKEN.length);
    expect(BROKEN.length).toBeGreaterThanOrEqual(44);
    for (const { what, file, line, files, without = [] } of BROKEN) {
      const text = { ...BASE, ...files }[file] ?? '';
      expect([what, line === null || text.split('\n')[line - 1] !== undefined]).toEqual([what, true]);
      expect([what, without.length > 0 || text !== BASE[file]]).toEqual([what, true]);
    }
  });
});
