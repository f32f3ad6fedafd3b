import { statSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Config } from '../../base/config/config.js';
import { makeFolder, writeNew } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { count, NONE, sumOf } from '../../base/config/printable.js';
import { literal, type Row, rows } from '../../base/duck/session.js';
import { checksumOf } from '../../core/lake/disk.js';
import { filesBelow } from '../../core/lake/files.js';
import { diskFullError, outOfMemoryError } from '../../core/lake/lake-error.js';
import { openTarget, SUMS, sumsText } from '../export/target.js';
import { money } from '../page/format.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { lotCards } from '../page/lot-card.js';
import { ask, readSql } from '../query/ask.js';
import { snapshotFolder } from '../query/open-lake.js';
import { assertOutside } from '../query/places.js';
import { readReport } from '../report/write-report.js';
import { makeParts } from './compare-page.js';
import { type Frame, wholePage } from './page-frame.js';
import { openShown, type Shown } from './shown.js';

/** Makes with a page of their own: those with the most lots on offer. */
const MAKES = 300;

/** Lots of the next auctions that stand in the page itself. */
const LISTED = 100;

/**
 * Writes the report, the makes with their models and the next auctions as files for a web server or a bucket, whole or not at
 * all, in place of an earlier export. Throws QUERY_* and EXPORT_EXISTS as an export does.
 */
export async function exportPages(config: Config, to: string, signal?: AbortSignal) {
  snapshotFolder(config);
  assertOutside(to, config.output);
  const target = openTarget({ to, zip: false, force: true });
  try {
    const shown = await openShown(config, target.staging);
    try {
      shown.lake.session.interruptOn(signal);
      await writeFiles(shown, config, target.staging);
      signal?.throwIfAborted();
    } finally {
      shown.lake.close();
    }
    await writeSums(target.staging);
    target.commit(target.staging);
    const files = filesBelow(to);
    return {
      path: to,
      snapshot: shown.id,
      files: files.length,
      bytes: sumOf(files, (file) => statSync(file).size),
    };
  } catch (error) {
    throw diskFullError(error, to) ?? outOfMemoryError(error, config.memory) ?? error;
  } finally {
    target.discard();
  }
}

async function writeFiles(shown: Shown, config: Config, folder: string): Promise<void> {
  const { connection } = shown;
  const write = (path: string, text: string): void => writeNew(join(folder, path), text);
  const frame = (root: string): Frame => ({
    root,
    menu: { 'index.html': 'Next auctions', 'makes.html': 'Makes', 'report.html': 'Report' },
    stamp: shown.id,
  });
  for (const name of ['report.css', 'explore.css']) write(name, packageFile(`site/${name}`));
  write('auctions.js', packageFile('dist/site/auctions.js'));
  const path = join(folder, 'data', 'auctions.parquet');
  await connection.run(
    `copy (${readSql('explore/auctions')} order by sale_date, lot_id) to ${literal(path)} (format parquet, compression snappy, row_group_size 20000)`,
  );
  write('index.html', wholePage(await auctionsPage(shown), frame('')));
  write('report.html', await readReport(config, { isForOthers: true }));
  const models = await ask(connection, 'explore/models');
  const makes = new Map<string, Row[]>();
  for (const row of models)
    makes.set(String(row.manufacturer_name), [...(makes.get(String(row.manufacturer_name)) ?? []), row]);
  const most = [...makes].sort(([, a], [, b]) => lotsOf(b) - lotsOf(a));
  const withPage = most.slice(0, MAKES).map(([make], i) => [make, `makes/${i + 1}.html`] as const);
  write('makes.html', wholePage(makesPage(most, new Map(withPage)), frame('')));
  makeFolder(join(folder, 'makes'));
  for (const [make, path] of withPage)
    write(path, wholePage(await makePage(shown, make, makes.get(make) ?? []), frame('../')));
  write(
    'datapackage.json',
    JSON.stringify(
      {
        name: 'lotlake-explore',
        title: 'lotlake',
        resources: [{ name: 'auctions', path: 'data/auctions.parquet', format: 'parquet' }],
      },
      null,
      2,
    ),
  );
}

const lotsOf = (models: readonly Row[]): number => sumOf(models, ({ lots }) => Number(lots));

async function auctionsPage({ connection }: Shown) {
  const found = await rows(
    connection,
    `${readSql('explore/auctions')} order by prices_above desc nulls last, buy_now / estimate, sale_date, lot_id limit ${LISTED}`,
  );
  const field = (name: string, label: string): Html =>
    html`<label>${label}<input name="${name}" autocomplete="off"></label>`;
  return {
    title: 'Next auctions',
    place: 'index.html',
    scripts: ['auctions'],
    first: html`<h1>The auctions of the next seven days</h1>
<form class="filters" id="filters" hidden><div class="fields">${field('make', 'Make')}${field('model', 'Model')}${field('state', 'State')}${field('price', 'Costs at most')}${field('estimate', 'Estimate from')}<label class="flag"><input type="checkbox" name="stands" value="1">Stands out</label></div></form>
<p class="tally" role="status" id="tally">The first ${count(found.length)}, those that stand out most first</p>
<div id="list">${found.length > 0 ? lotCards(found, { isForOthers: true }) : html`<p class="words">No auction is known.</p>`}</div>
<p class="note">The bar is what such lots bring at auction: 8 of 10 in the wide band, half in the narrow one. ¤ stands for a currency that is not known. Of many lots, those that stand out most are also those whose estimates err most. <a href="data/auctions.parquet" download>All of them as Parquet</a></p>`,
  };
}

const makesPage = (
  makes: readonly (readonly [string, readonly Row[]])[],
  pages: ReadonlyMap<string, string>,
) => ({
  title: 'Makes',
  place: 'makes.html',
  first: html`<h1>Makes</h1>${grid(
    ['Make', '>Models', '>On offer', '>Next seven days', '>Stand out'],
    makes.map(([make, models]) => [
      pages.has(make) ? html`<a href="${pages.get(make)}">${make}</a>` : make,
      ...[
        models.length,
        lotsOf(models),
        sumOf(models, ({ soon }) => Number(soon)),
        sumOf(models, ({ stands_out }) => Number(stands_out)),
      ].map(count),
    ]),
  )}`,
});

async function makePage({ connection }: Shown, make: string, models: readonly Row[]) {
  const days = (row: Row): string =>
    row.half_sold_by === null || row.half_sold_by === undefined ? NONE : `${count(row.half_sold_by)} d`;
  return {
    title: make,
    place: 'makes.html',
    first: html`<h1>${make}</h1>${await makeParts(connection, make)}<section><header><h2>Models</h2></header>${grid(
      [
        'Model',
        '>On offer',
        '>Next seven days',
        '>Stand out',
        '>Median estimate at auction',
        '>Half sold by day',
      ],
      models.map((row) => [
        row.model_name === null ? 'not given' : String(row.model_name),
        ...[row.lots, row.soon, row.stands_out].map(count),
        row.estimate === null ? NONE : money(row.estimate, row.currency),
        days(row),
      ]),
    )}</section>`,
  };
}

/** Checksums of all files, by which the next export knows its own folder. */
async function writeSums(folder: string): Promise<void> {
  const summed = [];
  for (const file of filesBelow(folder))
    summed.push({ path: relative(folder, file), sha256: await checksumOf(file) });
  writeNew(join(folder, SUMS), sumsText(summed));
}
