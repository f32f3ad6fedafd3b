import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { docs } from '../../src/cli/commands/docs.js';
import { type WrittenSite, writeSite } from '../../src/docs/write-site.js';
import { readManifest } from '../../src/lake/manifest.js';
import { publishedSnapshot } from '../../src/query/open-lake.js';
import { createWorld } from '../../src/sandbox/index.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder } from '../pipelines/support.js';
import {
  type Browser,
  chromium,
  inBrowser,
  launchBrowser,
  type OpenPage,
  type View,
} from '../report/browser.js';
import { recordsOf } from '../served.js';

const folder = temporaryFolder();
const site = join(folder.path, 'docs');
const config = configFor('http://127.0.0.1:1/api', folder.path);
const text = (path: string): string => readFileSync(join(site, path), 'utf8');

/** Texts of the feed that would act if they became part of a page. */
const SCRIPT = '<script>document.title = "taken"</script>';
const IMAGE = '"><img src="https://x.example/x">';

let written: WrittenSite;

beforeAll(async () => {
  const world = createWorld({ vehicles: 40 });
  const records = recordsOf(world).map((record) => {
    for (const lot of record.lots) lot.note = IMAGE;
    return { ...record, title: SCRIPT };
  });
  const service = await serve(({ pathname }) => {
    if (pathname === '/api/cars') return { body: lastPage(records) };
    return pathname === '/api/archived-lots'
      ? { body: lastPage([]) }
      : { status: 404, body: { message: 'no such endpoint' } };
  });
  await nightly({ config: configFor(service.url, folder.path), reporter: silentReporter() });
  await service.close();
  written = await writeSite(config, site);
});
afterAll(() => folder.remove());

describe('the pages of lotlake docs', () => {
  it('are one for each table and mart, and an index that links to each', () => {
    const { tables, marts } = readManifest(publishedSnapshot(config));
    const paths = [
      ...Object.keys(tables).map((name) => `tables/${name}.html`),
      ...Object.keys(marts).map((name) => `marts/${name}.html`),
    ];
    const found = ['tables', 'marts'].flatMap((kind) =>
      readdirSync(join(site, kind)).map((name) => `${kind}/${name}`),
    );
    expect(found.sort()).toEqual(paths.sort());
    for (const path of paths) expect(text('index.html')).toContain(`href="${path}"`);
    expect(written).toMatchObject({ index: join(site, 'index.html'), pages: paths.length + 1 });
  });

  it('link only to pages of the site and to anchors in them', () => {
    const files = readdirSync(site, { recursive: true, encoding: 'utf8' }).filter((file) =>
      file.endsWith('.html'),
    );
    for (const file of files) {
      for (const [, target = ''] of text(file).matchAll(/(?:href|src)="([^"]*)"/g)) {
        const { pathname, hash, host } = new URL(target, `file:///${file}`);
        expect(host).toBe('');
        const place = text(pathname.slice(1)).includes(`id="${hash.slice(1)}"`);
        expect(hash === '' || place, `${file}: ${target}`).toBe(true);
      }
    }
  });

  it('describe a mart by its grain, what it reads, its SQL, and its tests with their results', () => {
    const page = text('marts/sales.html');
    for (const part of [
      'an auction attempt of a lot',
      '<a href="../tables/lots.html">',
      'unique(lot_id, attempt)',
      'with ',
      'class="result passed">passed',
    ])
      expect(page).toContain(part);
    expect(page).not.toContain('not run');
  });

  it('describe a table by its rows, files and partitions, its origin, and its checks', () => {
    const { rows = 0, files = [] } = readManifest(publishedSnapshot(config)).tables.lots ?? {};
    const page = text('tables/lots.html');
    for (const part of [
      `<dd>${rows}</dd>`,
      `${files.length} files, `,
      `${files.length}, by domain_id and month`,
    ])
      expect(page).toContain(part);
    expect(page).toContain('lots[].<wbr>final_bid');
    expect(page).toContain('lots_have_vehicles');
  });

  it('show text of the feed as text, and no raw record', () => {
    expect(text('tables/vehicles.html')).toContain('&lt;script&gt;document.title');
    expect(text('tables/lots.html')).toContain('&lt;img src=');
    for (const path of ['tables/vehicles.html', 'tables/lots.html', 'marts/sales.html'])
      expect(text(path)).not.toMatch(/<script>|<img/);
  });

  it('stay as they are after an interrupt', async () => {
    const target = join(folder.path, 'interrupted');
    await expect(writeSite(config, target, AbortSignal.abort())).rejects.toThrow();
    expect(readdirSync(target)).toEqual([]);
  });

  it('say what a lake of an older version lacks', async () => {
    const path = join(publishedSnapshot(config), 'manifest.json');
    const whole = readFileSync(path, 'utf8');
    const { reserve_gap: _, ...marts } = JSON.parse(whole).marts;
    const older = join(folder.path, 'older');
    writeFileSync(path, JSON.stringify({ ...JSON.parse(whole), marts }));
    await writeSite(config, older).finally(() => writeFileSync(path, whole));
    const page = readFileSync(join(older, 'marts', 'reserve_gap.html'), 'utf8');
    expect(page).toContain('not in this snapshot');
    expect(page).toContain('class="result">not run');
    expect(readFileSync(join(older, 'index.html'), 'utf8')).toMatch(
      /data tests passed on this snapshot; \d+ could not be run/,
    );
  });

  it('are refused where a file stands in the place of their folder', async () => {
    const path = join(folder.path, 'taken');
    writeFileSync(path, 'mine');
    await expect(writeSite(config, path)).rejects.toMatchObject({ code: 'SHARE_DOCS', message: /taken/ });
  });
});

describe('lotlake docs', () => {
  const run = async (options: Partial<Parameters<typeof docs.run>[0]>): Promise<string> => {
    const out: (string | Uint8Array)[] = [];
    const effects = {
      out: (text: string | Uint8Array) => out.push(text),
      data: () => undefined,
      err: () => undefined,
      now: () => new Date(),
      env: {},
      cwd: folder.path,
      isTerminal: false,
      width: undefined,
      pipe: async () => undefined,
      input: async () => new Uint8Array(),
      signal: new AbortController().signal,
    };
    await docs.run(
      { to: undefined, markdown: undefined, json: false, config: { output: folder.path }, ...options },
      effects,
    );
    return out.join('');
  };

  it('prints where the pages are, by default in the output folder, where they replace the earlier ones alone', async () => {
    const before = text('tables/lots.html');
    writeFileSync(join(site, 'notes.txt'), 'mine');
    expect(await run({})).toMatch(new RegExp(`^\\d+ pages about snapshot \\S+; open ${site}/index.html\n$`));
    expect(text('notes.txt')).toBe('mine');
    expect(text('tables/lots.html')).toBe(before);
  });

  it('prints the same as JSON', async () => {
    const result = JSON.parse(await run({ to: 'elsewhere', json: true }));
    expect(result).toEqual({ ...written, index: join(folder.path, 'elsewhere', 'index.html') });
  });

  it('writes Markdown without a lake, but no pages', async () => {
    const config = { output: join(folder.path, 'none') };
    expect(await run({ markdown: 'tables.md', config })).toBe(`${join(folder.path, 'tables.md')}\n`);
    expect(readFileSync(join(folder.path, 'tables.md'), 'utf8')).toMatch(/^# Tables and marts\n/);
    await expect(run({ config })).rejects.toMatchObject({ code: 'SHARE_NO_SNAPSHOT' });
  });
});

describe.skipIf(chromium === undefined)(`the pages ${inBrowser}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** Opens a page, does something with it, and expects that it asked for nothing outside and logged no error. */
  async function visit(path: string, view: View, act: (opened: OpenPage) => Promise<void>): Promise<void> {
    const opened = await browser.open(join(site, path), view);
    try {
      await act(opened);
      expect(opened.errors).toEqual([]);
      expect(opened.requests.filter((url) => !url.startsWith('file:'))).toEqual([]);
    } finally {
      await opened.close();
    }
  }

  it('find a column by keyboard alone and go to it', async () => {
    await visit('index.html', {}, async ({ page }) => {
      await page.keyboard.press('/');
      await page.keyboard.type('lots final_bid');
      const options = page.getByRole('option');
      expect(await options.first().textContent()).toContain('lots.final_bid');
      await page.keyboard.press('ArrowDown');
      await page.keyboard.press('ArrowUp');
      expect(await page.locator('[aria-selected="true"]').count()).toBe(1);
      const name = await page.locator('[aria-selected="true"] code').textContent();
      await page.keyboard.press('Enter');
      await page.waitForURL(/#c-/);
      expect(page.url()).toMatch(new RegExp(`${name?.replace('.', '\\.html#c-')}$`));
      expect(await page.locator('tr:target').isVisible()).toBe(true);
    });
  });

  it('say that nothing is found, and close the list at Escape', async () => {
    await visit('tables/lots.html', {}, async ({ page }) => {
      await page.getByRole('combobox').fill('no such <b>thing</b>');
      expect(await page.getByRole('option').allTextContents()).toEqual(['Nothing has these words.']);
      await page.keyboard.press('Escape');
      expect(await page.getByRole('listbox').isVisible()).toBe(false);
    });
  });

  it('show a script of the feed as text', async () => {
    await visit('tables/vehicles.html', {}, async ({ page }) => {
      expect(await page.title()).toBe('vehicles · lotlake data');
      expect(await page.locator('#c-title .example').allTextContents()).toEqual([SCRIPT]);
      expect(await page.locator('main script, main img').count()).toBe(0);
    });
  });

  it('are dark where the reader wants it', async () => {
    const colours: string[] = [];
    for (const scheme of ['light', 'dark'] as const)
      await visit('index.html', { scheme }, async ({ page }) => {
        colours.push(String(await page.evaluate('getComputedStyle(document.body).backgroundColor')));
      });
    expect(colours).toEqual(['rgb(255, 255, 255)', 'rgb(21, 24, 28)']);
  });

  it.each(['index.html', 'tables/lots.html', 'marts/sales.html'])('fit a phone: %s', async (path) => {
    await visit(path, { width: 390, height: 844 }, async ({ page }) => {
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0);
    });
  });

  it('show what a box of the lineage is connected with', async () => {
    await visit('index.html', {}, async ({ page }) => {
      await page.locator('[data-id="mart:price_trends"]').focus();
      const on = await page.locator('.node.on').evaluateAll((nodes) => nodes.map((node) => node.textContent));
      expect(on).toEqual(expect.arrayContaining(['/cars', 'cars', 'lots', 'sales', 'price_trends']));
      expect(on).not.toContain('inspection_issues');
    });
  });
});
