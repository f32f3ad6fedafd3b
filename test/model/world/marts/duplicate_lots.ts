import { currencyOf } from '../../oracle-currency.js';
import type { MartRow, WorldNight } from '../night.js';
import { asked } from '../reports.js';
import { cents } from '../statistics.js';

export function rows(night: WorldNight): MartRow[] {
  const originals = new Map<number, number>();
  for (const { duplicate_id, original_id } of night.duplicates) {
    if (duplicate_id === original_id) continue;
    originals.set(duplicate_id, Math.min(original_id, originals.get(duplicate_id) ?? original_id));
  }
  const byNumber = new Map(
    [...night.lots.values()]
      .filter(({ raw }) => raw.domain.id === 12)
      .sort((a, b) => a.raw.id - b.raw.id)
      .map((served) => [Number(served.raw.lot), served]),
  );
  return night.duplicates.map(({ duplicate_id, original_id }): MartRow => {
    const chain = duplicate_id === original_id ? null : chainOf(original_id, originals);
    const root = chain?.at(-1);
    const [own, other] = [byNumber.get(duplicate_id), byNumber.get(root ?? Number.NaN)];
    const currencies = new Set(
      [own, other].flatMap((served) => (served === undefined ? [] : currencyOf(served.lot))),
    );
    const currency = currencies.size === 1 ? ([...currencies][0] ?? null) : null;
    const isKnown = own !== undefined && other !== undefined;
    return {
      duplicate_id: String(duplicate_id),
      original_id: String(original_id),
      root_id: root === undefined ? null : String(root),
      hops: chain?.length ?? null,
      is_cycle: chain === null,
      duplicate_lot_id: own?.raw.id ?? null,
      duplicate_vehicle_id: own?.vehicle.id ?? null,
      root_lot_id: other?.raw.id ?? null,
      root_vehicle_id: other?.vehicle.id ?? null,
      is_same_vehicle: isKnown ? own.vehicle.id === other.vehicle.id : null,
      duplicate_active: own === undefined ? null : !own.lot.archived,
      root_active: other === undefined ? null : !other.lot.archived,
      currency,
      duplicate_asking: currency === null ? null : cents(asked(own)),
      root_asking: currency === null ? null : cents(asked(other)),
    };
  });
}

/** The lots from `start` along their originals to the root; null if they form a circle. */
function chainOf(start: number, originals: ReadonlyMap<number, number>): number[] | null {
  const chain = [start];
  for (let next = originals.get(start); next !== undefined; next = originals.get(next)) {
    if (chain.includes(next)) return null;
    chain.push(next);
  }
  return chain;
}
