import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { endpoints as defined, namesInPath } from '../../src/core/service/endpoints.js';
import { endpointHelp } from '../../src/sandbox/index.js';
import { matchOf } from '../../src/sandbox/server/answers.js';

const endpoints = Object.values(defined);

const page = readFileSync(join(import.meta.dirname, '../../docs/change/endpoints.md'), 'utf8');

/** Cells of the rows of every table in a part of the page, without head and rule. */
const rowsOf = (part: string): string[][] =>
  part
    .split('\n')
    .filter((line) => line.startsWith('|') && !/^[|\s:-]+$/.test(line))
    .map((line) =>
      line
        .replaceAll(/^\||\|$/g, '')
        .split('|')
        .map((cell) => cell.trim()),
    )
    .filter((cells) => cells.at(-1) !== 'proved by');

/** Endpoints according to the page: what they do, and the valid values and meaning of each parameter. */
const documented = new Map(
  page
    .split(/^### GET /m)
    .slice(1)
    .map((text) => {
      const [part = ''] = text.split(/^## /m);
      const [path = '', , what = ''] = part.split('\n');
      return [
        path,
        { what, parameters: rowsOf(part).map(([name, form, does]) => [name, form, does]) },
      ] as const;
    }),
);

const wanted = new Map(
  endpoints.map(({ path, what, parameters }) => [
    path,
    {
      what,
      parameters: Object.entries(parameters).map(([name, one]) => [`\`${name}\``, one.form, one.what]),
    },
  ]),
);

describe('docs/change/endpoints.md', () => {
  it('names the defined endpoints, and no others', () => {
    expect([...documented.keys()]).toEqual([...wanted.keys()]);
  });

  it.each([...wanted])('describes GET %s with its parameters', (path, facts) => {
    expect(documented.get(path)).toEqual(facts);
  });

  it('names a test that exists in every row', () => {
    const rows = rowsOf(page);
    expect(rows.length).toBeGreaterThan(200);
    const missing = rows.filter((row) => {
      const [, file = '', name = ''] = /^`(.+)` › (.+)$/.exec(row.at(-1) ?? '') ?? [];
      const source = join(import.meta.dirname, file);
      if (file === '' || !existsSync(source)) return true;
      const text = readFileSync(source, 'utf8');
      return !["'", '"', '`'].some((quote) => text.includes(quote + name + quote));
    });
    expect(missing).toEqual([]);
  });

  it('names every endpoint that the documents describe', () => {
    // In the order of the description (service.md#endpoints). A part in brackets is optional.
    expect([...documented.keys()].sort()).toEqual(
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
