import type { DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '../../base/config/config.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { didYouMean } from '../../base/config/nearest.js';
import { identifier, type Row, rows, sameKey, scalar } from '../../base/duck/session.js';
import { filesRelation } from '../../core/lake/files.js';
import { layoutOf } from '../../core/lake/layout.js';
import { type Manifest, readManifest } from '../../core/lake/manifest.js';
import { findPublished, olderThan } from '../../core/lake/snapshots.js';
import type { Model } from '../../core/model/model-files.js';
import { modellingOf } from '../../core/model/own-models.js';
import { snapshotFolder, withDatabase } from './open-lake.js';

/** What a watched search finds now that it did not find the night before, and what it no longer finds. */
export interface Watched {
  readonly name: string;
  readonly description: string;
  /** Rows that match now; null if the model was left out of the snapshot. */
  readonly matches: number | null;
  /** The snapshot that it is compared with; null if there is none yet. */
  readonly since: string | null;
  /** Why nothing is compared. */
  readonly reason: string | null;
  /** Numbers of new and of left rows; null if nothing is compared. */
  readonly entered: number | null;
  readonly left: number | null;
  /** The first of them, each with all columns of the model; left rows as they were. */
  readonly entered_rows: readonly Row[];
  readonly left_rows: readonly Row[];
}

/** Rows of a search that are told. */
const TOLD = 50;

/** The searches of the user that are watched in a snapshot. */
const watchedIn = (manifest: Manifest): readonly Model[] =>
  modellingOf(manifest).models.filter(({ isOwn, watch, exists }) => isOwn && watch && exists !== 'view');

/**
 * Compares each watched search, or the one of a name, with a snapshot, by default the newest earlier one that has it. It reads the
 * last matches, which are the model's own file, and nothing else. Throws QUERY_NO_SNAPSHOT, LAKE_NO_SNAPSHOT for one that is not
 * kept, and QUERY_NOTHING_FOUND for an unknown name.
 */
export async function readWatched(
  config: Config,
  {
    name,
    since,
    signal,
  }: {
    readonly name?: string | undefined;
    readonly since?: string | undefined;
    readonly signal?: AbortSignal | undefined;
  } = {},
): Promise<Watched[]> {
  const folder = snapshotFolder(config);
  const manifest = readManifest(folder);
  return withDatabase(config, signal, async ({ session: { connection } }) => {
    const before = await earlierOf(connection, config, manifest, since);
    const searches = [...watchedIn(manifest), ...leftOutOf(manifest, before)];
    const known = searches.map((each) => each.name);
    if (name !== undefined && !known.includes(name))
      throw new LotlakeError(
        'QUERY_NOTHING_FOUND',
        `no search ${name} is watched in the published snapshot${didYouMean(name, known)}`,
        {
          hint: 'a search is a model of your own with watch: true in its .yml; lotlake explore saves one; the next run computes it',
        },
      );
    const found: Watched[] = [];
    for (const search of searches)
      if (name === undefined || search.name === name)
        found.push(await compare(connection, search, { folder, manifest }, before));
    return found;
  });
}

/** Watched searches that the run of this snapshot left out. */
function leftOutOf({ own }: Manifest, earlier: readonly Side[]): readonly Searched[] {
  const before = earlier.flatMap(({ manifest }) => watchedIn(manifest));
  return (own?.left_out ?? []).flatMap(({ name, watch }) => {
    const known = before.find((each) => each.name === name);
    return known ?? (watch === true ? { name, description: '', key: [], sql: '' } : []);
  });
}

/** What a search is compared by. */
type Searched = Pick<Model, 'name' | 'description' | 'key' | 'sql'>;

/** A snapshot with its manifest. */
interface Side {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** The snapshot to compare with, or earlier ones that were current once, the newest first; none if the user has no models. */
async function earlierOf(
  connection: DuckDBConnection,
  config: Config,
  { snapshot_id, own }: Manifest,
  since: string | undefined,
): Promise<readonly Side[]> {
  if (own === undefined || own.models.length + own.left_out.length === 0) return [];
  if (since !== undefined) {
    const folder = snapshotFolder(config, since);
    return [{ folder, manifest: readManifest(folder) }];
  }
  const { kept } = await findPublished(connection, layoutOf(config.output));
  return olderThan(kept, snapshot_id).reverse();
}

async function compare(
  connection: DuckDBConnection,
  search: Searched,
  now: Side,
  earlier: readonly Side[],
): Promise<Watched> {
  const { name, description, key } = search;
  const stored = now.manifest.marts[name];
  const base = {
    name,
    description,
    matches: stored?.rows ?? null,
    since: null,
    entered: null,
    left: null,
    entered_rows: [],
    left_rows: [],
  };
  if (stored === undefined) {
    const failed = now.manifest.own?.left_out.find((each) => each.name === name)?.reason;
    return { ...base, reason: `it is left out of the snapshot${failed === undefined ? '' : `: ${failed}`}` };
  }
  const before = earlier.find(({ manifest }) => manifest.marts[name] !== undefined);
  const stale = before?.manifest.marts[name];
  if (before === undefined || stale === undefined) return { ...base, reason: 'this is its first night' };
  const past = modellingOf(before.manifest).models.find((each) => each.name === name);
  if (past?.sql !== search.sql) return { ...base, reason: 'the search was changed since the night before' };
  const [after, then] = [
    filesRelation(now.folder, stored.files, false),
    filesRelation(before.folder, stale.files, false),
  ];
  const keys = key.map((column) => `mine.${identifier(column)}`).join(', ');
  // A key may have parts that are null.
  const without = (some: string, others: string): string =>
    `from ${some} as mine anti join ${others} as other on ${sameKey(key, 'mine', 'other')}`;
  const told = (relation: string) => rows(connection, `select * ${relation} order by ${keys} limit ${TOLD}`);
  const counted = (relation: string) => scalar(connection, `select count(*) ${relation}`);
  return {
    ...base,
    since: before.manifest.snapshot_id,
    reason: null,
    entered: await counted(without(after, then)),
    left: await counted(without(then, after)),
    entered_rows: await told(without(after, then)),
    left_rows: await withEnds(connection, now, await told(without(then, after))),
  };
}

/** Rows of lots with `became`: what the later snapshot knows of the lot. Other rows stay as they are. */
async function withEnds(
  connection: DuckDBConnection,
  { folder, manifest }: Side,
  left: readonly Row[],
): Promise<readonly Row[]> {
  const ids = left.flatMap(({ lot_id }) => (typeof lot_id === 'number' ? [lot_id] : []));
  const { lots } = manifest.tables;
  const { sales } = manifest.marts;
  if (ids.length === 0 || lots === undefined || sales === undefined) return left;
  const found = await rows(
    connection,
    `with prices as (
       select lot_id, max_by(format('{:,}', cast(round(price) as bigint)) || coalesce(' ' || currency, ''), attempt) as price
       from ${filesRelation(folder, sales.files, sales.partitioned)} where outcome = 'sold' and price is not null and lot_id in (${ids.join(', ')}) group by lot_id
     )
     select lot_id, case when status_id = 6 or price is not null then 'sold' || coalesce(' for ' || price, '') when archived then 'no longer listed' else replace(status_name, '_', ' ') end as became
     from ${filesRelation(folder, lots.files, lots.partitioned)} left join prices using (lot_id) where lot_id in (${ids.join(', ')})`,
  );
  const became = new Map(found.map((row) => [row.lot_id, row.became]));
  return left.map((row) => ({ ...row, became: became.get(row.lot_id) ?? 'gone' }));
}

/** One line about what a search found, such as `bargains: 3 new, 1 left, 12 match`. */
export function watchedText({ name, matches, reason, entered, left }: Watched): string {
  if (reason !== null) return `${name}: ${matches === null ? '' : `${matches} match; `}${reason}`;
  return `${name}: ${entered} new, ${left} left, ${matches} match`;
}

/** A matching lot in words, for a person: what the row has of a lot on offer, and all of other rows. */
export function matchText(row: Row): string {
  const { year, manufacturer_name, model_name, lot, domain_name, currency } = row;
  if (typeof lot !== 'string' && typeof lot !== 'number')
    return Object.entries(row)
      .slice(0, 8)
      .map(([name, value]) => `${name} ${wordOf(value)}`)
      .join(', ');
  const amount = (label: string, value: unknown): string =>
    typeof value === 'number'
      ? `${label} ${Math.round(value).toLocaleString('en')}${typeof currency === 'string' ? ` ${currency}` : ''}`
      : '';
  const interval =
    typeof row.low_80 === 'number' && typeof row.high_80 === 'number'
      ? ` (80 % from ${Math.round(row.low_80).toLocaleString('en')} to ${Math.round(row.high_80).toLocaleString('en')})`
      : '';
  const estimate = amount('estimate', row.estimate);
  return [
    [year, manufacturer_name, model_name].filter((part) => part !== null && part !== undefined).join(' '),
    `lot ${lot}${typeof domain_name === 'string' ? ` of ${domain_name}` : ''}`,
    row.sale_date instanceof Date
      ? `auction ${row.sale_date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
      : '',
    amount('bid', row.bid),
    amount('Buy Now', row.buy_now),
    estimate === '' ? '' : `${estimate}${interval}`,
    typeof row.sell_probability === 'number'
      ? `sells with a chance of ${Math.round(row.sell_probability * 100)} %`
      : '',
    typeof row.stands_out === 'string' ? row.stands_out : '',
    typeof row.became === 'string' ? `now ${row.became}` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** A value of any query. */
function wordOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (value instanceof Date)
    return value
      .toISOString()
      .replace('T', ' ')
      .replace(/\.\d+Z$/, ' UTC');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
