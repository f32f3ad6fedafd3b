import { damagesOf } from '../../oracle-marts.js';
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

export function rows(night: WorldNight): MartRow[] {
  const { domain, manufacturer, model } = names(night);
  return [...damagesOf(night.world)].map(([key, values]): MartRow => {
    const [, main = '', second = '', group = ''] = /^(.*) \+ (.*) (\[.*\])$/.exec(key) ?? [];
    const [domainId, manufacturerId, modelId, currency] = JSON.parse(group);
    return {
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
    };
  });
}
