/** The tables of costs of a night, and its lots and markets as costs ask for them, for the oracles. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Car, CostRow } from '../costs/oracle.js';
import { names } from './marts/sales.js';
import { COSTS, type MartRow, type WorldNight } from './night.js';
import { groupBy } from './statistics.js';

/** The tables of costs in the order in which the mart has them. */
const TABLES = [
  ...['destinations', 'buyer_fees', 'charges', 'inland', 'ocean'],
  ...['sizes', 'taxes', 'exchange', 'targets', 'repairs'],
];

/** The rows of the tables of costs; no cell of these files has a comma but for notes, which are quoted. */
export const costRows = (): CostRow[] =>
  TABLES.flatMap((table) => {
    const [header = '', ...lines] = readFileSync(join(COSTS, `${table}.csv`), 'utf8')
      .trim()
      .split('\n');
    const columns = header.split(',');
    return lines.map((line, i) => {
      const [cells = '', note = ''] = line.split(',"');
      const texts = [...cells.split(','), note.replace(/"$/, '')];
      return {
        table,
        line: i + 2,
        values: Object.fromEntries(columns.map((column, at) => [column, texts[at] ?? ''])),
      };
    });
  });

type Named = { readonly name?: string } | null | undefined;

const plain = (name: string | null | undefined): string | null => name?.trim().toLowerCase() || null;

const cm3Of = (engine: Named): number | null => {
  const [, litres] = /(\d{1,2}[.,]\d) ?l/.exec(engine?.name?.toLowerCase() ?? '') ?? [];
  return litres === undefined ? null : Math.round(1000 * Number(litres.replace(',', '.')));
};

/** Rows of a mart by lot; other tests check what they hold. */
async function byLot(night: WorldNight, mart: string): Promise<ReadonlyMap<number, MartRow>> {
  return new Map((await night.rows(mart)).map((row) => [Number(row.lot_id), row]));
}

/** What a lot is likely to go for: as it is asked; at an auction at the estimate or a higher bid, or at a lower Buy Now price. */
function likelyOf({ market, bid, buy_now, estimate }: MartRow): number | null {
  if (market === 'asking') return buy_now === null ? null : Number(buy_now);
  const brings = [estimate, bid].filter((amount) => amount !== null).map(Number);
  const isOpen = buy_now !== null && Number(buy_now) > Number(bid ?? 0);
  const all = [...(brings.length > 0 ? [Math.max(...brings)] : []), ...(isOpen ? [Number(buy_now)] : [])];
  return all.length > 0 ? Math.min(...all) : null;
}

/** The lots on offer as the tables of costs ask for them, with their prices: the likely one, estimate, ends and Buy Now. */
export async function costedLots(night: WorldNight) {
  const [offers, groups, given] = await Promise.all([
    night.rows('lots_on_offer'),
    byLot(night, 'lot_groups'),
    byLot(night, 'landed_costs'),
  ]);
  const { manufacturer, model } = names(night);
  return offers.map((row) => {
    const id = Number(row.lot_id);
    const lot = night.lots.get(id);
    if (lot === undefined) throw new TypeError(`no lot ${id}`);
    const { raw, vehicle } = lot;
    const other = vehicle as typeof vehicle & { readonly vehicle_type?: Named };
    const group = groups.get(id);
    const { location } = raw as { readonly location?: { readonly postal_code?: string | null } };
    const car: Car = {
      source: Number(row.domain_id),
      sourceName: String(row.domain_name),
      // The currency of the lot shows only with an amount in lots_on_offer.
      currency: (given.get(id)?.lot_currency ?? null) as string | null,
      title: String(group?.title_brand),
      branch: plain(raw.selling_branch?.name),
      postal: plain(location?.postal_code),
      state: group?.state_code === 'unknown' ? null : String(group?.state_code),
      vehicleType: plain(other.vehicle_type?.name),
      bodyType: plain(other.body_type?.name),
      fuel: plain(other.fuel?.name),
      cm3: cm3Of(other.engine),
      year: vehicle.year ?? null,
      make: manufacturer.get(vehicle.manufacturer?.id ?? -1) ?? null,
      model: model.get(vehicle.model?.id ?? -1) ?? null,
    };
    const prices = [likelyOf(row), row.estimate, row.low_80, row.high_80, row.buy_now].map(
      (price) => price ?? null,
    );
    return { id, row, car, country: String(group?.country_code), modelId: vehicle.model?.id ?? null, prices };
  });
}

export const centsOf = (amount: unknown): bigint => BigInt(Math.round(Number(amount) * 100));
export const unitsOf = (cents: bigint): number => Number(cents) / 100;
const YEAR = 365 * 86_400_000;

/** What the cars of a model and year bring in a market. */
interface MarketPrice {
  readonly source: number;
  readonly country: string;
  readonly modelId: number;
  readonly year: number;
  readonly currency: string;
  readonly prices: number;
  readonly median: number;
  readonly p10: number;
  readonly p90: number;
}

/** A quantile between the two values next to it. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const [low, high] = [sorted[Math.floor(place)] ?? 0, sorted[Math.ceil(place)] ?? 0];
  return low + (high - low) * (place - Math.floor(place));
}

export const money = (amount: number): number => Math.round(amount * 100) / 100;

/** Prices by source, country, model and year, of the last year. */
export async function marketPrices(night: WorldNight): Promise<ReadonlyMap<string, MarketPrice>> {
  const doubted = new Set((await night.rows('price_doubts')).map(({ lot_id }) => lot_id));
  const priced = (await night.rows('price_inputs')).filter(
    (row) =>
      row.price !== null &&
      !doubted.has(row.lot_id ?? null) &&
      row.country !== 'unknown' &&
      row.model_id !== null &&
      row.year !== null &&
      Number(row.priced_at) > night.now - YEAR,
  );
  const keyOf = (row: MartRow): string => [row.domain_id, row.country, row.model_id, row.year].join(' ');
  return new Map(
    [...groupBy(priced, keyOf)].flatMap(([key, group]) => {
      const [row] = group;
      const prices = group.map(({ price }) => Number(price));
      if (row === undefined || prices.length < night.minimumGroup) return [];
      const market = {
        source: Number(row.domain_id),
        country: String(row.country),
        modelId: Number(row.model_id),
        year: Number(row.year),
        currency: String(row.currency),
        prices: prices.length,
        median: money(quantile(prices, 0.5)),
        p10: money(quantile(prices, 0.1)),
        p90: money(quantile(prices, 0.9)),
      };
      return [[key, market] as const];
    }),
  );
}
