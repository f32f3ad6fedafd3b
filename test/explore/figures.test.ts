/**
 * Recomputes the figures of every kind of page over a widened world of 12,000 vehicles after ten nights, by queries over the
 * Parquet that have nothing of those of the pages.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askAbout, OF_CARS, takeCar } from '../../src/ask/explore/car-page.js';
import { openShown } from '../../src/ask/explore/shown.js';
import { exportPages } from '../../src/ask/explore/static.js';
import { source } from '../../src/ask/page/format.js';
import { type OpenLake, openSnapshot } from '../../src/ask/query/open-lake.js';
import { knownLots } from '../../src/ask/query/valuation.js';
import { rows } from '../../src/base/duck/session.js';
import { cardsOf } from '../page/cards.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import type { Element } from '../report/lake.js';
import { type Opened, openExplore } from './server.js';
import { wideNights } from './wide-world.js';

const folder = temporaryFolder();
/** A lake that exists already, to look at a test again. */
const output = process.env.LOTLAKE_WIDE ?? folder.path;
let explore: Opened;
let opened: OpenLake;

beforeAll(async () => {
  if (!existsSync(join(output, 'lake'))) await wideNights(output, { vehicles: 12_000, nights: 10 });
  explore = await openExplore(output);
  opened = await openSnapshot(configFor('http://127.0.0.1:9/api', output, { memory: '2GB' }), {});
  await opened.session.connection.run(`create table offered as ${OFFERED}`);
}, 900_000);
afterAll(async () => {
  opened?.close();
  await explore?.close();
  folder.remove();
});

type Figures = Readonly<Record<string, unknown>>;

const lake = (sql: string): Promise<Figures[]> => rows(opened.session.connection, sql);

const pageOf = async (path: string): Promise<Element> =>
  parseHTML(await explore.text(path)).document as unknown as Element;

const textOf = (element: Element | null | undefined): string =>
  (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

/** The rows of a table, by their heads. */
function tableOf(place: Element | null | undefined): Record<string, string>[] {
  const heads = [...(place?.querySelectorAll('thead th') ?? [])].map(textOf);
  return [...(place?.querySelectorAll('tbody tr') ?? [])].map((line) =>
    Object.fromEntries([...line.querySelectorAll('th, td')].map((cell, i) => [heads[i] ?? '', textOf(cell)])),
  );
}

/** The facts of a part, by their names. */
const factsOf = (place: Element | null): Record<string, string> =>
  Object.fromEntries(
    [...(place?.querySelectorAll('dl.facts > div') ?? [])].map((fact) => [
      textOf(fact.querySelector('dt')),
      textOf(fact.querySelector('dd')),
    ]),
  );

const SIGNS: Readonly<Record<string, string>> = {
  USD: '$',
  KRW: '₩',
  CAD: 'CA$',
  EUR: '€',
  GBP: '£',
  AED: 'AED ',
};

/** An amount as a page should write it. */
const money = (amount: unknown, currency: unknown): string =>
  amount === null || amount === undefined
    ? '–'
    : `${currency === null ? '¤' : (SIGNS[String(currency)] ?? String(currency))}${Math.round(Number(amount)).toLocaleString('en')}`;
const whole = (value: unknown): string =>
  value === null || value === undefined ? '–' : Math.round(Number(value)).toLocaleString('en');
const share = (value: unknown): string => (value === null ? '–' : `${Math.round(Number(value) * 100)}%`);
const known = (value: unknown, none = '–'): string =>
  value === null || value === undefined || value === '' ? none : String(value);
const plain = (text: string): string => text.replaceAll(/[\s\u00a0\u202f]+/g, ' ');

/**
 * The lots that can be bought, from the tables: not archived, not sold with a price, with odds or at an asking price, and without
 * a date only in a status in which a lot can be bought.
 */
const OFFERED = `
  select l.*, e.market, e.is_currency_known, e.interval_reason, e.is_unreliable or e.comparable_prices = 0 as is_unreliable, e.prices_below,
    case when e.is_currency_known then e.currency end as cur,
    case when e.is_currency_known then e.estimate end as est,
    case when e.is_currency_known then e.low_80 end as low, case when e.is_currency_known then e.high_80 end as high,
    case when e.is_currency_known then e.high_50 end as half,
    if(e.market = 'asking', e.price, if(l.buy_now between 1 and 5000000, l.buy_now, null)) as asked, o.sale_date as auction,
    if(o.sell_probability_high - o.sell_probability_low <= 0.5, o.sell_probability, null) as chance,
    f.year, m.manufacturer_name as make, n.model_name as model, r.odometer_km as reading, g.damage_main_group as damage,
    g.damage_second_group as damage_2, g.title_brand as brand, nullif(g.state_code, 'unknown') as st,
    exists (select 1 from vehicle_timeline t where t.vehicle_id = l.vehicle_id and t.odometer_rollback) as set_back
  from lots l join price_estimates e using (lot_id) left join sell_through_odds o on o.lot_id = l.lot_id
    left join vehicle_facts f on f.vehicle_id = l.vehicle_id
    left join dim_manufacturers m on m.manufacturer_id = f.manufacturer_id left join dim_models n on n.model_id = f.model_id
    left join odometer_readings r on r.lot_id = l.lot_id join lot_groups g on g.lot_id = l.lot_id
  where e.is_offered and not coalesce(l.archived, false) and (e.market = 'asking' or o.lot_id is not null)
    and (o.sale_date is not null or coalesce(l.status_id, 3) in (3, 5, 9, 10))`;

/** What a lot asks, or what it will bring at auction if that is less. */
const COST = `case when market = 'asking' then asked else least(if(asked > coalesce(nullif(bid, 0), 0), asked, null), greatest(est, nullif(bid, 0))) end`;

/** The damage of a lot in words: the main one, and another second one that is stated. */
function damageOf({ damage, damage_2 }: Figures): string {
  const second = damage_2 === damage || [null, 'unknown', 'none'].includes(damage_2 as string | null);
  const words = [damage, ...(second ? [] : [damage_2])].map((key) => String(key).replaceAll('_', ' '));
  return damage === 'none' ? 'no damage' : `damage ${words.join(' and ')}`;
}

describe('lists', () => {
  it.each([
    ['', 'true', 'auction nulls last'],
    ['make=Toyota&sort=estimate', `make = 'Toyota'`, 'est desc nulls last'],
    ['state=TX&sort=newest', `st = 'TX'`, 'year desc nulls last'],
    ['price=3000&sort=cheapest', `${COST} <= 3000 and cur = 'USD'`, `${COST} nulls last`],
    ['price=3k&auctions=1', `${COST} <= 3000 and cur = 'USD' and auction is not null`, 'auction nulls last'],
    [
      'estimate_from=$5,000&estimate_to=6,000',
      `est between 5000 and 6000 and cur = 'USD'`,
      'auction nulls last',
    ],
    [
      'estimate_from=1000&currency=USD&source=encar_com&sort=km',
      `est >= 1000 and cur = 'USD' and domain_id = 12`,
      'reading nulls last',
    ],
    [
      'damage=front&title=salvage',
      `(damage = 'front' or damage_2 = 'front') and brand = 'salvage'`,
      'auction nulls last',
    ],
    [
      'days=3&km=80000',
      `auction <= (select as_of from dim_settings) + interval 3 day and reading <= 80000`,
      'auction nulls last',
    ],
    ['odds=40&sort=odds', 'round(chance * 100) >= 40', 'chance desc nulls last'],
    ['source=newsite_com', 'domain_id = 77', 'auction nulls last'],
    ['buyable=1&status=sale', `asked is not null and status_name = 'sale'`, 'auction nulls last'],
    [
      'year_from=2020&year_to=2021&city=dal',
      `year in (2020, 2021) and contains(lower(location_city_name), 'dal')`,
      'auction nulls last',
    ],
    ['stands=1&sort=stands', 'stands', 'above desc nulls last, asked / est, auction nulls last'],
  ])(
    'of %s have the lots that they should, with their figures',
    async (query, where, order) => {
      const expected = await lake(`
      with judged as (
        select *, if(est is not null and interval_reason is null and not is_unreliable and not set_back
            and prices_below is not null and asked > coalesce(nullif(bid, 0), 0) and asked > 0.3 * est, 1 - prices_below, null) as above,
          est is not null and interval_reason is null and not is_unreliable and not set_back
            and (coalesce(prices_below < 0.25 and asked > coalesce(nullif(bid, 0), 0) and asked > 0.3 * est, false) or coalesce(bid > half, false)) as stands
        from offered)
      select * from judged where ${where} order by ${order}, lot_id`);
      const found = [];
      const first = await pageOf(`/lots?${query}`);
      const total = Number(
        /^([\d,]+) lots?/.exec(textOf(first.querySelector('[role=status]')))?.[1]?.replaceAll(',', '') ?? 0,
      );
      expect(total).toBe(expected.length);
      expect(expected.length).toBeGreaterThan(3);
      for (let page = 1; page <= 3 && (page - 1) * 30 < expected.length; page++)
        found.push(...cardsOf(await pageOf(`/lots?${query}&page=${page}`)));
      const told = found.map(({ page, name, facts, amounts, words }) => [
        page,
        name,
        facts[0],
        ...['estimate', 'bid', 'buy', 'odds'].flatMap((kind) => [
          amounts[kind]?.value ?? null,
          amounts[kind]?.text ?? null,
        ]),
        words,
        ...facts.slice(1, 3),
      ]);
      const amountOf = (value: unknown, text: string): unknown[] =>
        value === null ? [null, null] : [value, text];
      const should = expected
        .slice(0, 90)
        .map((lot) => [
          `/car/${lot.vehicle_id}`,
          [lot.year, lot.make, lot.model].filter((part) => part !== null).join(' '),
          lot.reading === null ? 'no usable odometer reading' : `${whole(lot.reading)} km`,
          ...amountOf(lot.est, money(lot.est, lot.cur)),
          ...(Number(lot.bid) === 0 ? [null, null] : [lot.bid, money(lot.bid, lot.cur)]),
          ...amountOf(lot.asked, money(lot.asked, lot.cur)),
          ...amountOf(lot.chance, share(lot.chance).replace('100%', '>99%').replace(/^0%$/, '<1%')),
          lot.low === null
            ? ''
            : `8 of 10 like it ${lot.market === 'asking' ? 'ask' : 'went for'} ${money(lot.low, lot.cur)} to ${money(lot.high, lot.cur)}`,
          damageOf(lot),
          `title ${String(lot.brand).replaceAll('_', ' ')}`,
        ]);
      expect(told).toEqual(should);
      const marks = found.map(({ badges, warnings }) => [
        badges.some((text) => / of such prices$/.test(text)),
        warnings.includes('odometer rolled back'),
        warnings.some((text) => text.endsWith(': ask whether it is meant')),
        warnings.includes('currency unknown'),
        warnings.some((text) => /too few prices|often far off|no price of a like car/.test(text)),
      ]);
      expect(marks).toEqual(
        expected
          .slice(0, 90)
          .map(({ est, interval_reason, is_unreliable, set_back, stands, cur, asked, bid }) => [
            stands,
            set_back,
            interval_reason === null &&
              is_unreliable === false &&
              set_back === false &&
              cur !== null &&
              Number(asked) > Number(bid) &&
              Number(asked) <= 0.3 * Number(est),
            cur === null,
            est !== null && set_back !== true && (interval_reason !== null || is_unreliable === true),
          ]),
      );
    },
    60_000,
  );
});

it('the rows of a car that its page takes once are those that its tables have', async () => {
  const into = temporaryFolder();
  const shown = await openShown(configFor('http://127.0.0.1:9/api', output), into.path);
  try {
    // Also lots that moved to another car, and cars of which only the archive feed knows.
    const cars = await rows(
      shown.connection,
      `select distinct vehicle_id from (
         (select vehicle_id from vehicles order by hash(vehicle_id) limit 60)
         union all (select p.vehicle_id from prices p join lots l using (lot_id) where p.vehicle_id is distinct from l.vehicle_id limit 20)
         union all (select l.vehicle_id from prices p join lots l using (lot_id) where p.vehicle_id is distinct from l.vehicle_id limit 20)
         union all (select a.vehicle_id from archived_lots a join lots l using (lot_id) where a.vehicle_id is distinct from l.vehicle_id limit 20)
         union all (select vehicle_id from archived_lots where vehicle_id not in (select vehicle_id from vehicles) limit 20)
         union all (select vehicle_id from lot_changes limit 20)
         union all (select vehicle_id from lots group by all having count(*) > 2 limit 20)
       ) where vehicle_id is not null`,
    );
    expect(cars.length).toBeGreaterThan(80);
    for (const { vehicle_id } of cars) {
      const about = askAbout(shown.connection, Number(vehicle_id));
      const answers = async (): Promise<unknown[]> => {
        const found: unknown[] = [];
        for (const query of OF_CARS) found.push(await about(query));
        found.push(await knownLots(shown.connection, await about('explore/estimates')));
        return found;
      };
      const before = await answers();
      const leave = await takeCar(shown, Number(vehicle_id));
      expect(await answers(), String(vehicle_id)).toEqual(before);
      await leave();
    }
  } finally {
    shown.lake.close();
    into.remove();
  }
}, 600_000);

describe('the page of a car', () => {
  const takenOf = (share: unknown): string =>
    share === null
      ? ''
      : `; of lots sold with one at this ratio to the estimate, ${(Number(share) * 100).toFixed(1)}% went for it`;

  it('has the estimates, lots, events and comparables that the lake has', async () => {
    const cars = await lake(`
      with kinds as (
        select vehicle_id, 'set back' as kind from offered where set_back
        union all select vehicle_id, 'no currency' from offered where not is_currency_known
        union all select vehicle_id, 'asking' from offered where market = 'asking'
        union all select vehicle_id, 'new source' from offered where domain_id = 77
        union all select vehicle_id, 'buy now' from offered where asked is not null
        union all select vehicle_id, 'sold' from sales where outcome = 'sold'
        union all select vehicle_id, 'gone' from lots where archived
        union all select vehicle_id, 'sold, then not' from sales where outcome = 'not_sold' and vehicle_id in (select vehicle_id from vehicles) and vehicle_id not in (select vehicle_id from offered where vehicle_id is not null)
          group by vehicle_id having max(sale_date) > (select max(s.sale_date) from sales s where s.outcome = 'sold' and s.vehicle_id = sales.vehicle_id)
        union all select vehicle_id, 'several' from lots group by vehicle_id having count(*) > 2
        union all select vehicle_id, 'inspected' from inspections
        union all select vehicle_id, 'claims' from claim_history)
      select * from (select distinct kind, vehicle_id from kinds where vehicle_id is not null)
      qualify row_number() over (partition by kind order by hash(vehicle_id)) <= 5`);
    expect(new Set(cars.map(({ kind }) => kind)).size).toBe(11);
    for (const { kind, vehicle_id: id } of cars) {
      const of = `${kind}: ${id}`;
      const document = await pageOf(`/car/${id}`);
      const lots = await lake(
        `select lots.*, currency from lots join lot_groups using (lot_id) where lots.vehicle_id = ${id} order by archived, position nulls last, lot_id`,
      );
      expect(
        tableOf(document.querySelector('#lots')).map((row) => [
          row.Lot,
          row.Bid,
          row['Final bid'],
          row['Buy Now'],
          row['Odometer, km'],
        ]),
        of,
      ).toEqual(
        lots.map((lot) => [
          known(lot.lot).trim(),
          ...[lot.bid, lot.final_bid, lot.buy_now].map((amount) => money(amount || null, lot.currency)),
          whole(lot.odometer_km),
        ]),
      );
      const [offers] = await lake(`select count(*) as lots from offered where vehicle_id = ${id}`);
      const [sale] = await lake(
        `select *, cast(cast(sale_date as date) as varchar) as day from sales where vehicle_id = ${id} and outcome = 'sold' order by sale_date desc, lot_id desc, attempt desc limit 1`,
      );
      const standing = textOf(document.querySelector('p.lead'));
      if (Number(offers?.lots) > 0) expect(standing, of).toBe('');
      else {
        const [later] = await lake(
          `select * from sales where vehicle_id = ${id} and outcome = 'not_sold' and (${sale === undefined} or cast(sale_date as date) > '${String(sale?.day)}') order by sale_date desc limit 1`,
        );
        const amount =
          sale?.amount === null ? 'an amount that is not known' : money(sale?.amount, sale?.currency);
        if (sale !== undefined)
          expect(standing, of).toContain(
            later ? `Before, it was sold for ${amount} on ` : `Sold for ${amount} on `,
          );
        else expect(standing, of).toMatch(/^(Gone|Not on offer now): |^Not sold on /);
        expect(standing.startsWith('Not sold on '), of).toBe(
          later !== undefined && !standing.startsWith('Gone'),
        );
      }
      const [estimate, ...others] = await lake(`
                select e.*, if(e.market = 'asking' or not e.is_offered, e.price, e.buy_now) as asked, o.lot_id is not null as is_open
        from price_estimates e left join offered o on o.lot_id = e.lot_id where e.vehicle_id = ${id}
        order by is_open desc, o.auction nulls last, if(is_open, null, e.priced_at) desc nulls last, e.lot_id limit 20`);
      const part = document.querySelector('#estimate');
      const facts = factsOf(part);
      if (estimate === undefined) {
        expect(textOf(part), of).toContain('there is no estimate');
        continue;
      }
      const { currency, is_currency_known } = estimate;
      const between = (low: unknown, high: unknown): string | undefined =>
        low === null ? undefined : `${money(low, currency)} to ${money(high, currency)}`;
      expect(
        [facts.Estimate, facts['Half of such prices'], facts['80% of such prices'], facts['Buy Now']],
        of,
      ).toEqual([
        estimate.estimate === null ? 'none' : money(estimate.estimate, currency),
        between(estimate.low_50, estimate.high_50),
        between(estimate.low_80, estimate.high_80),
        estimate.buy_now === null
          ? undefined
          : `${money(estimate.buy_now, is_currency_known === true ? currency : null)}${takenOf(estimate.buy_now_share)}`,
      ]);
      const bids = textOf(document.querySelector('.bids'));
      if (estimate.is_open !== true || estimate.market === 'asking') expect(bids, of).toBe('');
      else if (estimate.low_50 !== null && is_currency_known === true)
        expect(bids, of).toContain(
          `1 in 4 go for at most ${money(estimate.low_50, currency)}, half for ${money(estimate.estimate, currency)}, 3 in 4 for ${money(estimate.high_50, currency)}`,
        );
      const [odds] = await lake(`from sell_through_odds where lot_id = ${estimate.lot_id}`);
      const chance = estimate.is_offered === true ? odds?.sell_probability : undefined;
      expect(facts['Sells at its next auction']?.replace(/ .*/, ''), of).toBe(
        typeof chance === 'number' ? `${(chance * 100).toFixed(1)}%` : undefined,
      );
      const rollbacks = await lake(
        `select distinct odometer_km as km from vehicle_timeline where vehicle_id = ${id} and odometer_rollback`,
      );
      for (const { km } of rollbacks)
        expect(textOf(part), of).toContain(`odometer rolled back: ${whole(km)} km`.replace(/^o/, 'O'));
      if (rollbacks.length === 0) expect(textOf(part), of).not.toContain('rolled back');
      const tables = [...(part?.querySelectorAll('table') ?? [])].map((table) => tableOf(table));
      const otherRows =
        tables.find(([row]) => row !== undefined && 'Priced on' in row && 'Estimate' in row) ?? [];
      expect(
        otherRows.map((row) => [row.Estimate, row['Price, or asked']]),
        of,
      ).toEqual(
        others.map((each) => [
          money(each.estimate, each.currency),
          money(each.asked, each.is_currency_known === true ? each.currency : null),
        ]),
      );
      const [count] = await lake(`select count(*) as events from vehicle_timeline where vehicle_id = ${id}`);
      const events = [...document.querySelectorAll('#timeline li')].map((line) =>
        Number(/×(\d+)$/.exec(textOf(line))?.[1] ?? 1),
      );
      expect(
        events.reduce((sum, n) => sum + n, 0),
        of,
      ).toBe(count?.events);
    }
  }, 180_000);
});

describe('a car of which only the archive feed tells', () => {
  it('says what a car was sold for of which only the archive feed knows', async () => {
    const [gone] = await lake(
      `select vehicle_id, amount, currency from sales where outcome = 'sold' and vehicle_id not in (select vehicle_id from vehicles)
       and amount is not null qualify count(*) over (partition by vehicle_id) = 1 order by vehicle_id limit 1`,
    );
    const lead = textOf((await pageOf(`/car/${gone?.vehicle_id}`)).querySelector('p.lead'));
    expect(lead).toMatch(/^Sold for |Before, it was sold for /);
    expect(lead).toContain(money(gone?.amount, gone?.currency));
  });

  it('is found by its lot number, with its events', async () => {
    const [lot] = await lake(`select vehicle_id, trim(lot) as lot from archived_lots
      where vehicle_id not in (select vehicle_id from vehicles) and trim(lot) not in (select trim(lot) from lots where lot is not null)
        and regexp_full_match(trim(lot), '\\d{6,}')
      order by lot_id limit 1`);
    const found = await explore.get(`/find?q=${lot?.lot}`);
    expect(found.headers.get('location')).toBe(`/car/${lot?.vehicle_id}`);
    const document = await pageOf(`/car/${lot?.vehicle_id}`);
    expect(textOf(document.querySelector('h1'))).toBe(`Car ${lot?.vehicle_id}`);
    const [count] = await lake(
      `select count(*) as events from vehicle_timeline where vehicle_id = ${lot?.vehicle_id}`,
    );
    const events = [...document.querySelectorAll('#timeline li')].map((line) =>
      Number(/×(\d+)$/.exec(textOf(line))?.[1] ?? 1),
    );
    expect(events.reduce((sum, n) => sum + n, 0)).toBe(count?.events);
  });
});

/** The figures of a cell of Compare: value, low, high and on how many it rests. */
const numbersIn = (cell: string): number[] =>
  [...cell.replaceAll(',', '').matchAll(/-?\d+(?:\.\d+)?/g)].map(([number]) => Number(number));

describe('Compare', () => {
  const columnOf = async (query: string): Promise<Map<string, string>> => {
    const table = (await pageOf(`/compare?${query}`)).querySelector('.compared');
    const [, head = ''] = [...(table?.querySelectorAll('thead th') ?? [])].map(textOf);
    return new Map(tableOf(table).map((row) => [row.Figure ?? '', row[head] ?? '']));
  };

  it.each(['Toyota', 'Kia', 'Ford', 'Hyundai', 'BMW', 'Honda'])('has the figures of %s', async (make) => {
    const figures = await columnOf(`kind=make&of=${make}`);
    const [offer] = await lake(`select count(*) as lots,
      count(*) filter (where auction <= (select as_of from dim_settings) + interval 7 day) as soon from offered where make = '${make}'`);
    expect(figures.get('On offer')).toBe(whole(offer?.lots));
    expect(figures.get('Auctions of the next seven days')).toBe(whole(offer?.soon));
    const estimates = await lake(`select market, cur, median(est) as middle, count(*) as n from offered
      where make = '${make}' and est is not null group by all`);
    for (const { market, cur, middle, n } of estimates.filter((each) => Number(each.n) >= 5)) {
      const name = `Median estimate, ${market === 'asking' ? 'asking prices' : 'at auction'}`;
      const many = estimates.filter((other) => other.market === market && Number(other.n) >= 5).length > 1;
      expect(plain(figures.get(many ? `${name}, ${cur}` : name) ?? '')).toBe(
        `${money(middle, cur)} (${whole(n)})`,
      );
    }
    const [prices] =
      await lake(`select currency, count(*) as n, quantile_cont(price, [0.25, 0.5, 0.75]) as q from sales
      where manufacturer_name = '${make}' and price is not null and outcome <> 'upcoming' and currency is not null
        and date_trunc('month', sale_date) > date_trunc('month', (select as_of from dim_settings)) - interval 6 month
      group by currency order by n desc limit 1`);
    const [low, middle, high] = Object(prices?.q) as number[];
    expect(plain(figures.get('Median price, six months (quartiles)') ?? '')).toBe(
      `${money(middle, prices?.currency)}, ${money(low, prices?.currency)} to ${money(high, prices?.currency)} (${whole(prices?.n)})`,
    );
    const [sold] = await lake(`select count(*) as n, count(*) filter (where outcome = 'sold') as k from sales
      where manufacturer_name = '${make}' and is_observed and outcome in ('sold', 'not_sold', 'on_approval')
        and date_trunc('month', sale_date) > date_trunc('month', (select as_of from dim_settings)) - interval 6 month`);
    const [value, , , based] = numbersIn(
      figures.get('Sold of offered, as far as observed in six months (95%)') ?? '',
    );
    if (Number(sold?.n) >= 5) {
      expect(based).toBe(sold?.n);
      expect(Math.abs(Number(value) / 100 - Number(sold?.k) / Number(sold?.n))).toBeLessThan(0.006);
    } else
      expect(figures.get('Sold of offered, as far as observed in six months (95%)')).toBe(
        `not known (${sold?.n})`,
      );
  });

  it('draws all makes at one source that has prices of each', async () => {
    for (const makes of [
      ['Toyota', 'BMW'],
      ['Hyundai', 'Ford', 'Kia'],
    ]) {
      const level = (
        await pageOf(`/compare?kind=make&${makes.map((make) => `of=${make}`).join('&')}`)
      ).querySelector('#level');
      const known =
        await lake(`select domain_name, count(distinct manufacturer_name) as makes, sum(priced_lots) as prices from price_trends
        where level = 'make' and manufacturer_name in (${makes.map((make) => `'${make}'`).join()}) and price_index is not null and currency is not null
        group by all having makes = ${makes.length} order by prices desc`);
      const named = [...(level?.querySelectorAll('title') ?? [])].flatMap((each) => [
        ...textOf(each).matchAll(/^(\w+) at ([\w.]+),/g),
      ]);
      expect(new Set(named.map(([, make]) => make))).toEqual(new Set(makes));
      expect(new Set(named.map(([, , at]) => at))).toEqual(new Set([source(known[0]?.domain_name)]));
      const own = await lake(
        `select distinct manufacturer_name as make from price_trends where level = 'make' and index_own_weight > 0 and currency is not null`,
      );
      const asMarket = makes.filter((make) => !own.some((row) => row.make === make));
      const note = textOf(level?.querySelector('p.note'));
      expect(note.includes('no move apart')).toBe(asMarket.length > 0);
      for (const make of asMarket) expect(note).toContain(make);
    }
  });

  it('has the figures of places, damages, titles, sellers and branches', async () => {
    for (const state of ['TX', 'CA', 'FL']) {
      const figures = await columnOf(`kind=place&of=${state}&car=Toyota`);
      const [there] =
        await lake(`select count(*) as n, median(price) as middle, s.currency from sales s join lot_groups g using (lot_id)
        where g.state_code = '${state}' and s.manufacturer_name = 'Toyota' and s.price is not null group by s.currency order by n desc limit 1`);
      expect(plain(figures.get('Median price of Toyota there (quartiles)') ?? '')).toMatch(
        `${money(there?.middle, there?.currency)}, `,
      );
      expect(numbersIn(figures.get('Median price of Toyota there (quartiles)') ?? '').at(-1)).toBe(there?.n);
      const [lots] = await lake(
        `select count(*) as n from lots l join lot_groups g using (lot_id) where g.state_code = '${state}' and l.domain_id <> 12`,
      );
      expect(numbersIn(figures.get('Lots known, of all cars') ?? '')[0]).toBe(lots?.n);
    }
    for (const [kind, factor, name] of [
      ['damage', 'damage_main_group', 'rear'],
      ['title', 'title_brand', 'clean'],
      ['place', 'state', 'TX'],
    ] as const) {
      const figures = await columnOf(`kind=${kind}&of=${name}`);
      const effects = await lake(
        `from price_factors where factor = '${factor}' and (level = '${name}' or level like '% ${name}') and market = 'auction' and currency = 'USD'`,
      );
      expect(effects.length).toBe(1);
      for (const { reference, effect, effect_low, effect_high, prices } of effects) {
        const cell =
          figures.get(`Price against ${String(reference).replaceAll('_', ' ')}, auction, USD (95%)`) ?? '';
        const two = (number: unknown): number => Number(Number(number).toFixed(2));
        expect(numbersIn(cell), kind).toEqual([
          two(effect),
          two(effect_low),
          two(effect_high),
          Number(prices),
        ]);
      }
    }
    for (const level of ['seller', 'branch']) {
      const [party] = await lake(
        `from offer_profiles where level = '${level}' and party_name is not null and party_name not like '%<%' order by offered desc limit 1`,
      );
      const figures = await columnOf(
        new URLSearchParams({ kind: level, of: `${party?.party_name} ${party?.domain_name}` }).toString(),
      );
      for (const [name, rate] of [
        ['Sold of offered (95%)', 'sell_through'],
        ['Cars that were offered before (95%)', 'relisting_rate'],
      ] as const) {
        const told = numbersIn(figures.get(name) ?? '');
        const should = ['shrunk', 'low', 'high'].map((end) => Number(party?.[`${rate}_${end}`]) * 100);
        expect(told.length, `${level} ${name}`).toBe(4);
        should.forEach((value, i) => {
          expect(Math.abs(Number(told[i]) - value), `${level} ${name}`).toBeLessThan(0.06);
        });
        expect(told[3]).toBe(party?.offered);
      }
    }
  });
});

describe('tables', () => {
  it('have as many rows as the Parquet, and pivots that are its groups', async () => {
    const catalog = JSON.parse(await explore.text('/catalog.json')) as Record<string, string[]>;
    for (const name of Object.keys(catalog)) {
      const kind = (await explore.get(`/tables/${name}.html`)).status === 200 ? 'tables' : 'marts';
      const document = await pageOf(`/${kind}/${name}.html`);
      const told = factsOf(document.querySelector('main')).Rows ?? '';
      const [row] = await lake(`select count(*) as n from "${name}"`);
      if (!told.startsWith('a view')) expect(told, name).toBe(whole(row?.n));
    }
    for (const [name, by, measure, of] of [
      ['marts/sales', 'outcome', 'median', 'price'],
      ['tables/lots', 'domain_name', 'sum', 'bid'],
      ['tables/lots', 'status_name', 'count distinct', 'vehicle_id'],
      ['marts/price_estimates', 'market', 'avg', 'estimate'],
      ['marts/lots_on_offer', 'title_brand', 'max', 'odometer_km'],
    ] as const) {
      const query = new URLSearchParams({ by, measure, of });
      const found = tableOf((await pageOf(`/${name}.html?${query}`)).querySelector('main table'));
      const call = measure === 'count distinct' ? `count(distinct ${of})` : `${measure}(${of})`;
      const expected = await lake(
        `select ${by} as g, ${call} as v from ${name.replace(/.*\//, '')} group by all`,
      );
      const digits = (value: unknown): string =>
        value === null
          ? '–'
          : Number.isInteger(value)
            ? Number(value).toLocaleString('en')
            : Number(value).toLocaleString('en', { maximumFractionDigits: 4 });
      expect(new Map(found.map((row) => [row[by], row.value])), name).toEqual(
        new Map(expected.map(({ g, v }) => [known(g), digits(v)])),
      );
    }
    const pivot = textOf(
      (await pageOf('/marts/sales.html?by=domain_name&across=outcome')).querySelector('main'),
    );
    expect(pivot).toContain('All attempts count here');
    const only = textOf(
      (await pageOf('/marts/sales.html?by=domain_name&across=outcome&where=is_observed')).querySelector(
        'main',
      ),
    );
    expect(only).not.toContain('All attempts count here');
  }, 120_000);
});

describe('runs, report and files', () => {
  it('tell the runs as their records do', async () => {
    const folders = readdirSync(join(output, 'runs')).sort().reverse();
    const records = folders.map((id) =>
      JSON.parse(readFileSync(join(output, 'runs', id, 'run.json'), 'utf8')),
    );
    const tables = [...(await pageOf('/runs')).querySelectorAll('table')].map((table) => tableOf(table));
    const told = tables.find(([row]) => row !== undefined && 'Outcome' in row) ?? [];
    expect(told.map((row) => [row.Outcome, row.Records, row.Rejected])).toEqual(
      records.slice(0, told.length).map((run) => [run.outcome, whole(run.records), whole(run.rejected)]),
    );
    expect(told.length).toBeGreaterThan(3);
  });

  it('tell in the report what the tables say', async () => {
    const document = await pageOf('/report');
    const tiles = new Map(
      [...document.querySelectorAll('.figures > div')].map((tile) => [
        textOf(tile.querySelector('dt')),
        [textOf(tile.querySelector('.value')), textOf(tile.querySelector('.change'))] as const,
      ]),
    );
    const [active] = await lake('select count(*) as n from lots where not coalesce(archived, false)');
    expect(tiles.get('Active lots, on offer or not')?.[0]).toBe(whole(active?.n));
    const [coming] = await lake(`select count(*) as n from sales where outcome = 'upcoming'`);
    expect(tiles.get('Auctions to come')?.[0]).toBe(whole(coming?.n));
    const [prices] =
      await lake(`select median(price) as middle, count(*) as n, currency from sales, dim_settings
      where price is not null and currency is not null and sale_date > as_of - interval 30 day and sale_date <= as_of
      group by currency order by n desc limit 1`);
    expect(tiles.get('Median price, 30 days')?.[0]).toBe(money(prices?.middle, prices?.currency));
    expect(tiles.get('Median price, 30 days')?.[1]).toContain(`of ${whole(prices?.n)} prices`);
    const [sold] =
      await lake(`select count(*) as n, count(*) filter (where outcome = 'sold') as k from sales, dim_settings
      where outcome in ('sold', 'not_sold', 'on_approval') and is_observed and sale_date <= as_of and sale_date > as_of - interval 30 day
        and sale_date >= (select max(observed_from) from observed_spans where domain_id <> 12)`);
    const through = [...tiles].find(([name]) => name.startsWith('Sell-through'));
    expect(through?.[1][0]).toBe(`${((Number(sold?.k) / Number(sold?.n)) * 100).toFixed(1)}%`);
    expect(through?.[1][1]).toContain(`of ${whole(sold?.n)} attempts`);
    const states = [...document.querySelectorAll('figure')].find((figure) =>
      textOf(figure.querySelector('h3')).startsWith('Lots by state, and how'),
    );
    const alike = tableOf(states).filter((row) => row['Price of lots alike'] !== '–');
    expect(alike.length).toBeGreaterThan(5);
    const factors = await lake(
      `from price_factors where factor = 'state' and market = 'auction' and currency = 'USD' and prices >= (select minimum_group from dim_settings)`,
    );
    for (const row of alike)
      expect(factors.map(({ level, effect }) => `${level} ${Number(effect).toFixed(2)}`)).toContain(
        `US ${row.State} ${row['Price of lots alike']}`,
      );
  }, 120_000);

  it('write the same lots as files', async () => {
    const own = temporaryFolder();
    try {
      const config = configFor('http://127.0.0.1:9/api', output);
      await exportPages(config, join(own.path, 'site'));
      const expected = await lake(`select count(*) as lots, sum(est) as est, count(cur) as cur from offered
        where auction between (select as_of from dim_settings) and (select as_of from dim_settings) + interval 7 day`);
      const index = parseHTML(readFileSync(join(own.path, 'site', 'index.html'), 'utf8'))
        .document as unknown as Element;
      expect(cardsOf(index)).toHaveLength(Math.min(100, Number(expected[0]?.lots)));
      const makes = parseHTML(readFileSync(join(own.path, 'site', 'makes.html'), 'utf8'))
        .document as unknown as Element;
      const first = tableOf(makes.querySelector('table'))[0] ?? {};
      const [most] = await lake(
        `select make, count(*) as lots from offered where make is not null group by make order by lots desc, make limit 1`,
      );
      expect([first.Make, first['On offer']]).toEqual([known(most?.make), whole(most?.lots)]);
    } finally {
      own.remove();
    }
  }, 120_000);
});
