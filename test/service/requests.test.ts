import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/config/lotlake-error.js';
import { RequestLimitError } from '../../src/service/errors/request-limit-error.js';
import { carsRequest, carsScrollRequest } from '../../src/service/requests/cars.js';
import { manufacturersRequest, modelsRequest } from '../../src/service/requests/catalog.js';
import { koreaOptionsRequest } from '../../src/service/requests/korea.js';
import { carRequest, searchLotRequest, searchVinRequest } from '../../src/service/requests/lookups.js';
import { factsOf } from '../../src/service/requests/parameter.js';
import { namesInPath } from '../../src/service/requests/path.js';
import type { Plan } from '../../src/service/requests/plan.js';
import { requests } from '../../src/service/requests/registry.js';
import { searchRequest } from '../../src/service/requests/search.js';

type Name = keyof typeof requests;

/** The error of a request that must be refused. */
function refusal(name: Name, parameters: unknown, plan?: Plan): RequestLimitError {
  try {
    requests[name].from(parameters, { plan });
  } catch (error) {
    if (error instanceof RequestLimitError) return error;
    throw error;
  }
  return expect.fail(`${name} took ${JSON.stringify(parameters)}`);
}

describe('a request', () => {
  it('has its path and its query in the words of the service', () => {
    expect(carsRequest()).toEqual({ path: '/cars', query: {} });
    expect(
      carsRequest({
        domain_id: 12,
        manufacturer_id: [3, 9],
        'status[]': [6, 8],
        buy_now: true,
        prices_history: false,
        sale_date_from: '2026-10-01T00:00:00',
        page: undefined,
      }),
    ).toEqual({
      path: '/cars',
      query: {
        domain_id: 12,
        manufacturer_id: '3,9',
        'status[]': [6, 8],
        buy_now: 1,
        prices_history: 0,
        sale_date_from: '2026-10-01T00:00:00',
      },
    });
    expect(carsRequest({ manufacturer_id: 3 }).query).toEqual({ manufacturer_id: 3 });
    expect(carsScrollRequest({ limit: 2000, scroll_time: 15 }).query).toEqual({
      limit: 2000,
      scroll_time: 15,
    });
    expect(koreaOptionsRequest()).toEqual({ path: '/korea-options', query: {} });
  });

  it('has the same text whatever the order of what was given', () => {
    const [one, other] = [carsRequest({ page: 2, year: 2019 }), carsRequest({ year: 2019, page: 2 })];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('leaves out the parts of a path that are not given', () => {
    expect(manufacturersRequest({ page: 2 })).toEqual({ path: '/manufacturers', query: { page: 2 } });
    expect(manufacturersRequest({ type: 'all' }).path).toBe('/manufacturers/all');
    expect(modelsRequest({ manufacturer_id: 5 }).path).toBe('/models/5');
    expect(modelsRequest({ manufacturer_id: 5, type: 'motorcycles' }).path).toBe('/models/5/motorcycles');
    expect(searchLotRequest({ lot: '77' }).path).toBe('/search-lot/77');
  });

  it.each([
    [1, 'iaai_com'],
    [3, 'copart_com'],
    [12, 'encar_com'],
  ])('names source %i %s', (domain, name) => {
    const expected = { path: `/search-lot/77/${name}`, query: { prices_history: 1 } };
    expect(searchLotRequest({ lot: '77', domain, prices_history: true })).toEqual(expected);
    expect(requests.searchLot.from({ lot: '77', domain: name, prices_history: true })).toEqual(expected);
  });

  it('escapes what stands in the path, so that it never leads to another one', () => {
    for (const text of [
      'a/b',
      '../cars',
      '%2e%2e',
      'a?page=2',
      'a#b',
      ' a b ',
      'ключ',
      '...',
      'a\\..\\b',
      '/',
    ]) {
      const { path } = searchVinRequest({ vin: text });
      const url = new URL(`https://service.example/api${path}`);
      expect(url.pathname.split('/').length).toBe(4);
      expect(decodeURIComponent(url.pathname.slice('/api/search-vin/'.length))).toBe(text);
      expect(url.search + url.hash).toBe('');
    }
  });

  it('is typed by its endpoint', () => {
    // @ts-expect-error: a parameter that must be given
    expect(() => carRequest()).toThrow(RequestLimitError);
    // @ts-expect-error: a parameter that does not exist
    expect(() => carsRequest({ colour: 3 })).toThrow(RequestLimitError);
    // @ts-expect-error: a flag is a boolean
    expect(() => carsRequest({ buy_now: 1 })).toThrow(RequestLimitError);
    // @ts-expect-error: not a part of the catalogue
    expect(() => manufacturersRequest({ type: 'boats' })).toThrow(RequestLimitError);
    // @ts-expect-error: one source
    expect(() => searchRequest({ domain_id: [1, 3] })).toThrow(RequestLimitError);
  });
});

const integers = ['model_id', 'year', 'cylinders', 'odometer_to_mi', 'bid_price_from', 'next_hours_auction'];
const enumerations = [
  ...[
    'vehicle_type',
    'body_type',
    'color',
    'transmission',
    'drive_wheel',
    'fuel_type',
    'condition',
    'status',
  ],
];

/** What requests need besides the parameter that is tested. */
const needed: Readonly<Partial<Record<Name, object>>> = {
  carsScroll: { limit: 1 },
  listing: { domain_id: 1, listing_id: '1' },
  searchLot: { lot: '1' },
  generations: { model_id: 1 },
};

describe('an enumeration', () => {
  it.each(enumerations)('may have ids that are not known yet: %s', (name) => {
    expect(requests.cars.from({ [name]: 77 }).query).toMatchObject({ [name]: 77 });
  });
});

describe('a limit', () => {
  it.each<[Name, string, unknown, string, Plan?]>([
    ['cars', 'per_page', 0, 'an integer from 1 to 1000'],
    ['cars', 'per_page', 1001, 'an integer from 1 to 1000'],
    ['cars', 'per_page', 51, 'an integer from 1 to 50 on the demo plan', 'demo'],
    ['cars', 'per_page', 51, 'an integer from 1 to 50 on the small plan', 'small'],
    ['cars', 'per_page', 1001, 'an integer from 1 to 1000', 'unlimited'],
    ['search', 'per_page', 51, 'an integer from 1 to 50 on the small plan', 'small'],
    ['carsScroll', 'limit', 2001, 'an integer from 1 to 2000'],
    ['carsScroll', 'limit', 51, 'an integer from 1 to 50 on the demo plan', 'demo'],
    ['carsScroll', 'limit', undefined, 'an integer from 1 to 2000'],
    ['carsScrollNext', 'scroll_id', '', 'a text that is not empty'],
    ['archivedLots', 'per_page', 1001, 'an integer from 1 to 1000'],
    ['archivedLots', 'per_page', 101, 'an integer from 1 to 100 on the small plan', 'small'],
    ['statistics', 'per_page', 501, 'an integer from 1 to 500'],
    ['statistics', 'per_page', 11, 'an integer from 1 to 10 on the demo plan', 'demo'],
    ['koreaDuplicates', 'per_page', 5001, 'an integer from 1 to 5000'],
    ['cars', 'minutes', 0, 'an integer from 1 to 4320'],
    ['cars', 'minutes', 4321, 'an integer from 1 to 4320'],
    ['searchCount', 'minutes', 4321, 'an integer from 1 to 4320'],
    ['archivedLots', 'minutes', 4321, 'an integer from 1 to 4320'],
    ['koreaDuplicates', 'minutes', 1.5, 'an integer from 1 to 4320'],
    ['cars', 'page', 0, 'an integer from 1'],
    ['damages', 'page', 0, 'an integer from 1'],
    ['cars', 'domain_id', 2, 'one of 1, 3, 12'],
    ['cars', 'domain_id', [1, 3], 'one of 1, 3, 12'],
    ['listing', 'domain_id', undefined, 'one of 1, 3, 12'],
    ['listing', 'listing_id', '', 'a text that is not empty'],
    ['searchVin', 'vin', '  ', 'a text that is not empty'],
    ['searchVin', 'vin', '..', 'a text that is not empty, nor . or ..'],
    ['searchLot', 'lot', '.', 'a text that is not empty, nor . or ..'],
    ['searchLot', 'lot', '\ud800', 'a text that is not empty'],
    ['searchLot', 'domain', 'iaai', 'iaai_com, copart_com, encar_com, or its id'],
    ['searchLot', 'domain', 2, 'iaai_com, copart_com, encar_com, or its id'],
    ['car', 'car_id', 'x', 'an integer from 0'],
    ['car', 'car_id', null, 'an integer from 0'],
    ['car', 'car_id', 1e15, 'an integer from 0, of at most 15 digits'],
    ['manufacturers', 'type', 'boats', 'cars or motorcycles or all'],
    ['generations', 'type', 'all', 'cars or motorcycles'],
    ['models', 'manufacturer_id', [1, 2], 'an integer from 0'],
    ['states', 'country', 'US', 'us or ca'],
    ['cities', 'state_id', Number.NaN, 'an integer from 0'],
    ['cars', 'sortDirection', 'up', 'asc or desc'],
    ['cars', 'status[]', [], 'a list, each an integer from 0'],
    ['cars', 'status[]', [6, -1], 'a list, each an integer from 0'],
    ['cars', 'status[]', 6, 'a list, each an integer from 0'],
    ['cars', 'manufacturer_id', [], 'one id, or a list of at least one id'],
    ['cars', 'manufacturer_id', '3,9', 'one id, or a list of at least one id'],
    ['statistics', 'manufacturer_id', [3, -1], 'one id, or a list of at least one id'],
    ['cars', 'country', 'USA', 'a code of two letters'],
    ['cars', 'damage', ['Hail'], 'a text that is not empty'],
    ['cars', 'sale_date_from', '2026-10-01', 'a timestamp YYYY-MM-DDTHH:MM:SS'],
    ['cars', 'sale_date_to', '2026-10-01T00:00:00Z', 'a timestamp YYYY-MM-DDTHH:MM:SS'],
    ['cars', 'sale_date_to', '2026-02-29T00:00:00', 'a timestamp YYYY-MM-DDTHH:MM:SS'],
    ['cars', 'prices_history', 1, 'true or false'],
    ['search', 'listings[].is_manufacturer_certified', 'yes', 'true or false'],
    ...integers.flatMap((name): [Name, string, unknown, string][] => [
      ['cars', name, 1.5, 'an integer from 0'],
      ['search', name, -1, 'an integer from 0'],
      ['searchCount', name, '7', 'an integer from 0'],
    ]),
    ...enumerations.map((name): [Name, string, unknown, string] => ['cars', name, -1, 'an integer from 0']),
  ])('of %s: %s = %j must be %s', (name, parameter, given, limit, plan) => {
    const error = refusal(name, { ...needed[name], [parameter]: given }, plan);
    expect(error.parameter).toBe(parameter);
    expect(error.message).toContain(`${parameter} of GET ${requests[name].endpoint.path} must be ${limit}`);
    expect(error.message).toMatch(given === undefined ? /; it is missing$/ : /; it is /);
    expect(error.hint).toMatch(/\w/);
  });

  it.each<[Name, string]>([
    ['cars', 'colour'],
    ['cars', 'seats'],
    ['cars', 'scroll_id'],
    ['carsScroll', 'page'],
    ['searchCount', 'page'],
    ['archivedLots', 'domain_id'],
    ['koreaOptions', 'page'],
    ['titles', 'per_page'],
  ])('of %s: it has no %s', (name, parameter) => {
    const error = refusal(name, { ...needed[name], [parameter]: 3 });
    expect(error.message).toBe(
      `${parameter} of GET ${requests[name].endpoint.path} must be left out, the endpoint has no such parameter; it is 3`,
    );
    for (const known of Object.keys(requests[name].endpoint.parameters)) expect(error.hint).toContain(known);
  });

  it('keeps status and status[] apart', () => {
    for (const name of ['cars', 'carsScroll', 'search', 'searchCount'] as const) {
      const error = refusal(name, {
        ...needed[name],
        status: 6,
        'status[]': [6, 8],
      });
      expect(error.message).toMatch(
        /^status\[\] of GET \S+ must not be combined with status; it is \[ 6, 8 \]$/,
      );
    }
  });

  it('ends /search after 10,000 results, with advice', () => {
    for (const [given, last] of [
      [{ page: 201 }, 200],
      [{ per_page: 1000, page: 11 }, 10],
      [{ per_page: 999, page: 11 }, 10],
      [{ per_page: 1, page: 10_001 }, 10_000],
    ] as const) {
      const error = refusal('search', given);
      expect(error.message).toContain(`page of GET /search must be an integer from 1 to ${last} with `);
      expect(error.hint).toMatch(/filters.*\/cars/);
      expect(searchRequest({ ...given, page: last }).query.page).toBe(last);
    }
    expect(carsRequest({ per_page: 1000, page: 5000 }).query.page).toBe(5000);
  });

  it('asks only source 1 for its own ids', () => {
    expect(refusal('searchLot', { lot: '7', domain: 3, search_by_id: true }).message).toBe(
      'search_by_id of GET /search-lot/{lot}[/{domain}] must be false for copart_com; it is true',
    );
    for (const given of [
      { domain: 1, search_by_id: true },
      { search_by_id: true },
      { domain: 3, search_by_id: false },
    ])
      expect(searchLotRequest({ lot: '7', ...given }).query.search_by_id).toBe(Number(given.search_by_id));
  });

  it('is an error of usage that no second attempt mends', () => {
    const error = refusal('cars', { name: 'x'.repeat(10_000), minutes: 9999 });
    expect(error).toBeInstanceOf(LotlakeError);
    expect(error).toMatchObject({
      name: 'RequestLimitError',
      code: 'SERVICE_REQUEST_LIMIT',
      stage: 'service',
      outcome: 'usage',
      retryable: false,
      endpoint: '/cars',
    });
    expect(refusal('cars', { vin: { text: 'x'.repeat(10_000) } }).message.length).toBeLessThan(250);
  });

  it.each([[null], ['year=2019'], [[]], [7]])('is also one of %j, which is no object', (given) => {
    expect(refusal('cars', given).message).toMatch(/^parameters of GET \/cars must be an object; it is /);
  });
});

describe('the registry', () => {
  it('describes every endpoint and every parameter', () => {
    for (const { endpoint } of Object.values(requests)) {
      expect(endpoint.what).toMatch(/\.$/);
      for (const [name, schema] of Object.entries(endpoint.parameters)) {
        expect(schema.description, name).toMatch(/^[A-Z].*\.$/);
        expect(factsOf(schema)).toMatchObject({ what: schema.description });
      }
      expect(Object.keys(endpoint.parameters)).toEqual(
        expect.arrayContaining([...namesInPath(endpoint.path)]),
      );
    }
  });
});
