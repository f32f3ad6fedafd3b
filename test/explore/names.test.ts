import { expect, it } from 'vitest';
import { searchIn } from '../../src/ask/explore/lot-filters.js';
import type { Names } from '../../src/ask/explore/names.js';
import { makeIn, searchOf } from '../../src/ask/explore/typed-search.js';
import { packageFile } from '../../src/base/config/package-root.js';

const names: Names = {
  makes: ['Toyota', 'Chery', 'Chevrolet', 'Ford', 'Honda', 'Land Rover', 'Lexus', 'Renault', 'Tesla'],
  models: new Map([
    ['ford', ['F-150', 'Focus']],
    ['gmc', ['Vue']],
    ['tesla', ['Model 3']],
    ['lexus', ['RX']],
    ['toyota', ['Camry', 'Corolla']],
    ['honda', ['Civic', 'CR-V']],
    ['land rover', ['Range Rover']],
  ]),
  states: new Map(),
  choices: {
    ...{ state: [], source: [], status: [], inspection: [], currency: ['USD'], cost_currency: [] },
    ...{ damage: ['front', 'water', 'all_over'], title: ['clean', 'salvage'] },
  },
  costs: undefined,
  synonyms: {
    make: new Map([['chevy', 'Chevrolet']]),
    damage: new Map([['flood', 'water']]),
    title: new Map(),
  },
};

it.each([
  ['camry', { make: 'Toyota', model: 'Camry' }],
  ['chery', { make: 'Chery' }],
  ['cherry', { make: 'Chery' }],
  ['toyta camri', { make: 'Toyota', model: 'Camry' }],
  ['land rover range rover', { make: 'Land Rover', model: 'Range Rover' }],
  ['cr-v', { make: 'Honda', model: 'CR-V' }],
  ['corola', { model: 'Corolla' }],
  ['f150', { make: 'Ford', model: 'F-150' }],
  ['crv', { make: 'Honda', model: 'CR-V' }],
  ['chevy', { make: 'Chevrolet' }],
  ['tesla model y', undefined],
  ['lexus nx', undefined],
  ['ford f-250', undefined],
  ['civic xle', undefined],
  ['qqqqqq', undefined],
  ['flood', undefined],
  ['suv', undefined],
  ['fork', { make: 'Ford' }],
  ['truck', undefined],
  ['van', undefined],
])('%s is %j', (text, expected) => {
  expect(makeIn(text.split(' '), names)).toEqual(expected);
});

it.each([
  ['flood', 'damage=water'],
  ['all over toyota 2019', 'make=Toyota&damage=all_over&year_from=2019&year_to=2019'],
  ['chevy flood salvage', 'make=Chevrolet&damage=water&title=salvage'],
  ['suv', undefined],
  ['front damage camry', 'make=Toyota&model=Camry&damage=front'],
  ['clean title civic', 'make=Honda&model=Civic&title=clean'],
  ['front water camry', undefined],
  ['camry 2016-2018', 'make=Toyota&model=Camry&year_from=2016&year_to=2018'],
  ['camry 2018 to 2016', 'make=Toyota&model=Camry&year_from=2016&year_to=2018'],
  ['camry 2014 2016 2018', undefined],
  ['camry under 8k', 'make=Toyota&model=Camry&price=8000'],
  ['camry $8,000 80k km', 'make=Toyota&model=Camry&price=8000&km=80000'],
  ['toyota over $5k under $8k', 'make=Toyota&price_from=5000&price=8000'],
  ['civic 50000 miles 2019', 'make=Honda&model=Civic&km=80467&year_from=2019&year_to=2019'],
  ['civic 8.000', undefined],
  ['8k', 'price=8000'],
  ['camry 2019+', 'make=Toyota&model=Camry&year_from=2019'],
  ['camry since 2019 under 8k', 'make=Toyota&model=Camry&price=8000&year_from=2019'],
  ['2019 or newer camry', 'make=Toyota&model=Camry&year_from=2019'],
  ['camry within 3 days', 'make=Toyota&model=Camry&days=3'],
  ['under 50000 km clean title in the next 3 days', 'km=50000&days=3&title=clean'],
  ['odometer rolled back', 'rollback=1'],
  ['civic rollback', 'make=Honda&model=Civic&rollback=1'],
  ['camry 2019-', 'make=Toyota&model=Camry&year_from=2019'],
])('%s asks for %s, and the page can say so', (text, expected) => {
  const found = searchOf(text, names);
  const query = new URLSearchParams(found);
  expect(query.get('q')).toBe(expected === undefined ? null : text);
  query.delete('q');
  expect(found && query.toString()).toBe(expected);
});

it.each([
  ['8000', '8000'],
  ['8,000', '8000'],
  ['$8000', '8000'],
  ['$ 8000', '8000'],
  ['8k', '8000'],
  ['80,000 km', '80000'],
  ['12.5k', '12500'],
  ['1 250 000', '1250000'],
  ['8.000', undefined],
  ['€8,000', undefined],
  ['₩8,000', undefined],
  ['1,25', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['many', undefined],
])('the amount %s is %s, and is said to be left out if it is none', (given, expected) => {
  const search = searchIn({ price: given });
  expect(search.filters.price).toBe(expected);
  expect(search.wrong).toEqual(expected === undefined ? ['price'] : []);
});

it.each([
  [{ days: '1.5' }, ['days']],
  [{ days: '1000000000' }, ['days']],
  [{ year_from: '15' }, ['year_from']],
  [{ year_from: '2015', days: '7' }, []],
])('%j has the wrong fields %j', (query, wrong) => {
  expect(searchIn(query).wrong).toEqual(wrong);
});

it('every synonym means a make, damage or title that the seeds know, and is none itself', () => {
  const seed = (name: string): string[][] =>
    packageFile(`sql/seeds/${name}.csv`)
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
  const known: Readonly<Record<string, ReadonlySet<string | undefined>>> = {
    make: new Set(seed('manufacturer_codes').map(([, make]) => make)),
    damage: new Set(seed('damage_groups').map((row) => row.at(-1))),
    title: new Set(seed('title_brands').map(([, brand]) => brand)),
  };
  const synonyms = seed('name_synonyms');
  expect(synonyms.length).toBeGreaterThan(20);
  for (const [what = '', name = '', means] of synonyms) {
    expect([...(known[what] ?? [])], `${what} ${name}`).toContain(means);
    expect(name).toBe(name.toLowerCase());
    expect([...(known[what] ?? [])], name).not.toContain(name);
  }
});
