import { readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';
import axe from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPages } from '../../src/ask/explore/static.js';
import { filesBelow } from '../../src/core/lake/files.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { hasBrowser, inBrowser, isFirefox, launchDriver } from '../report/browser.js';
import { night } from '../report/lake.js';
import { type Opened, openExplore } from './server.js';

const folder = temporaryFolder();
const own = temporaryFolder();
const site = join(own.path, 'public');
let explore: Opened;
let browser: Browser;
let car = '';

beforeAll(async () => {
  if (!hasBrowser) return;
  await night(folder.path, { vehicles: 1500, clock: new Date('2026-11-20T04:00:00Z') });
  explore = await openExplore(folder.path, {
    models: join(own.path, 'models'),
    queries: join(own.path, 'queries'),
  });
  // A car with an inspection shows every part.
  car =
    /<th scope="row"[^>]*>(\d+)/.exec(
      await explore.text(
        `/sql?${new URLSearchParams({ q: 'select vehicle_id from inspections join vehicle_timeline using (vehicle_id) group by all order by count(*) limit 1' })}`,
      ),
    )?.[1] ?? '';
  browser = await launchDriver();
});
afterAll(async () => {
  await browser?.close();
  await explore?.close();
  folder.remove();
  own.remove();
});

const PAGES = (): Readonly<Record<string, string>> => ({
  home: '/',
  lots: '/lots?make=Toyota&stands=1',
  answers: '/answers',
  car: `/car/${car}`,
  compare: '/compare?kind=make&of=Toyota&of=Honda&of=Ford',
  value: '/value?make=Toyota&model=Camry&year=2019&damage=front',
  tables: '/tables',
  table: '/marts/sales.html?by=domain_name&across=outcome',
  sql: '/sql?q=select+domain_name,+count(*)+as+lots+from+lots+group+by+all',
  searches: '/searches?make=Toyota',
  runs: '/runs',
  report: '/report',
});

/** A picture of one pixel. */
const PICTURE = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAACAkQBADs=', 'base64');

/** Opens a page as a reader who has the token, and expects that nothing failed and nothing came from elsewhere. */
async function visit(
  path: string,
  act: (page: Page) => Promise<void>,
  { width = 1280, scheme = 'light' as 'light' | 'dark', start = explore.url, pictures = false } = {},
): Promise<void> {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme: scheme });
  const page = await context.newPage();
  const errors: string[] = [];
  const { origin } = new URL(start);
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  page.on(
    'request',
    (request) =>
      /^(data|blob):/.test(request.url()) ||
      request.url().startsWith(origin) ||
      (pictures && request.resourceType() === 'image') ||
      errors.push(request.url()),
  );
  // Nothing of a test leaves this machine.
  await page.route(/^https:/, (route) => route.fulfill({ contentType: 'image/gif', body: PICTURE }));
  try {
    await page.goto(start);
    await page.goto(`${origin}${path}`, { waitUntil: 'networkidle' });
    await act(page);
    expect(errors).toEqual([]);
  } finally {
    await context.close();
  }
}

/** Serious findings of axe, each with its first place. */
async function findings(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate(
    'axe.run(document, { resultTypes: ["violations"] })',
  )) as axe.AxeResults;
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes[0]?.html.slice(0, 200)}`);
}

describe.skipIf(!hasBrowser)(`the explorer ${inBrowser}`, () => {
  for (const width of [1280, 390])
    for (const scheme of isFirefox ? (['light'] as const) : (['light', 'dark'] as const))
      it(`has no serious finding of axe and never scrolls sideways at ${width} pixels, ${scheme}`, async () => {
        for (const [name, path] of Object.entries(PAGES()))
          await visit(
            path,
            async (page) => {
              expect(await findings(page), name).toEqual([]);
              expect(
                await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
                name,
              ).toBeLessThanOrEqual(0);
            },
            { width, scheme },
          );
      }, 180_000);

  it('finds lots by keyboard alone, and says only what was asked in the address', async () => {
    await visit('/lots', async (page) => {
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.textContent')).toBe('To the content');
      await page.locator('#q').focus();
      let tabs = 0;
      while (
        !(await page.evaluate<boolean>("document.activeElement.matches('article.lot a')")) &&
        tabs < 30
      ) {
        await page.keyboard.press('Tab');
        tabs++;
      }
      expect(tabs).toBeLessThanOrEqual(6);
      await page.getByText('All filters').focus();
      await page.keyboard.press('Enter');
      await page.locator('[name=make]').focus();
      await page.keyboard.type('toyta');
      await page.keyboard.press('Tab');
      await page.keyboard.type('camri');
      await page.keyboard.press('Enter');
      await page.waitForURL(/make=toyta/);
      expect(new URL(page.url()).search).toBe('?make=toyta&model=camri&sort=soonest');
      expect(await page.locator('h1').textContent()).toBe('Toyota Camry');
      await page.locator('article.lot a').first().focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/car\//);
    });
  });

  it('runs a query with Ctrl-Enter, completes names, and cancels', async () => {
    await visit('/sql', async (page) => {
      const editor = page.getByRole('textbox', { name: 'Query' });
      await editor.click();
      await page.keyboard.type('select count(*) as n from dim_sou');
      await page.locator('.cm-tooltip-autocomplete li[aria-selected]', { hasText: 'dim_sources' }).waitFor();
      // The editor takes no key for its list in the first 75 ms, in which nobody has read it.
      await page.waitForTimeout(300);
      await page.keyboard.press('Enter');
      expect(await editor.textContent()).toContain('from dim_sources');
      await page.keyboard.press('Control+Enter');
      await page.locator('#result td, #result th[scope=row]').first().waitFor();
      expect(new URL(page.url()).searchParams.get('q')).toContain('from dim_sources');
      // A column of the table that the query names, and none of another.
      await page.keyboard.press('Control+a');
      await page.keyboard.type("select 'damage_main' from lots_on_offer where damage_main_gr");
      await page.locator('.cm-tooltip-autocomplete li', { hasText: 'damage_main_group' }).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+a');
      await page.keyboard.type('select 1 as one from lots_on_offer where inspection');
      await page.waitForTimeout(300);
      expect(await page.locator('.cm-tooltip-autocomplete li', { hasText: 'inspection_id' }).count()).toBe(0);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(
        'select count(*) from range(300000) a, range(300000) b where (a.range * b.range) % 7 = 3',
      );
      await page.keyboard.press('Escape');
      await page.keyboard.press('Control+Enter');
      await page.getByRole('button', { name: 'Cancel' }).click();
      expect(await page.locator('#result').textContent()).toBe('Cancelled.');
      await page.keyboard.press('Control+a');
    });
  });

  it.skipIf(isFirefox)('prints all columns, and no menus and forms', async () => {
    for (const path of [
      '/lots?make=Toyota',
      '/',
      `/car/${car}`,
      '/marts/lots_on_offer.html',
      '/sql?q=from+lots+limit+5',
      '/compare?kind=make&of=Toyota',
    ])
      await visit(path, async (page) => {
        await page.setViewportSize({ width: 1032, height: 740 });
        await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
        const seen = await page.evaluate(`({
          cut: [...document.querySelectorAll('.scroll, .wide')].filter((box) => box.scrollWidth > box.clientWidth + 1).length,
          tools: [...document.querySelectorAll('form, .menu ul, main button')].filter((tool) => tool.checkVisibility()).length,
          day: document.querySelector('.snapshot').checkVisibility(),
          ink: getComputedStyle(document.body).color,
        })`);
        expect(seen, path).toEqual({ cut: 0, tools: 0, day: true, ink: 'rgb(28, 32, 36)' });
      });
  });

  it('saves a search, a query, and a query that is watched', async () => {
    await visit('/lots?make=Toyota', async (page) => {
      await page.getByRole('link', { name: 'Watch this search' }).click();
      await page.getByLabel('Name').fill('Toyotas of mine');
      await page.getByRole('button', { name: 'Watch it' }).click();
      await page.waitForURL(/\/searches$/);
      expect(await page.locator('#w-toyotas_of_mine').textContent()).toContain('The next night computes it.');
      await page.getByRole('heading', { name: /^[\d,]+ match(es)? now/ }).waitFor();
    });
    const query = `/sql?${new URLSearchParams({ q: 'select lot_id, bid from lots where bid < 500' })}`;
    for (const [button, leadsTo, name] of [
      ['Save', /\/sql\?name=under_500$/, 'under 500'],
      ['Watch each night', /\/searches$/, 'cheap ones'],
    ] as const)
      await visit(query, async (page) => {
        await page.getByText('Saved queries').click();
        const field = page.getByLabel('Save as');
        if (!(await field.isVisible())) await page.getByText('Saved queries').click();
        await field.fill(name);
        await page.getByRole('button', { name: button, exact: true }).click();
        await page.waitForURL(leadsTo);
      });
    expect(filesBelow(join(own.path, 'models')).map((file) => basename(file))).toEqual([
      'cheap_ones.sql',
      'cheap_ones.yml',
      'toyotas_of_mine.sql',
      'toyotas_of_mine.yml',
    ]);
    expect(readFileSync(join(own.path, 'queries', 'under_500.sql'), 'utf8')).toContain('bid < 500');
    const files = (): string[] => filesBelow(join(own.path, 'models')).map((file) => basename(file, '.sql'));
    await visit('/searches', async (page) => {
      const form = page.locator('form[action="/searches/toyotas_of_mine"]');
      await page.locator('details:has(form[action="/searches/toyotas_of_mine"]) summary').click();
      await form.getByLabel('Name').fill('My Toyotas');
      await form.getByRole('button', { name: 'Rename' }).click();
      await page.locator('#w-my_toyotas').waitFor();
      expect(files()).toContain('my_toyotas');
      expect(files()).not.toContain('toyotas_of_mine');
      await page.locator('details:has(form[action="/searches/my_toyotas"]) summary').click();
      await page
        .locator('form[action="/searches/my_toyotas"]')
        .getByRole('button', { name: 'Remove' })
        .click();
      await page.locator('#w-cheap_ones').waitFor();
      expect(await page.locator('#w-my_toyotas').count()).toBe(0);
      expect(files()).not.toContain('my_toyotas');
    });
  });

  /** One link of each kind on a page: of addresses that differ in their numbers and values alone. */
  const linksOf = (page: Page): Promise<{ href: string; isFile: boolean }[]> =>
    page.$$eval('a[href]', (links) => {
      const kinds = new Map<string, { href: string; isFile: boolean }>();
      for (const link of links as unknown as {
        baseURI: string;
        getAttribute(name: string): string | null;
      }[]) {
        const to = new URL(link.getAttribute('href') ?? '', link.baseURI);
        const { origin, pathname, searchParams, hash } = to;
        const names = [...new Set(searchParams.keys())].sort().join(' ');
        const kind = [origin, pathname.replaceAll(/\d+|[a-z_]+\.html/g, 'N'), names, hash].join(' ');
        if (!kinds.has(kind))
          kinds.set(kind, { href: to.href, isFile: link.getAttribute('download') !== null });
      }
      return [...kinds.values()];
    });

  it.each(Object.keys(PAGES()))(
    'follows a link of each kind of the page %s',
    async (name) => {
      const path = PAGES()[name] ?? '/';
      await visit(path, async (page) => {
        const found = await linksOf(page);
        expect(found.length).toBeGreaterThan(name === 'report' ? 3 : 6);
        for (const { href, isFile } of found) {
          const to = new URL(href);
          const link = page.locator(`a[href]`).filter({ visible: true });
          const places = await link.evaluateAll(
            (links, wanted) =>
              links
                .map((each, i) =>
                  new URL(each.getAttribute('href') ?? '', each.baseURI).href === wanted ? i : -1,
                )
                .filter((i) => i >= 0),
            href,
          );
          if (to.origin !== explore.origin) {
            expect(to.protocol, href).toBe('https:');
            continue;
          }
          const [place] = places;
          // A link that is hidden until it has the focus, or in a part that is folded.
          if (place === undefined) {
            expect((await explore.get(`${to.pathname}${to.search}`)).status, href).toBe(200);
            continue;
          }
          if (isFile) {
            const [download] = await Promise.all([page.waitForEvent('download'), link.nth(place).click()]);
            const bytes = readFileSync(await download.path());
            expect(bytes.length, href).toBeGreaterThan(10);
            if (href.includes('.parquet')) expect(bytes.subarray(-4).toString(), href).toBe('PAR1');
            else expect(bytes.toString().split('\r\n')[0], href).toMatch(/\w/);
            continue;
          }
          if ((await link.nth(place).getAttribute('class')) === 'skip') {
            // It is seen once the keyboard reaches it.
            await link.nth(place).focus();
            await page.keyboard.press('Enter');
          } else await link.nth(place).click();
          // A click returns before its page is there.
          await page.waitForURL(({ href: at }) => at === href);
          expect(await page.locator('h1').count(), href).toBeGreaterThan(0);
          expect(await page.getByRole('alert').count(), href).toBe(0);
          if (to.hash !== '') expect(await page.locator(to.hash).count(), href).toBe(1);
          await page.goto(`${explore.origin}${path}`);
        }
      });
    },
    180_000,
  );

  it.each(Object.keys(PAGES()))(
    'presses each button of each form of the page %s',
    async (name) => {
      const path =
        name === 'sql' ? '/sql?q=select+lot_id,+bid+from+lots+where+bid+<+300' : (PAGES()[name] ?? '/');
      await visit(path, async (page) => {
        const buttons = page.locator(
          'main form:not([action="/pictures"]) button:not([type=button]):not([name=remove]), header form button',
        );
        const many = await buttons.count();
        expect(many > 0).toBe(name !== 'report');
        for (let i = 0; i < many; i++) {
          const button = buttons.nth(i);
          const form = button.locator('xpath=ancestor::form');
          const folded = page.locator('details:not([open]) > summary');
          while ((await folded.count()) > 0) await folded.first().click();
          for (const field of await form.locator('input[required]').all())
            await field.fill(`of ${name} ${i}`);
          if ((await form.getAttribute('role')) === 'search')
            await form.locator('input').first().fill('Toyota');
          const label = `${name}: ${await button.textContent()}`;
          const isPost = (await form.getAttribute('method')) === 'post';
          const answered = page.waitForResponse(
            (answer) => answer.url().startsWith(explore.origin) && answer.status() < 400,
          );
          await button.click();
          await answered;
          await page.waitForLoadState('networkidle');
          expect(await page.getByRole('alert').allTextContents(), label).toEqual([]);
          if (isPost) expect(page.url(), label).toMatch(/searches$|sql\?q=|name=|car\/\d+$/);
          await page.goto(`${explore.origin}${path}`);
        }
      });
    },
    120_000,
  );

  it('follows a car by a button, shows it among the searches, and lets it go', async () => {
    const path = join(folder.path, 'followed.json');
    const listed = (): unknown => JSON.parse(readFileSync(path, 'utf8'));
    // Another test presses every button once.
    rmSync(path, { force: true });
    await visit(`/car/${car}`, async (page) => {
      await page.getByRole('button', { name: 'Follow this car' }).click();
      await page.getByRole('button', { name: 'Follow it no longer' }).waitFor();
      // A car of source 12 may have no VIN that is one, and then goes by its lot.
      expect(listed()).toEqual([
        expect.toSatisfy((each: object) => 'vin' in each || ('lot' in each && 'domain_id' in each)),
      ]);
      await page.goto(`${explore.origin}/searches`);
      await page.locator('#cars').getByRole('link').first().click();
      await page.waitForURL(/\/car\/\d+$/);
      await page.getByRole('button', { name: 'Follow it no longer' }).click();
      await page.getByRole('button', { name: 'Follow this car' }).waitFor();
      expect(listed()).toEqual([]);
    });
  });

  it('is not open to a page of another port of this machine, which gets no cookie', async () => {
    const asked: (string | undefined)[] = [];
    const other = createServer((request, response) => {
      asked.push(request.headers.cookie);
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>other</title>');
    });
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const { port } = other.address() as AddressInfo;
    const context = await browser.newContext();
    try {
      const page = await context.newPage();
      await page.goto(explore.url);
      expect(await page.title()).toContain('lotlake');
      for (const name of ['127.0.0.1', 'localhost']) {
        await page.goto(`http://${name}:${port}/`);
        const read = await page.evaluate(
          (url) =>
            fetch(url, { credentials: 'include', mode: 'no-cors' }).then(
              (it) => it.type,
              () => 'refused',
            ),
          `${explore.origin}/catalog.json`,
        );
        expect(['opaque', 'refused']).toContain(read);
      }
      expect(asked.filter((cookie) => cookie !== undefined)).toEqual([]);
    } finally {
      await context.close();
      other.closeAllConnections();
      other.close();
    }
  });

  it('loads pictures only when the reader asks', async () => {
    await visit(
      '/lots?source=copart_com',
      async (page) => {
        expect(await page.locator('img').count()).toBe(0);
        await page.getByRole('button', { name: 'Show pictures of copart.com' }).click();
        await page.locator('article.lot img').first().waitFor();
        await page.locator('article.lot h3 a').first().click();
        await page.locator('#pictures img').first().waitFor();
        await page.getByRole('button', { name: 'Hide pictures of copart.com' }).click();
        await page.getByRole('button', { name: 'Show pictures of copart.com' }).waitFor();
        expect(await page.locator('img').count()).toBe(0);
      },
      { pictures: true },
    );
  });

  it('brushes over the histogram, and sees the filters as a sheet on a phone', async () => {
    await visit('/lots?source=copart_com', async (page) => {
      const bars = page.locator('.histogram a');
      const [from, to] = [bars.nth(2), bars.nth(5)];
      const [start, end] = [await from.getAttribute('data-from'), await to.getAttribute('data-to')];
      const [first, last] = [await bars.nth(2).boundingBox(), await bars.nth(5).boundingBox()];
      const y = (first?.y ?? 0) + (first?.height ?? 0) - 1;
      await page.mouse.move((first?.x ?? 0) + 2, y);
      await page.mouse.down();
      await page.mouse.move((last?.x ?? 0) + 2, y, { steps: 4 });
      expect(await page.locator('.histogram a:not(.out)').count()).toBe(4);
      await page.mouse.up();
      await page.waitForURL(/price_from=/);
      const asked = new URL(page.url()).searchParams;
      expect([asked.get('price_from'), asked.get('price')]).toEqual([start, end]);
    });
    await visit(
      '/lots',
      async (page) => {
        const sheet = page.locator('#facets');
        expect(await sheet.isVisible()).toBe(false);
        await page.getByRole('link', { name: 'Filters with counts' }).click();
        expect(await sheet.isVisible()).toBe(true);
        expect(await findings(page)).toEqual([]);
        await page.getByRole('link', { name: 'Close' }).click();
        expect(await sheet.isVisible()).toBe(false);
      },
      { width: 390 },
    );
  });

  it('says when an auction is in the zone of the reader, with UTC behind', async () => {
    const context = await browser.newContext({ timezoneId: 'Europe/Warsaw' });
    try {
      const page = await context.newPage();
      await page.goto(explore.url);
      await page.goto(`${explore.origin}/lots?auctions=1`);
      const time = page.locator('time.at').first();
      const at = new Date((await time.getAttribute('datetime')) ?? '');
      const hour = (zone: string): string =>
        new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: zone }).format(at);
      expect(await time.textContent()).toMatch(
        new RegExp(`^over, .*ago, .*${hour('Europe/Warsaw')}.* \\(.*${hour('UTC')} UTC\\)$`),
      );
    } finally {
      await context.close();
    }
  });

  it('as files shows the report, makes and next auctions from Parquet by ranges', async () => {
    const config = configFor('http://127.0.0.1:9/api', folder.path);
    const made = await exportPages(config, site);
    expect(await exportPages(config, site)).toMatchObject({ files: made.files });
    const ranges: string[] = [];
    const server = createServer((request, response) => {
      const path = join(site, new URL(request.url ?? '/', 'http://x').pathname);
      if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true) return response.writeHead(404).end();
      const content = readFileSync(path);
      const type =
        { html: 'text/html', css: 'text/css', js: 'text/javascript' }[path.split('.').at(-1) ?? ''] ??
        'application/octet-stream';
      const [, from, to] = /bytes=(\d+)-(\d*)/.exec(request.headers.range ?? '') ?? [];
      if (from === undefined)
        return response
          .writeHead(200, { 'content-type': type, 'content-length': content.length })
          .end(request.method === 'HEAD' ? undefined : content);
      ranges.push(`${from}`);
      const piece = content.subarray(Number(from), to ? Number(to) + 1 : undefined);
      return response
        .writeHead(206, {
          'content-type': type,
          'content-range': `bytes ${from}-${Number(from) + piece.length - 1}/${content.length}`,
        })
        .end(piece);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const start = `http://127.0.0.1:${(server.address() as AddressInfo).port}/index.html`;
    try {
      await visit(
        '/index.html',
        async (page) => {
          const tally = page.locator('#tally');
          await page.waitForFunction("/ of /.test(document.querySelector('#tally').textContent)");
          const all = Number(/of ([\d,]+)/.exec((await tally.textContent()) ?? '')?.[1]?.replaceAll(',', ''));
          expect(all).toBeGreaterThan(20);
          await page.locator('[name=make]').fill('toyota');
          expect(Number.parseInt((await tally.textContent()) ?? '', 10)).toBeLessThan(all);
          for (const name of await page.locator('#list article h3').allTextContents())
            expect(name).toContain('Toyota');
          expect(await findings(page)).toEqual([]);
        },
        { start },
      );
      expect(ranges.length).toBeGreaterThan(0);
      for (const path of ['/makes.html', '/makes/1.html', '/report.html'])
        await visit(path, async (page) => expect(await findings(page), path).toEqual([]), {
          start,
          width: 390,
          scheme: 'dark',
        });
    } finally {
      server.closeAllConnections();
      server.close();
    }
  }, 60_000);
});
