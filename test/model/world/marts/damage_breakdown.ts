import { damagesOf } from '../../oracle-marts.js';
import type { MartRow, WorldNight } from '../night.js';
import { cents } from '../statistics.js';
import { names } from './sales.js';

export function rows(night: WorldNight): MartRow[] {
  const { domain, manufacturer, model } = names(night);
  return [...damagesOf(night.world)].map(([key, values]): MartRow => {
    const [, main = '', second = '', group = ''] = /^(.*) \+ (.*) (\[.*\])$/.exec(key) ?? [];
    const [domainId, manufacturerId, modelId, currency] = JSON.parse(group);
    return {
      damage_main: main,
      damage_second: second,
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
