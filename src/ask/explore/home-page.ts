import type { Config } from '../../base/config/config.js';
import { count } from '../../base/config/printable.js';
import { scalar } from '../../base/duck/session.js';
import { layoutOf } from '../../core/lake/layout.js';
import { list, source } from '../page/format.js';
import { type Html, html, raw } from '../page/html.js';
import { answersOf, homeOf } from '../report/write-report.js';
import type { Page } from './page-frame.js';
import type { Served } from './shown.js';

/** The first page: what this is, the way in, and what the report says of today. */
export async function homePage(shown: Served, config: Config, pictures: ReadonlySet<string>): Promise<Page> {
  const { connection, names } = shown;
  const lots = await scalar(connection, 'select count(*) from explore.lots_on_offer');
  const sources = list(names.choices.source.map(source));
  return {
    title: 'Home',
    place: '',
    scripts: ['explore'],
    first: html`<h1>What is on offer, what lots like it brought, and what to bid</h1>
<p class="lead">lotlake reads the vehicle auctions of ${sources || 'its sources'} every night: ${count(lots)} lots are on offer now.</p>
<p class="ways"><a href="/lots?auctions=1&amp;days=7">Auctions of seven days</a> <a href="/lots?sort=stands&amp;stands=1">Buy Now prices far below such lots</a> <a href="/value">What any car is worth</a> <a href="/answers">When to list again, and other answers</a></p>
`,
    rest: todayOf(shown, config, pictures),
  };
}

/** Answers that the lake can give to questions that people ask: sections of the report. */
export const answersPage = (shown: Served): Page => ({
  title: 'Answers',
  place: 'answers',
  first: html`<h1>Answers</h1>
<p class="ways"><a href="/lots?offered=3">All lots put up three times and more</a> <a href="/report#damage">What damage and title take off</a> <a href="/report#regions">Prices by state</a> <a href="/report#selling">What sells, and how fast</a></p>`,
  rest: sectionsOf(shown),
});

async function* todayOf(
  { figures }: Served,
  config: Config,
  pictures: ReadonlySet<string>,
): AsyncGenerator<Html> {
  yield raw(homeOf(await figures(), layoutOf(config.output), pictures));
}

async function* sectionsOf({ figures }: Served): AsyncGenerator<Html> {
  yield answersOf(await figures());
}
