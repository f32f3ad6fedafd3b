import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeSite } from '../../src/ask/docs/write-site.js';
import { snapshotFolder } from '../../src/ask/query/open-lake.js';
import { docs } from '../../src/cli/commands/docs.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { effectsIn } from '../cli/support.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { smallLake } from './small-lake.js';

const folder = temporaryFolder();
const site = join(folder.path, 'docs');
const config = configFor('http://127.0.0.1:1/api', folder.path);
const text = (path: string): string => readFileSync(join(site, path), 'utf8');

/** The output of the command. */
let output: string;

beforeAll(async () => {
  await smallLake(folder.path);
  output = await run({});
});
afterAll(() => folder.remove());

/** Runs the command and returns its output. */
async function run(options: Parameters<typeof docs.run>[0]): Promise<string> {
  const { effects, out } = effectsIn(folder.path);
  const given = { to: undefined, markdown: undefined, json: false, output: folder.path };
  await docs.run({ ...given, ...options }, effects);
  return out();
}

describe('the pages of lotlake docs', () => {
  it('are one for each table and mart, and an index that links to each', () => {
    const { tables, marts, views } = readManifest(snapshotFolder(config));
    const paths = [
      ...Object.keys(tables).map((name) => `tables/${name}.html`),
      ...Object.keys({ ...marts, ...views }).map((name) => `marts/${name}.html`),
    ];
    const found = ['tables', 'marts'].flatMap((kind) =>
      readdirSync(join(site, kind)).map((name) => `${kind}/${name}`),
    );
    expect(found.sort()).toEqual(paths.sort());
    for (const path of paths) expect(text('index.html')).toContain(`href="${path}"`);
    const { snapshot_id } = readManifest(snapshotFolder(config));
    const index = join(site, 'index.html');
    expect(output).toBe(`${paths.length + 1} pages about snapshot ${snapshot_id}; open ${index}\n`);
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
    const { rows = 0, files = [] } = readManifest(snapshotFolder(config)).tables.lots ?? {};
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

  it('stay unchanged after an interrupt', async () => {
    const target = join(folder.path, 'interrupted');
    await expect(writeSite(config, target, AbortSignal.abort())).rejects.toThrow();
    expect(readdirSync(target)).toEqual([]);
  });

  it('replace only earlier pages, say what a lake of an older version lacks, and print their place as JSON', async () => {
    const path = join(snapshotFolder(config), 'manifest.json');
    const whole = readFileSync(path, 'utf8');
    const { marts, snapshot_id } = JSON.parse(whole);
    const { duplicate_lots: _, ...older } = marts;
    writeFileSync(path, JSON.stringify({ ...JSON.parse(whole), marts: older }));
    writeFileSync(join(site, 'notes.txt'), 'mine');
    const before = text('tables/report_media.html');
    const printed = await run({ json: true }).finally(() => writeFileSync(path, whole));
    const pages = Number(/^\d+/.exec(output)?.[0]);
    expect(JSON.parse(printed)).toEqual({ index: join(site, 'index.html'), pages, snapshot_id });
    expect(text('notes.txt')).toBe('mine');
    expect(text('tables/report_media.html')).toBe(before);
    expect(text('marts/duplicate_lots.html')).toContain('not in this snapshot');
    expect(text('marts/duplicate_lots.html')).toContain('class="result">not run');
    expect(text('index.html')).toMatch(/data tests passed on this snapshot; \d+ could not be run/);
  });

  it('are refused if the path of their folder is a file', async () => {
    const path = join(folder.path, 'taken');
    writeFileSync(path, 'mine');
    await expect(writeSite(config, path)).rejects.toMatchObject({ code: 'DOCS_FAILED', message: /taken/ });
  });
});

describe('lotlake docs', () => {
  it('writes Markdown without a lake, but no pages', async () => {
    const output = join(folder.path, 'none');
    expect(await run({ markdown: 'tables.md', output })).toBe(`${join(folder.path, 'tables.md')}\n`);
    expect(readFileSync(join(folder.path, 'tables.md'), 'utf8')).toMatch(/^# Tables and marts\n/);
    await expect(run({ output })).rejects.toMatchObject({ code: 'QUERY_NO_SNAPSHOT' });
  });
});
