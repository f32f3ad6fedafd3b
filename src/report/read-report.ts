import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../config/config.js';
import { rows } from '../duck/session.js';
import { layoutOf } from '../lake/layout.js';
import { type Manifest, readManifest } from '../lake/manifest.js';
import { listSnapshots } from '../lake/snapshots.js';
import { openLake } from '../query/open-lake.js';
import { ShareError } from '../query/share-error.js';
import { readStanding, type Standing } from './read-alarms.js';
import { type Headline, readHeadline } from './read-headline.js';
import { type Health, readHealth } from './read-health.js';
import {
  type Attempt,
  type InventoryDay,
  readAttempts,
  readInventory,
  readWaiting,
  type Waiting,
} from './read-lots.js';
import {
  type CurrencyLots,
  type Kind,
  type Observed,
  type Region,
  readCurrencies,
  readDamages,
  readObserved,
  readRegions,
  readSellThrough,
  readTitles,
  readTrends,
  type SellThroughPoint,
  type TrendPoint,
} from './read-market.js';
import {
  type ClaimType,
  type Discount,
  type Part,
  readClaims,
  readDiscounts,
  readParts,
} from './read-reports.js';

/** All that a report shows, as the marts have it. */
export interface ReportData {
  readonly manifest: Manifest;
  readonly headline: Headline;
  /** The figures of the run before, where its snapshot is kept. */
  readonly before: Headline | undefined;
  /** Since when the sources are observed. */
  readonly observed: readonly Observed[];
  readonly trends: readonly TrendPoint[];
  readonly sellThrough: readonly SellThroughPoint[];
  readonly attempts: readonly Attempt[];
  readonly waiting: readonly Waiting[];
  readonly damages: readonly Kind[];
  readonly titles: readonly Kind[];
  readonly regions: readonly Region[];
  readonly parts: readonly Part[];
  readonly claims: readonly ClaimType[];
  readonly discounts: readonly Discount[];
  readonly inventory: readonly InventoryDay[];
  readonly currencies: readonly CurrencyLots[];
  readonly health: Health;
  readonly standing: Standing;
}

/** What the figures at the top are made of. */
const HEADLINE_TABLES = ['runs', 'sales', 'inventory_daily', 'observed_spans'] as const;

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

/**
 * Reads the published snapshot, marts alone but for `runs` and `passes`, and the figures at the top of the snapshot before it.
 * Throws ShareError where nothing is published, or where the snapshot is older than one of the marts.
 */
export async function readReport(config: Config): Promise<ReportData> {
  const lake = await openLake(config, TABLES.join(' '));
  try {
    const { manifest } = lake;
    const missing = TABLES.find((name) => !holds(manifest, name));
    if (missing !== undefined)
      throw new ShareError('SHARE_NO_TABLE', `the published snapshot has no ${missing}`, {
        hint: 'run lotlake run rebuild, or wait for the next run',
      });
    const { connection } = lake.session;
    const headline = await readHeadline(connection);
    const { minimumGroup } = headline;
    return {
      manifest,
      headline,
      before: await readBefore(config, connection, manifest),
      observed: await readObserved(connection),
      trends: await readTrends(connection),
      sellThrough: await readSellThrough(connection),
      attempts: await readAttempts(connection),
      waiting: await readWaiting(connection),
      damages: await readDamages(connection, minimumGroup),
      titles: await readTitles(connection),
      regions: await readRegions(connection),
      parts: await readParts(connection),
      claims: await readClaims(connection, minimumGroup),
      discounts: await readDiscounts(connection),
      inventory: await readInventory(connection),
      currencies: await readCurrencies(connection),
      health: await readHealth(connection),
      standing: await readStanding(connection, layoutOf(config.output)),
    };
  } finally {
    lake.close();
  }
}

const holds = (manifest: Manifest, name: string): boolean =>
  name in manifest.tables || name in manifest.marts;

/** Figures of the newest snapshot before this one that is kept and has them. */
async function readBefore(
  config: Config,
  connection: DuckDBConnection,
  current: Manifest,
): Promise<Headline | undefined> {
  const earlier = await rows(
    connection,
    'select snapshot_id from runs where snapshot_id is not null order by started_at desc',
  );
  const kept = new Map(listSnapshots(layoutOf(config.output)).map((snapshot) => [snapshot.id, snapshot]));
  const found = earlier
    .map((row) => kept.get(String(row.snapshot_id)))
    .find(
      (snapshot) =>
        snapshot?.manifest !== undefined &&
        snapshot.id !== current.snapshot_id &&
        HEADLINE_TABLES.every((name) => holds(readManifest(snapshot.folder), name)),
    );
  if (found === undefined) return undefined;
  const lake = await openLake(config, HEADLINE_TABLES.join(' '), { snapshot: found.id });
  try {
    return await readHeadline(lake.session.connection);
  } finally {
    lake.close();
  }
}
