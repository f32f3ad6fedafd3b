import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLake } from '../../src/ask/query/open-lake.js';
import { VALUE_READS, valueOfCar } from '../../src/ask/query/valuation.js';
import { rows } from '../../src/base/duck/session.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { type Element, night } from '../report/lake.js';
import { type Opened, openExplore } from './server.js';

const folder = temporaryFolder();
let explore: Opened;
beforeAll(async () => {
  await night(folder.path, { vehicles: 4000, clock: new Date('2026-11-20T04:00:00Z') });
  explore = await openExplore(folder.path);
}, 120_000);
afterAll(async () => {
  await explore.close();
  folder.remove();
});

const config = () => configFor('http://127.0.0.1:9/api', folder.path);
const lake = (sql: string) => readLake(config(), {}, ({ session }) => rows(session.connection, sql));
const valued = (car: Parameters<typeof valueOfCar>[1]) =>
  readLake(config(), { named: VALUE_READS }, ({ session }) => valueOfCar(session.connection, car));

const textOf = (element: Element | null | undefined): string =>
  (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

async function pageOf(query: Readonly<Record<string, string>>): Promise<Element> {
  const text = await explore.text(`/value?${new URLSearchParams(query)}`);
  return parseHTML(text).document as unknown as Element;
}

const factsOf = (page: Element): Record<string, string> =>
  Object.fromEntries(
    [...page.querySelectorAll('#worth dl.facts > div')].map((fact) => [
      textOf(fact.querySelector('dt')),
      textOf(fact.querySelector('dd')),
    ]),
  );

const cellsOf = (table: Element | null | undefined): string[][] =>
  [...(table?.querySelectorAll('tbody tr') ?? [])].map((line) =>
    [...line.querySelectorAll('th, td')].map(textOf),
  );

const dollars = (amount: unknown): string => `$${Number(amount).toLocaleString('en')}`;
const words = (level: string): string => (level === 'unknown' ? 'not stated' : level.replaceAll('_', ' '));

/** The values that the form has, by name. */
const valuesOf = (page: Element): Record<string, string | null> =>
  Object.fromEntries(
    ['make', 'model', 'year', 'km', 'damage', 'title', 'state'].map((name) => [
      name,
      page.querySelector(`form.filters input[name=${name}]`)?.getAttribute('value') ??
        page.querySelector(`form.filters select[name=${name}] option[selected]`)?.getAttribute('value') ??
        null,
    ]),
  );

const CAMRY = { make: 'Toyota', model: 'Camry', year: '2019' };

describe('the value of any car', () => {
  it.each([
    [{}],
    [{ km: '80000', damage: 'front', title: 'salvage', state: 'TX' }],
    [{ km: '8k', damage: 'burn', title: 'parts_only' }],
    [{ damage: 'normal_wear' }],
    [{ title: 'clean', state: 'ON' }],
  ])('with %j is that of the command, with each other damage by the factors', async (facts) => {
    const page = await pageOf({ ...CAMRY, ...facts });
    const { km, damage, title, state }: Readonly<Record<string, string>> = facts;
    const number = km === undefined ? undefined : Number(km.replace('k', '000'));
    const value = await valued({ ...CAMRY, year: 2019, km: number, damage, title, state });
    expect(textOf(page.querySelector('#worth h2'))).toBe(`Worth ${dollars(value.estimate)} at auction`);
    const told = factsOf(page);
    const between = (low: unknown, high: unknown): string | undefined =>
      low === null ? undefined : `${dollars(low)} to ${dollars(high)}`;
    expect(told['8 of 10 like it go for']).toBe(between(value.low_80, value.high_80));
    expect(told['Half of them go for']).toBe(between(value.low_50, value.high_50));
    if (value.low_50 === null)
      expect(textOf(page.querySelector('#worth'))).toContain('no interval: the class');
    else
      expect(told['What to bid']).toContain(
        `1 in 4 go for at most ${dollars(value.low_50)}, half for ${dollars(value.estimate)}, 3 in 4 for ${dollars(value.high_50)}`,
      );
    const [prices] = await lake(`
      select count(*) filter (where manufacturer_name = 'Toyota' and model_name = 'Camry' and year between 2017 and 2021) as near, count(*) as n
      from price_inputs join price_estimates using (lot_id) left join dim_manufacturers using (manufacturer_id) left join dim_models using (model_id)
      where price_inputs.market = 'auction' and price_inputs.currency = 'USD' and price_inputs.price is not null`);
    expect(told['Rests on']).toMatch(new RegExp(`^[\\d,]+ auction prices, ${prices?.near} of them`));
    expect(textOf(page.querySelector('#worth')).includes('no price is known from ON')).toBe(state === 'ON');

    const sales = [...page.querySelectorAll('#reasons .columns > div')][1];
    expect(cellsOf(sales?.querySelector('table')).map((cells) => cells.slice(5))).toEqual(
      value.comparable_sales.map((sale) => [dollars(sale.price), dollars(sale.adjusted_price)]),
    );
    const near = value.comparable_sales.length;
    expect(textOf(sales?.querySelector('p'))).toMatch(
      near === 0 ? /^No sale near in all:/ : new RegExp(`^${near} sales? near in all`),
    );

    const tables = [...page.querySelectorAll('#otherwise table')].map(cellsOf);
    for (const [i, factor, own] of [
      [0, 'damage_main_group', damage],
      [1, 'title_brand', title],
    ] as const) {
      // A car of 2019 is 7.9 years old. Of what nothing is said the mean of all prices counts.
      const expected = await lake(`
        with f as (select * from price_factors where market = 'auction' and currency = 'USD'),
        levels as (
          select f.level, f.prices, f.effect * coalesce(a.effect, 1) as effect
          from f left join f as a on a.factor = 'damage_by_age' and a.level = f.level || '/4 to 7' where f.factor = '${factor}'),
        mean as (select exp(sum(m) ) as effect from (
          select sum(prices * ln(effect)) / sum(prices) as m from f
          where factor = '${factor}' or (factor = 'damage_by_age' and '${factor}' = 'damage_main_group') group by factor))
        select level, prices, effect / ${own === undefined ? '(select effect from mean)' : `(select effect from levels where level = '${own}')`} as ratio
        from levels`);
      const found = new Map(tables[i]?.map(([name = '', ...cells]) => [name, cells]));
      expect(found.size).toBe(expected.length);
      for (const { level, prices: n, ratio } of expected) {
        const [bring = '', , against, many] = found.get(words(String(level))) ?? [];
        expect(many, String(level)).toBe(Number(n).toLocaleString('en'));
        if (Number(n) < 5) expect(bring).toBe('too few prices');
        else
          expect(
            Math.abs(Number(bring.replaceAll(/[$,]/g, '')) - Number(value.estimate) * Number(ratio)),
            String(level),
          ).toBeLessThan(1 + Number(ratio));
        expect(against === 'this car').toBe(level === own);
      }
    }
  });

  it('rests on prices that are counted again', async () => {
    const [first] = [...(await pageOf(CAMRY)).querySelectorAll('#otherwise table')].map(cellsOf);
    const counted = await lake(`
      select damage_main_group as level, count(*) as prices from price_inputs p join price_estimates e using (lot_id)
      where p.market = 'auction' and p.currency = 'USD' and p.price is not null and not e.is_left_out group by 1`);
    for (const { level, prices } of counted)
      expect(first?.find(([name]) => name === words(String(level)))?.at(-1), String(level)).toBe(
        Number(prices).toLocaleString('en'),
      );
    expect(counted.length).toBeGreaterThan(8);
  });

  it('is understood as people type it', async () => {
    const page = await pageOf({
      ...{
        make: 'toyata',
        model: 'CAMRI',
        year: '2019',
        km: '80,000',
        damage: 'Front End',
        title: 'salvage title',
      },
      state: 'texas',
    });
    expect(textOf(page.querySelector('main'))).toMatch(
      /Showing Toyota for toyata\.Showing Camry for CAMRI\./,
    );
    expect(textOf(page.querySelector('#worth p'))).toBe(
      '2019 Toyota Camry, 80,000 km, front, salvage, in TX',
    );
    expect(valuesOf(page)).toMatchObject({
      make: 'Toyota',
      model: 'Camry',
      km: '80,000',
      title: 'salvage',
      state: 'TX',
    });
  });

  it('has examples that are worth something, without input', async () => {
    const page = await pageOf({});
    expect(page.querySelector('.alarm')).toBeNull();
    const links = [...page.querySelectorAll('main p a')].map((link) => link.getAttribute('href') ?? '');
    const examples = links.filter((href) => href.startsWith('/value?'));
    expect(examples.length).toBe(3);
    for (const href of examples) expect(await explore.text(href)).toMatch(/<h2>Worth \$[\d,]+ at auction/);
  });
});

describe('input that cannot be used', () => {
  it.each([
    [{ make: 'Toyota' }, 'Give the model and model year, too.'],
    [{ model: 'Camry', year: '2019', damage: 'front' }, 'Give the make, too.'],
    [{ ...CAMRY, year: 'new' }, 'new is no model year that can be used. Write four digits, such as 2019.'],
    [{ ...CAMRY, year: '1066' }, '1066 is no model year'],
    [{ ...CAMRY, year: '2035' }, 'no car has the model year 2035 yet'],
    [{ ...CAMRY, make: 'Zzyzx' }, 'the lake has no manufacturer Zzyzx'],
    [{ ...CAMRY, model: 'Camry 9000' }, 'the lake has no model Camry 9000'],
    [{ ...CAMRY, damage: 'scorn' }, 'no price has the damage scorn'],
    [{ ...CAMRY, state: 'TXX' }, 'no auction lot is in the state TXX; did you mean TX?'],
  ])('%j is said to be so, and all else stays', async (query, message) => {
    const page = await pageOf(query);
    expect(textOf(page.querySelector('main'))).toContain(message);
    expect(page.querySelector('#worth')).toBeNull();
    expect(valuesOf(page)).toMatchObject(query);
  });

  it('leaves out a distance that may be 8 or 8,000', async () => {
    const page = await pageOf({ ...CAMRY, km: '8.000' });
    expect(textOf(page.querySelector('.alarm'))).toMatch(
      /^8\.000 is no distance that can be used, and is left out\./,
    );
    expect(textOf(page.querySelector('#worth p'))).toBe('2019 Toyota Camry');
    expect(valuesOf(page)).toMatchObject({ ...CAMRY, km: '8.000' });
  });

  it('says so of a make without auction prices', async () => {
    const [make] = await lake(`
      select manufacturer_name as make, any_value(model_name) as model from price_inputs
      left join dim_manufacturers using (manufacturer_id) left join dim_models using (model_id)
      where manufacturer_name is not null and model_name is not null
      group by 1 having count(price) filter (where market = 'auction' and currency = 'USD') = 0 limit 1`);
    expect(make).toBeDefined();
    const page = await pageOf({ make: String(make?.make), model: String(make?.model), year: '2020' });
    expect(textOf(page.querySelector('main'))).toContain('the lake has no auction price of this make');
  });

  it('shows texts with markup as texts', async () => {
    const markup = '"><script>alert(1)</script>';
    for (const name of ['make', 'model', 'year', 'km', 'damage', 'title', 'state']) {
      const text = await explore.text(`/value?${new URLSearchParams({ ...CAMRY, [name]: markup })}`);
      expect(text, name).not.toContain('<script>alert');
      expect(valuesOf(parseHTML(text).document as unknown as Element), name).toMatchObject({
        [name]: markup,
      });
    }
    expect((await explore.get('/value?make=%27%3B%20drop&model=%25&year=2019&make=b')).status).toBe(200);
  });
});
