import type { Named, StatisticRecord } from '../../../served.js';
import { currencyOf } from '../../oracle-currency.js';
import { instantOf, type MartRow, type WorldNight } from '../night.js';
import { cents, groupBy } from '../statistics.js';
import type { VehicleFacts } from '../told-vehicles.js';
import { attempts } from './sales.js';

const groupOf = (
  domain: number | null,
  vehicle: VehicleFacts | StatisticRecord,
  model: Named | null | undefined,
): string =>
  JSON.stringify([
    domain,
    vehicle.manufacturer?.id ?? null,
    model?.id ?? null,
    vehicle.generation?.id ?? null,
    vehicle.year ?? null,
    vehicle.vehicle_type?.id ?? null,
  ]);

/** Each record of the service, with the trusted prices of its group in one known currency up to its time. */
export function rows(night: WorldNight): MartRow[] {
  // The service counts by its own ids and years, not by what the models believe.
  const served = new Map(night.cars.map((car): [number, VehicleFacts] => [car.id, car]));
  const priced = attempts(night).flatMap(({ lot, price, saleDate }) => {
    const vehicle = served.get(lot.vehicle) ?? night.vehicles.get(lot.vehicle);
    const currency = currencyOf(lot);
    return price === null || currency === null || vehicle === undefined
      ? []
      : [{ domain: lot.domain, vehicle, price, currency, saleDate }];
  });
  const groups = groupBy(priced, ({ domain, vehicle }) => groupOf(domain, vehicle, vehicle.model));
  return night.statistics.map((record): MartRow => {
    const until = instantOf(record.calculated_at) ?? Number.POSITIVE_INFINITY;
    const engine = record.engine?.id ?? null;
    const own = (groups.get(groupOf(record.domain?.id ?? null, record, record.car_model)) ?? [])
      .filter(({ saleDate }) => saleDate <= until)
      .filter(({ vehicle }) => engine === null || vehicle.engine?.id === engine);
    const currencies = new Set(own.map(({ currency }) => currency));
    const currency = currencies.size === 1 ? ([...currencies][0] ?? null) : null;
    const prices = currency === null ? [] : own.map(({ price }) => price);
    const isEnough = prices.length >= night.minimumGroup;
    const mean = isEnough ? prices.reduce((sum, price) => sum + price, 0) / prices.length : null;
    const { avg_final_bid: avg = null, min_final_bid: min = null, max_final_bid: max = null } = record;
    return {
      statistic_id: record.id,
      domain_id: record.domain?.id ?? null,
      domain_name: record.domain?.name?.trim() ?? null,
      manufacturer_id: record.manufacturer?.id ?? null,
      manufacturer_name: record.manufacturer?.name?.trim() ?? null,
      model_id: record.car_model?.id ?? null,
      model_name: record.car_model?.name?.trim() ?? null,
      generation_id: record.generation?.id ?? null,
      generation_name: record.generation?.name?.trim() ?? null,
      year: record.year ?? null,
      vehicle_type_id: record.vehicle_type?.id ?? null,
      engine_id: engine,
      calculated_at: instantOf(record.calculated_at),
      currency,
      service_lots: record.lot_count ?? null,
      service_avg: avg,
      service_min: min,
      service_max: max,
      lots: prices.length,
      price_avg: cents(mean),
      price_min: isEnough ? cents(Math.min(...prices)) : null,
      price_max: isEnough ? cents(Math.max(...prices)) : null,
      avg_difference: mean === null || avg === null ? null : cents(mean - avg),
      avg_difference_share: mean === null || avg === null || !(avg > 0) ? null : mean / avg - 1,
      is_within: mean === null || min === null || max === null ? null : min <= mean && mean <= max,
    };
  });
}
