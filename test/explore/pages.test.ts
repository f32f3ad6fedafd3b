import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readLake } from '../../src/ask/query/open-lake.js';
import { rows } from '../../src/base/duck/session.js';
import { writeRun } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { runRecord } from '../lake/run-record.js';
import { cardsOf } from '../page/cards.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { type Element, night, tilesOf } from '../report/lake.js';
import { type Opened, openExplore } from './server.js';

const folder = temporaryFolder();
let explore: Opened;
const clock = new Date('2026-11-20T04:00:00Z');
beforeAll(async () => {
  await night(folder.path, { vehicles: 1200, clock });
  explore = await openExplore(folder.path);
});
afterAll(async () => {
  await explore.close();
  folder.remove();
});

/** Rows of the lake, read without the server. */
const lake = (sql: string) =>
  readLake(configFor('http://127.0.0.1:9/api', folder.path), {}, ({ session }) =>
    rows(session.connection, sql),
  );

const tally = (page: string): number =>
  Number(/role="status">([\d,]+) lots?/.exec(page)?.[1]?.replaceAll(',', '') ?? '0');

/** The addresses in a part of a page. */
const linksIn = (page: string, id: string): readonly string[] => {
  const [part = ''] = new RegExp(`id="${id}".*?(</section>|</details>)`, 's').exec(page) ?? [];
  return [...part.matchAll(/href="([^"]+)"/g)].map(([, to = '']) =>
    to.replaceAll('&amp;', '&').replaceAll('&#39;', "'"),
  );
};

/** Lots on offer with their names, joined anew from tables and marts. */
const OFFERS = `from price_estimates e join lots l using (lot_id) left join vehicle_facts f on f.vehicle_id = l.vehicle_id
  left join dim_manufacturers m on m.manufacturer_id = f.manufacturer_id left join dim_models n on n.model_id = f.model_id
  left join sell_through_odds o on o.lot_id = e.lot_id
  where e.is_offered and (e.market = 'asking' or o.lot_id is not null)
    and not (o.sale_date is null and l.status_name is not null
      and l.status_name in ('not_checked', 'not_on_sale', 'on_approval', 'sold', 'failed', 'not_sold'))`;

describe('lists', () => {
  it.each([
    ['', 'true'],
    ['make=Toyota', "m.manufacturer_name = 'Toyota'"],
    [
      'make=toyota&model=CAMRY&year_from=2015&year_to=2020',
      "m.manufacturer_name = 'Toyota' and n.model_name = 'Camry' and f.year between 2015 and 2020",
    ],
    ['state=TX', "upper(l.location_state_code) = 'TX'"],
    ['source=copart_com&buyable=1', 'l.domain_id = 3 and l.buy_now between 1 and 5000000'],
    [
      'estimate_from=3000&estimate_to=5000',
      "e.estimate between 3000 and 5000 and e.is_currency_known and e.currency = 'USD'",
    ],
    ['seller=insur', "l.seller_name ilike '%insur%'"],
    [
      'price=2000',
      `if(e.market = 'asking', e.price <= 2000,
        (l.buy_now between 1 and 2000 and l.buy_now > coalesce(l.bid, 0)) or greatest(e.estimate, nullif(l.bid, 0)) <= 2000) and e.is_currency_known and e.currency = 'USD'`,
    ],
  ])('count what %s finds', async (query, where) => {
    const [row] = await lake(`select count(*) as lots ${OFFERS} and (${where})`);
    expect(tally(await explore.text(`/lots?${query}`))).toBe(row?.lots);
  });

  it('turn their pages without a gap, in the order that is asked', async () => {
    const expected = await lake(
      `select l.vehicle_id ${OFFERS} and m.manufacturer_name = 'Toyota' order by if(e.is_currency_known, e.estimate, null) desc nulls last, lot_id`,
    );
    const found: string[] = [];
    for (let page = 1; page <= Math.ceil(expected.length / 30); page++) {
      const text = await explore.text(`/lots?make=Toyota&sort=estimate&page=${page}`);
      found.push(...cardsOf(parseHTML(text).document).map((card) => String(card.page)));
    }
    expect(found).toEqual(expected.map(({ vehicle_id }) => `/car/${vehicle_id}`));
  });

  it('come as CSV and Parquet with the same rows', async () => {
    const csv = await (await explore.get('/lots.csv?make=Toyota')).text();
    const [row] = await lake(`select count(*) as lots ${OFFERS} and m.manufacturer_name = 'Toyota'`);
    expect(csv.trim().split('\r\n')).toHaveLength(Number(row?.lots) + 1);
    const parquet = Buffer.from(await (await explore.get('/lots.parquet?make=Toyota')).arrayBuffer());
    expect([parquet.subarray(0, 4).toString(), parquet.subarray(-4).toString()]).toEqual(['PAR1', 'PAR1']);
  });

  it('say which field is not a number, and leave it out', async () => {
    const page = await explore.text('/lots?make=Toyota&year_from=many');
    expect(page).toContain('Year from is not a number');
    expect(tally(page)).toBe(tally(await explore.text('/lots?make=Toyota')));
  });

  it('say what no lot on offer has, and show the last page for any later one', async () => {
    const text = await explore.text('/lots?state=Texas&year_from=2022&year_to=2020');
    expect(text).toContain('No lot on offer has the state Texas.');
    expect(text).toContain('Year from is above Year to');
    const last = await explore.text('/lots?page=500');
    expect(last).toMatch(/Page (\d+) of \1</);
    expect(last).toContain('href="/car/');
  });

  it.each([
    ['state=tx', 'state=TX'],
    ['source=COPART.com', 'source=copart_com'],
    ['damage=FRONT', 'damage=front'],
    ['title=Salvage', 'title=salvage'],
    ['status=SALE', 'status=sale'],
    ['inspection=ACCIDENT', 'inspection=accident'],
    ['price=5000&currency=usd', 'price=5000&currency=USD'],
  ])('take %s for %s', async (typed, spelled) => {
    const expected = tally(await explore.text(`/lots?${spelled}`));
    expect(expected).toBeGreaterThan(0);
    expect(tally(await explore.text(`/lots?${typed}`))).toBe(expected);
  });

  it('take a damage that is not stated for the main one alone', async () => {
    const [row] = await lake(
      `select count(*) as lots ${OFFERS} and l.lot_id in (select lot_id from lot_groups where damage_main_group = 'unknown')`,
    );
    expect(tally(await explore.text('/lots?damage=unknown'))).toBe(row?.lots);
  });
});

describe('the counts beside a list', () => {
  it.each([
    [''],
    ['make=Toyota&year_from=2015&damage=front'],
    ['price_from=2000&price=7000&title=salvage'],
    ['source=encar_com&km=100000'],
    ['offered=1'],
  ])('are those of the lists that they lead to, of %s', async (query) => {
    const { document } = parseHTML(await explore.text(`/lots?${query}`));
    const counted = [...document.querySelectorAll('.facets li:has(data)')].map((each) => [
      each.querySelector('a')?.getAttribute('href') ?? '',
      Number(each.querySelector('data')?.getAttribute('value')),
    ]) as [string, number][];
    const bars = [...document.querySelectorAll('.histogram a')].map((each) => [
      each.getAttribute('href') ?? '',
      Number(each.getAttribute('data-lots')),
    ]) as [string, number][];
    expect(counted.length).toBeGreaterThan(20);
    expect(bars.length).toBeGreaterThan(3);
    // All of a search of three filters, and every fifth of the others.
    const step = query.includes('make=Toyota') ? 1 : 5;
    for (const [i, [to, lots]] of [...counted, ...bars].entries())
      if (i % step === 0) expect(tally(await explore.text(to)), to).toBe(lots);
  });

  it('begin with the value that is chosen, which may be the least', async () => {
    const states = (text: string) => [
      ...parseHTML(text).document.querySelectorAll('[data-facet=state] li a'),
    ];
    const last = states(await explore.text('/lots')).at(-1);
    const [first] = states(await explore.text(last?.getAttribute('href') ?? ''));
    expect([first?.textContent, first?.getAttribute('aria-current')]).toEqual([last?.textContent, 'true']);
  });

  it('add up to the lots of the list where each lot has one value', async () => {
    const { document } = parseHTML(await explore.text('/lots?make=Toyota'));
    const lots = tally(String(document));
    for (const facet of ['title', 'source', 'status']) {
      const counts = [...document.querySelectorAll(`[data-facet=${facet}] data`)];
      expect(
        counts.reduce((sum, each) => sum + Number(each.getAttribute('value')), 0),
        facet,
      ).toBe(lots);
    }
  });
});

describe('pictures', () => {
  it('are loaded from a source once the reader allows it, and no longer if not', async () => {
    const path = '/lots?source=copart_com';
    const load = async (): Promise<readonly [pictures: number, policy: string]> => {
      const answer = await explore.get(path);
      const cards = cardsOf(parseHTML(await answer.text()).document);
      return [
        cards.filter(({ picture }) => picture !== null).length,
        answer.headers.get('content-security-policy') ?? '',
      ];
    };
    expect(await load()).toEqual([0, expect.not.stringContaining('https:')]);
    const form = await explore.text(path);
    expect(form).toContain('Show pictures of copart.com');
    const answer = await explore.send('/pictures', { show: 'copart_com', back: path });
    expect(answer.headers.get('location')).toBe(path);
    const [pictures, policy] = await load();
    expect(pictures).toBeGreaterThan(3);
    expect(policy).toContain("img-src 'self' data: https:");
    expect(
      cardsOf(parseHTML(await explore.text('/lots?source=iaai_com')).document).some((card) => card.picture),
    ).toBe(false);
    await explore.send('/pictures', { hide: 'copart_com', back: '//elsewhere.test/' });
    expect((await load())[0]).toBe(0);
  });

  it('lead back to this server alone', async () => {
    const answer = await explore.send('/pictures', { hide: 'copart_com', back: '//elsewhere.test/' });
    expect(answer.headers.get('location')).toBe('/');
  });
});

describe('finding a car', () => {
  const to = async (q: string): Promise<string | null> =>
    (await explore.get(`/find?${new URLSearchParams({ q })}`)).headers
      .get('location')
      // What was typed goes with a search, so that its page can say how it was read.
      ?.replace(/&q=[^&]*/, '') ?? null;

  it('takes a VIN, its end, a lot number, and a mistyped VIN or lot number', async () => {
    const [car] = await lake(
      "select v.vehicle_id, v.vin, l.lot from vin_facts v join lots l using (vehicle_id) where length(v.vin) = 17 and v.vin not like '%0%' order by v.vehicle_id limit 1",
    );
    const [vin, lot, page] = [String(car?.vin), String(car?.lot), `/car/${car?.vehicle_id}`];
    for (const text of [vin, vin.toLowerCase(), ` ${vin} `, vin.slice(-8), lot])
      expect(await to(text), text).toBe(page);
    const mistyped = [
      `${vin.slice(0, 12)}${vin[12] === '9' ? '8' : '9'}${vin.slice(13)}`,
      `${vin.slice(0, 3)}${vin[4]}${vin[3]}${vin.slice(5)}`,
      vin.slice(0, 16),
      `${lot.slice(0, -1)}${lot.endsWith('9') ? '8' : '9'}`,
    ];
    for (const text of mistyped) {
      const answer = await explore.get(`/find?q=${text}`);
      const found = answer.status === 303 ? answer.headers.get('location') : await answer.text();
      // A lot number that differs in one digit may be that of another car.
      if (text.length > 10) expect(found, text).toContain(page);
    }
  });

  it('finds tables by their columns, first those that have one of this name', async () => {
    const { document } = parseHTML(await explore.text('/tables?q=sale date'));
    const [first] = [...document.querySelectorAll('main section')];
    expect(first?.id).toBe('column');
    const having = await lake(
      "select distinct table_name from information_schema.columns where column_name = 'sale_date' order by all",
    );
    expect([...(first?.querySelectorAll('a code') ?? [])].map((each) => each.textContent).sort()).toEqual(
      having.map(({ table_name }) => table_name),
    );
  });

  it('takes make, model and year, also mistyped', async () => {
    expect(await to('toyota camry 2018')).toBe('/lots?make=Toyota&model=Camry&year_from=2018&year_to=2018');
    expect(await to('2018 toyta camri')).toBe('/lots?make=Toyota&model=Camry&year_from=2018&year_to=2018');
    expect(await to('Camry')).toBe('/lots?make=Toyota&model=Camry');
    expect(await to('hond')).toBe('/lots?make=Honda');
    expect(await to('texas honda civic')).toBe('/lots?make=Honda&model=Civic&state=TX');
    expect(await to('civic honda TX hail')).toBe('/lots?make=Honda&model=Civic&state=TX&damage=hail');
    expect(await to('salvage')).toBe('/lots?title=salvage');
    const nothing = await (await explore.get('/find?q=zzzzqqq')).text();
    expect(nothing).toContain('Nothing found');
    // What can be read is a link.
    const partly = await (
      await explore.get(`/find?q=${encodeURIComponent('clean title zzzzqqq toyota')}`)
    ).text();
    const way = [...parseHTML(partly).document.querySelectorAll('.ways a')][0];
    expect(way?.getAttribute('href')).toBe('/lots?make=Toyota&title=clean&q=clean+title+toyota');
    expect(partly).toContain('“zzzzqqq” is no make');
    // It can be mended where it was typed.
    expect(parseHTML(nothing).document.querySelector('#q')?.getAttribute('value')).toBe('zzzzqqq');
  });

  it.each([
    ['Toyota Camry 2019 MI', '/lots?make=Toyota&model=Camry&state=MI&year_from=2019&year_to=2019'],
    ['toyota camry $8k MI', '/lots?make=Toyota&model=Camry&price=8000&state=MI'],
    ['camry under 8000 MI', '/lots?make=Toyota&model=Camry&price=8000&state=MI'],
    ['toyota camry 60k mi', '/lots?make=Toyota&model=Camry&km=96561'],
    ['toyota camry 2019 up to $8k', '/lots?make=Toyota&model=Camry&price=8000&year_from=2019&year_to=2019'],
    ['toyota camry 2019 and up', '/lots?make=Toyota&model=Camry&year_from=2019'],
    ['toyota from 20000', '/lots?make=Toyota&price_from=20000'],
    ['toyota from 19500 usd', '/lots?make=Toyota&price_from=19500'],
    ['toyota from 2019', '/lots?make=Toyota&year_from=2019'],
    // There is no filter for the least distance.
    ['camry over 100,000 km', null],
  ])('reads %s', async (q, address) => {
    expect(await to(q)).toBe(address);
  });

  it('leads to what a car is worth that it describes', async () => {
    const q = '2019 toyota camry 90,000 km salvage in TX';
    const found = await explore.get(`/find?${new URLSearchParams({ q })}`);
    const { document } = parseHTML(await explore.text(String(found.headers.get('location'))));
    const link = [...document.querySelectorAll('.rows a')].find(({ textContent }) =>
      textContent?.includes('worth'),
    );
    expect(link?.getAttribute('href')).toBe(
      '/value?make=Toyota&model=Camry&year=2019&km=90000&title=salvage&state=TX',
    );
    expect(await explore.text(String(link?.getAttribute('href')))).toContain('<h1>2019 Toyota Camry</h1>');
    // The highest odometer of a facet is not that of a car.
    expect(
      await explore.text('/lots?make=Toyota&model=Camry&year_from=2019&year_to=2019&km=200000'),
    ).toContain('/value?make=Toyota&amp;model=Camry&amp;year=2019"');
    expect(await explore.text('/lots?make=Toyota&model=Camry')).not.toContain('What such a car is worth');
  });

  it('passes over words that say nothing of a lot', async () => {
    const toyotas = '/lots?make=Toyota&price=8000&state=TX';
    for (const text of [
      'Toyota in Texas under $8,000',
      'toyota cars for under 8k in TX',
      'lots of Toyota in TX under $8k',
    ])
      expect(await to(text), text).toBe(toyotas);
    expect(await to('in')).toBeNull();
  });

  it('tells the number of a lot from the number in the address of another', async () => {
    const [pair] = await lake(
      `select l.lot as number, l.vehicle_id as own, e.vehicle_id as other from lots l join lots e on e.external_id = l.lot || '~US'
       where e.lot is distinct from l.lot and e.vehicle_id <> l.vehicle_id order by l.lot limit 1`,
    );
    expect(await to(String(pair?.number))).toBe(`/car/${pair?.own}`);
    expect(await to(`https://www.iaai.com/VehicleDetail/${pair?.number}~US`)).toBe(`/car/${pair?.other}`);
    const [at] = await lake(
      `select l.lot as number, l.vehicle_id as own from lots l join lots e on e.external_id = l.lot || '~US'
       where l.domain_name = 'copart_com' and e.vehicle_id <> l.vehicle_id order by l.lot limit 1`,
    );
    expect(await to(`https://www.copart.com/lot/${at?.number}/clean-title`)).toBe(`/car/${at?.own}`);
  });
});

describe('pages', () => {
  it('of lots leave out a currency with its last amount, and never one that would be taken again', async () => {
    const chips = async (query: string): Promise<Record<string, string | null>> => {
      const { document } = parseHTML(await explore.text(`/lots?${query}`));
      return Object.fromEntries(
        [...document.querySelectorAll('.chosen a')].map((link) => [
          link.textContent ?? '',
          link.getAttribute('href'),
        ]),
      );
    };
    const implied = await chips('make=Toyota&price=8000');
    expect(Object.keys(implied)).toEqual(['Toyota ×', expect.stringContaining('8000')]);
    expect(implied['Toyota ×']).toBe('/lots?price=8000&currency=USD');
    expect(Object.values(implied)[1]).toBe('/lots?make=Toyota');
    const chosen = await chips('price=8000&currency=KRW');
    expect(Object.values(chosen)).toContain('/lots?price=8000');
    expect(Object.values(await chips('currency=USD'))).toEqual(['/lots?']);
  });

  it('keep consent to pictures of sources of the lake alone, and lead back to none but their own', async () => {
    const back = async (fields: Record<string, string>) =>
      (await explore.send('/pictures', fields)).headers.get('location');
    for (const wrong of ['//evil.example', '/\\evil.example', 'https://evil.example', '/a\nb', ''])
      expect(await back({ back: wrong }), wrong).toBe('/');
    expect(await back({ back: '/lots?make=Toyota', show: 'x'.repeat(250) })).toBe('/lots?make=Toyota');
    expect(await explore.text('/lots')).not.toContain('Hide pictures');
  });

  it('of Home have the figures of the report, and its best three lots', async () => {
    const [home, report] = [await explore.text('/'), await explore.text('/report')].map(
      (text) => parseHTML(text).document as unknown as Element,
    );
    if (home === undefined || report === undefined) throw new TypeError('no page');
    expect(tilesOf(home)).toEqual(tilesOf(report));
    expect(tilesOf(home).size).toBe(6);
    expect(home.querySelector('.snapshot')?.textContent).toMatch(/^Data of 2026-11-20, [\d,]+ days old$/);
    const told = (page: Element) => cardsOf(page).map(({ name, lot, amounts }) => ({ name, lot, amounts }));
    // Those alone that stand out, while the report goes on with the next auctions.
    const best = cardsOf(report).filter(({ badges }) =>
      badges.some((text) => / below .* of such prices$/.test(text)),
    );
    expect(told(home)).toEqual(best.slice(0, 3).map(({ name, lot, amounts }) => ({ name, lot, amounts })));
    expect(told(home).length).toBeGreaterThan(1);
    const [row] = await lake(`select count(*) as lots ${OFFERS}`);
    expect(home.querySelector('.lead')?.textContent).toContain(
      `${Number(row?.lots).toLocaleString('en')} lots`,
    );
    expect(home.querySelector('#chart-index, figure svg')).not.toBeNull();
    const unknown = [home, report].map((page) => page.querySelector('#unknown')?.textContent);
    expect(unknown[0]).toMatch(/^Not known yet.* since /);
    expect(unknown[0]).toBe(unknown[1]);
  });

  it('show no markup of their own as text', async () => {
    const [car] = await lake(`select l.vehicle_id ${OFFERS} limit 1`);
    const paths = [
      '/',
      '/lots',
      '/lots?make=Toyota&price=8000',
      '/value',
      '/value?make=Toyota&model=Camry&year=2019',
    ];
    const others = [
      '/answers',
      '/compare',
      '/compare?kind=make&of=Toyota&of=Honda',
      '/tables',
      '/tables?q=prices',
    ];
    const more = [
      '/marts/sales.html',
      '/sql',
      '/searches',
      '/runs',
      '/report',
      '/find?q=zzzz',
      `/car/${car?.vehicle_id}`,
    ];
    for (const path of [...paths, ...others, ...more]) {
      const { body } = parseHTML(await explore.text(path)).document;
      for (const each of body.querySelectorAll('script, style')) each.remove();
      expect(body.textContent, path).not.toMatch(/<\/?[a-z]+[ >]/);
    }
  });

  it('tell at once of a night that failed, and published no snapshot', async () => {
    const alarms = async (path: string): Promise<string> =>
      parseHTML(await explore.text(path)).document.querySelector('.state')?.textContent ?? '';
    const before = [await alarms('/'), await alarms('/report')];
    const layout = layoutOf(folder.path);
    const error = { code: 'SERVICE_FAILED', stage: 'service', message: 'no answer', hint: null };
    const record = runRecord({
      attempt: 2,
      pipeline: 'nightly',
      started_at: '2026-11-20T05:00:00.000Z',
      outcome: 'failed',
      error,
    });
    writeRun(layout, record);
    try {
      for (const [i, path] of ['/', '/report'].entries()) {
        expect(await alarms(path), path).not.toBe(before[i]);
        expect(await alarms(path), path).toMatch(/^1 alarm in the data/);
      }
    } finally {
      rmSync(join(layout.runs, record.run_id), { recursive: true });
    }
    expect([await alarms('/'), await alarms('/report')]).toEqual(before);
  });

  it('of tables begin with the one whose name is searched', async () => {
    for (const q of ['prices', 'price estimates', 'LOTS']) {
      const { document } = parseHTML(await explore.text(`/tables?${new URLSearchParams({ q })}`));
      expect(document.querySelector('section tbody a')?.textContent, q).toBe(
        q.toLowerCase().replace(' ', '_'),
      );
    }
  });

  it('of every table and mart show rows, columns and lineage', async () => {
    const catalog = (await (await explore.get('/catalog.json')).json()) as Record<string, string[]>;
    const text = await explore.text('/tables');
    for (const [name, columns] of Object.entries(catalog)) {
      const path = text.match(new RegExp(`/(?:table|mart)s/${name}\\.html`))?.[0];
      const page = await explore.text(`${path}`);
      expect(page, name).not.toContain('role="alert"');
      for (const column of columns) expect(page).toContain(`id="c-${column}"`);
      expect(page).toContain('class="lineage"');
    }
  }, 180_000);

  it('say that the rows of a part of a table are the first ones', async () => {
    expect(await explore.text('/tables/lots.html?where=lot_id%20%3E%200')).toContain('The first 100 rows');
    expect(await explore.text('/tables/lots.html?where=lot_id%20%3C%200')).toContain('0 rows');
  });

  it('pivot a mart as an aggregate by hand does', async () => {
    const page = await explore.text('/marts/sales.html?by=domain_name&across=outcome&measure=count');
    const [row] = await lake(
      "select count(*) as n from sales where domain_name = 'iaai_com' and outcome = 'sold'",
    );
    const line = /iaai_com<\/th>(.*?)<\/tr>/.exec(page)?.[1] ?? '';
    expect(line).toContain(`>${Number(row?.n).toLocaleString('en')}<`);
    expect(await explore.text('/marts/sales.html?by=domain_name&where=nonsense')).toContain('role="alert"');
  });

  it('of a car have its lots, its estimate and its timeline', async () => {
    const [car] = await lake(
      'select e.vehicle_id, e.estimate, e.lot_id from price_estimates e where e.is_offered and e.estimate is not null order by e.lot_id limit 1',
    );
    const page = await explore.text(`/car/${car?.vehicle_id}`);
    expect(page).toContain(Number(car?.estimate).toLocaleString('en'));
    for (const id of ['lots', 'estimate', 'prices', 'odometer', 'timeline'])
      expect(page).toContain(`<section id="${id}"`);
    expect(page).not.toContain('role="alert"');
    expect((await explore.get('/car/999999999999')).status).toBe(404);
  });

  it('compare up to four of each kind', async () => {
    const parties = await lake(
      'select level, any_value(party_name) as name from offer_profiles group by all',
    );
    const partyOf = (kind: string): string => String(parties.find(({ level }) => level === kind)?.name);
    for (const [kind, one, other, shown] of [
      ['make', 'Toyota', 'honda', 'Toyota, Honda'],
      ['model', 'Toyota Camry', 'Civic', 'Toyota Camry, Honda Civic'],
      ['place', 'texas', 'CA', 'TX, CA'],
      ['damage', 'front', 'rear', 'front, rear'],
      ['title', 'salvage title', 'clean', 'salvage, clean'],
      ['seller', partyOf('seller'), 'nobody at all', ''],
      ['branch', partyOf('branch'), 'nowhere at all', ''],
    ] as const) {
      const query = new URLSearchParams([
        ['kind', kind],
        ['of', one],
        ['of', other],
      ]);
      const page = await explore.text(`/compare?${query}`);
      expect(page, kind).not.toContain('role="alert"');
      if (shown !== '') expect(page).toContain(`<h1>${shown}</h1>`);
      expect(page.match(/Show its lots/g), kind).toHaveLength(shown === '' ? 1 : 2);
      if (shown === '') expect(page).toContain(`The lake has no ${kind} like ${other}.`);
    }
    const [there] = await lake(
      "select state_code, count(price) as prices from sales join lot_groups using (lot_id) where state_code <> 'unknown' and manufacturer_name = 'Toyota' and sales.currency = 'USD' group by state_code order by prices desc, state_code limit 1",
    );
    expect(there?.prices).toBeGreaterThanOrEqual(5);
    const inState = await explore.text(`/compare?kind=place&of=${there?.state_code}&of=TX&car=toyta`);
    expect(inState).toMatch(
      new RegExp(`Median price of Toyota there[^(]*\\(quartiles\\).*?\\(${there?.prices}\\)`),
    );
    const [row] = await lake(`select count(*) as lots ${OFFERS} and m.manufacturer_name = 'Toyota'`);
    expect(await explore.text('/compare?kind=make&of=Toyota')).toContain(
      `>${Number(row?.lots).toLocaleString('en')}<`,
    );
  });

  it('run a query of a form, keep the last ones, and begin with examples of this lake', async () => {
    const begin = await explore.text('/sql');
    const [car] = await lake(
      `select m.manufacturer_name || ' ' || n.model_name as name ${OFFERS} and e.market = 'auction' and n.model_name is not null
       group by all order by count(*) desc, name limit 1`,
    );
    expect(begin).toContain(`What the ${car?.name} brought at auction, by month`);
    const examples = linksIn(begin, 'examples');
    expect(examples).toHaveLength(7);
    for (const link of examples) {
      const page = await explore.text(link);
      expect(page, link).not.toContain('role="alert"');
      expect(page, link).toMatch(/role="status">(The first )?[1-9]\d* rows?/);
    }
    // One that fails did not run, and a long one fits into no address.
    const long = `select 'long' as answer -- ${'x'.repeat(20_000)}`;
    for (const q of ['select 42 as answer', 'select nothing', long]) await explore.send('/sql', { q });
    const posted = await (await explore.send('/sql', { q: "select 'a<b' as answer" })).text();
    expect(posted).toContain('<th scope="row">a&lt;b');
    // The answer itself tells it as the last one.
    expect(new URL(linksIn(posted, 'last')[0] ?? '', explore.origin).searchParams.get('q')).toBe(
      "select 'a<b' as answer",
    );
    const last = [...linksIn(await explore.text('/sql'), 'last')];
    const texts = last.map((link) => new URL(link, explore.origin).searchParams.get('q'));
    expect(texts.slice(0, 2)).toEqual(["select 'a<b' as answer", 'select 42 as answer']);
    expect(texts).toHaveLength(9);
  });

  it.each([
    ['q=from+lot', 'Did you mean &quot;lots&quot;', 'the page Tables lists'],
    ['q=drop+table+lots', 'only queries are allowed', 'the links CSV and Parquet'],
    ["q=from+read_csv('/etc/passwd')", 'Permission Error', 'a query reads tables by name'],
  ])('tell of the query %s what is wrong, and of no commands', async (query, message, hint) => {
    for (const path of [`/sql?${query}`, `/query.csv?${query}`]) {
      const page = await (await explore.get(path)).text();
      expect(page).toContain(message);
      expect(page).toContain(hint);
      expect(/<div class="words" role="alert">.*?<\/div>/s.exec(page)?.[0]).not.toMatch(/lotlake |--\w/);
    }
  });

  it('say which rows a pivot counts', async () => {
    for (const where of ['true', 'year >= 2015', "outcome <> 'upcoming' -- no dates ahead"]) {
      const [row = {}] = await lake(
        `select cast(count(*) as int) as lines, cast(count(if(is_observed, 1, null)) as int) as observed,
          cast(sum(cast(outcome = 'sold' as int)) as int) as sold, cast(count(price) as int) as prices from sales where ${where}\n`,
      );
      const [lines, observed, sold, prices] = ['lines', 'observed', 'sold', 'prices'].map((name) =>
        Number(row[name]).toLocaleString('en'),
      );
      const query = new URLSearchParams({ by: 'domain_name', measure: 'median', of: 'price', where });
      expect(await explore.text(`/marts/sales.html?${query}`)).toContain(
        `Rows: an auction attempt of a lot; ${lines} count here, of them ${observed} observed, ${sold} sold, ${prices} with price.`,
      );
    }
    expect(await explore.text('/marts/sales.html')).not.toContain('count here');
  });

  it('begin with pivots and comparisons of this lake', async () => {
    const pivots = linksIn(await explore.text('/tables'), 'examples');
    expect(pivots).toHaveLength(4);
    for (const link of pivots) {
      const page = await explore.text(link);
      expect(page, link).not.toContain('role="alert"');
      expect(page, link).toMatch(/role="status">[1-9]\d* rows?/);
    }
    const comparisons = linksIn(await explore.text('/compare'), 'examples');
    expect(comparisons).toHaveLength(7);
    for (const link of comparisons)
      expect((await explore.text(link)).match(/Show its lots/g), link).toHaveLength(2);
  });

  it('end a query whose reader is gone', async () => {
    const leaving = new AbortController();
    const q = 'select count(*) from range(200000) a, range(200000) b where (a.range * b.range) % 7 = 3';
    const asked = explore
      .get(`/sql?${new URLSearchParams({ q })}`, { signal: leaving.signal })
      .then((answer) => answer.text());
    setTimeout(() => leaving.abort(), 300);
    await expect(asked).rejects.toThrow();
    const before = process.cpuUsage();
    await new Promise((resolve) => setTimeout(resolve, 1000));
    const { user } = process.cpuUsage(before);
    expect(user).toBeLessThan(500_000);
  });
});
