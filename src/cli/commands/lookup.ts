import type { Lookup } from '../../../pipelines/extract-lookups.js';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { ConfigError } from '../../config/config-error.js';
import { LotlakeError } from '../../config/lotlake-error.js';
import { openClient, readJson } from '../../extract/open-client.js';
import { enumerations } from '../../service/contract/enumerations.js';
import { NotFoundError } from '../../service/errors/not-found-error.js';
import { vehicleCard } from '../../share/vehicle-card.js';
import type { Effects } from '../effects.js';
import { createReporter } from '../reporter.js';

/** Options of `lotlake lookup`. */
export interface LookupOptions {
  readonly kind: 'vin' | 'lot' | 'car' | 'listing';
  readonly id: string;
  readonly domain?: number | undefined;
  readonly save: boolean;
  readonly json: boolean;
  readonly config: ConfigInput;
}

/** Nothing is known to the service under the name that was asked for. */
class NothingFoundError extends LotlakeError {
  override readonly name = 'NothingFoundError';
  constructor(what: string, cause: unknown) {
    super(`the service knows no ${what}`, {
      code: 'SHARE_NOTHING_FOUND',
      stage: 'share',
      cause,
      hint: 'archived vehicles stay readable for about a month; older ones may be in the lake',
    });
  }
}

/** Prints one vehicle as the service has it now. */
export async function lookup(options: LookupOptions, effects: Effects): Promise<void> {
  const config = readConfig(options.config, effects);
  const request = requestOf(options);
  const client = openClient(config);
  try {
    const body = await client.get(request.path, request.query, readJson, effects.signal);
    const record: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, 'data') : undefined;
    effects.out(options.json ? `${JSON.stringify(record)}\n` : vehicleCard(record));
  } catch (error) {
    if (!(error instanceof NotFoundError)) throw error;
    throw new NothingFoundError(`${options.kind} ${options.id}`, error);
  } finally {
    await client.close();
  }
  if (!options.save) return;
  const { saveLookup } = await import('../../../pipelines/lookup.js');
  const reporter = createReporter(effects, { json: options.json, log: config.log });
  const result = await saveLookup({ config, reporter, now: effects.now, signal: effects.signal }, request);
  effects.err(`saved in snapshot ${result.snapshotId}\n`);
}

/** The request of a lookup. Throws ConfigError for a source that there is not. */
export function requestOf(options: Pick<LookupOptions, 'kind' | 'id' | 'domain'>): Lookup {
  const id = encodeURIComponent(options.id);
  const name = `${options.kind}-${options.id}`;
  if (options.kind === 'vin') return { name, path: `/search-vin/${id}`, query: { prices_history: 1 } };
  if (options.kind === 'car') return { name, path: `/cars/${id}`, query: {} };
  if (options.kind === 'lot') {
    const source = options.domain === undefined ? '' : `/${sourceName(options.domain)}`;
    return { name, path: `/search-lot/${id}${source}`, query: { prices_history: 1 } };
  }
  if (options.domain === undefined)
    throw new ConfigError('a listing needs its source', 'lotlake lookup listing <listing id> <1, 3 or 12>');
  sourceName(options.domain);
  return { name, path: `/listing/${options.domain}/${id}`, query: {} };
}

function sourceName(domain: number): string {
  const known: Readonly<Record<number, string>> = enumerations.domain;
  const name = known[domain];
  if (name === undefined)
    throw new ConfigError(`there is no source ${domain}`, `sources: ${Object.keys(known).join(', ')}`);
  return name;
}
