import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { endpoints, namesInPath } from '../../src/core/service/endpoints.js';
import { requests } from '../../src/core/service/requests.js';

type Name = keyof typeof requests;

/** The error of a request that must be refused. */
function refusal(name: Name, parameters: unknown): LotlakeError {
  try {
    requests[name].from(parameters);
  } catch (error) {
    if (error instanceof LotlakeError) return error;
    throw error;
  }
  return expect.fail(`${name} took ${JSON.stringify(parameters)}`);
}

describe('a request', () => {
  it('uses the names of the service in its path and query', () => {
    expect(requests.cars()).toEqual({ path: '/cars', query: {} });
    expect(
      requests.cars({ domain_id: 12, minutes: 90, prices_history: false, per_page: 7, page: undefined }),
    ).toEqual({ path: '/cars', query: { domain_id: 12, minutes: 90, prices_history: 0, per_page: 7 } });
    expect(requests.cars({ simple_paginate: true }).query).toEqual({ simple_paginate: 1 });
    expect(requests.carsScroll({ limit: 2000, scroll_time: 15 }).query).toEqual({
      limit: 2000,
      scroll_time: 15,
    });
    expect(requests.carsScrollNext({ scroll_id: 'a b' }).query).toEqual({ scroll_id: 'a b' });
    expect(requests.koreaOptions()).toEqual({ path: '/korea-options', query: {} });
  });

  it('has the same text whatever the order of its parameters', () => {
    const [one, other] = [requests.cars({ page: 2, minutes: 9 }), requests.cars({ minutes: 9, page: 2 })];
    expect(JSON.stringify(one)).toBe(JSON.stringify(other));
  });

  it('leaves out the parts of a path that are not given', () => {
    expect(requests.manufacturers({ page: 2 })).toEqual({ path: '/manufacturers', query: { page: 2 } });
    expect(requests.manufacturers({ type: 'all' }).path).toBe('/manufacturers/all');
    expect(requests.models({ manufacturer_id: 5 }).path).toBe('/models/5');
    expect(requests.models({ manufacturer_id: 5, type: 'motorcycles' }).path).toBe('/models/5/motorcycles');
    expect(requests.searchLot({ lot: '77' }).path).toBe('/search-lot/77');
  });

  it.each([
    [1, 'iaai_com'],
    [3, 'copart_com'],
    [12, 'encar_com'],
  ])('names source %i %s', (domain, name) => {
    const expected = { path: `/search-lot/77/${name}`, query: { prices_history: 1 } };
    expect(requests.searchLot({ lot: '77', domain, prices_history: true })).toEqual(expected);
    expect(requests.searchLot.from({ lot: '77', domain: name, prices_history: true })).toEqual(expected);
  });

  it('escapes parameters of its path, so that they never lead to another path', () => {
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
      const { path } = requests.searchVin({ vin: text });
      const url = new URL(`https://service.example/api${path}`);
      expect(url.pathname.split('/').length).toBe(4);
      expect(decodeURIComponent(url.pathname.slice('/api/search-vin/'.length))).toBe(text);
      expect(url.search + url.hash).toBe('');
    }
  });

  it('has the types of its endpoint', () => {
    // @ts-expect-error: a parameter that must be given
    expect(() => requests.car()).toThrow(LotlakeError);
    // @ts-expect-error: a parameter that does not exist
    expect(() => requests.cars({ colour: 3 })).toThrow(LotlakeError);
    // @ts-expect-error: a flag is a boolean
    expect(() => requests.cars({ simple_paginate: 1 })).toThrow(LotlakeError);
    // @ts-expect-error: not a part of the catalogue
    expect(() => requests.manufacturers({ type: 'boats' })).toThrow(LotlakeError);
    // @ts-expect-error: one source
    expect(() => requests.cars({ domain_id: [1, 3] })).toThrow(LotlakeError);
  });
});

/** Parameters that requests need besides the tested one. */
const needed: Readonly<Partial<Record<Name, object>>> = {
  carsScroll: { limit: 1 },
  listing: { domain_id: 1, listing_id: '1' },
  searchLot: { lot: '1' },
  generations: { model_id: 1 },
};

describe('a limit', () => {
  it.each<[Name, string, unknown, string]>([
    ['cars', 'per_page', 0, 'an integer from 1 to 1000'],
    ['cars', 'per_page', 1001, 'an integer from 1 to 1000'],
    ['carsScroll', 'limit', 2001, 'an integer from 1 to 2000'],
    ['carsScroll', 'limit', undefined, 'an integer from 1 to 2000'],
    ['carsScroll', 'scroll_time', 16, 'an integer from 1 to 15'],
    ['carsScrollNext', 'scroll_id', '', 'a text that is not empty'],
    ['archivedLots', 'per_page', 1001, 'an integer from 1 to 1000'],
    ['statistics', 'per_page', 501, 'an integer from 1 to 500'],
    ['koreaDuplicates', 'per_page', 5001, 'an integer from 1 to 5000'],
    ['cars', 'minutes', 0, 'an integer from 1 to 4320'],
    ['cars', 'minutes', 4321, 'an integer from 1 to 4320'],
    ['cars', 'minutes', '7', 'an integer from 1 to 4320'],
    ['archivedLots', 'minutes', 4321, 'an integer from 1 to 4320'],
    ['koreaDuplicates', 'minutes', 1.5, 'an integer from 1 to 4320'],
    ['cars', 'page', 0, 'an integer from 1'],
    ['damages', 'page', 0, 'an integer from 1'],
    ['cars', 'domain_id', 2, 'one of 1, 3, 12'],
    ['cars', 'domain_id', [1, 3], 'one of 1, 3, 12'],
    ['searchCount', 'domain_id', 2, 'one of 1, 3, 12'],
    ['listing', 'domain_id', undefined, 'one of 1, 3, 12'],
    ['listing', 'listing_id', '', 'a text that is not empty'],
    ['searchVin', 'vin', '  ', 'a text that is not empty'],
    ['searchVin', 'vin', '..', 'a text that is not empty, nor . or ..'],
    ['searchLot', 'lot', '.', 'a text that is not empty, nor . or ..'],
    ['searchLot', 'lot', '\ud800', 'a text that is not empty'],
    ['searchLot', 'domain', 'iaai', 'iaai_com, copart_com, encar_com, or its id'],
    ['searchLot', 'domain', 2, 'iaai_com, copart_com, encar_com, or its id'],
    ['car', 'car_id', 'x', 'an integer from 0'],
    ['car', 'car_id', -1, 'an integer from 0'],
    ['car', 'car_id', null, 'an integer from 0'],
    ['car', 'car_id', 1e15, 'an integer from 0, of at most 15 digits'],
    ['manufacturers', 'type', 'boats', 'cars or motorcycles or all'],
    ['generations', 'type', 'all', 'cars or motorcycles'],
    ['models', 'manufacturer_id', [1, 2], 'an integer from 0'],
    ['states', 'country', 'US', 'us or ca'],
    ['cities', 'state_id', Number.NaN, 'an integer from 0'],
    ['cars', 'prices_history', 1, 'true or false'],
  ])('of %s: %s = %j must be %s', (name, parameter, given, limit) => {
    const error = refusal(name, { ...needed[name], [parameter]: given });
    expect(error.message).toContain(`${parameter} of GET ${requests[name].path} must be ${limit}`);
    expect(error.message).toMatch(given === undefined ? /; it is missing$/ : /; it is /);
    expect(error.hint).toMatch(/\w/);
  });

  it.each<[Name, string]>([
    ['cars', 'colour'],
    ['cars', 'scroll_id'],
    ['carsScroll', 'page'],
    ['searchCount', 'page'],
    ['archivedLots', 'domain_id'],
    ['koreaOptions', 'page'],
    ['titles', 'per_page'],
  ])('of %s: it has no %s', (name, parameter) => {
    const error = refusal(name, { ...needed[name], [parameter]: 3 });
    expect(error.message).toBe(
      `${parameter} of GET ${requests[name].path} must be left out, lotlake does not send it; it is 3`,
    );
    for (const known of Object.keys(requests[name].parameters)) expect(error.hint).toContain(known);
  });

  it('is an error of usage that is not retried', () => {
    const error = refusal('cars', { minutes: 9999 });
    expect(error).toBeInstanceOf(LotlakeError);
    expect(error).toMatchObject({
      code: 'SERVICE_REQUEST_LIMIT',
      stage: 'service',
      outcome: 'usage',
      retryable: false,
    });
    expect(refusal('searchVin', { vin: { text: 'x'.repeat(10_000) } }).message.length).toBeLessThan(250);
  });

  it.each([[null], ['year=2019'], [[]], [7]])('also applies to %j, which is not an object', (given) => {
    expect(refusal('cars', given).message).toMatch(/^parameters of GET \/cars must be an object; it is /);
  });
});

describe('the definitions', () => {
  it('describe every endpoint and every parameter', () => {
    for (const { path, what, parameters } of Object.values(endpoints)) {
      expect(what).toMatch(/^[A-Z].*\.$/);
      expect(Object.keys(parameters)).toEqual(expect.arrayContaining([...namesInPath(path)]));
      for (const [name, parameter] of Object.entries(parameters))
        expect(parameter, name).toMatchObject({
          what: expect.stringMatching(/\w.*[^.]$/),
          form: expect.stringMatching(/\w/),
          hint: expect.stringMatching(/\w/),
        });
    }
  });

  it('hold for every request', () => {
    for (const { path, parameters } of Object.values(requests)) {
      const defined = Object.values(endpoints).find((endpoint) => endpoint.path === path)?.parameters ?? {};
      expect(Object.keys(defined)).toEqual(expect.arrayContaining(Object.keys(parameters)));
    }
  });
});
