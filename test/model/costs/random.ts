/** Random tables of costs that break no rule of docs/ask/costs.md, and random cars for them. */
import { below, between, chance, pick, type Rng, stream } from '../../../src/sandbox/world/random.js';
import type { Car, CostRow } from './oracle.js';

/** The day around which rows begin and end. */
export const DAY = '2026-09-10';
/** Days on which other rows of the random tables count. */
export const DAYS: readonly string[] = ['2025-06-01', '2026-09-09', DAY, '2026-09-11', '2027-01-01'];

const VALID = ['valid_from', 'valid_to', 'note'];

/** The columns of each table in the order of its file. */
export const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  destinations: ['destination', 'country', 'currency', 'arrives', 'member', 'is_default', ...VALID],
  buyer_fees: [
    ...['fee', 'source', 'member', 'title', 'from', 'to', 'fixed', 'share', 'minimum', 'currency'],
    ...VALID,
  ],
  charges: ['charge', 'source', 'destination', 'size', 'amount', 'currency', ...VALID],
  inland: ['source', 'branch', 'postal', 'state', 'to', 'size', 'amount', 'currency', ...VALID],
  ocean: ['from', 'to', 'size', 'amount', 'currency', ...VALID],
  sizes: ['vehicle_type', 'body_type', 'size', ...VALID],
  taxes: [
    ...[
      'country',
      'tax',
      'fuel',
      'age_from',
      'age_to',
      'cm3_from',
      'cm3_to',
      'value_from',
      'value_to',
      'base',
    ],
    ...['fixed', 'share', 'per_cm3', 'per_cm3_year', 'minimum', 'minimum_per_cm3', 'currency'],
    ...VALID,
  ],
  exchange: ['day', 'from', 'to', 'rate', 'note'],
  targets: [
    ...['destination', 'make', 'model', 'year_from', 'year_to', 'price', 'market_source', 'market_country'],
    ...['margin', 'margin_share', 'currency'],
    ...VALID,
  ],
};

type Values = Record<string, string>;

/** Units of a currency for a dollar. */
const PER_DOLLAR: Readonly<Record<string, number>> = {
  ...{ USD: 1, EUR: 0.92, CAD: 1.37, PLN: 3.9, GEL: 2.7, UAH: 41.5, KRW: 1350, UZS: 12_000 },
};

const PLACES = [
  { destination: 'tashkent', country: 'UZ', currency: 'UZS', arrives: '' },
  { destination: 'toronto', country: 'CA', currency: 'CAD', arrives: '' },
  { destination: 'warsaw', country: 'PL', currency: 'PLN', arrives: 'gdynia' },
  { destination: 'tbilisi', country: 'GE', currency: 'USD', arrives: 'poti' },
  { destination: 'kyiv', country: 'UA', currency: 'UAH', arrives: 'odesa' },
  { destination: 'vilnius', country: 'LT', currency: 'EUR', arrives: 'klaipeda' },
];

const SOURCES: readonly { id: number; name: string }[] = [
  { id: 1, name: 'iaai_com' },
  { id: 3, name: 'copart_com' },
  { id: 12, name: 'encar_com' },
];
const TITLES = ['clean', 'salvage', 'rebuilt', 'parts_only', 'non_repairable', 'export', 'unknown'];
const FUELS = ['gasoline', 'diesel', 'hybrid', 'electric', 'gas', 'flexible', 'hydrogen'];
const BRANCHES = ['Dallas, TX', 'Los Angeles South', 'Newark "North"', 'Suwon', 'Toronto'];
const POSTALS = ['7', '75', '752', '75201', 'K1', 'K1A', '0'];
const STATES = ['TX', 'CA', 'NJ', 'ON'];
const PORTS = ['newark', 'houston', 'savannah', 'incheon'];
const MODELS: readonly (readonly [string, string])[] = [
  ['Toyota', 'Camry'],
  ['Toyota', 'RAV4'],
  ['Ford', 'Escape'],
  ['Hyundai', 'Sonata'],
];

/** All rows of all tables of a seed, the rows of each table by line. */
export function randomTables(seed: number): CostRow[] {
  const random = stream(seed, 0, 9001);
  const homes = [...PLACES.slice(0, 2), ...PLACES.slice(2).filter(() => chance(random, 0.4))].slice(0, 4);
  const sizes = chance(random, 0.8) ? randomSizes(random) : [];
  const sizeNames = [...new Set(sizes.map((row) => (row.size ?? '').toLowerCase()))];
  const fees = randomFees(random);
  const charges = randomCharges(random, homes, sizeNames);
  const { inland, ocean } = randomWays(random, homes, sizeNames);
  const partNames = [...fees, ...charges].map((row) => nameOf(row.fee ?? row.charge));
  // A member is one that some fee names.
  const members = ['', ...fees.map((row) => nameOf(row.member)).filter((member) => member !== '*')];
  const tables: Record<string, Values[]> = {
    destinations: homes.map((home, place) => ({
      ...{ ...home, destination: spelled(random, home.destination) },
      member: spelled(random, pick(random, members)),
      is_default: place === 0 ? 'yes' : '',
    })),
    buyer_fees: fees,
    charges,
    inland,
    ocean,
    sizes,
    taxes: homes.flatMap((home) => randomTaxes(random, home, [...new Set(partNames)])),
    exchange: randomExchange(random),
    targets: randomTargets(random, homes),
  };
  return Object.entries(tables).flatMap(([table, rows]) =>
    (chance(random, 0.5) ? shuffled(random, rows) : rows).map((values, place) => ({
      table,
      line: place + 2,
      values: Object.fromEntries((COLUMNS[table] ?? []).map((column) => [column, values[column] ?? ''])),
    })),
  );
}

/** A car, of which something may be unknown. */
export function randomCar(random: Rng, rows: readonly CostRow[]): Car {
  const source = pick(random, SOURCES);
  const currency = source.id === 12 ? 'KRW' : chance(random, 0.8) ? 'USD' : 'CAD';
  const [make, model] = pick(random, MODELS);
  const orNull = <T>(value: T): T | null => (chance(random, 0.04) ? null : value);
  const named = (table: string, column: string): string[] =>
    rows.filter((row) => row.table === table).map((row) => row.values[column] ?? '');
  const branches = [...named('inland', 'branch').filter((branch) => branch !== '*'), ...BRANCHES];
  const fuel = orNull(pick(random, [...FUELS, 'gasoline', 'gasoline', 'diesel']));
  return {
    source: source.id,
    sourceName: source.name,
    currency: chance(random, 0.03) ? null : currency,
    title: pick(random, TITLES),
    branch: orNull(spelled(random, pick(random, branches))),
    postal: orNull(pick(random, ['75201', '75019', '70112', 'k1a 0b1', 'K1', '07001', '90210'])),
    state: orNull(pick(random, [...STATES, 'FL'])),
    vehicleType: orNull(pick(random, ['automobile', 'automobile', 'truck', 'motorcycle'])),
    bodyType: orNull(pick(random, ['sedan', 'suv', 'pickup'])),
    fuel,
    cm3: fuel === 'electric' ? null : orNull(pick(random, [999, 1000, 1500, 1999, 2000, 2500, 3500, 6700])),
    year: orNull(between(random, 2008, 2027)),
    make: orNull(spelled(random, make)),
    model: orNull(model),
  };
}

/** The text of each file, by its name. Row n of a table is line n + 1. */
export function toFiles(rows: readonly CostRow[]): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [table, columns] of Object.entries(COLUMNS)) {
    const own = rows.filter((row) => row.table === table);
    if (own.length === 0) continue;
    const lines = own.map(({ values }) => columns.map((column) => quoted(values[column] ?? '')).join(','));
    files[`${table}.csv`] = [columns.join(','), ...lines, ''].join('\n');
  }
  return files;
}

const quoted = (text: string): string =>
  /[",\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;

function randomSizes(random: Rng): Values[] {
  const rows = [
    { vehicle_type: 'automobile', body_type: '*', size: 'small' },
    { vehicle_type: 'automobile', body_type: 'SUV', size: 'large' },
    { vehicle_type: '*', body_type: 'suv', size: 'medium' },
    { vehicle_type: '*', body_type: 'pickup', size: 'large' },
    { vehicle_type: 'Truck', body_type: '*', size: 'Large' },
  ].filter(() => chance(random, 0.7));
  const rest = { vehicle_type: '*', body_type: '*', size: 'medium' };
  return rows.length === 0 || chance(random, 0.7) ? [...rows, rest] : rows;
}

function randomFees(random: Rng): Values[] {
  const all = ['auction', 'Gate', 'internet bid', 'service'].filter(
    (_, place) => place === 0 || chance(random, 0.6),
  );
  return all.flatMap((fee, place) => {
    const isForAll = place === 0 ? chance(random, 0.9) : chance(random, 0.5);
    const ids = SOURCES.filter(() => chance(random, 0.5));
    const keys: (number | '*')[] = isForAll ? ['*'] : [];
    for (const source of ids.length === 0 && !isForAll ? SOURCES : ids) keys.push(source.id);
    return keys.flatMap((key) => {
      const currency = key === 12 ? 'KRW' : pick(random, ['USD', 'USD', 'CAD']);
      const members = pick(random, [['*'], ['*'], ['*', 'broker'], ['*', 'dealer']]);
      return members.flatMap((member) =>
        pick(random, [
          ['*'],
          ['*'],
          ['*'],
          ['*', 'salvage'],
          ['*', 'clean', 'salvage'],
          TITLES.slice(0, 5),
        ]).flatMap((title) =>
          periods(random, () =>
            feeBands(random, currency).map((band) => ({
              ...{ fee: spelled(random, fee), source: sourceText(random, key), currency, ...band },
              ...{ member: spelled(random, member), title: spelled(random, title) },
            })),
          ),
        ),
      );
    });
  });
}

/** 1 to 40 bands. Every third amount is lower than the one below it. */
function feeBands(random: Rng, currency: string): Values[] {
  const count = chance(random, 0.3) ? 1 : between(random, 5, chance(random, 0.2) ? 40 : 10);
  const edges = edgesOf(random, count, 20_000, currency);
  const isEnding = chance(random, 0.1);
  return edges.map((from, place) => ({
    from: place === 0 ? pick(random, ['', '0', '0.00']) : from,
    to: edges[place + 1] ?? (isEnding ? money(50_000, currency) : ''),
    fixed: chance(random, 0.8)
      ? money(chance(random, 0.3) ? 5 : 5 + 40 * place + below(random, 30), currency)
      : '',
    share: chance(random, 0.4) ? share(random, 0.12) : '',
    minimum: chance(random, 0.3) ? money(between(random, 5, 300), currency) : '',
  }));
}

function randomCharges(
  random: Rng,
  homes: readonly { destination: string }[],
  sizes: readonly string[],
): Values[] {
  const all = ['papers', 'Terminal', 'broker office'].filter(() => chance(random, 0.6));
  return all.flatMap((charge) => {
    const keys = distinct(random, between(random, 1, 4), () => ({
      source: pick(random, ['*', '*', ...SOURCES.map(({ id }) => String(id))]),
      destination: pick(random, ['*', ...homes.map(({ destination }) => destination)]),
      size: pick(random, ['*', '*', ...sizes]),
    }));
    return keys.flatMap((key) =>
      periods(random, () => {
        const currency = pick(random, Object.keys(PER_DOLLAR));
        const amount = money(between(random, 0, 400) + below(random, 100) / 100, currency);
        return [{ ...respelled(random, key), charge: spelled(random, charge), amount, currency }];
      }),
    );
  });
}

/** Amounts are few, so that ways often cost the same. */
function randomWays(random: Rng, homes: typeof PLACES, sizes: readonly string[]) {
  const ports = PORTS.filter((_, place) => place === 0 || chance(random, 0.7));
  const wayRows = (keys: readonly Values[], low: number): Values[] =>
    keys.flatMap((key) =>
      periods(random, () => {
        const currency = pick(random, ['USD', 'USD', 'USD', 'CAD', 'EUR']);
        return [{ ...respelled(random, key), amount: String(low + 50 * below(random, 6)), currency }];
      }),
    );
  const straight = homes
    .filter(({ destination }) => destination === 'toronto')
    .map((home) => home.destination);
  const inland = [...ports, ...straight].flatMap((to) => {
    const rest = { source: '*', branch: '*', postal: '*', state: '*', to, size: '*' };
    const keys = distinct(random, between(random, 1, 8), () => ({
      ...rest,
      source: pick(random, ['*', '*', ...SOURCES.map(({ id }) => String(id))]),
      branch: chance(random, 0.3) ? pick(random, BRANCHES) : '*',
      postal: chance(random, 0.4) ? pick(random, POSTALS) : '*',
      state: chance(random, 0.4) ? pick(random, STATES) : '*',
      size: pick(random, ['*', '*', ...sizes]),
    }));
    return wayRows(chance(random, 0.7) ? withKey(keys, rest) : keys, 200);
  });
  const ocean = ports.flatMap((from) => {
    const goals = homes.flatMap(({ country, arrives }) =>
      [country, arrives].filter((goal) => goal !== '' && (country !== 'CA' || chance(random, 0.3))),
    );
    const near = goals.filter(() => chance(random, 0.8));
    return (near.length === 0 ? goals.slice(0, 1) : near).flatMap((to) => {
      const keys = ['*', ...sizes].filter((size) => chance(random, size === '*' ? 0.9 : 0.4));
      return wayRows(
        (keys.length === 0 ? ['*'] : keys).map((size) => ({ from, to, size })),
        700,
      );
    });
  });
  return { inland, ocean };
}

function randomTaxes(random: Rng, home: (typeof PLACES)[number], partNames: readonly string[]): Values[] {
  if (chance(random, 0.02)) return [];
  const all = ['duty', 'excise', 'VAT', 'registration'].filter(
    (_, place) => place === 0 || chance(random, 0.7),
  );
  const taxes = all.map((tax, place) => {
    const odd = chance(random, 0.15) && partNames.length > 0 ? [pick(random, partNames)] : [];
    // A base may not name a kind and one of it.
    const usual = ['price', 'inland', 'ocean', ...(odd.length === 0 ? ['fees', 'charges'] : [])].filter(
      (_, at) => at === 0 || chance(random, 0.5),
    );
    const earlier = all.slice(0, place).filter(() => chance(random, 0.7));
    const base =
      tax === 'registration' && chance(random, 0.7) ? '' : [...usual, ...odd, ...earlier].join('+');
    const fuels = pick(random, [['*'], ['*'], ['*', 'Electric'], ['*', 'electric', 'diesel'], FUELS]);
    return fuels.flatMap((fuel) =>
      periods(random, () => {
        const currency = chance(random, 0.6) ? home.currency : pick(random, ['EUR', 'USD']);
        return taxBands(random, currency, base !== '', fuel).map((band) => ({
          ...{
            country: home.country,
            tax: spelled(random, tax),
            fuel: spelled(random, fuel),
            base,
            currency,
            ...band,
          },
        }));
      }),
    );
  });
  return shuffled(random, taxes).flat();
}

/** Bands of age, in each of them bands of volume, and in each of these bands of value. Together they cover what they cover once. */
function taxBands(random: Rng, currency: string, hasBase: boolean, fuel: string): Values[] {
  const isElectric = fuel.toLowerCase() === 'electric';
  const hasAges = chance(random, 0.3);
  const hasVolumes = !isElectric && chance(random, 0.4);
  const hasVolumeAmounts = !isElectric && chance(random, 0.4);
  const cut = (column: string, edges: readonly string[], end: string): Values[] =>
    edges.map((from, place) => ({
      [`${column}_from`]: place === 0 ? pick(random, ['', '0']) : from,
      [`${column}_to`]: edges[place + 1] ?? end,
    }));
  const oldest = chance(random, 0.15) ? '15' : '';
  const ages = hasAges
    ? cut(
        'age',
        pick(random, [
          ['0', '3'],
          ['0', '3', '5', '10'],
          ['0', '7'],
        ]),
        oldest,
      )
    : [{}];
  return ages.flatMap((age) => {
    const volumes = hasVolumes
      ? cut(
          'cm3',
          pick(random, [
            ['0', '2000'],
            ['0', '1000', '1500', '2500'],
          ]),
          '',
        )
      : [{}];
    return volumes.flatMap((volume) => {
      const isFalling = chance(random, 0.5);
      const edges = isFalling
        ? ['0', money(8500, currency)]
        : edgesOf(random, between(random, 1, 5), 20_000, currency);
      const values = hasBase && chance(random, 0.4) ? cut('value', edges, '') : [{}];
      return values.map((value, place) => ({
        ...{ ...age, ...volume, ...value },
        fixed: chance(random, 0.3) ? money(between(random, 0, 500), currency) : '',
        share: !hasBase ? '' : isFalling ? (place === 0 ? '0.54' : '0.48') : share(random, 0.4),
        per_cm3: hasVolumeAmounts && chance(random, 0.5) ? fraction(random, money(1, currency)) : '',
        per_cm3_year: hasVolumeAmounts && chance(random, 0.4) ? fraction(random, money(0.2, currency)) : '',
        minimum: chance(random, 0.2) ? money(between(random, 10, 800), currency) : '',
        minimum_per_cm3:
          hasVolumeAmounts && chance(random, 0.3) ? fraction(random, money(0.5, currency)) : '',
      }));
    });
  });
}

/** Rates between all currencies. Some that no way needs are missing or of a later day. */
function randomExchange(random: Rng): Values[] {
  const currencies = Object.keys(PER_DOLLAR);
  return currencies.flatMap((from) =>
    currencies.flatMap((to) => {
      const isSafe = ['USD', 'EUR', 'CAD'].includes(from);
      if (from === to || (!isSafe && chance(random, 0.02))) return [];
      const later = ['2026-09-10', '2026-09-11', '2026-12-24'].filter(() => chance(random, 0.2));
      const days = !isSafe && chance(random, 0.02) ? ['2099-01-01'] : ['2020-02-29', ...later];
      return days.map((day) => ({ day, from, to, rate: rateOf(random, from, to) }));
    }),
  );
}

function rateOf(random: Rng, from: string, to: string): string {
  const rate = ((PER_DOLLAR[to] ?? 1) / (PER_DOLLAR[from] ?? 1)) * (0.95 + below(random, 100) / 1000);
  const text = rate.toFixed(between(random, 2, 8));
  return Number(text) < rate / 2 ? rate.toFixed(8) : text;
}

function randomTargets(random: Rng, homes: readonly { destination: string }[]): Values[] {
  if (chance(random, 0.1)) return [];
  const keys = distinct(random, between(random, 1, 8), () => {
    const [make, model] = pick(random, [...MODELS, ['*', '*'] as const]);
    return {
      destination: pick(random, ['*', ...homes.map(({ destination }) => destination)]),
      make,
      model: chance(random, 0.5) ? model : '*',
    };
  });
  return keys.flatMap((key) =>
    periods(random, () => {
      const years = pick(random, [[''], [''], ['', '2018'], ['2012', '2016', '2021']]);
      const last = chance(random, 0.3) && years.length > 1 ? '2026' : '';
      const currency = pick(random, Object.keys(PER_DOLLAR));
      return years.map((from, place) => {
        const next = years[place + 1];
        const isMarket = chance(random, 0.4);
        return {
          ...respelled(random, key),
          ...{ year_from: from, year_to: next === undefined ? last : String(Number(next) - 1) },
          price: isMarket ? '' : money(between(random, 1, 30_000) + below(random, 100) / 100, currency),
          market_source: isMarket ? sourceText(random, pick(random, SOURCES).id) : '',
          market_country: isMarket ? pick(random, ['US', 'KR', 'CA']) : '',
          margin: chance(random, 0.5) ? money(between(random, 0, 1500), currency) : '',
          margin_share: chance(random, 0.5) ? share(random, 0.3) : '',
          currency,
        };
      });
    }),
  );
}

/** The same names twice, one until a day and one from the next day on, or once. Each may have other bands. */
function periods(random: Rng, rowsOf: () => Values[]): Values[] {
  if (chance(random, 0.85)) return rowsOf();
  const [last, first] = pick(random, [
    ['2026-09-09', '2026-09-10'],
    ['2026-09-10', '2026-09-11'],
    ['2025-12-31', '2026-01-01'],
  ]);
  return [
    ...rowsOf().map((row) => ({ ...row, valid_to: last ?? '' })),
    ...rowsOf().map((row) => ({ ...row, valid_from: first ?? '' })),
  ];
}

const nameOf = (text: string | undefined): string => (text ?? '').trim().toLowerCase();

const keyOf = (key: Values): string => JSON.stringify(Object.values(key)).toLowerCase();

const withKey = (keys: readonly Values[], key: Values): Values[] =>
  keys.some((other) => keyOf(other) === keyOf(key)) ? [...keys] : [...keys, key];

function distinct(random: Rng, count: number, draw: () => Values): Values[] {
  let keys: Values[] = [];
  for (let n = 0; n < count; n++) keys = withKey(keys, draw());
  return shuffled(random, keys);
}

/** A source by its number or its name. */
function sourceText(random: Rng, key: number | string): string {
  const source = SOURCES.find(({ id }) => String(id) === String(key));
  if (source === undefined) return String(key);
  return chance(random, 0.5) ? String(source.id) : spelled(random, source.name);
}

/** Names are compared without regard to case and outer spaces. */
function spelled(random: Rng, name: string): string {
  if (chance(random, 0.9)) return name;
  return pick(random, [name.toUpperCase(), name.toLowerCase(), ` ${name} `]);
}

function respelled(random: Rng, key: Values): Values {
  const entries = Object.entries(key).map(([column, name]): [string, string] => [
    column,
    column === 'source' ? sourceText(random, name) : spelled(random, name),
  ]);
  return Object.fromEntries(entries);
}

/** Edges of bands, the first of 0, the last near `top` dollars. */
function edgesOf(random: Rng, count: number, top: number, currency: string): string[] {
  const step = top / Math.max(1, count);
  const isRound = chance(random, 0.5);
  return Array.from({ length: count }, (_, place) => {
    if (place === 0) return '0';
    const dollars = place * step + below(random, Math.floor(step * 0.8));
    return money(isRound ? Math.ceil(dollars) : dollars + below(random, 100) / 100, currency);
  });
}

/** An amount of dollars in a currency, with at most two decimals. */
function money(dollars: number, currency: string): string {
  const text = (dollars * (PER_DOLLAR[currency] ?? 1)).toFixed(2);
  return text.endsWith('.00') ? text.slice(0, -3) : text;
}

/** A share above 0 with at most six decimals. */
const share = (random: Rng, most: number): string =>
  Math.max(0.001, (below(random, 1000) / 1000) * most).toFixed(between(random, 3, 6));

/** A part of an amount, with at most six decimals. */
const fraction = (random: Rng, amount: string): string =>
  ((Number(amount) * between(random, 1, 100)) / 100).toFixed(between(random, 2, 6));

function shuffled<T>(random: Rng, list: readonly T[]): T[] {
  const result = [...list];
  for (let place = result.length - 1; place > 0; place--) {
    const other = below(random, place + 1);
    const [a, b] = [result[place], result[other]];
    if (a !== undefined && b !== undefined) [result[place], result[other]] = [b, a];
  }
  return result;
}
