import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enumerations } from '../../src/core/service/contract/enumerations.js';
import type { Plan } from '../../src/core/service/limits.js';
import { requests, type ServiceRequest } from '../../src/core/service/requests.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { lotAt, recordsOf } from '../served.js';

type Name = keyof typeof requests;
type Given = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const plans: readonly Plan[] = ['demo', 'small', 'unlimited'];

let sandboxes: Readonly<Record<Plan, Sandbox>>;
beforeAll(async () => {
  const start = (plan: Plan): Promise<Sandbox> => startSandbox({ vehicles: 40, plan, requestsPerDay: null });
  const [demo, small, unlimited] = await Promise.all([start('demo'), start('small'), start('unlimited')]);
  sandboxes = { demo, small, unlimited };
});
afterAll(() => Promise.all(plans.map((plan) => sandboxes[plan].close())));

interface Got {
  readonly status: number;
  readonly text: string;
}

/** Sends a request as the client does. A list becomes a repeated parameter. */
async function send({ path, query }: ServiceRequest, plan: Plan = 'unlimited'): Promise<Got> {
  const { url, apiKey } = sandboxes[plan];
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  const headers = { 'x-api-key': apiKey, 'accept-encoding': 'identity' };
  const answer = await fetch(`${url}${path}?${search}`, { headers });
  return { status: answer.status, text: await answer.text() };
}

const id = fc.oneof(fc.nat({ max: 30 }), fc.nat(), fc.constant(999_999_999_999_999));
const segment = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('a', '%2e', '/', '_1', 'R&D', '+', '[]', '../x'),
  )
  .filter((value) => value.trim() !== '' && value !== '.' && value !== '..');
const upTo = (most: number) => fc.oneof(fc.integer({ min: 1, max: most }), fc.constant(most));
const source = fc.constantFrom(...Object.keys(enumerations.domain).map(Number));
const minutes = upTo(4320);
const page = fc.oneof(
  upTo(12),
  id.map((value) => value + 1).filter((value) => value < 1e15),
);

/** Any subset of some parameters. */
const any = (shape: Shape): fc.Arbitrary<Given> => fc.record(shape, { requiredKeys: [] });

const all = (...parts: readonly fc.Arbitrary<Given>[]): fc.Arbitrary<Given> =>
  fc.tuple(...parts).map((given) => Object.assign({}, ...given));

const filters: Shape = { domain_id: source, minutes };
const simple: Shape = { simple_paginate: fc.boolean() };
const prices: Shape = { prices_history: fc.boolean() };
const cars = fc.constantFrom('cars', 'motorcycles');

/** Parameters within all limits of an endpoint on a plan. */
function valid(plan: Plan): Readonly<Record<Exclude<Name, 'carsScrollNext'>, fc.Arbitrary<Given>>> {
  const most = (unlimited: number, small: number, demo = small): number => ({ unlimited, small, demo })[plan];
  const catalog = any({ type: fc.oneof(cars, fc.constant('all')), page });
  const scroll = fc.record(
    { ...filters, ...prices, limit: upTo(most(2000, 50)), scroll_time: upTo(15) },
    { requiredKeys: ['limit'] },
  );
  return {
    cars: any({ ...filters, ...prices, ...simple, page, per_page: upTo(most(1000, 50)) }),
    carsScroll: scroll,
    searchCount: any({ domain_id: source }),
    car: all(fc.record({ car_id: id }), any(prices)),
    listing: all(fc.record({ domain_id: source, listing_id: segment }), any(prices)),
    searchVin: all(fc.record({ vin: segment }), any(prices)),
    searchLot: all(
      fc.record({ lot: segment }),
      any({ ...prices, domain: fc.constantFrom(1, 3, 12, 'iaai_com', 'copart_com', 'encar_com') }),
    ),
    archivedLots: any({ minutes, page, per_page: upTo(most(1000, 100)), ...simple }),
    statistics: any({ page, per_page: upTo(most(500, 500, 10)), ...simple }),
    manufacturers: catalog,
    models: all(fc.record({ manufacturer_id: id }), catalog),
    generations: all(fc.record({ model_id: id }), any({ type: cars, page })),
    damages: any({ page }),
    states: any({ country: fc.constantFrom('us', 'ca'), page }),
    cities: all(fc.record({ state_id: id }), any({ page })),
    titles: any({ page }),
    koreaDuplicates: any({ minutes, page, per_page: upTo(5000) }),
    koreaOptions: fc.constant({}),
  };
}

const isName = (name: string): name is Name => name in requests;

/** Number of requests that the property sends to an endpoint on each plan. */
const runsOf = (name: string): number => (/^(cars|carsScroll)$/.test(name) ? 80 : 25);

describe('a request within its limits', () => {
  it.each(plans)('is accepted by the sandbox, with a key of the %s plan', async (plan) => {
    for (const [name, parameters] of Object.entries(valid(plan))) {
      if (!isName(name)) expect.fail(name);
      const answered = async (given: Given): Promise<void> => {
        const got = await send(requests[name].from(given), plan);
        expect([200, 404], got.text).toContain(got.status);
        expect(got.text).not.toContain('route not found');
      };
      await fc.assert(fc.asyncProperty(parameters, answered), { numRuns: runsOf(name) });
    }
  });

  it('can continue a scroll', async () => {
    const first = await send(requests.carsScroll({ limit: 10 }));
    const { scroll_id } = JSON.parse(first.text);
    const next = await send(requests.carsScrollNext({ scroll_id, scroll_time: 15 }));
    expect(JSON.parse(next.text).data).toHaveLength(10);
    expect(next.text).not.toBe(first.text);
  });

  it('finds the vehicles of the world', async () => {
    const { world } = sandboxes.unlimited;
    const [car = 0] = world.activeIds();
    const { lot, domain } = lotAt(recordsOf(world, [car]), 0);
    for (const request of [
      requests.car({ car_id: car }),
      requests.listing({ domain_id: domain.id, listing_id: lot }),
      requests.searchLot({ lot, domain: domain.id, prices_history: true }),
      requests.searchLot({ lot }),
    ])
      expect([request.path, (await send(request)).status]).toEqual([request.path, 200]);
  });
});

const caps = [10, 15, 50, 100, 500, 1000, 2000, 4320, 5000];
const numbers = fc.constantFrom<unknown>(
  ...caps.flatMap((cap) => [cap, cap + 1]),
  ...[1.5, 1e15, -1, 0, 1, 3, 12],
);
const words = fc.constantFrom<unknown>('cars', 'all', 'us', 'US', 'x', ' ', '', '1,2', 'iaai_com');

/** Values of a parameter's type, within its limits and beyond. */
function valuesOf(parameter: string): fc.Arbitrary<unknown> {
  if (/^(prices_history|simple_paginate)$/.test(parameter)) return fc.boolean();
  return parameter === 'domain' ? words : fc.oneof(numbers, words);
}

/** Parameters that requests need besides the tested one. */
const needed: Readonly<Partial<Record<Name, Given>>> = {
  car: { car_id: 1 },
  listing: { domain_id: 1, listing_id: '1' },
  searchVin: { vin: '1' },
  searchLot: { lot: '1' },
  models: { manufacturer_id: 1 },
  generations: { model_id: 1 },
  cities: { state_id: 1 },
};

/** The value of a parameter as sent. */
const raw = (value: unknown): string => String(typeof value === 'boolean' ? Number(value) : value);

function weTake(name: Name, given: Given): boolean {
  try {
    requests[name].from(given);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: 'SERVICE_REQUEST_LIMIT' });
    return false;
  }
}

describe('a request beyond its limits', () => {
  it('is refused before it is sent, and by the sandbox, parameter by parameter', async () => {
    for (const name of Object.keys(requests).filter(isName)) {
      if (name.startsWith('carsScroll')) continue;
      const { path, parameters } = requests[name];
      const wholePath = path.replaceAll(/[[\]]/g, '');
      const short = path.replaceAll(/\[.*?\]/g, '');
      for (const parameter of Object.keys(parameters)) {
        const agree = async (value: unknown): Promise<void> => {
          const isInPath = wholePath.includes(`{${parameter}}`);
          // An empty part of a path leads to another path.
          if (isInPath && raw(value) === '') return;
          const asked = (short.includes(`{${parameter}}`) || !isInPath ? short : wholePath)
            .replace(`{${parameter}}`, encodeURIComponent(raw(value)))
            .replaceAll(/\{(\w+)\}/g, '1');
          const query = isInPath ? {} : { [parameter]: raw(value) };
          const { status } = await send({ path: asked, query });
          const given = /^(vin|lot|listing_id)$/.test(parameter) ? raw(value) : value;
          expect([name, parameter, value, weTake(name, { ...needed[name], [parameter]: given })]).toEqual([
            name,
            parameter,
            value,
            status !== 400,
          ]);
        };
        await fc.assert(fc.asyncProperty(valuesOf(parameter), agree), { numRuns: 12 });
      }
    }
  });

  it.each<[Name, Given, string]>([
    ['carsScroll', { limit: 2001 }, '/cars?limit=2001'],
    ['carsScroll', { limit: 0 }, '/cars?limit=0'],
    ['carsScroll', { limit: 10, scroll_time: 16 }, '/cars?limit=10&scroll_time=16'],
    ['carsScroll', { limit: 10, page: 2 }, '/cars?limit=10&page=2'],
    ['carsScroll', { limit: 10, per_page: 2 }, '/cars?limit=10&per_page=2'],
    ['carsScrollNext', { scroll_id: ' ' }, '/cars?scroll_id=%20'],
  ])('of %s is %j', async (name, given, sent) => {
    const { url, apiKey } = sandboxes.unlimited;
    const { status } = await fetch(url + sent, { headers: { 'x-api-key': apiKey } });
    expect([weTake(name, given), status]).toEqual([false, 400]);
  });
});
