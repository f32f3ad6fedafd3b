import { damages, titles } from '../../src/sandbox/data/market.js';
import type { World } from '../../src/sandbox/index.js';
import { computeMarts, type Given, openLake, type TestLake } from '../model/support.js';
import { type PlantedLot, plantedLots } from '../sandbox/planted.js';

/** A planted lot that was sold for a known price, with that sale. */
export interface PlantedSale {
  readonly lot: PlantedLot;
  readonly saleAt: Date;
  readonly price: number;
  readonly expected: number;
  readonly isBoughtNow: boolean;
}

const DAY = 86_400_000;
const names = new Map(damages.map(({ id, name }) => [id, name]));
const titleOf = new Map(titles.map((title) => [title.id, title]));

/** The sales of a planted world that have been known for a day or more. */
export function plantedSales(world: World): PlantedSale[] {
  return [...plantedLots(world)].flatMap((lot): PlantedSale[] => {
    const last = lot.attempts.at(-1);
    if (last === undefined || !last.sold || !lot.priced) return [];
    if (world.clock.getTime() - last.saleAt.getTime() < DAY) return [];
    const { saleAt, bid: price, expected, isBoughtNow } = last;
    return [{ lot, saleAt, price, expected, isBoughtNow }];
  });
}

/** The group in which the marts compare a sale: source, model and model year. */
export const modelYearOf = ({ lot: { modelId, facts } }: PlantedSale): string =>
  `${facts.domain} ${modelId} ${facts.year}`;

/** The mean of some values, weighted if weights are given. */
export function mean(values: readonly number[], weights: readonly number[] = values.map(() => 1)): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return values.reduce((sum, value, place) => sum + value * (weights[place] ?? 0), 0) / total;
}

/**
 * The marts of a lake whose lots are these sales. It takes much less time than a night, so the world can be large.
 * @param minimumGroup least number of prices for a median
 * @param marts the marts to compute
 */
export async function plantedLake(
  world: World,
  sales: readonly PlantedSale[],
  minimumGroup: number,
  ...marts: readonly string[]
): Promise<TestLake> {
  const lake = await openLake();
  const started_at = world.clock.toISOString();
  const vehicles = new Map(
    sales.map(({ lot: { vehicleId, modelId, facts } }): [number, Given] => [
      vehicleId,
      { vehicle_id: vehicleId, manufacturer_id: 1, model_id: modelId, year: facts.year },
    ]),
  );
  const lots = sales.map(
    ({ lot, saleAt, price, isBoughtNow }): Given => ({
      lot_id: lot.lotId,
      vehicle_id: lot.vehicleId,
      domain_id: lot.facts.domain,
      status_id: 6,
      sale_date: saleAt.toISOString(),
      final_bid: price,
      buy_now: isBoughtNow ? price : 0,
      // If no damage is planted, the record says that the lot is undamaged. Its amounts are dollars, as in the USA.
      damage_main_name: names.get(lot.facts.damage ?? 0) ?? 'None',
      damage_second_name: 'None',
      title_name: titleOf.get(lot.facts.title ?? 0)?.name ?? null,
      detailed_title_name: titleOf.get(lot.facts.title ?? 0)?.detailed.name ?? null,
      location_country_iso: 'us',
      odometer_km: lot.facts.km,
      archived: false,
    }),
  );
  const tables = {
    runs: [{ run_id: 'r', started_at, minimum_group: minimumGroup }],
    passes: [{ pass_id: 'p', stream: 'cars', state: 'sealed', started_at }],
    vehicles: [...vehicles.values()],
    lots,
  };
  await computeMarts(lake, tables, ...marts);
  return lake;
}
