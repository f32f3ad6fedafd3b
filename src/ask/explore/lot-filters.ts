import { z } from 'zod';
import { literal } from '../../base/duck/session.js';
import { numberIn } from './number-in.js';

/** A filter of the lots on offer: a field of the form, and the condition on a row of `lots_on_offer` that its value makes. */
interface Filter {
  readonly label: string;
  readonly kind: 'text' | 'choice' | 'number' | 'flag';
  /** Unit of a number, or what a text may be. */
  readonly hint?: string;
  /** Bounds of a whole number. */
  readonly within?: readonly [least: number, most: number];
  /** SQL of the condition from the SQL of the value. */
  readonly where: (value: string) => string;
}

const is = (column: string) => (value: string) => `${column} = ${value}`;
const contains = (column: string) => (value: string) => `contains(lower(${column}), lower(${value}))`;
const atMost = (column: string) => (value: string) => `${column} <= ${value}`;
const atLeast = (column: string) => (value: string) => `${column} >= ${value}`;

/**
 * What a lot is likely to cost, if its currency is known: what a listing asks; at an auction what the lot brings, but not less than its bid, or its Buy Now
 * price where that is lower.
 */
export const COST =
  "case when currency is null then null when market = 'asking' then buy_now else least(case when buy_now > coalesce(bid, 0) then buy_now end, greatest(estimate, bid)) end";

/** Filters and orders that find nothing without tables of costs. */
export const COST_FIELDS: ReadonlySet<string> = new Set(['cost', 'cost_currency', 'room']);

const YEARS = [1900, 2100] as const;

/** The filters by their names in an address, in the order of the form. */
export const FILTERS = {
  make: { label: 'Make', kind: 'text', where: is('manufacturer_name') },
  model: { label: 'Model', kind: 'text', where: is('model_name') },
  year_from: { label: 'Year from', kind: 'number', within: YEARS, where: atLeast('year') },
  year_to: { label: 'Year to', kind: 'number', within: YEARS, where: atMost('year') },
  state: { label: 'State', kind: 'choice', where: is('state_code') },
  city: { label: 'City', kind: 'text', hint: 'or a part of it', where: contains('city_name') },
  source: { label: 'Source', kind: 'choice', where: is('domain_name') },
  damage: {
    label: 'Damage',
    kind: 'choice',
    hint: 'main or second',
    // A second damage that is not stated says nothing of the lot.
    where: (value) =>
      value === literal('unknown')
        ? is('damage_main_group')(value)
        : `(${is('damage_main_group')(value)} or ${is('damage_second_group')(value)})`,
  },
  title: { label: 'Title', kind: 'choice', where: is('title_brand') },
  days: {
    label: 'Auction within',
    kind: 'number',
    within: [0, 3650],
    hint: 'days',
    where: (value) => `sale_date <= (select as_of from dim_settings) + to_days(${value})`,
  },
  price_from: { label: 'Costs more than', kind: 'number', where: (value) => `${COST} > ${value}` },
  price: { label: 'Costs at most', kind: 'number', where: atMost(COST) },
  cost: { label: 'Costs in the end at most', kind: 'number', where: atMost('cost') },
  // A saved search then means the same amount once another destination is the default.
  cost_currency: { label: 'Costs in', kind: 'choice', where: is('cost_currency') },
  room: { label: 'Room to bid from', kind: 'number', where: atLeast('room_to_bid') },
  estimate_from: { label: 'Estimate from', kind: 'number', where: atLeast('estimate') },
  estimate_to: { label: 'Estimate at most', kind: 'number', where: atMost('estimate') },
  currency: { label: 'Currency', kind: 'choice', where: is('currency') },
  inspection: { label: 'Inspection found', kind: 'choice', where: is('inspection') },
  offered: {
    label: 'Put up before',
    kind: 'number',
    within: [0, 1000],
    hint: 'times or more',
    where: (value) => `attempt > ${value}`,
  },
  km: { label: 'Odometer at most', kind: 'number', hint: 'km', where: atMost('odometer_km') },
  odds: {
    label: 'Chance to sell from',
    kind: 'number',
    hint: '%',
    where: (value) => `round(sell_probability * 100) >= ${value}`,
  },
  seller: { label: 'Seller', kind: 'text', hint: 'or a part of it', where: contains('seller_name') },
  branch: { label: 'Branch', kind: 'text', hint: 'or a part of it', where: contains('branch_name') },
  status: { label: 'Status', kind: 'choice', where: is('status_name') },
  auctions: { label: 'Has a date', kind: 'flag', where: () => 'sale_date is not null' },
  buyable: { label: 'Has a Buy Now or asking price', kind: 'flag', where: () => 'buy_now is not null' },
  rollback: { label: 'Odometer rolled back', kind: 'flag', where: () => 'odometer_rollback' },
  stands: { label: 'Stands out', kind: 'flag', where: () => 'stands_out is not null' },
} as const satisfies Readonly<Record<string, Filter>>;

export type FilterName = keyof typeof FILTERS;

export const filterNames = Object.keys(FILTERS) as FilterName[];

/** Counts beside a list: the filters that a value sets, and the values, with the SQL of those of a lot. */
export interface Facet {
  /** Filter that a value sets; other filters of the same fact, which it takes away. */
  readonly filter: FilterName;
  readonly others?: readonly FilterName[];
  readonly label: string;
  /** SQL of the value of a lot, which is null where none counts. */
  readonly value: string;
  /** A second value of a lot, which counts if it is another. */
  readonly second?: string;
  /** Steps of a number that a filter bounds: from below (`from`) or above (`to`). */
  readonly steps?: readonly ['from' | 'to', ...number[]];
}

/** The facets of the list, in their order. */
export const FACETS: readonly Facet[] = [
  // A model is one of its make.
  { filter: 'make', others: ['model'], label: 'Make', value: 'manufacturer_name' },
  { filter: 'model', label: 'Model', value: 'model_name' },
  {
    filter: 'year_from',
    others: ['year_to'],
    label: 'Model year from',
    value: 'year',
    steps: ['from', 2025, 2022, 2019, 2016, 2012, 2006],
  },
  { filter: 'state', label: 'State', value: 'state_code' },
  {
    filter: 'damage',
    label: 'Damage',
    value: 'damage_main_group',
    second: "nullif(damage_second_group, 'unknown')",
  },
  { filter: 'title', label: 'Title', value: 'title_brand' },
  {
    filter: 'km',
    label: 'Odometer at most, km',
    value: 'case when odometer_km is not null then ceil(odometer_km / 10000) * 10000 end',
    steps: ['to', 30_000, 60_000, 100_000, 150_000, 200_000],
  },
  { filter: 'source', label: 'Source', value: 'domain_name' },
  { filter: 'status', label: 'Status', value: 'status_name' },
  { filter: 'inspection', label: 'Inspection found', value: 'inspection' },
  { filter: 'rollback', label: 'Odometer rolled back', value: "case when odometer_rollback then '1' end" },
  { filter: 'offered', label: 'Put up before, times', value: 'attempt - 1', steps: ['from', 1, 2, 3] },
  {
    filter: 'buyable',
    label: 'Has a Buy Now or asking price',
    value: "case when buy_now is not null then '1' end",
  },
];

/** The orders of a list, by their names in an address. Lots without the value come last. */
export const ORDERS = {
  soonest: ['Soonest auction', 'sale_date nulls last'],
  stands: [
    'Buy Now furthest below such prices',
    'prices_above desc nulls last, buy_now / estimate, sale_date nulls last',
  ],
  cheapest: ['Lowest likely cost', `${COST} nulls last`],
  cost: ['Lowest cost in the end', 'cost nulls last'],
  room: ['Most room to bid', 'room_to_bid desc nulls last'],
  estimate: ['Highest estimate', 'estimate desc nulls last'],
  odds: ['Best chance to sell', 'sell_probability desc nulls last'],
  newest: ['Newest model year', 'year desc nulls last'],
  km: ['Lowest odometer', 'odometer_km nulls last'],
} as const;

const text = z.string().trim().max(100).optional();
const number = z.preprocess(numberIn, z.number().min(0).max(1e9).optional());
const empty = (schema: z.ZodType) => z.preprocess((given) => (given === '' ? undefined : given), schema);

const asked = z.object({
  ...Object.fromEntries(
    filterNames.map((name) => {
      const { kind, within }: Filter = FILTERS[name];
      if (kind !== 'number') return [name, empty(text)];
      return [
        name,
        empty(
          within === undefined
            ? number
            : z.preprocess(numberIn, z.int().min(within[0]).max(within[1]).optional()),
        ),
      ];
    }),
  ),
  sort: z.enum(Object.keys(ORDERS) as (keyof typeof ORDERS)[]).catch('soonest'),
  page: z.coerce.number().int().min(1).max(1e6).catch(1),
});

/** A search for lots on offer. */
export interface Search {
  readonly filters: Partial<Readonly<Record<FilterName, string>>>;
  readonly sort: keyof typeof ORDERS;
  readonly page: number;
  /** Names of the fields whose values cannot be used; they do not count. */
  readonly wrong: readonly string[];
}

/** Reads a search from the query of an address. */
export function searchIn(query: Readonly<Record<string, string>>): Search {
  const parsed = asked.safeParse(query);
  const wrong = parsed.error?.issues.map(({ path }) => String(path[0])) ?? [];
  const given = asked.parse(
    Object.fromEntries(Object.entries(query).filter(([name]) => !wrong.includes(name))),
  );
  const { sort, page, ...values } = given;
  const filters = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    filters: Object.fromEntries(filters.map(([name, value]) => [name, String(value)])),
    sort,
    page,
    wrong,
  };
}

/** The query of the address of a search, with other values in place of some. */
export function addressOf(search: Search, other: Readonly<Record<string, string>> = {}): string {
  const { filters, sort } = search;
  const order: Record<string, string> = sort === 'soonest' ? {} : { sort };
  return new URLSearchParams({ ...filters, ...order, ...other }).toString();
}

/** The condition of a search as SQL over `lots_on_offer`; `true` without filters. Values become literals. */
export function conditionOf({ filters }: Search): string {
  const parts = filterNames.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const { kind, where } = FILTERS[name];
    return [where(kind === 'number' ? String(Number(value)) : literal(value))];
  });
  return parts.join('\n  and ') || 'true';
}

/** A search in words, such as `Toyota Camry, State TX`. */
export function wordsOf({ filters }: Search): string {
  const { make, model, ...others } = filters;
  const parts = filterNames.flatMap((name) => {
    const value = Reflect.get(others, name) as string | undefined;
    const { label, kind, hint }: Filter = FILTERS[name];
    if (value === undefined) return [];
    if (kind === 'flag') return [label.toLowerCase()];
    const unit = kind === 'number' && hint !== undefined ? ` ${hint}` : '';
    return [`${label.toLowerCase()} ${value.replaceAll('_', ' ')}${unit}`];
  });
  const car = [make, model].filter((name) => name !== undefined).join(' ');
  return [...(car === '' ? [] : [car]), ...parts].join(', ') || 'all lots on offer';
}
