/** One night of a sandbox with all its marts, and the records that the service served for it. */
import { join } from 'node:path';
import { nightly } from '../../../pipelines/nightly.js';
import { packageRoot } from '../../../src/base/config/package-root.js';
import { readChecks } from '../../../src/core/model/checks.js';
import { type Model, readLayer, readModels } from '../../../src/core/model/model-files.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../../pipelines/support.js';
import {
  type ArchivedLotRecord,
  type Dated,
  type DuplicateRecord,
  type LotRecord,
  need,
  type PriceRecord,
  type StatisticRecord,
  type VehicleRecord,
} from '../../served.js';
import type { OracleLot, OracleWorld } from '../oracle-attempts.js';
import { type BelievedCar, believedVehicles } from './believed.js';
import { toldVehicles, type VehicleFacts } from './told-vehicles.js';

/** A row of a mart as it is compared: instants in milliseconds, days as text, integers as numbers. */
export type MartRow = Readonly<Record<string, string | number | boolean | null>>;

/** A lot of a night, with what the models believe of the vehicle that it came in. */
export interface LotOfNight {
  readonly raw: LotRecord;
  readonly vehicle: BelievedCar;
  /** The same lot in the form of the oracle of attempts. */
  readonly lot: OracleLot;
}

/** What the service served, and the marts that were computed from it. */
export interface WorldNight {
  readonly sandbox: Sandbox;
  /** Start of the run and of its pass over the feed, milliseconds. */
  readonly now: number;
  readonly pass: number;
  readonly minimumGroup: number;
  /** All records of `/cars` with their price histories, and of the other lists. */
  readonly cars: readonly VehicleRecord[];
  readonly archivedLots: readonly ArchivedLotRecord[];
  readonly statistics: readonly StatisticRecord[];
  readonly duplicates: readonly DuplicateRecord[];
  /** Facts of vehicles by id: from `cars`, and from the VINs of archived lots. */
  readonly vehicles: ReadonlyMap<number, VehicleFacts>;
  /** Every lot of `cars` by id. */
  readonly lots: ReadonlyMap<number, LotOfNight>;
  /** The night in the form of the oracle of attempts. */
  readonly world: OracleWorld;
  /** All rows of a mart, view or table, read from the warehouse by a bare DuckDB. */
  rows(table: string): Promise<MartRow[]>;
  close(): Promise<void>;
}

const DAY = 86_400_000;

/** The tables of costs of the night. */
export const COSTS: string = join(packageRoot, 'site', 'costs');

/**
 * Days for which the sources count as observed: a whole month and parts of others. One night alone would show no
 * auction.
 */
const OBSERVED_DAYS = 70;

/** The models, with sources observed from an instant until the pass of the night. */
function observedSince(from: number): Model[] {
  const sql = `
    select domain_id, max(trim(domain_name)) as domain_name, 1 as span,
      cast('${new Date(from).toISOString()}' as timestamptz) as observed_from,
      (select max(started_at) from passes where stream = 'cars') as observed_to
    from lots group by domain_id`;
  return readModels().map((model) => (model.name === 'observed_spans' ? { ...model, sql } : model));
}

/** Makes the lake of one night of a world with so many vehicles. Its statistics need at least `minimumGroup` values. */
export async function worldNight(vehicles: number, minimumGroup: number): Promise<WorldNight> {
  const sandbox = await startSandbox({ vehicles, faults: WITHOUT_CATALOG });
  const folder = temporaryFolder();
  const examples = readLayer('examples').map(({ name }) => name);
  const config = configFor(sandbox.url, folder.path, {
    threads: 2,
    memory: '1GB',
    minimumGroup,
    examples,
    costs: COSTS,
  });
  const clock = sandbox.clock;
  const from = clock.getTime() - OBSERVED_DAYS * DAY;
  const modelling = { models: observedSince(from), checks: readChecks() };
  await nightly({ config, reporter: silentReporter(), now: () => clock, modelling });
  const duck = await bareDuckDb();
  await duck.query(
    `attach '${join(folder.path, 'lake', 'current', 'warehouse.duckdb')}' as lake (read_only)`,
  );
  const rows = async (table: string): Promise<MartRow[]> => {
    const columns = await duck.query(`describe lake.${table}`);
    const select = columns.map(({ column_name, column_type }) =>
      column_type === 'TIMESTAMP WITH TIME ZONE'
        ? `epoch_ms("${column_name}") as "${column_name}"`
        : `"${column_name}"`,
    );
    return (await duck.query(`select ${select.join(', ')} from lake.${table}`)) as MartRow[];
  };
  const [cars, archivedLots, statistics, duplicates] = await Promise.all([
    listOf<VehicleRecord>(sandbox, '/cars?prices_history=1&per_page=1000'),
    listOf<ArchivedLotRecord>(sandbox, '/archived-lots?per_page=1000'),
    listOf<StatisticRecord>(sandbox, '/statistics?per_page=500'),
    listOf<DuplicateRecord>(sandbox, '/korea-duplicates?per_page=5000'),
  ]);
  const estimates = await rows('price_estimates');
  const pass = Number((await rows('passes')).find(({ stream }) => stream === 'cars')?.started_at);
  const believed = believedVehicles(cars, await rows('manufacturer_codes'), clock.getTime());
  // The feed does not say whether and when a lot left, so this comes from the lake.
  const known = new Map((await rows('lots')).map((row) => [Number(row.lot_id), row]));
  const lots = new Map<number, LotOfNight>();
  for (const vehicle of cars) {
    for (const raw of vehicle.lots) {
      const own = known.get(raw.id);
      const lot = { ...readLot(raw, vehicle.id), archived: own?.archived === true };
      lots.set(raw.id, {
        raw,
        vehicle: need(believed.get(vehicle.id), `the vehicle ${vehicle.id}`),
        lot: { ...lot, lastSeen: own?.archived === true ? numberOf(own.last_seen_at) : pass },
      });
    }
  }
  const served = [...lots.values()];
  const knownVehicles = new Map<number, VehicleFacts>([
    ...toldVehicles([...believed.values()], archivedLots),
    ...believed,
  ]);
  return {
    sandbox,
    now: clock.getTime(),
    pass,
    minimumGroup: config.minimumGroup,
    cars,
    archivedLots,
    statistics,
    duplicates,
    vehicles: knownVehicles,
    lots,
    world: {
      now: clock.getTime(),
      least: config.minimumGroup,
      relistingDays: config.relistingDays,
      spans: [...new Set(served.map(({ lot }) => lot.domain))].map((domain) => ({ domain, from, to: pass })),
      // The model of prices has tests of its own, so its estimates are given.
      estimates: new Map(
        estimates.flatMap(({ lot_id, is_currency_known, estimate, is_left_out }) =>
          is_currency_known === true && estimate !== null
            ? [[Number(lot_id), { estimate: Number(estimate), isLeftOut: is_left_out === true }] as const]
            : [],
        ),
      ),
      lots: served.map(({ lot }) => lot),
      prices: served.flatMap(({ raw }) => (raw.prices ?? []).map(readPrice)),
      archivings: archivedLots.map(readArchiving),
      vehicles: [...knownVehicles].map(([id, { manufacturer, model, generation }]) => ({
        id,
        manufacturer: manufacturer?.id ?? null,
        model: model?.id ?? null,
        generation: generation?.id ?? null,
      })),
    },
    rows,
    close: async () => {
      duck.close();
      await sandbox.close();
      folder.remove();
    },
  };
}

/** All records of a list, fetched along `links.next`. */
async function listOf<Served>(sandbox: Sandbox, path: string): Promise<Served[]> {
  const records: Served[] = [];
  for (let page = 1; ; page += 1) {
    const answer = await fetch(`${sandbox.url}${path}&page=${page}`, {
      headers: { 'x-api-key': sandbox.apiKey },
    });
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
    const body: { data: Served[]; links: { next: string | null } } = JSON.parse(await answer.text());
    records.push(...body.data);
    if (body.links.next === null || body.data.length === 0) return records;
  }
}

/**
 * Milliseconds of an instant in any form of the service. A day, month or year means its start. A time after a space is
 * UTC.
 */
export function instantOf(text: string | null | undefined): number | null {
  if (text === null || text === undefined) return null;
  return Date.parse(/T|^[\d-]+$/.test(text) ? text : `${text.replace(' ', 'T')}Z`);
}

const numberOf = (value: unknown): number | null => (typeof value === 'number' ? value : null);

function readLot(raw: LotRecord, vehicle: number): OracleLot {
  return {
    id: raw.id,
    vehicle,
    domain: raw.domain.id,
    country: raw.location.country.iso ?? null,
    status: raw.status.id,
    saleDate: instantOf(raw.sale_date),
    finalBid: raw.final_bid ?? null,
    finalBidAt: instantOf(raw.final_bid_updated_at),
    buyNow: raw.buy_now ?? null,
    archived: false,
    lastSeen: null,
    main: raw.damage?.main?.name ?? null,
    second: raw.damage?.second?.name ?? null,
    km: kilometresOf(raw),
    repair: raw.estimate_repair_price ?? null,
    before: raw.pre_accident_price ?? null,
  };
}

/** Kilometres of a lot if its reading is a possible distance (docs/ask/marts.md), else null. */
function kilometresOf({ odometer, location }: LotRecord): number | null {
  if (odometer === null) return null;
  const { km, mi, status } = odometer;
  const isPossible = km > 0 && km <= 2_000_000 && !(mi > 1_250_000) && !(mi < 0);
  const isCanadian = location.country.iso?.toLowerCase() === 'ca' && mi != null;
  return isPossible && !isCanadian && [1, 3].includes(status?.id ?? 1) ? km : null;
}

const readPrice = (raw: PriceRecord): OracleWorld['prices'][number] => ({
  id: raw.id,
  lot: need(raw.lot_id, `the lot of price ${raw.id}`),
  status: raw.status.id,
  saleDate: instantOf(raw.sale_date),
  bid: raw.bid ?? null,
  bidAt: instantOf(raw.final_bid_updated_at),
  buyNow: raw.buy_now_price ?? null,
  gone: null,
});

/** A value of an archived lot, from either form of the record. */
const plainOf = <Value extends number | string>(member: Dated<Value> | undefined): Value | null =>
  typeof member === 'object' && member !== null ? member.value : (member ?? null);

function readArchiving(raw: ArchivedLotRecord): OracleWorld['archivings'][number] {
  return {
    lot: raw.lot_id,
    vehicle: raw.car_id,
    domain: raw.domain.id,
    at: instantOf(raw.archived_at) ?? 0,
    status: raw.status.id,
    saleDate: instantOf(plainOf(raw.sale_date)),
    finalBid: plainOf(raw.final_bid),
    finalBidAt: instantOf(
      typeof raw.final_bid === 'object' && raw.final_bid !== null
        ? raw.final_bid.updated_at
        : raw.final_bid_updated_at,
    ),
    buyNow: plainOf(raw.buy_now),
  };
}
