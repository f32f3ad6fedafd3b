import type { OracleAttempt } from '../../oracle-attempts.js';
import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { brandOf } from './lot_breakdown.js';
import { attempts } from './sales.js';

const DAY = 86_400_000;

/** The ages, in days, at which a lot was watched, and whether it was sold or left at the last of them. */
export interface Life {
  readonly first: number;
  readonly last: number;
  readonly end: 'sold' | 'left' | 'open';
}

const day = (instant: number): number => Math.floor(instant / DAY);

/** Whole days (UTC) between two instants; empty if one is unknown or they are in the wrong order. */
export function daysBetween(from: number | null, to: number | null): number[] {
  if (from === null || to === null) return [];
  const days = day(to) - day(from);
  return days < 0 ? [] : [days];
}

export const createdAt = ({ raw }: LotOfNight): number | null => instantOf(raw.created_at);

/** When each lot left: the lake knows it for some lots from the feed and for others from the archive feed. */
export async function leavings(night: WorldNight): Promise<ReadonlyMap<number, number | null>> {
  const rows = await night.rows('lots');
  return new Map(rows.map((row) => [Number(row.lot_id), row.archived_at as number | null]));
}

/** The attempt that sold a lot, by lot. */
export const salesOf = (night: WorldNight) =>
  new Map(
    attempts(night)
      .filter(({ outcome }) => outcome === 'sold')
      .map((attempt) => [attempt.lot.id, attempt]),
  );

/** The span of a source that holds auctions. */
export const spanOf = ({ world }: WorldNight, source: number) =>
  world.spans.findLast(({ domain }) => domain === source && domain !== 12);

/** Says how a lot was watched; undefined if it was not. */
export async function watched(night: WorldNight): Promise<(served: LotOfNight) => Life | undefined> {
  const leftAt = await leavings(night);
  const sales = salesOf(night);
  return (served) => {
    const { lot } = served;
    const span = spanOf(night, lot.domain);
    const created = createdAt(served);
    if (span === undefined || created === null) return undefined;
    const left = lot.archived ? (leftAt.get(lot.id) ?? null) : null;
    const sold = sales.get(lot.id)?.saleDate;
    const wholeDays = { first: day(span.from) + 1, last: day(span.to) - 1 };
    const [ended, end] = sold === undefined ? ([left, 'left'] as const) : ([sold, 'sold'] as const);
    const isSeen = ended !== null && day(ended) <= wholeDays.last;
    const first = Math.max(0, wholeDays.first - day(created));
    const last = (isSeen ? day(ended) : wholeDays.last) - day(created);
    return last < first ? undefined : { first, last, end: isSeen ? end : 'open' };
  };
}

/** Says for which class of the estimate a lot counts. */
export async function bandsOf(night: WorldNight): Promise<(served: LotOfNight) => string> {
  const rows = await night.rows('price_estimates');
  const bands = new Map(rows.map((row) => [Number(row.lot_id), row.estimate_band as string | null]));
  return ({ lot }) => bands.get(lot.id) ?? 'unknown';
}

const makeOf = ({ vehicle }: LotOfNight): number | null => vehicle.manufacturer?.id ?? null;
const modelOf = ({ vehicle }: LotOfNight): number | null => vehicle.model?.id ?? null;

/** Lots that count together, with the part of the key that they have in common. */
export async function groupsOf(night: WorldNight) {
  const bandOf = await bandsOf(night);
  const nothing = { manufacturer_id: null, model_id: null, title_brand: null, estimate_band: null };
  const levels: readonly (readonly [string, (lot: LotOfNight) => Partial<MartRow>])[] = [
    ['source', () => ({})],
    ['make', (lot) => ({ manufacturer_id: makeOf(lot) })],
    ['model', (lot) => ({ manufacturer_id: makeOf(lot), model_id: modelOf(lot) })],
    ['title', ({ raw }) => ({ title_brand: brandOf(raw) })],
    ['estimate', (lot) => ({ estimate_band: bandOf(lot) })],
  ];
  return levels.flatMap(([level, keyOf]) => {
    const of = (served: LotOfNight) => ({
      ...{ level, domain_id: served.lot.domain },
      ...nothing,
      ...keyOf(served),
    });
    const groups = groupBy(night.lots.values(), (served) => JSON.stringify(of(served)));
    return [...groups].map(([key, lots]) => ({
      key: JSON.parse(key) as ReturnType<typeof of> & {
        manufacturer_id: number | null;
        model_id: number | null;
      },
      lots,
    }));
  });
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const leftAt = await leavings(night);
  const sales = salesOf(night);
  const watch = await watched(night);
  const bandOf = await bandsOf(night);
  const waySince = waysSince(night);
  return [...night.lots.values()].map((served) => {
    const { lot, raw } = served;
    const created = createdAt(served);
    const sale = sales.get(lot.id);
    const life = watch(served);
    const span = spanOf(night, lot.domain);
    const isOpen = !lot.archived && sale === undefined;
    const daysTo = (at: number | null): number | null => daysBetween(created, at)[0] ?? null;
    return {
      lot_id: lot.id,
      domain_id: lot.domain,
      manufacturer_id: makeOf(served),
      model_id: modelOf(served),
      title_brand: brandOf(raw),
      estimate_band: bandOf(served),
      observed_from: span?.from ?? null,
      observed_to: span?.to ?? null,
      first_age: life?.first ?? null,
      last_age: life?.last ?? null,
      watch_ended: life?.end ?? null,
      is_sold: sale !== undefined,
      is_open: isOpen,
      is_left: lot.archived,
      attempt: sale?.attempt ?? null,
      vehicle_attempt: sale?.vehicleAttempt ?? null,
      sale_days: sale === undefined ? null : daysTo(sale.saleDate),
      vehicle_days: sale === undefined ? null : (daysBetween(waySince(sale), sale.saleDate)[0] ?? null),
      open_days: isOpen ? daysTo(night.now) : null,
      left_days: lot.archived ? daysTo(leftAt.get(lot.id) ?? null) : null,
    };
  });
}

/** Says when the vehicle's way to a sale began: when the first of its lots on that way was put up. */
export function waysSince(night: WorldNight): (attempt: OracleAttempt) => number | null {
  const wayOf = ({ lot, round }: OracleAttempt): string => `${lot.vehicle} ${round}`;
  const firstLots = new Map<string, number>();
  for (const attempt of attempts(night)) {
    const served = night.lots.get(attempt.lot.id);
    const at = served === undefined ? null : createdAt(served);
    const way = wayOf(attempt);
    if (at !== null) firstLots.set(way, Math.min(at, firstLots.get(way) ?? at));
  }
  return (attempt) => firstLots.get(wayOf(attempt)) ?? null;
}
