import { trendsOf } from '../../oracle-marts.js';
import { nearestEffects, varianceOf } from '../nearest-effects.js';
import type { MartRow, WorldNight } from '../night.js';
import { cents, namesOf } from '../statistics.js';
import { names } from './sales.js';

const LEVELS = ['all', 'source', 'make', 'model', 'generation'];

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  const generation = namesOf(night.cars, (car) => car.generation);
  const indexOf = await indexes(night);
  return [...trendsOf(night.world)].map(([key, values]): MartRow => {
    const month = key.slice(0, 10);
    const [level, domainId, manufacturerId, modelId, generationId, currency] = JSON.parse(key.slice(11));
    const amounts = Object.entries(values)
      .filter(([name]) => /^price_(m.*n|p\d+|median_3m)$/.test(name))
      .map(([name, value]) => [name, cents(value as number | null)]);
    const ids = [domainId, manufacturerId, modelId, generationId].slice(0, LEVELS.indexOf(level));
    return {
      level,
      sale_month: month,
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      manufacturer_id: manufacturerId,
      manufacturer_name: manufacturer.get(manufacturerId) ?? null,
      model_id: modelId,
      model_name: model.get(modelId) ?? null,
      generation_id: generationId,
      generation_name: generation.get(generationId) ?? null,
      currency,
      ...values,
      ...Object.fromEntries(amounts),
      ...indexOf(ids, month),
    };
  });
}

const NONE = {
  ...{ price_index: null, price_index_low: null, price_index_high: null },
  ...{ price_index_change: null, price_index_change_low: null, price_index_change_high: null },
  ...{ index_level: null, index_own_weight: null },
};

/** The index of a group in a month. All auctions of the world with a known currency are in one, so it is that of all rows. */
async function indexes(night: WorldNight) {
  const effectOf = await nearestEffects(night, 'month');
  const market = new Map(
    (await night.rows('price_index'))
      .filter(({ market, segment }) => market === 'auction' && segment === 'all')
      .map((row) => [row.priced_month, row]),
  );
  /** What a group has beside the level all. */
  const beside = (ids: readonly (number | null)[], month: string) => {
    const [own, all] = [effectOf(ids, month.slice(0, 7)), effectOf([], month.slice(0, 7))];
    if (own === undefined || all === undefined) return undefined;
    return { ...own, effect: own.effect - all.effect, variance: own.variance - all.variance };
  };
  return (ids: readonly (number | null)[], month: string): Partial<MartRow> => {
    const row = market.get(month);
    const own = beside(ids, month);
    if (row === undefined || own === undefined || row.index === null) return NONE;
    const index = interval(
      Math.log(Number(row.index)) + own.effect,
      varianceOf(row.index_low, row.index_high) + own.variance,
    );
    const before = beside(ids, monthBefore(month));
    const change =
      row.index_change === null || before === undefined
        ? undefined
        : interval(
            Math.log(1 + Number(row.index_change)) + own.effect - before.effect,
            varianceOf(1 + Number(row.index_change_low), 1 + Number(row.index_change_high)) +
              own.variance +
              before.variance,
          );
    return {
      price_index: index.middle,
      price_index_low: index.low,
      price_index_high: index.high,
      price_index_change: change === undefined ? null : change.middle - 1,
      price_index_change_low: change === undefined ? null : change.low - 1,
      price_index_change_high: change === undefined ? null : change.high - 1,
      index_level: LEVELS[own.depth] ?? null,
      index_own_weight: own.ownWeight,
    };
  };
}

/** A value and its 95 % interval, from a logarithm with its variance. */
const interval = (log: number, variance: number) => ({
  middle: Math.exp(log),
  low: Math.exp(log - 1.96 * Math.sqrt(variance)),
  high: Math.exp(log + 1.96 * Math.sqrt(variance)),
});

function monthBefore(month: string): string {
  const at = new Date(month);
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1)).toISOString().slice(0, 10);
}
