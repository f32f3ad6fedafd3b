import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeRun } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { runRecord } from '../lake/run-record.js';
import { cardsOf } from '../page/cards.js';
import { bareDuckDb, temporaryFolder, WITHOUT_MARTS } from '../pipelines/support.js';
import { recordsOf } from '../served.js';
import { type Document, type Element, figureOf, night, nightOf, reportOf, tableOf, tilesOf } from './lake.js';

const CLOCK = new Date('2026-11-16T04:00:00Z');
const NEXT = new Date('2026-11-19T05:00:00Z');
const WORLD = { vehicles: 800, seed: 3 };

const folder = temporaryFolder();
const closers: (() => void)[] = [folder.remove];
let document: Document;
let html: string;

/** Queries the marts of a snapshot by a plain glob. */
async function ask(snapshot: string, sql: string) {
  const duck = await bareDuckDb();
  const named = sql.replaceAll(
    /\{(\w+)\}/g,
    (_, table) => `'${join(folder.path, 'lake', snapshot, table, '**', '*.parquet')}'`,
  );
  const rows = await duck.query(named);
  duck.close();
  return rows;
}

const one = async (snapshot: string, sql: string) => Object.values((await ask(snapshot, sql))[0] ?? {})[0];
const english = (value: unknown) => Number(value).toLocaleString('en');
const signed = (difference: number) =>
  difference === 0 ? 'unchanged' : `${difference < 0 ? '−' : '+'}${english(Math.abs(difference))}`;

beforeAll(async () => {
  await night(folder.path, { ...WORLD, clock: CLOCK });
  await night(folder.path, { ...WORLD, clock: NEXT });
  ({ document, html } = await reportOf(folder.path));
});
afterAll(() => {
  for (const close of closers) close();
});

describe('the figures at the top', () => {
  it('agree with the marts, and show their change since the previous run', async () => {
    const [before] = readdirSync(join(folder.path, 'lake', 'snapshots')).sort();
    const tiles = tilesOf(document);
    const counted: [string, string, string][] = [
      ['Active lots, on offer or not', 'select count(*) from {lots} where not archived', 'active'],
      [
        'Sold since 16 Nov',
        `select count(*) from {sales} where outcome = 'sold' and sale_date between timestamptz '${CLOCK.toISOString()}' and timestamptz '@' - interval 12 hour`,
        'sold',
      ],
      ['Auctions to come', "select count(*) from {sales} where outcome = 'upcoming'", 'upcoming'],
    ];
    for (const [name, sql] of counted) {
      const now = Number(await one('current', sql.replaceAll('@', NEXT.toISOString())));
      const then = Number(await one(`snapshots/${before}`, sql.replaceAll('@', CLOCK.toISOString())));
      expect(now, name).toBeGreaterThan(0);
      expect(tiles.get(name), name).toEqual({ value: english(now), change: signed(now - then) });
    }
    const arrived = await one('current', "select count(*) from {lots} where first_seen_at >= '2026-11-19'");
    const left = await one(
      'current',
      "select count(*) from {lot_changes} where field = 'archived' and new_value = 'true'",
    );
    expect(tiles.get('New on 19 Nov')).toEqual({
      value: english(arrived),
      change: `and ${english(left)} left`,
    });
  });

  it('give the median price of the last 30 days, and the sell-through since the sources were first observed', async () => {
    const [row] = await ask(
      'current',
      `select median(price) filter (where currency = 'USD') as price,
         count(*) filter (where outcome = 'sold' and is_observed) /
         count(*) filter (where outcome in ('sold', 'not_sold', 'on_approval') and is_observed) as share
       from {sales}
       where sale_date between timestamptz '${NEXT.toISOString()}' - interval 30 day and timestamptz '${NEXT.toISOString()}'`,
    );
    const tiles = tilesOf(document);
    expect(tiles.get('Median price, 30 days')?.value).toBe(`$${english(Math.round(Number(row?.price)))}`);
    expect(tiles.get('Sell-through since 16 Nov')?.value).toBe(`${(Number(row?.share) * 100).toFixed(1)}%`);
  });
});

describe('the list of contents', () => {
  it('names all sections, with what comes and what changed first', () => {
    const ids = [...document.querySelectorAll('section')].map((section) => `#${section.getAttribute('id')}`);
    expect(ids.slice(0, 2)).toEqual(['#coming', '#changed']);
    for (const list of document.querySelectorAll('nav ul'))
      expect([...list.querySelectorAll('a')].map((link) => link.getAttribute('href'))).toEqual(ids);
  });
});

describe('what comes up', () => {
  it('are the auctions of seven days, each with the page of its lot', async () => {
    const [row] = await ask(
      'current',
      `select count(distinct lot_id) as lots from {sales} join {price_estimates} using (lot_id)
       where outcome = 'upcoming' and estimate > 0
         and sale_date <= timestamptz '${NEXT.toISOString()}' + interval 7 day`,
    );
    const cards = cardsOf(figureOf(document, 'The next auctions'));
    expect(cards.length).toBe(Math.min(40, Number(row?.lots)));
    expect(cards.length).toBeGreaterThan(10);
    for (const { page, lot } of cards) expect(lot).toBe(page);
    for (const { page } of cards)
      expect(page).toMatch(/^https:\/\/www\.(copart\.com\/lot\/\d+|iaai\.com\/VehicleDetail\/\d+~[A-Z]+)$/);
  });
});

describe('the numbers behind the charts', () => {
  it('are the rows of sell_through', async () => {
    const rows = await ask(
      'current',
      "select * from {sell_through} where level = 'month' and observed <> 'none' order by sale_month desc, domain_id",
    );
    const table = tableOf(document, 'Share of offered lots that are sold, by source');
    expect(table.map((row) => [row[2], row[3]])).toEqual(
      rows.map((row) => [english(row.lots_offered), english(row.lots_sold)]),
    );
    expect(rows.length).toBeGreaterThan(1);
    for (const [i, row] of rows.entries())
      expect(table[i]?.[4]).toBe(
        row.sell_through === null
          ? `too few (${row.lots_offered})`
          : `${(Number(row.sell_through) * 100).toFixed(1)}%`,
      );
  });

  it('are the lots that came back, as many as sell_through has at later attempts', async () => {
    const rows = await ask(
      'current',
      `select domain_name, sum(lots_offered) as lots, sum(lots_sold) as sold from {sell_through}
       where level = 'attempt' and attempt > 1 group by domain_id, domain_name order by domain_id`,
    );
    const total = (column: string) => rows.reduce((sum, row) => sum + Number(row[column]), 0);
    expect(total('lots')).toBeGreaterThan(0);
    const table = tableOf(document, 'What it brought, and after how many days');
    expect(table.map((row) => row.slice(0, 2))).toEqual([
      ['all sources', english(total('lots'))],
      ...rows.map((row) => [String(row.domain_name).replace('_', '.'), english(row.lots)]),
    ]);
    const [first] = table;
    expect(first?.[3]).toBe(
      total('lots') < 5
        ? `too few (${total('lots')})`
        : `${((total('sold') / total('lots')) * 100).toFixed(1)}%`,
    );
  });

  it('are the lots on offer that were offered three times and more', async () => {
    const rows = await ask(
      'current',
      `select o.domain_name, count(*) as lots from {lots_on_offer} o
       where (select count(*) from {sales} s where s.lot_id = o.lot_id and outcome <> 'upcoming') >= 3
       group by all order by lots desc, o.domain_name`,
    );
    const table = tableOf(document, 'How many there are, by source');
    expect(table.map((row) => [row[0], row[2]]).sort()).toEqual(
      rows.map((row) => [String(row.domain_name).replace('_', '.'), english(row.lots)]).sort(),
    );
    const listed = tableOf(document, 'The cheapest of them against the estimate');
    expect(listed.length).toBe(
      Math.min(
        40,
        rows.reduce((sum, { lots }) => sum + Number(lots), 0),
      ),
    );
    expect(listed.length).toBeGreaterThan(0);
    for (const [, times] of listed) expect(Number(times)).toBeGreaterThan(2);
  });

  it('are the lots of days_on_market', async () => {
    const rows = await ask(
      'current',
      "select level, lots, sold from {days_on_market} where level not in ('make', 'model') and lots > 0",
    );
    for (const [level, title] of [
      ['source', 'Days until a lot is sold, by source'],
      ['title', 'Lots that are sold within 60 days, by title'],
      ['estimate', 'Lots that are sold within 60 days, by what they are estimated to bring'],
    ] as const) {
      const table = tableOf(document, title);
      expect(table.map((row) => row.slice(1, 3).join()).sort()).toEqual(
        rows
          .filter((row) => row.level === level)
          .map((row) => `${english(row.lots)},${english(row.sold)}`)
          .sort(),
      );
    }
  });

  it('are the sales of each of the ten models', async () => {
    const rows = await ask(
      'current',
      `select model_name, count(*) as sales from {sales}
       where price is not null and currency = 'USD' and sale_date > timestamptz '${NEXT.toISOString()}' - interval 12 month
       group by all order by sales desc limit 10`,
    );
    const models = [...document.querySelectorAll('#models details.each')];
    const sales = models.map((model) =>
      Number(/: (\d+) sales/.exec(model.querySelector('summary')?.textContent ?? '')?.[1]),
    );
    expect(sales).toEqual(rows.map((row) => Number(row.sales)));
    for (const [i, model] of models.entries())
      for (const figure of model.querySelectorAll('figure')) {
        const counts = [...figure.querySelectorAll('tbody tr')].map((row) =>
          Number(row.querySelector('td')?.textContent),
        );
        expect(counts.reduce((sum, count) => sum + count, 0)).toBe(sales[i]);
      }
  });

  it('are the lots of damage_breakdown over all models', async () => {
    const rows = await ask(
      'current',
      `select damage_main_group, sum(lots)::bigint as lots, sum(sold)::bigint as sold from {damage_breakdown} where level = 'all' group by all order by lots desc, damage_main_group`,
    );
    const table = tableOf(document, 'Lots by main damage');
    expect(table.map((row) => row.slice(0, 3))).toEqual(
      rows.map((row) => [
        String(row.damage_main_group).replaceAll('_', ' '),
        english(row.lots),
        english(row.sold),
      ]),
    );
  });

  it('are the parts of inspection_issues with the greatest share', async () => {
    const rows = await ask(
      'current',
      "select found_items, looked_at, found_share from {inspection_issues} where level = 'part' order by found_share desc nulls last, looked_at desc, block_key, part_key limit 14",
    );
    const table = tableOf(document, 'Parts on which issues are found most often');
    expect(table.map((row) => row.slice(1, 3))).toEqual(
      rows.map((row) => [english(row.looked_at), english(row.found_items)]),
    );
  });

  it('keep the amounts of claims apart by currency', async () => {
    const rows = await ask(
      'current',
      'select type_key, currency, count(*)::bigint as events, sum(amount_total) as amount from {claim_history} group by domain_id, type_key, currency order by events desc, type_key, currency nulls last',
    );
    const table = tableOf(document, 'Events in history reports, by type and currency');
    expect(table.map((row) => [row[2], row[4], row[5]])).toEqual(
      rows.map((row) => [
        english(row.events),
        row.currency ?? '–',
        row.amount === null ? '–' : english(Math.round(Number(row.amount))),
      ]),
    );
  });

  it('are the states of regional_prices, null if a group is too small', async () => {
    const rows = await ask('current', "select * from {regional_prices} where level = 'state'");
    const table = tableOf(document, 'Prices by state, against the same model year in the nation');
    const figures = (row: readonly (string | undefined)[]) => row.join('|');
    expect(table.map((row) => figures([row[1], row[3], row[5]])).sort()).toEqual(
      rows
        .map((row) =>
          figures([
            english(row.lots),
            row.price_median === null
              ? row.currency === null && Number(row.priced_lots) > 0
                ? 'currency not known'
                : `too few (${row.priced_lots})`
              : `$${english(Math.round(Number(row.price_median)))}`,
            row.price_ratio_median === null
              ? `too few (${row.compared_lots})`
              : Number(row.price_ratio_median).toFixed(2),
          ]),
        )
        .sort(),
    );
  });

  it('are the days of inventory_daily, the last first', async () => {
    const rows = await ask(
      'current',
      'select active_lots, new_lots, archived_lots from {inventory_daily} order by day desc, domain_id',
    );
    const table = tableOf(document, 'Lots in the feed at the end of each day');
    const or = (value: unknown) => (value === null ? '–' : english(value));
    expect(table.map((row) => row.slice(2, 5))).toEqual(
      rows.map((row) => [or(row.active_lots), or(row.new_lots), or(row.archived_lots)]),
    );
  });
});

describe('the charts', () => {
  it('each have a role, a title, a description and a table of their numbers', () => {
    const charts = [...document.querySelectorAll('.chart svg')];
    expect(charts.length).toBeGreaterThan(10);
    const ids = [...html.matchAll(/ id="([^"]+)"/g)].map((match) => match[1]);
    expect(new Set(ids).size).toBe(ids.length);
    for (const chart of charts) {
      expect(chart.getAttribute('role')).toBe('img');
      const named = String(chart.getAttribute('aria-labelledby')).split(' ');
      expect(named.every((id) => ids.includes(id))).toBe(true);
      expect(chart.querySelector('desc')?.textContent.length).toBeGreaterThan(20);
    }
    const drawn = [...document.querySelectorAll('figure')].filter((f) => f.querySelector('.chart') !== null);
    const bare = drawn.filter((figure) => figure.querySelector('table') === null);
    expect(bare.map((figure) => figure.querySelector('h3')?.textContent)).toEqual([]);
  });

  it('mark a source the same way, and give the number of values of each point', () => {
    const marks = new Map<string, Set<string | null | undefined>>();
    for (const item of document.querySelectorAll('.legend li')) {
      const fills = marks.get(item.textContent) ?? new Set();
      marks.set(item.textContent, fills.add(item.querySelector('path')?.getAttribute('fill')));
    }
    for (const [name, fill] of [
      ['iaai.com', 'var(--c0)'],
      ['copart.com', 'var(--c1)'],
      ['encar.com', 'var(--c2)'],
    ] as const)
      expect(marks.get(name), name).toEqual(new Set([fill]));
    const bars = figureOf(document, 'Lots that are sold at each attempt').querySelectorAll(
      '.wide rect[fill]',
    );
    const sources = tableOf(document, 'Lots that are sold at each attempt').filter((row) =>
      row[5]?.endsWith('%'),
    );
    expect([...bars].map((bar) => bar.getAttribute('fill'))).toEqual(
      sources.map(([name]) => (name === 'iaai.com' ? 'var(--c0)' : 'var(--c1)')),
    );
    const title = 'Estimate against price of the last sales';
    const points = [...figureOf(document, title).querySelectorAll('.wide title')].map(
      (one) => one.textContent,
    );
    const described = tableOf(document, title).map(
      ([lot, source, , price, estimate]) =>
        `${source}, lot ${lot}: estimate ${estimate?.replace('~', '')}, price ${price}.`,
    );
    expect(described.length).toBeGreaterThan(20);
    const hollow = figureOf(document, title).querySelectorAll('.wide path[fill="var(--paper)"]');
    const weak = tableOf(document, title).filter((row) => row[4]?.startsWith('~'));
    expect(weak.length).toBeGreaterThan(0);
    expect([...hollow].length).toBe(weak.length);
    expect(points.filter((text) => text.includes(', lot ')).sort()).toEqual(described.sort());
  });

  it('lie on outlines of countries and states', () => {
    const [land, borders] = figureOf(document, 'Lots by state, and how their prices stand').querySelectorAll(
      '.wide [data-part="geo"]',
    );
    const drawn = (outline: Element | undefined) =>
      [...(outline?.querySelectorAll('path') ?? [])].map((path) => path.getAttribute('d')).join('');
    expect(drawn(land).length).toBeGreaterThan(2000);
    expect(drawn(borders).length).toBeGreaterThan(500);
  });

  it('say if there is not enough data', () => {
    const lines = (place: string): string[] =>
      [...document.querySelectorAll(`${place} li`)].map((line) => line.textContent);
    expect(lines('#damage .unknown')).toContain(
      'Price by main damage, against sound lots. No damage has enough prices yet that can be compared with sound lots of the same model.',
    );
    expect(lines('#selling .unknown').filter((line) => line.includes('More nights in a row'))).not.toEqual(
      [],
    );
    // A section with nothing to show is a line.
    expect(document.querySelector('#trends')).toBeNull();
    expect(lines('#unknown')).toContain('Price trends: No model has enough prices in two months yet.');
  });

  it('load nothing from elsewhere', () => {
    const [, script = ''] = html.match(/<script>([\s\S]*?)<\/script>/) ?? [];
    expect(html.replace(script, '').replace('<script></script>', '')).not.toMatch(
      /<script|<link(?! rel="icon" href="data:,">)|@import|url\(|src=/,
    );
    const hash = createHash('sha256').update(script).digest('base64');
    expect(html).toContain(
      `default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-${hash}'; img-src data:`.replaceAll(
        "'",
        '&#39;',
      ),
    );
  });
});

describe('a report', () => {
  it('leaves no other file beside it', () => {
    expect(readdirSync(folder.path).filter((name) => name.includes('report'))).toEqual(['report.html']);
  });

  it.for([
    ['ten vehicles without a sale', { vehicles: 10, seed: 5, domains: [12] }],
    ['ten vehicles', { vehicles: 10, seed: 6 }],
  ] as const)('of %s has no undefined figure', async ([, world]) => {
    const small = temporaryFolder();
    closers.push(small.remove);
    await night(small.path, { ...world, clock: CLOCK });
    const { document: page, html: text } = await reportOf(small.path);
    for (const style of page.querySelectorAll('style')) expect(style.textContent).toBeTruthy();
    const words = text.replaceAll(/<(style|script)>[\s\S]*?<\/\1>/g, '');
    expect(words).not.toMatch(/NaN|Infinity|undefined|\bnull\b|\[object/);
    expect(page.querySelector('body')?.textContent).toContain('too few');
  });

  it('shows alarms before everything else', async () => {
    expect(document.querySelector('.state')?.textContent).toContain('No alarms in the data.');
    const alarmed = temporaryFolder();
    closers.push(alarmed.remove);
    const sandbox = await startSandbox({ vehicles: 20, seed: 7, clock: CLOCK });
    const [broken, ...records] = recordsOf(sandbox.world);
    await sandbox.close();
    await nightOf(alarmed.path, [{ ...broken, id: 'none' }, ...records], CLOCK);
    const message = 'GET http://127.0.0.1:18787/api/cars?minutes=61: <500>';
    const error = { code: 'SERVICE_FAILED', stage: 'service', message, hint: null };
    const started_at = '2026-11-18T06:00:00.000Z';
    const failed = { pipeline: 'incremental', started_at, outcome: 'failed', error } as const;
    writeRun(layoutOf(alarmed.path), runRecord({ attempt: 2, ...failed }));
    const { document: page, html: text } = await reportOf(alarmed.path);
    // A report is handed on: hosts, URLs and folders are for those who run lotlake.
    expect(text).not.toMatch(/127\.0\.0\.1/);
    expect(text).not.toContain(alarmed.path);
    const texts = (selector: string) =>
      [...page.querySelectorAll(`section:first-of-type ${selector}`)].map((element) => element.textContent);
    const alarms = texts('.alarms li');
    expect(texts('.state')[0]).toMatch(`${alarms.length} alarms in the data`);
    expect(alarms[0]).toBe(
      'incremental of 18 Nov 2026, 06:00 UTC: the run failed and published nothing: SERVICE_FAILED.',
    );
    expect(alarms).toContainEqual(
      expect.stringMatching(/^nightly of 16 Nov 2026, .* UTC, cars: \d\.\d% of the records were rejected\.$/),
    );
    expect(texts('.note')).toEqual(['Rejected and not loaded: 1 record: 1 of cars (nightly).']);
  });

  it('is refused for a snapshot from before the marts', async () => {
    const older = temporaryFolder();
    closers.push(older.remove);
    await nightOf(older.path, [], CLOCK, WITHOUT_MARTS);
    await expect(reportOf(older.path)).rejects.toMatchObject({ code: 'QUERY_NO_TABLE' });
    expect(readdirSync(older.path).filter((name) => name.includes('report'))).toEqual([]);
  });
});
