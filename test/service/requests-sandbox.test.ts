import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../src/sandbox/endpoints/registry.js';
import { type Plan, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { enumerations } from '../../src/service/contract/enumerations.js';
import { RequestLimitError } from '../../src/service/errors/request-limit-error.js';
import { requests } from '../../src/service/requests/registry.js';
import type { QueryValue, ServiceRequest } from '../../src/service/requests/service-request.js';

type Name = keyof typeof requests;
type Given = Readonly<Record<string, unknown>>;

const names = Object.keys(requests).filter((name): name is Name => name in requests);
const plans: readonly Plan[] = ['demo', 'small', 'unlimited'];

let sandboxes: ReadonlyMap<Plan, Sandbox>;
beforeAll(async () => {
  const started = plans.map(async (plan) => {
    return [plan, await startSandbox({ vehicles: 40, plan, requestsPerDay: null })] as const;
  });
  sandboxes = new Map(await Promise.all(started));
});
afterAll(() => Promise.all([...sandboxes.values()].map((sandbox) => sandbox.close())));

interface Got {
  readonly status: number;
  readonly text: string;
}

async function fetched(path: string, query: URLSearchParams, plan: Plan = 'unlimited'): Promise<Got> {
  const sandbox = sandboxes.get(plan);
  const headers = { 'x-api-key': sandbox?.apiKey ?? '', 'accept-encoding': 'identity' };
  const answer = await fetch(`${sandbox?.url}${path}?${query}`, { headers });
  return { status: answer.status, text: await answer.text() };
}

/** A query as the client writes it: a list is a repeated name. */
function written(query: Readonly<Record<string, QueryValue>>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  return search;
}

const send = ({ path, query }: ServiceRequest, plan?: Plan): Promise<Got> =>
  fetched(path, written(query), plan);

/** The request for some parameters, or undefined where they are refused. */
function requestFor(name: Name, given: Given, plan?: Plan): ServiceRequest | undefined {
  try {
    return requests[name].from(given, { plan });
  } catch (error) {
    expect(error).toBeInstanceOf(RequestLimitError);
    return undefined;
  }
}

const id = fc.oneof(fc.nat({ max: 30 }), fc.nat(), fc.constant(999_999_999_999_999));
const text = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('a', '..', '.', '%2e', '/', '_1', 'R&D'),
  )
  .filter((value) => value.trim() !== '');
const segment = text.filter((value) => value !== '.' && value !== '..');
const oneOf = (values: Readonly<Record<number, string>>) =>
  fc.constantFrom(...Object.keys(values).map(Number));
const minutes = fc.integer({ min: 1, max: 4320 });
const page = fc.integer({ min: 1, max: 12 });
const size = (most: number) => fc.integer({ min: 1, max: most });
const letters = fc.constantFrom('US', 'ca', 'Kr', 'FL', 'zz');
const moment = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));
const idList = fc.oneof(id, fc.array(id, { minLength: 1, maxLength: 4 }));
const type = fc.constantFrom('cars', 'motorcycles', 'all');

const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(shape: T): fc.Arbitrary<Given> =>
  fc.record(shape, { requiredKeys: [] });

const withFew = (shape: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Given> =>
  fc.subarray(Object.keys(shape), { maxLength: 6 }).chain((kept) => {
    const chosen = Object.entries(shape).filter(([name]) => kept.includes(name));
    return fc.record(Object.fromEntries(chosen));
  });

const flags = ['buy_now', 'without_sale_date', 'exclude_expired_auctions'];
const numbers = [
  ...['model_id', 'generation_id', 'from_year', 'to_year', 'year', 'cylinders'],
  ...['sale_date_in_days', 'next_hours_auction', 'odometer_from_km', 'odometer_to_km', 'odometer_from_mi'],
  ...['odometer_to_mi', 'buy_now_price_from', 'buy_now_price_to', 'bid_price_from', 'bid_price_to'],
];
const each = (list: readonly string[], arbitrary: fc.Arbitrary<unknown>) =>
  Object.fromEntries(list.map((name) => [name, arbitrary]));

const vehicleEnumerations = {
  vehicle_type: enumerations.vehicle_type,
  body_type: enumerations.body_type,
  color: enumerations.color,
  transmission: enumerations.transmission,
  drive_wheel: enumerations.drive_wheel,
  fuel_type: enumerations.fuel,
  condition: enumerations.condition,
} as const;

const filters = {
  domain_id: fc.constantFrom(1, 3, 12),
  minutes,
  manufacturer_id: idList,
  ...each(numbers, id),
  ...each(flags, fc.boolean()),
  ...each(['vin', 'name', 'engine_name', 'search_query', 'document_title', 'damage'], text),
  ...Object.fromEntries(Object.entries(vehicleEnumerations).map(([name, values]) => [name, oneOf(values)])),
  ...each(['country', 'state_code'], letters),
  ...each(['sale_date_from', 'sale_date_to'], moment),
};
const statuses = fc.oneof(
  fc.constant({}),
  fc.record({ status: oneOf(enumerations.lot_status) }),
  fc.record({ 'status[]': fc.array(oneOf(enumerations.lot_status), { minLength: 1, maxLength: 4 }) }),
);
const searchOnly = {
  seats: id,
  ...each(['has_inspections', 'has_history_reports'], fc.boolean()),
  ...each(['listings[].has_history_reports', 'listings[].is_manufacturer_certified'], fc.boolean()),
};
const ordered = { sortDirection: fc.constantFrom('asc', 'desc'), prices_history: fc.boolean() };
const simple = { simple_paginate: fc.boolean() };
const joined = (...parts: readonly fc.Arbitrary<Given>[]): fc.Arbitrary<Given> =>
  fc.tuple(...parts).map((given) => Object.assign({}, ...given));
const prices = optional({ prices_history: fc.boolean() });

/** Parameters that keep every limit of an endpoint, on a plan. */
const valid = (plan: Plan): Readonly<Record<Exclude<Name, 'carsScrollNext'>, fc.Arbitrary<Given>>> => {
  const vehicles = size(plan === 'unlimited' ? 1000 : 50);
  const pages = optional({ ...ordered, ...simple, page, per_page: vehicles });
  const ranged = fc
    .tuple(pages, fc.boolean())
    .filter(([given]) => Number(given.page ?? 1) * Number(given.per_page ?? 50) <= 10_000)
    .map(([given]) => given);
  return {
    cars: joined(withFew(filters), statuses, pages),
    carsScroll: joined(
      withFew(filters),
      statuses,
      optional(ordered),
      fc.record(
        { limit: size(plan === 'unlimited' ? 2000 : 50), scroll_time: size(15) },
        { requiredKeys: ['limit'] },
      ),
    ),
    car: joined(fc.record({ car_id: id }), prices),
    listing: joined(fc.record({ domain_id: filters.domain_id, listing_id: segment }), prices),
    search: joined(withFew({ ...filters, ...searchOnly }), statuses, ranged),
    searchCount: joined(withFew({ ...filters, ...searchOnly }), statuses),
    searchVin: joined(fc.record({ vin: segment }), prices),
    searchLot: joined(
      fc.record({ lot: segment }),
      prices,
      fc.oneof(
        optional({ domain: fc.constantFrom(1, 'iaai_com'), search_by_id: fc.boolean() }),
        optional({
          domain: fc.constantFrom(3, 12, 'copart_com', 'encar_com'),
          search_by_id: fc.constant(false),
        }),
      ),
    ),
    archivedLots: optional({ minutes, page, per_page: size(plan === 'unlimited' ? 1000 : 100), ...simple }),
    statistics: optional({
      manufacturer_id: idList,
      ...each(['model_id', 'generation_id', 'engine_id', 'year'], id),
      ...{ page, per_page: size(plan === 'demo' ? 10 : 500), ...simple },
    }),
    manufacturers: optional({ type, page }),
    models: joined(fc.record({ manufacturer_id: id }), optional({ type, page })),
    generations: joined(
      fc.record({ model_id: id }),
      optional({ type: fc.constantFrom('cars', 'motorcycles'), page }),
    ),
    damages: optional({ page }),
    states: optional({ country: fc.constantFrom('us', 'ca'), page }),
    cities: joined(fc.record({ state_id: id }), optional({ page })),
    titles: optional({ page }),
    koreaDuplicates: optional({ minutes, lot: id, page, per_page: size(5000) }),
    koreaOptions: fc.constant({}),
  };
};

/** Requests of an endpoint that the property sends on each plan. */
const runsOf = (name: string): number => (/^(cars|search|searchCount)$/.test(name) ? 60 : 20);

describe('a request within its limits', () => {
  it.each(plans)('is never a bad one to the sandbox, with a key of the %s plan', async (plan) => {
    for (const [name, arbitrary] of Object.entries(valid(plan)))
      await fc.assert(
        fc.asyncProperty(arbitrary, async (given) => {
          const request = names.includes(name as Name) && requests[name as Name].from(given, { plan });
          const got = await send(request || expect.fail(name), plan);
          expect([200, 404], got.text).toContain(got.status);
          if (got.status === 404) expect(got.text).not.toContain('route');
        }),
        { numRuns: runsOf(name), endOnFailure: true },
      );
  });

  it('goes on with a scroll', async () => {
    const first: Given = JSON.parse((await send(requests.carsScroll({ limit: 10 }))).text);
    const next = await send(requests.carsScrollNext({ scroll_id: String(first.scroll_id), scroll_time: 15 }));
    expect(JSON.parse(next.text).data).toHaveLength(10);
  });

  it('finds what the world has', async () => {
    const world = sandboxes.get('unlimited')?.world;
    const [car = 0] = world?.activeIds() ?? [];
    const vehicle = JSON.parse(world?.vehicleJson(car) ?? '{}');
    const { lot, domain } = vehicle.lots[0];
    for (const request of [
      requests.car({ car_id: car }),
      requests.listing({ domain_id: domain.id, listing_id: lot }),
      requests.searchLot({ lot, domain: domain.id, prices_history: true }),
      requests.searchLot({ lot }),
    ])
      expect([request.path, (await send(request)).status]).toEqual([request.path, 200]);
    const several = await send(requests.searchCount({ 'status[]': [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] }));
    expect(JSON.parse(several.text).count).toBe(world?.activeIds().length);
  });
});

/** A value as it would be sent if nothing checked it. */
const raw = (value: unknown): string => (typeof value === 'boolean' ? String(Number(value)) : String(value));

const edge = [
  -1, 0, 1, 10, 11, 50, 51, 100, 101, 500, 501, 1000, 1001, 2000, 2001, 4320, 4321, 5000, 5001, 1.5, 1e15,
];
const anyNumber = fc.oneof(fc.constantFrom(...edge), fc.integer({ min: -5, max: 120 }));
const anyWord = fc.constantFrom(
  'cars',
  'all',
  'us',
  'US',
  'asc',
  'up',
  'iaai_com',
  'x',
  'KR',
  'USA',
  '',
  ' ',
  '1,2',
);
const anyMoment = fc.constantFrom(
  '2026-02-28T23:59:59',
  '2026-02-30T00:00:00',
  '2026-01-01',
  '2026-01-01T24:00:00',
);

/** Kinds of values that a parameter has at its edges. */
function candidates(name: string): fc.Arbitrary<unknown> {
  if (/^sale_date_(from|to)$/.test(name)) return fc.oneof(moment, anyMoment);
  if (/^(has_|listings|prices_|simple_|without_|exclude_|buy_now$|search_by_id)/.test(name))
    return fc.boolean();
  const words =
    /^(vin|name|engine_name|search_query|document_title|damage|country|state_code|lot|listing_id)$/;
  if (words.test(name) || /^(type|domain|sortDirection)$/.test(name)) return anyWord;
  return anyNumber;
}

/** Requests whose parameters the sandbox has on one endpoint; the scroll has a test of its own. */
const compared = names.filter((name) => !name.startsWith('carsScroll'));

describe('the limits of one parameter', () => {
  it.each(plans)('are those of the sandbox, with a key of the %s plan', async (plan) => {
    for (const name of compared) {
      const { path, parameters } = requests[name].endpoint;
      const others: Given = Object.fromEntries(
        [...path.replaceAll(/\[.*?\]/g, '').matchAll(/\{(\w+)\}/g)].map(([, required]) => [required, 1]),
      );
      for (const parameter of Object.keys(parameters)) {
        if (path.includes(`{${parameter}}`) || parameter === 'status[]') continue;
        if (name === 'koreaDuplicates' && parameter === 'lot') continue;
        await fc.assert(
          fc.asyncProperty(candidates(parameter), async (value) => {
            const asked = Object.fromEntries(
              Object.entries(others).map(([key]) => [key, /^(vin|lot|listing_id)$/.test(key) ? '1' : 1]),
            );
            const filled = path.replaceAll(/\[.*?\]/g, '').replaceAll(/\{\w+\}/g, '1');
            const ours = requestFor(name, { ...asked, [parameter]: value }, plan) !== undefined;
            const theirs = (await fetched(filled, new URLSearchParams({ [parameter]: raw(value) }), plan))
              .status;
            expect([parameter, value, ours]).toEqual([parameter, value, theirs !== 400]);
          }),
          { numRuns: 6, endOnFailure: true },
        );
      }
    }
  });
});
