import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints } from '../../src/sandbox/endpoints/registry.js';
import { type Plan, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { RequestLimitError } from '../../src/service/errors/request-limit-error.js';
import { namesInPath } from '../../src/service/requests/path.js';
import { requests } from '../../src/service/requests/registry.js';

type Name = keyof typeof requests;
type Given = Readonly<Record<string, unknown>>;

const plans: readonly Plan[] = ['demo', 'small', 'unlimited'];

let sandboxes: Readonly<Record<Plan, Sandbox>>;
beforeAll(async () => {
  const start = (plan: Plan): Promise<Sandbox> => startSandbox({ vehicles: 20, plan, requestsPerDay: null });
  const [demo, small, unlimited] = await Promise.all([start('demo'), start('small'), start('unlimited')]);
  sandboxes = { demo, small, unlimited };
});
afterAll(() => Promise.all(plans.map((plan) => sandboxes[plan].close())));

/** Whether the sandbox takes a request that nothing has checked. */
async function theyTake(pathAndQuery: string, plan: Plan = 'unlimited'): Promise<boolean> {
  const { url, apiKey } = sandboxes[plan];
  const headers = { 'x-api-key': apiKey, 'accept-encoding': 'identity' };
  const answer = await fetch(url + pathAndQuery, { headers });
  await answer.arrayBuffer();
  return answer.status !== 400;
}

function weTake(name: Name, given: Given, plan?: Plan): boolean {
  try {
    requests[name].from(given, { plan });
    return true;
  } catch (error) {
    expect(error).toBeInstanceOf(RequestLimitError);
    return false;
  }
}

/** A parameter's value as it would be sent. */
const raw = (value: unknown): string => String(typeof value === 'boolean' ? Number(value) : value);

const isName = (name: string): name is Name => name in requests;
const names = Object.keys(requests).filter(isName);

const caps = [10, 50, 100, 500, 1000, 2000, 4320, 5000];
const numbers = fc.oneof(
  fc.constantFrom(...caps.flatMap((cap) => [cap, cap + 1]), 1.5, 1e15, -1, 0),
  fc.integer({ min: -3, max: 110 }),
);
const texts = fc.constantFrom('cars', 'all', 'us', 'US', 'asc', 'up', 'x', 'KR', 'USA', ' ', '', '1,2', '_1');
const moments = fc.constantFrom(
  '2026-02-28T23:59:59',
  '2024-02-29T00:00:00',
  '2026-02-29T00:00:00',
  '2026-01-01T24:00:00',
  '2026-01-01T00:00:00Z',
  '2026-01-01 00:00:00',
  '2026-01-01',
);

/** Values of the type that a parameter has, within its limits and beyond. */
function valuesOf(name: string): fc.Arbitrary<unknown> {
  if (/^sale_date_(from|to)$/.test(name)) return moments;
  if (/^(has_|listings|prices_|simple_|without_|exclude_|buy_now$|search_by_id)/.test(name))
    return fc.boolean();
  const text = /^(vin|name|engine_name|search_query|document_title|damage|country|state_code|sortDirection)$/;
  return text.test(name) ? texts : numbers;
}

const ENUMERATED = 'vehicle_type body_type color transmission drive_wheel fuel_type condition status'.split(
  ' ',
);

/** Parameters of a query that one request of the sandbox can hold alone. */
const inQuery = names
  .filter((name) => !name.startsWith('carsScroll'))
  .flatMap((name) => {
    const { path, parameters } = requests[name].endpoint;
    const alone = Object.keys(parameters).filter((key) => !namesInPath(path).includes(key));
    return alone.map((parameter) => [name, parameter] as const);
  })
  // The sandbox knows only the ids that are listed; there may be others.
  .filter(([, parameter]) => parameter !== 'status[]' && !ENUMERATED.includes(parameter));

const needed: Readonly<Partial<Record<Name, Given>>> = {
  car: { car_id: 1 },
  listing: { domain_id: 1, listing_id: '1' },
  searchVin: { vin: '1' },
  searchLot: { lot: '1' },
  models: { manufacturer_id: 1 },
  generations: { model_id: 1 },
  cities: { state_id: 1 },
};

const pathWithOnes = (name: Name): string =>
  requests[name].endpoint.path.replaceAll(/\[.*?\]/g, '').replaceAll(/\{\w+\}/g, '1');

describe('what is refused before it is sent', () => {
  it.each(plans)('is what the sandbox refuses, parameter by parameter, on the %s plan', async (plan) => {
    for (const [name, parameter] of inQuery) {
      const agree = async (value: unknown): Promise<void> => {
        const theirs = await theyTake(
          `${pathWithOnes(name)}?${new URLSearchParams({ [parameter]: raw(value) })}`,
          plan,
        );
        const ours = weTake(name, { ...needed[name], [parameter]: value }, plan);
        expect([name, parameter, value, ours]).toEqual([name, parameter, value, theirs]);
      };
      await fc.assert(fc.asyncProperty(valuesOf(parameter), agree), { numRuns: 7 });
    }
  });

  it('is no id of an enumeration that the sandbox takes, nor one that may be new', async () => {
    for (const id of [...Array(30).keys(), 99, 100, 101, -1]) {
      const theirs = await theyTake(`/search/count?domain_id=${id}`);
      expect([id, weTake('searchCount', { domain_id: id })]).toEqual([id, theirs]);
      for (const name of ENUMERATED) {
        const ours = weTake('searchCount', { [name]: id });
        expect([name, id, ours]).toEqual([name, id, id >= 0]);
        if (await theyTake(`/search/count?${name}=${id}`)) expect([name, id, ours]).toEqual([name, id, true]);
      }
    }
  });

  it('is what lies beyond the window of /search', async () => {
    const pages = fc.record({
      page: fc.integer({ min: 1, max: 250 }),
      per_page: fc.integer({ min: 1, max: 1000 }),
    });
    const agree = async ({ page, per_page }: { page: number; per_page: number }): Promise<void> => {
      expect(weTake('search', { page, per_page })).toBe(
        await theyTake(`/search?page=${page}&per_page=${per_page}`),
      );
      expect(weTake('search', { page })).toBe(await theyTake(`/search?page=${page}`));
    };
    await fc.assert(fc.asyncProperty(pages, agree), { numRuns: 60 });
  });

  it.each<[Name, Given, string, Plan?]>([
    ['cars', { status: 6, 'status[]': [6, 8] }, '/cars?status=6&status[]=6&status[]=8'],
    ['searchCount', { status: 6, 'status[]': [6] }, '/search/count?status=6&status[]=6'],
    ['cars', { domain_id: [1, 3] }, '/cars?domain_id=1&domain_id=3'],
    ['cars', { fuel_type: [1, 2] }, '/cars?fuel_type[]=1&fuel_type[]=2'],
    ['cars', { damage: { main: 'Hail' } }, '/cars?damage[main]=Hail'],
    ['cars', { manufacturer_id: [3, -1] }, '/cars?manufacturer_id=3,-1'],
    ['statistics', { manufacturer_id: [3, 1.5] }, '/statistics?manufacturer_id=3,1.5'],
    ['carsScroll', { limit: 2001 }, '/cars?limit=2001'],
    ['carsScroll', { limit: 0 }, '/cars?limit=0'],
    ['carsScroll', { limit: 51 }, '/cars?limit=51', 'demo'],
    ['carsScroll', { limit: 51 }, '/cars?limit=51', 'small'],
    ['carsScroll', { limit: 10, scroll_time: 16 }, '/cars?limit=10&scroll_time=16'],
    ['carsScroll', { limit: 10, page: 2 }, '/cars?limit=10&page=2'],
    ['carsScroll', { limit: 10, per_page: 2 }, '/cars?limit=10&per_page=2'],
    ['carsScrollNext', { scroll_id: ' ' }, '/cars?scroll_id=%20'],
    ['car', { car_id: 'x' }, '/cars/x'],
    ['car', { car_id: -1 }, '/cars/-1'],
    ['listing', { domain_id: 2, listing_id: '1' }, '/listing/2/1'],
    ['listing', { domain_id: 1, listing_id: ' ' }, '/listing/1/%20'],
    ['searchVin', { vin: ' ' }, '/search-vin/%20'],
    ['searchLot', { lot: ' ' }, '/search-lot/%20'],
    ['searchLot', { lot: '1', domain: 'else_com' }, '/search-lot/1/else_com'],
    ['searchLot', { lot: '1', domain: 3, search_by_id: true }, '/search-lot/1/copart_com?search_by_id=1'],
    ['manufacturers', { type: 'boats' }, '/manufacturers/boats'],
    ['models', { manufacturer_id: 'x' }, '/models/x'],
    ['models', { manufacturer_id: 1, type: 'boats' }, '/models/1/boats'],
    ['generations', { model_id: 1, type: 'all' }, '/generations/1/all'],
    ['cities', { state_id: 'x' }, '/usa/cities/x'],
    ['states', { country: 'mx' }, '/usa/states?country=mx'],
  ])('of %s is %j', async (name, given, sent, plan) => {
    expect([weTake(name, given, plan), await theyTake(sent, plan)]).toEqual([false, false]);
  });
});

describe('the endpoints', () => {
  const parametersOf = (path: string): Set<string> =>
    new Set(
      names
        .map((name) => requests[name].endpoint)
        .filter((endpoint) => endpoint.path === path)
        .flatMap((endpoint) => Object.keys(endpoint.parameters)),
    );

  it('are those of the sandbox, with the same parameters', () => {
    expect(new Set(names.map((name) => requests[name].endpoint.path))).toEqual(
      new Set(endpoints.map((endpoint) => endpoint.path)),
    );
    for (const { path, parameters } of endpoints)
      expect([path, parametersOf(path)]).toEqual([path, new Set(Object.keys(parameters))]);
  });
});
