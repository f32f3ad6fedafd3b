import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSite } from '../../src/ask/docs/write-site.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import {
  type Browser,
  chromium,
  inBrowser,
  launchBrowser,
  type OpenPage,
  type View,
} from '../report/browser.js';
import { SCRIPT, smallLake } from './small-lake.js';

const folder = temporaryFolder();
const site = join(folder.path, 'docs');
beforeAll(async () => {
  await smallLake(folder.path);
  await writeSite(configFor('http://127.0.0.1:1/api', folder.path), site);
});
afterAll(() => folder.remove());

describe.skipIf(chromium === undefined)(`the pages ${inBrowser}`, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser.close());

  /** Opens a page and acts on it. Expects that the page requested nothing from outside and logged no error. */
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

  it('say that nothing is found, and close the list on Escape', async () => {
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

  it('are dark if the reader prefers it', async () => {
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

  it('show what a box of the lineage is connected to', async () => {
    await visit('index.html', {}, async ({ page }) => {
      await page.locator('[data-id="mart:price_trends"]').focus();
      const on = await page.locator('.node.on').evaluateAll((nodes) => nodes.map((node) => node.textContent));
      expect(on).toEqual(expect.arrayContaining(['/cars', 'cars', 'lots', 'sales', 'price_trends']));
      expect(on).not.toContain('inspection_issues');
    });
  });
});
