import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { csvField } from '../../src/ask/query/csv.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { temporaryFolder } from '../pipelines/support.js';
import { recordsOf } from '../served.js';
import { type Browser, hasBrowser, inBrowser, isFirefox, launchBrowser } from './browser.js';
import { nightOf, reportOf } from './lake.js';

const CLOCK = new Date('2026-11-18T04:00:00Z');
const SCRIPT = '<script>alert(1)</script>';
const IMAGE = '"><img src=x onerror=alert(1)>';
const FORMULA = '=HYPERLINK("x")';
const CLOSING = '</style></svg><script>alert(2)</script>';

/** Vehicles of a few models. Their names, damages, titles and places try to break out of a page. */
async function hostileRecords(): Promise<unknown[]> {
  const sandbox = await startSandbox({ vehicles: 900, seed: 11, clock: CLOCK });
  const records = recordsOf(sandbox.world);
  await sandbox.close();
  for (const [i, record] of records.entries()) {
    record.manufacturer = { id: 1, name: IMAGE };
    record.model = {
      id: 1 + (i % 3),
      name: [SCRIPT, CLOSING, 'Plain & simple'][i % 3] ?? '',
      manufacturer_id: 1,
    };
    record.generation = null;
    for (const lot of record.lots) {
      if (lot.damage?.main) lot.damage.main.name = i % 2 === 0 ? SCRIPT : IMAGE;
      if (lot.title) lot.title.name = CLOSING;
      const { state } = lot.location;
      if (state) state.name = `${state.code === 'tx' ? FORMULA : SCRIPT} ${state.code}`;
    }
  }
  return records;
}

// The driver of Firefox tells no request and no download of a file, and chooses no color scheme.
const inChromium = it.skipIf(isFirefox);

describe.skipIf(!hasBrowser)(`the report ${inBrowser}`, () => {
  const folder = temporaryFolder();
  let browser: Browser;
  let path: string;

  beforeAll(async () => {
    await nightOf(folder.path, await hostileRecords(), CLOCK);
    ({ path } = await reportOf(folder.path));
    browser = await launchBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    folder.remove();
  });

  inChromium('sends no request, logs no error and runs no script', async () => {
    const { page, requests, errors, close } = await browser.open(path);
    let dialogs = 0;
    page.on('dialog', (dialog) => {
      dialogs += 1;
      return dialog.dismiss();
    });
    for (const summary of await page.locator('summary').all())
      if (await summary.isVisible()) await summary.click();
    expect(requests).toHaveLength(1);
    expect(errors).toEqual([]);
    expect(dialogs).toBe(0);
    expect(await page.locator('img, iframe, object, link:not([href^="data:"]), script[src]').count()).toBe(0);
    expect(await page.locator('script').count()).toBe(1);
    await close();
  });

  it('shows text of the feed as text, in tables and in charts', async () => {
    const { page, close } = await browser.open(path);
    const text = await page.evaluate('document.body.textContent');
    for (const hostile of [SCRIPT, IMAGE, CLOSING]) expect(text).toContain(hostile);
    const drawn = await page.evaluate(
      "[...document.querySelectorAll('.wide svg text')].map((text) => text.textContent).join('\\n')",
    );
    expect(drawn).toContain(SCRIPT);
    await close();
  });

  inChromium('lets a reader sort and filter a table, and saves the shown rows without formulas', async () => {
    const { page, errors, close } = await browser.open(path);
    const figure = page.locator('figure').filter({
      has: page.getByRole('heading', {
        name: 'Prices by state, against the same model year in the nation',
      }),
    });
    for (const summary of await figure.locator('summary').all()) await summary.click();
    const cells = (column: number) =>
      figure.locator(`tbody tr:not([hidden]) :is(th, td):nth-child(${column})`).allTextContents();
    const lots = async () => (await cells(2)).map((text) => Number(text.replace(',', '')));
    const before = (await lots()).sort((a, b) => a - b);
    for (const [order, expected] of [
      ['ascending', before],
      ['descending', before.toReversed()],
    ] as const) {
      await figure.getByRole('button', { name: 'Lots', exact: true }).click();
      expect(await figure.locator('[aria-sort]').getAttribute('aria-sort')).toBe(order);
      expect(await lots()).toEqual(expected);
    }
    await figure.getByLabel('Filter').fill('hyperlink TX');
    const names = await cells(1);
    expect(names).toEqual([expect.stringMatching(/^=HYPERLINK/)]);
    expect(await figure.locator('output').textContent()).toBe(`1 of ${before.length} rows`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      figure.getByRole('button', { name: 'Save as CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^Prices by state.*\.csv$/);
    const [head, line, ...rest] = readFileSync(await download.path(), 'utf8').split('\r\n');
    expect(head).toMatch(/^\ufeffState,Lots,Sold,/);
    const counts = [...(await lots()), ...(await cells(3))].join(',');
    expect(line).toContain(`${csvField(names[0], 'VARCHAR')},${counts},`);
    expect(rest).toEqual(['']);
    expect(errors).toEqual([]);
    await close();
  });

  it('keeps the list of contents in view, and folds it away on a phone', async () => {
    for (const width of [390, 1200]) {
      const { page, close } = await browser.open(path, { width });
      const contents = page.getByRole('navigation', { name: 'Contents' });
      const last = contents.getByRole('link', { name: 'How to read this' });
      await page.evaluate("document.getElementById('regions').scrollIntoView()");
      if (width === 390) {
        expect(await last.isVisible()).toBe(false);
        await contents.locator('summary').click();
      }
      const { y = -1 } = (await last.boundingBox()) ?? {};
      expect(y).toBeGreaterThan(0);
      expect(y).toBeLessThan(900);
      await last.click();
      expect(await last.isVisible()).toBe(width !== 390);
      await close();
    }
  });

  inChromium('is light or dark as the reader prefers, and light on paper', async () => {
    const colours: string[] = [];
    for (const view of [{}, { scheme: 'dark' }, { scheme: 'dark', media: 'print' }] as const) {
      const { page, close } = await browser.open(path, view);
      const style = 'getComputedStyle(document.documentElement).backgroundColor';
      const ink = "getComputedStyle(document.querySelector('.wide .legend, .wide svg')).color";
      const bar = "getComputedStyle(document.querySelector('.wide svg rect[fill]') ?? document.body).fill";
      colours.push(JSON.stringify(await page.evaluate(`[${style}, ${ink}, ${bar}]`)));
      await close();
    }
    const [light, dark, paper] = colours;
    expect(dark).not.toBe(light);
    expect(paper).toBe(light);
  });

  it.for([360, 390, 768, 1200])('fits into a window of %d pixels', async (width) => {
    const { page, close } = await browser.open(path, { width });
    const [scroll, inner] = (await page.evaluate(
      '[document.documentElement.scrollWidth, innerWidth]',
    )) as number[];
    expect(scroll).toBeLessThanOrEqual(inner ?? 0);
    const outside = await page.evaluate(
      `[...document.querySelectorAll('svg text, h1, h2, h3, p, dd')]
         .filter((e) => e.getClientRects().length > 0 && (e.getBoundingClientRect().right > innerWidth + 1
           || e.getBoundingClientRect().left < -1))
         .map((e) => e.textContent)`,
    );
    expect(outside).toEqual([]);
    await close();
  });

  it('draws readable text on a phone', async () => {
    const { page, close } = await browser.open(path, { width: 360 });
    const sizes = (await page.evaluate(
      `[...document.querySelectorAll('.narrow svg')].map((svg) =>
         12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width)`,
    )) as number[];
    expect(sizes.length).toBeGreaterThan(5);
    for (const size of sizes) expect(size).toBeGreaterThan(10.5);
    await close();
  });
});
