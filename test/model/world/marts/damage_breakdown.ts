import { damagesOf } from '../../oracle-marts.js';
import { nearestEffects, varianceOf } from '../nearest-effects.js';
import type { MartRow, WorldNight } from '../night.js';
import { cents } from '../statistics.js';
import { names } from './sales.js';

/** Kinds of damage, with patterns for the names in the worlds. */
const GROUPS: readonly (readonly [string, RegExp])[] = [
  ['front', /^(front|front end|fe)$/i],
  ['rear', /^(rear|rear end|re)$/i],
  ['side', /\bside$/i],
  ['all_over', /^all over$/i],
  ['minor_dents', /^minor dent/i],
  ['normal_wear', /^normal wear$/i],
  ['hail', /^hail/i],
  ['water', /flood/i],
  ['burn', /^burn/i],
  ['mechanical', /^(mechanical|engine damage)$/i],
  ['underbody', /^(undercarriage|frame)$/i],
  ['rollover', /^rollover$/i],
  ['vandalism', /^(vandalism|theft|strip)$/i],
  ['unknown', /^unknown$/],
];
export const groupOf = (name: string): string =>
  GROUPS.find(([, names]) => names.test(name))?.[0] ?? 'unmapped';

const LEVELS = ['all', 'source', 'make', 'model'];
const NONE = {
  ...{ price_ratio_alike: null, price_ratio_alike_low: null, price_ratio_alike_high: null },
  ...{ ratio_level: null, ratio_own_weight: null },
};

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  const ratioOf = await ratiosAlike(night);
  return [...damagesOf(night.world)].map(([key, values]): MartRow => {
    const [, main = '', second = '', group = ''] = /^(.*) \+ (.*) (\[.*\])$/.exec(key) ?? [];
    const [level, domainId, manufacturerId, modelId, currency] = JSON.parse(group);
    const ids = [domainId, manufacturerId, modelId].slice(0, LEVELS.indexOf(level));
    return {
      level,
      damage_main: main,
      damage_main_group: groupOf(main),
      damage_second: second,
      damage_second_group: groupOf(second),
      domain_id: domainId,
      domain_name: domain.get(domainId) ?? null,
      manufacturer_id: manufacturerId,
      manufacturer_name: manufacturer.get(manufacturerId) ?? null,
      model_id: modelId,
      model_name: model.get(modelId) ?? null,
      currency,
      ...values,
      price_median: cents(values.price_median as number | null),
      ...ratioOf(ids, groupOf(main), groupOf(second)),
    };
  });
}

/** The ratio of a group's damages to sound lots that are alike: the main damage in the group, times the second damage. */
async function ratiosAlike(night: WorldNight) {
  const effectOf = await nearestEffects(night, 'damage_main_group');
  const seconds = new Map(
    (await night.rows('price_factors'))
      .filter(({ market, factor }) => market === 'auction' && factor === 'damage_second_group')
      .map((row) => [row.level, row]),
  );
  return (ids: readonly (number | null)[], main: string, second: string): Partial<MartRow> => {
    const factor = seconds.get(second);
    const effect = effectOf(ids, main);
    // Source 12 holds no auctions.
    if (ids[0] === 12 || factor === undefined || effect === undefined) return NONE;
    const ratio = Math.exp(effect.effect) * Number(factor.effect);
    const half = 1.96 * Math.sqrt(effect.variance + varianceOf(factor.effect_low, factor.effect_high));
    return {
      price_ratio_alike: ratio,
      price_ratio_alike_low: ratio * Math.exp(-half),
      price_ratio_alike_high: ratio * Math.exp(half),
      ratio_level: LEVELS[effect.depth] ?? null,
      ratio_own_weight: effect.ownWeight,
    };
  };
}
