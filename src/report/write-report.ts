import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../config/config.js';
import { type Row, rows } from '../duck/session.js';
import { layoutOf } from '../lake/layout.js';
import type { Manifest } from '../lake/manifest.js';
import { listSnapshots } from '../lake/snapshots.js';
import { readLake } from '../query/open-lake.js';
import { assertOurs, assertOutside, writeWhole } from '../query/places.js';
import { ShareError } from '../query/share-error.js';
import { alarmText, driftText, readStanding, rejectedText } from './alarms.js';
import { damageSection, POOLED_GROUPS } from './damage.js';
import { dateOf, instant, list, plural, source } from './format.js';
import { HEADLINE_TABLES, headlineTiles, readHeadline } from './headline.js';
import { healthSection } from './health.js';
import { inventorySection } from './inventory.js';
import { type Marts, type Page, renderPage } from './page.js';
import { regionSection } from './regions.js';
import { claimSection, inspectionSection } from './reports.js';
import { observedSince, sellingSection } from './selling.js';
import { trendsSection } from './trends.js';

/** Texts that every report has, whichever version wrote it. */
const MARKS = ['<section id="reading"><header><h2>How to read this</h2></header>', 'Data health'];

/** Where `lotlake docs` puts its first page, beside a report of the same output folder. */
const DICTIONARY = 'docs/index.html';

const TABLES = [
  ...HEADLINE_TABLES,
  'price_trends',
  'sell_through',
  'relisting',
  'time_to_sale',
  'damage_breakdown',
  'title_breakdown',
  'regional_prices',
  'inspection_issues',
  'check_breakdown',
  'claim_history',
  'accident_discount',
  'currencies',
  'data_health',
  'passes',
] as const;

/** The sections, in the order of the page. */
const SECTIONS = [
  trendsSection,
  sellingSection,
  damageSection,
  regionSection,
  inspectionSection,
  claimSection,
  inventorySection,
  healthSection,
];

/**
 * Writes the report of the published snapshot as one HTML file that needs nothing else, and returns its path. Throws
 * ShareError if nothing is published, if the snapshot lacks a mart, or if the place is not a report's (SHARE_PLACE).
 * @param to path of the file; `report.html` in the output folder by default
 */
export async function writeReport(config: Config, to = join(config.output, 'report.html')): Promise<string> {
  assertOutside(to, config.output);
  assertOurs(to, MARKS);
  const dictionary = existsSync(join(dirname(to), DICTIONARY)) ? DICTIONARY : undefined;
  writeWhole(to, await renderPage(await readPage(config, dictionary)));
  return to;
}

/** Reads the published snapshot, marts only except `runs` and `passes`, and the headline of the snapshot before it. */
function readPage(config: Config, dictionary: string | undefined): Promise<Page> {
  return readLake(config, { named: TABLES.join(' ') }, async ({ manifest, session: { connection } }) => {
    const missing = TABLES.find((name) => !holds(manifest, name));
    if (missing !== undefined)
      throw new ShareError('SHARE_NO_TABLE', `the published snapshot has no ${missing}`, {
        hint: 'run lotlake run rebuild, or wait for the next run',
      });
    const headline = await readHeadline(connection);
    const before = await readBefore(config, connection, manifest);
    const marts: Marts = {
      ask: (sql) => rows(connection, sql),
      now: dateOf(headline.run_at),
      minimumGroup: Number(headline.minimum_group),
    };
    const sections = [];
    for (const section of SECTIONS) sections.push(await section(marts));
    const standing = await readStanding(connection, layoutOf(config.output));
    const [rejected, drift] = [rejectedText(standing), driftText(standing)];
    const since =
      before === undefined
        ? 'first run that is kept'
        : `compared with the run of ${instant(dateOf(before.run_at))}`;
    return {
      title: 'Vehicle auction report',
      meta: `As of ${instant(marts.now)}, ${since}. Snapshot ${manifest.snapshot_id}, ${manifest.pipeline}.`,
      alarms: standing.alarms.map((alarm) => `${alarmText(alarm)}.`),
      notes: [
        ...(rejected === undefined ? [] : [`Rejected and not loaded: ${rejected}.`]),
        ...(drift === undefined ? [] : [`New in the feed and unknown to lotlake: ${drift}.`]),
      ],
      tiles: headlineTiles(headline, before),
      sections,
      dictionary,
      reading: await readingOf(marts),
    };
  });
}

const holds = (manifest: Manifest, name: string): boolean =>
  name in manifest.tables || name in manifest.marts;

/** The headline of the newest earlier snapshot that is kept and has its tables. */
async function readBefore(
  config: Config,
  connection: DuckDBConnection,
  current: Manifest,
): Promise<Row | undefined> {
  const earlier = await rows(
    connection,
    'select snapshot_id from runs where snapshot_id is not null order by started_at desc',
  );
  const kept = new Map(listSnapshots(layoutOf(config.output)).map(({ id, manifest }) => [id, manifest]));
  const found = earlier
    .map((run) => String(run.snapshot_id))
    .find((id) => {
      const manifest = kept.get(id);
      if (manifest === undefined || id === current.snapshot_id) return false;
      return HEADLINE_TABLES.every((name) => holds(manifest, name));
    });
  if (found === undefined) return undefined;
  const reading = { named: HEADLINE_TABLES.join(' '), choice: { snapshot: found } };
  return readLake(config, reading, ({ session }) => readHeadline(session.connection));
}

/** How to read the report, a paragraph each. */
async function readingOf({ ask, minimumGroup }: Marts): Promise<string[]> {
  const sources = await ask('select distinct domain_id, domain_name from inventory_daily order by domain_id');
  const names = sources.map((row) => source(row.domain_name));
  return [
    `Sources: ${list(names) || 'none yet'}. encar.com lists cars at asking prices, which count as no price but under claims, where it is said.`,
    await currenciesText(ask),
    'Everything here is read from one snapshot of the lake, which a run published whole. Days and months are those of UTC, and “now” is the start of that run.',
    'A price is what a lot was sold for, and counts only once the result is settled: 12 hours after the auction, when the archive feed confirms it, or at the Buy Now price. A sale that a later auction undid, an amount of zero and a bid so far are no prices.',
    `${await observedSince({ ask })} Lots that were sold before had left the feed by then, and those that were not had stayed. So shares and counts of sold lots rest on auctions that were observed; a month of which nothing was is left out. A sale after which the vehicle was soon offered again did not hold.`,
    `A statistic of fewer than ${minimumGroup} values is not shown: “too few” stands in its place, with their number. A ratio to sound lots over all models together needs ${minimumGroup * POOLED_GROUPS} prices. A dash says that nothing is known.`,
    'The command lotlake describe lists the columns of each table behind these figures, lotlake query answers questions to them, and docs/marts.md of lotlake has the rules in full.',
  ];
}

/** Which currencies the amounts are in, and that this is an assumption. */
async function currenciesText(ask: Marts['ask']): Promise<string> {
  const currencies = await ask(
    'select currency, sum(lots) as lots from currencies group by currency order by lots desc, currency',
  );
  const known = currencies.flatMap(({ currency }) => (currency === null ? [] : [String(currency)]));
  const unknown = currencies.find(({ currency }) => currency === null)?.lots ?? 0;
  const rest =
    unknown === 0
      ? ''
      : ` The currency of ${plural(unknown, 'lot')} is not known: they count, and are in no price.`;
  return `The service names no currency for prices. That they are in ${list(known) || 'none'} is an assumption of lotlake by source and country, which the table currencies gives with its reasons; no figure mixes two currencies.${rest}`;
}
