import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endpoints as defined, namesInPath } from '../../src/core/service/endpoints.js';
import { endpointHelp, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { matchOf } from '../../src/sandbox/server/answers.js';
import { endpointsPage } from '../../src/sandbox/server/endpoints-page.js';
import { get } from './support.js';

const endpoints = Object.values(defined);

describe('docs/change/endpoints.md', () => {
  const sections = endpointsPage().split(/^## GET /m);

  it.each(endpoints)('describes GET $path with every parameter', ({ path, what, parameters }) => {
    const section = sections.find((text) => text.startsWith(`${path}\n`)) ?? '';
    expect(section).toContain(what);
    expect(Object.keys(parameters).filter((name) => !section.includes(`\`${name}\``))).toEqual([]);
  });
});

describe('every parameter', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox({ vehicles: 50 });
  });
  afterAll(() => sandbox.close());

  /** Parameters of a query, each with the path of its endpoint; every part of the path is 1. */
  const inQueries = endpoints.flatMap(({ path, parameters }) =>
    Object.keys(parameters)
      .filter((name) => !namesInPath(path).includes(name))
      .map((name) => [path.replaceAll(/\[.*\]/g, '').replaceAll(/\{\w+\}/g, '1'), name] as const),
  );

  it.each(inQueries)('refuses an empty value with 400 and its name: %s?%s=', async (path, name) => {
    const { status, body } = await get(sandbox, `${path}?${name}=`);
    expect([status, String(body.message).includes(name)]).toEqual([400, true]);
  });

  it('is sent by another test', () => {
    const folder = import.meta.dirname;
    const tests = readdirSync(folder).filter(
      (file) => file.endsWith('.test.ts') && file !== 'endpoints.test.ts',
    );
    const text = tests.map((file) => readFileSync(join(folder, file), 'utf8')).join('\n');
    expect(inQueries.filter(([, name]) => !text.includes(`${name}=`))).toEqual([]);
    expect(endpoints.filter(({ path }) => !text.includes(path.replace(/[[{].*/, '')))).toEqual([]);
  });
});

describe('the endpoints', () => {
  it('are those that the description of the service names (service.md#endpoints)', () => {
    expect(endpoints.map(({ path }) => path).sort()).toEqual(
      [
        '/cars',
        '/manufacturers[/{type}]',
        '/models/{manufacturer_id}[/{type}]',
        '/generations/{model_id}[/{type}]',
        '/search-vin/{vin}',
        '/search-lot/{lot}[/{domain}]',
        '/archived-lots',
        '/statistics',
        '/korea-duplicates',
        '/korea-options',
        '/usa/damages',
        '/usa/states',
        '/usa/cities/{state_id}',
        '/usa/titles',
        '/search',
        '/search/count',
        '/cars/{car_id}',
        '/listing/{domain_id}/{listing_id}',
      ].sort(),
    );
  });
});

describe('the definitions', () => {
  it('declares every parameter of its paths', () => {
    for (const endpoint of endpoints) {
      expect(Object.keys(endpoint.parameters)).toEqual(
        expect.arrayContaining([...namesInPath(endpoint.path)]),
      );
    }
  });

  it('are the routes of the router, with and without optional parts', () => {
    for (const endpoint of endpoints) {
      const filled = endpoint.path.replaceAll(/\{(\w+)\}/g, 'a%20$1');
      const found = matchOf(filled.replaceAll(/[[\]]/g, ''));
      expect(found && defined[found.name]).toBe(endpoint);
      expect([...(found?.path ?? [])]).toEqual(namesInPath(endpoint.path).map((name) => [name, `a ${name}`]));
      const short = matchOf(filled.replaceAll(/\[.*\]/g, ''));
      expect(short && defined[short.name]).toBe(endpoint);
    }
    for (const path of [
      '',
      '/',
      '/car',
      '/cars/1/2',
      '/search/counts',
      '/listing/1',
      '/usa',
      '/usa/cities',
    ]) {
      expect([path, matchOf(path)]).toEqual([path, undefined]);
    }
  });
});

describe('the help', () => {
  const help = endpointHelp();

  it('lists every endpoint with every parameter', () => {
    for (const { path, parameters } of endpoints) {
      const entry = help.split(`GET ${path}\n`)[1]?.split('\n\n')[0] ?? '';
      const words = entry.split(/[\s,]+/);
      expect([path, Object.keys(parameters).filter((name) => !words.includes(name))]).toEqual([path, []]);
    }
  });

  it('fits a terminal and is plain text', () => {
    expect(help.split('\n').filter((line) => line.length > 115)).toEqual([]);
    expect(help).toMatch(/^[\x20-\x7e\n]*$/);
    expect(help).toContain('POST /sandbox/clock');
  });
});
