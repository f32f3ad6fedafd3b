import type { MartRow, WorldNight } from '../night.js';
import { names } from './sales.js';

/** What the night was told; how spans come from passes is tested in observed.test.ts. */
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
