import { type ConfigInput, readConfig } from '../../config/config.js';
import { assertWritable } from '../../config/folder.js';
import { LotlakeError } from '../../config/lotlake-error.js';
import type { Answer } from '../../extract/client.js';
import { openClient, readJson } from '../../extract/client.js';
import { recordIn } from '../../extract/one-record.js';
import { vehicleCard } from '../../query/vehicle-card.js';
import type { Lookup } from '../../run/extract-lookups.js';
import { NotFoundError } from '../../service/errors/not-found-error.js';
import { requests } from '../../service/requests/registry.js';
import type { Effects } from '../effects.js';
import { createReporter } from '../reporter.js';
import { reportOn } from '../run-report.js';

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
  const asked = lookupOf(options);
  if (options.save) assertWritable('the output folder', config.output);
  const client = openClient(config);
  try {
    const read = async (answer: Answer) => recordIn(await readJson(answer), answer.request);
    const record = await client.get(asked.request.path, asked.request.query, read, effects.signal);
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
  const result = await saveLookup({ config, reporter, now: effects.now, signal: effects.signal }, asked);
  await reportOn(config, reporter);
  const said = result.published ? 'saved in' : 'nothing to save came; current is';
  effects.err(`${said} snapshot ${result.snapshotId}\n`);
}

/** The request of a lookup. Throws RequestLimitError for what no such request can ask for. */
export function lookupOf({ kind, id, domain }: Pick<LookupOptions, 'kind' | 'id' | 'domain'>): Lookup {
  const builder = {
    vin: requests.searchVin,
    car: requests.car,
    lot: requests.searchLot,
    listing: requests.listing,
  }[kind];
  const parameters = {
    vin: { vin: id },
    car: { car_id: /^\d+$/.test(id) ? Number(id) : id },
    lot: { lot: id, domain },
    listing: { listing_id: id, domain_id: domain },
  }[kind];
  return { name: `${kind}-${id}`, request: builder.from({ ...parameters, prices_history: true }) };
}
