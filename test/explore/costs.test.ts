import { appendFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPages } from '../../src/ask/explore/static.js';
import { destinationNamed, type Landed, landTo, readSchedule } from '../../src/ask/query/landed.js';
import { readLake } from '../../src/ask/query/open-lake.js';
import { valuesOfLots } from '../../src/ask/query/valuation.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { rows } from '../../src/base/duck/session.js';
import { createWorld } from '../../src/sandbox/index.js';
import { cardsOf } from '../page/cards.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { type Element, night, nightOf, reportOf } from '../report/lake.js';
import { recordsOf } from '../served.js';
import { type Opened, openExplore } from './server.js';

const folder = temporaryFolder();
const without = temporaryFolder();
const output = join(folder.path, 'output');
const costs = join(folder.path, 'costs');
const models = join(folder.path, 'models');
const clock = new Date('2026-11-20T04:00:00Z');
const MARKUP = '<script>alert(1)</script><img src=x onerror=alert(1)>';
let explore: Opened;
let plain: Opened;

const config = () => configFor('http://127.0.0.1:9/api', output, { costs, models });

beforeAll(async () => {
  for (const path of [output, models]) mkdirSync(path);
  cpSync(join(packageRoot, 'site', 'costs'), costs, { recursive: true });
  appendFileSync(join(costs, 'charges.csv'), `${MARKUP},*,*,*,10,USD,,,"${MARKUP}"\n`);
  appendFileSync(join(costs, 'targets.csv'), 'warsaw,*,*,,,45000,,,,,PLN,,,\n');
  await night(output, { vehicles: 700, clock }, { costs });
  await nightOf(without.path, recordsOf(createWorld({ vehicles: 40 })), clock);
  explore = await openExplore(output, { models }, { costs, models });
  plain = await openExplore(without.path);
});
afterAll(async () => {
  await explore.close();
  await plain.close();
  for (const each of [folder, without]) each.remove();
});

const lake = (sql: string) => readLake(config(), {}, ({ session }) => rows(session.connection, sql));

/** Lots on offer with their costs at the default destination, without lots_on_offer, and what is paid for them. */
const COSTED = `from (
  select l.lot_id, l.vehicle_id, l.bid, c.most_to_bid - ifnull(l.bid, 0) as room, c.lot_currency,
    -- at a bid above the estimate or without one, the total is that of the bid, which only the mart has
    case when e.market <> 'asking' and l.bid > ifnull(e.estimate, 0) then c.cost else list_min(list_filter([
      if(e.market <> 'asking', c.cost_estimate, null),
      if(e.market = 'asking' or l.buy_now > ifnull(l.bid, 0), c.cost_buy_now, null)
    ], lambda total: total is not null)) end as cost
  from landed_costs c join lots l on l.lot_id = c.lot_id join price_estimates e on e.lot_id = l.lot_id where c.destination = 'warsaw')`;

const tally = (page: string): number =>
  Number(/role="status">([\d,]+) lots?/.exec(page)?.[1]?.replaceAll(',', '') ?? '0');

const documentOf = (text: string) => parseHTML(text).document;

/** The texts of the cells of a column of a table. */
function column(part: Element, head: string): string[] {
  const place = [...part.querySelectorAll('thead th')].findIndex((each) => each.textContent === head);
  return [...part.querySelectorAll('tbody tr')].map(
    (line) => [...line.querySelectorAll('th, td')][place]?.textContent ?? '',
  );
}

describe('a list with tables of costs', () => {
  it.each([
    ['cost=40000', 'cost <= 40000'],
    ['cost=40k&cost_currency=pln', 'cost <= 40000'],
    ['cost=40000&cost_currency=USD', 'false'],
    ['room=500', "room >= 500 and lot_currency = 'USD'"],
    ['room=1&cost=50000', "room >= 1 and lot_currency = 'USD' and cost <= 50000"],
  ])('counts what %s finds', async (query, where) => {
    const [row] = await lake(`select count(*) as lots ${COSTED} where ${where}`);
    if (where !== 'false') expect(row?.lots).toBeGreaterThan(5);
    expect(tally(await explore.text(`/lots?${query}`))).toBe(row?.lots);
  });

  it.each([
    ['cost', 'cost nulls last'],
    ['room', 'room desc nulls last'],
  ])('has the order %s, and shows what it is ordered by', async (sort, order) => {
    const expected = await lake(`select * ${COSTED} order by ${order}, lot_id limit 30`);
    const cards = cardsOf(documentOf(await explore.text(`/lots?sort=${sort}`)));
    expect(cards.map(({ page }) => page)).toEqual(expected.map(({ vehicle_id }) => `/car/${vehicle_id}`));
    expect(cards.map(({ amounts }) => amounts.cost?.value ?? null)).toEqual(expected.map(({ cost }) => cost));
  });

  it('has fields for them, and says the unit', async () => {
    const page = await explore.text('/lots?cost=40000');
    for (const part of ['name="cost"', 'PLN, warsaw', 'name="room"', 'value="cost"', 'Most to bid'])
      expect(page).toContain(part);
    expect(page).toContain('<h1>costs in the end at most 40000, costs in PLN</h1>');
    expect(page).not.toContain('name="cost_currency"');
  });

  it('is saved as a search of the same lots', async () => {
    await explore.send('/searches', { name: 'cheap', search: 'cost=40000&room=500' });
    const [sql, yml] = ['sql', 'yml'].map((type) => readFileSync(join(models, `cheap.${type}`), 'utf8'));
    expect(yml).toContain('costs in the end at most 40000, costs in PLN, room to bid from 500, currency USD');
    expect(sql).toContain("cost_currency = 'PLN'");
    const found = await lake(`select lot_id from (${sql}) order by lot_id`);
    expect(found).toEqual(
      await lake(
        `select lot_id ${COSTED} where cost <= 40000 and room >= 500 and lot_currency = 'USD' order by lot_id`,
      ),
    );
  });
});

describe('a list without tables of costs', () => {
  it('says nothing of costs', async () => {
    const page = await plain.text('/lots');
    expect(tally(page)).toBeGreaterThan(10);
    for (const part of [
      'name="cost',
      'name="room"',
      'value="room"',
      'In the end',
      'Most to bid',
      'tables of costs',
    ])
      expect(page).not.toContain(part);
    const [card] = cardsOf(documentOf(page));
    expect(await plain.text(String(card?.page))).not.toContain('id="costs"');
    expect((await reportOf(without.path)).html).not.toMatch(
      /In the end|tables of costs|Discount against repair/,
    );
  });

  it('finds nothing by costs, and says why', async () => {
    const page = await plain.text('/lots?cost=5000');
    expect(tally(page)).toBe(0);
    expect(page).toContain('The lake has no tables of costs');
    const sorted = await plain.text('/lots?sort=room');
    expect(tally(sorted)).toBe(tally(await plain.text('/lots')));
    expect(sorted).toContain('The lake has no tables of costs');
  });
});

describe('the page of a car', () => {
  /** What `lotlake value LOT --to DESTINATION` says. */
  const landedOf = (lot: unknown, to: string): Promise<Landed | null | undefined> =>
    readLake(config(), {}, async ({ session: { connection } }) => {
      const { destination, ...known } = destinationNamed(await readSchedule(connection), to);
      const land = landTo(connection, known, destination);
      const [value] = await valuesOfLots(connection, String(lot), { land });
      return value?.landed;
    });

  it('has the parts, totals and the most to bid at each destination', async () => {
    const [lot] = await lake(
      `select lot_id, vehicle_id ${COSTED} where room > 0 and bid > 0 order by lot_id limit 1`,
    );
    const document = documentOf(await explore.text(`/car/${lot?.vehicle_id}`));
    const places = [...document.querySelectorAll('#costs details')];
    const names = places.map((each) => each.querySelector('summary')?.textContent.match(/^In (\w+)/)?.[1]);
    expect(names).toEqual(['warsaw', 'busan', 'dallas']);
    expect(places.map((each) => each.getAttribute('open'))).toEqual(['', null, null]);
    const numbers = (text = '') => Number(text.replaceAll(/[^\d.]/g, ''));
    for (const [i, name] of names.entries()) {
      const landed = await landedOf(lot?.lot_id, String(name));
      const lines = [...(places[i]?.querySelectorAll('tbody tr') ?? [])].map((line) =>
        [...line.querySelectorAll('th, td')].map((each) => each.textContent),
      );
      const parts = landed?.parts ?? [];
      expect(
        lines
          .slice(0, parts.length)
          .map(([what, amount, converted, ...row]) => [what, numbers(amount), numbers(converted), ...row]),
      ).toEqual(
        parts.map(({ part, name: named, amount, converted, row, note }) => [
          named === null ? part : `${part}: ${named}`,
          amount,
          converted,
          row ?? '',
          note ?? '',
        ]),
      );
      const totals = lines.slice(-(landed?.totals.length ?? 0));
      expect(
        totals.map(([, price, total]) => [numbers(price), total === 'not known' ? null : numbers(total)]),
      ).toEqual(landed?.totals.map(({ price, total }) => [price, total]));
      for (const missing of landed?.missing ?? []) expect(places[i]?.textContent).toContain(missing);
      if (landed?.most_to_bid != null)
        expect(places[i]?.textContent).toContain(
          landed.most_to_bid.toLocaleString('en', { minimumFractionDigits: 2 }),
        );
    }
  });

  it('shows markup in a table as text, and that the tables have changed', async () => {
    const [lot] = await lake(`select vehicle_id ${COSTED} where cost > 0 order by lot_id limit 1`);
    const path = `/car/${lot?.vehicle_id}`;
    const page = await explore.text(path);
    expect(page).toContain('&lt;script&gt;alert(1)');
    expect(page).not.toMatch(/<script>alert|<img src=x/);
    expect(page).not.toContain('have changed since the last run');
    appendFileSync(join(costs, 'charges.csv'), 'more,*,*,*,1,USD,,,\n');
    expect(await explore.text(path)).toContain('have changed since the last run');
    writeFileSync(
      join(costs, 'charges.csv'),
      readFileSync(join(costs, 'charges.csv'), 'utf8').replace('more,*,*,*,1,USD,,,\n', ''),
    );
  });
});

it('the report has the costs of the next auctions', async () => {
  const { document } = await reportOf(output);
  const table = document.querySelector('#coming figure');
  if (table === null) throw new TypeError('no figure');
  const lots = await lake(
    `select page_of_lot(l.domain_id, trim(l.lot), l.external_id) as link, cost, room, costed.bid ${COSTED} as costed join lots l using (lot_id)`,
  );
  const cards = cardsOf(table);
  const expected = cards.map(({ page }) => lots.find((lot) => lot.link === page));
  expect(cards.length).toBeGreaterThan(10);
  expect(cards.map(({ amounts }) => amounts.cost?.value ?? null)).toEqual(
    expected.map((lot) => lot?.cost ?? null),
  );
  // Half a dollar more would be too much.
  const most = cards.map(({ amounts }) => Number(amounts.most?.text.replaceAll(/\D/g, '') ?? 0));
  expect(most).toEqual(
    expected.map((lot) =>
      Math.floor(Number(lot?.room ?? 0) + (lot?.room === null ? 0 : Number(lot?.bid ?? 0))),
    ),
  );
  expect(Math.max(...most)).toBeGreaterThan(0);
});

it('the report has what damages and titles take off beside what repair takes', async () => {
  const { document } = await reportOf(output);
  const section = document.querySelector('#repair');
  if (section === null) throw new TypeError('no section');
  // A damage alone takes off what it does at the level of all lots, if nothing is known of a second one.
  const ratios = await lake(
    `select damage_main_group as damage, max(price_ratio_alike) as ratio from damage_breakdown
     where level = 'all' and currency = 'USD' and damage_second_group = 'unknown' group by all`,
  );
  const [sound] = await lake(
    `select median(e.estimate) as estimate, count(*) as lots
     from lots_on_offer o join price_estimates e using (lot_id) join lot_groups g using (lot_id)
     where g.is_sound and e.market = 'auction' and o.currency = 'USD' and e.estimate is not null`,
  );
  const amounts: Readonly<Record<string, number>> = { rear: 1800, side: 2000, hail: 1200, mechanical: 2000 };
  const rowsOf = (head: string) => column(section, head);
  const damages = rowsOf('Damage');
  let compared = 0;
  for (const [at, damage] of damages.entries()) {
    const repair = amounts[damage];
    if (repair === undefined || rowsOf('Size')[at] !== 'any') continue;
    const [ratio, left] = ['Ratio', 'Left over'].map((head) => rowsOf(head)[at] ?? '');
    const prices = rowsOf('Prices')[at]?.replaceAll(',', '');
    if (Number(prices) < 5) {
      expect([ratio, left]).toEqual([`too few (${prices})`, '–']);
      continue;
    }
    const expected = Number(ratios.find((row) => row.damage === damage)?.ratio);
    expect(ratio).toBe(expected.toFixed(2));
    expect(rowsOf('Lots on offer')[at]).toBe(Number(sound?.lots).toLocaleString('en'));
    const over = Math.round((1 - expected) * Number(sound?.estimate) - repair);
    expect(Number(left?.replaceAll(/[^\d-]/g, ''))).toBe(over);
    compared += 1;
  }
  expect(compared).toBeGreaterThan(2);
  expect(rowsOf('Row')).toContain('repairs.csv:3');
});

it('pages for others say nothing of what the user pays', async () => {
  const to = join(folder.path, 'public');
  await exportPages(config(), to);
  const pages = readdirSync(to, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.html'),
  );
  expect(pages).toContain('report.html');
  for (const name of pages)
    expect(readFileSync(join(to, name), 'utf8'), name).not.toMatch(
      /Most to bid|In the end|tables of costs|warsaw|repairs\.csv|Discount against repair/,
    );
});
