import { count } from '../../base/config/printable.js';
import { scalar } from '../../base/duck/session.js';
import { list, source } from '../page/format.js';
import { type Html, html, raw } from '../page/html.js';
import type { Page } from './page-frame.js';
import type { Shown } from './shown.js';

/** The texts of the report job: the parts of the first page, the answers, and the report. */
type Made = () => Promise<readonly string[]>;

/** The first page: what this is, the way in, and what the report says of today. */
export async function homePage({ connection, names }: Shown, made: Made): Promise<Page> {
  const lots = await scalar(connection, 'select count(*) from explore.lots_on_offer');
  const sources = list(names.choices.source.map(source));
  return {
    title: 'Home',
    place: '',
    scripts: ['explore'],
    first: html`<h1>What is on offer, what lots like it brought, and what to bid</h1>
<p class="lead">lotlake reads the vehicle auctions of ${sources || 'its sources'} every night: ${count(lots)} lots are on offer now.</p>
<p class="ways"><a href="/lots?auctions=1&amp;days=7">Auctions of seven days</a> <a href="/lots?sort=stands&amp;stands=1">What stands out</a> <a href="/value">What any car is worth</a> <a href="/answers">When to list again, and other answers</a></p>
`,
    rest: restOf(made, 0),
  };
}

/** Answers that the lake can give to questions that people ask: sections of the report. */
export const answersPage = (made: Made): Page => ({
  title: 'Answers',
  place: 'answers',
  first: html`<h1>Answers</h1>`,
  rest: restOf(made, 1),
});

async function* restOf(made: Made, text: number): AsyncGenerator<Html> {
  yield raw((await made())[text] ?? '');
}
