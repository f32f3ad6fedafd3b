import type { MartRow, WorldNight } from '../night.js';
import { names } from './sales.js';

/** The spans that the night was given; observed.test.ts tests how spans follow from passes. */
export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  return night.world.spans.map(({ domain: id, from, to }) => ({
    domain_id: id,
    domain_name: domain.get(id) ?? null,
    span: 1,
    observed_from: from,
    observed_to: to,
  }));
}
