import { trendsOf } from '../../oracle-marts.js';
import type { MartRow, WorldNight } from '../night.js';
import { cents, namesOf } from '../statistics.js';
import { names } from './sales.js';

export function rows(night: WorldNight): MartRow[] {
  const { domain, manufacturer, model } = names(night);
  const generation = namesOf(night.cars, (car) => car.generation);
  return [...trendsOf(night.world)].map(([key, values]): MartRow => {
    const month = key.slice(0, 10);
    const [domainId, manufacturerId, modelId, generationId, currency] = JSON.parse(key.slice(11));
    const amounts = Object.entries(values)
      .filter(([name]) => /^price_(m.*n|p\d+|median_3m)$/.test(name))
      .map(([name, value]) => [name, cents(value as number | null)]);
    return {
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
    };
  });
}
