import type { z } from 'zod';
import { assertWritable } from '../../config/folder.js';
import { LotlakeError } from '../../config/lotlake-error.js';
import type { Answer } from '../../extract/client.js';
import { openClient, readJson } from '../../extract/client.js';
import { recordIn } from '../../extract/one-record.js';
import { printable } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import type { Lookup } from '../../run/extract-lookups.js';
import { vehicleSchema } from '../../service/contract/vehicle.js';
import { NotFoundError } from '../../service/errors.js';
import { requests } from '../../service/requests.js';
import { command } from '../command.js';
import { wholeNumber } from '../option-values.js';
import { createReporter, reportOn } from '../reporter.js';

/** The service knows nothing under the name that was asked for. */
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
export const lookup = command({
  options: {
    kind: { choices: ['vin', 'lot', 'car', 'listing'], demandOption: true },
    id: { type: 'string', demandOption: true, describe: 'VIN, lot number, vehicle id or listing id' },
    domain: { type: 'string', describe: 'source (1, 3 or 12); needed for listing' },
    save: { type: 'boolean', default: false, describe: 'add what comes to the lake' },
  },
  async run({ kind, id, domain: source, save, json, print, config }, effects) {
    const domain = source === undefined ? undefined : wholeNumber('the source', source, 1, 999);
    const asked = lookupOf({ kind, id, domain });
    if (save) assertWritable('the output folder', config.output);
    const client = openClient(config);
    try {
      const read = async (answer: Answer) => recordIn(await readJson(answer), answer.request);
      const record = await client.get(asked.request.path, asked.request.query, read, effects.signal);
      print(record, () => vehicleCard(record));
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      throw new NothingFoundError(`${kind} ${id}`, error);
    } finally {
      await client.close();
    }
    if (!save) return;
    const { saveLookup } = await import('../../../pipelines/lookup.js');
    const reporter = createReporter(effects, { json, log: config.log });
    const result = await saveLookup({ config, reporter, now: effects.now, signal: effects.signal }, asked);
    await reportOn(config, reporter);
    const said = result.published ? 'saved in' : 'nothing to save came; current is';
    effects.err(`${said} snapshot ${result.snapshotId}\n`);
  },
});

/** What a lookup asks for. */
interface Asked {
  readonly kind: 'vin' | 'lot' | 'car' | 'listing';
  readonly id: string;
  readonly domain?: number | undefined;
}

/** The request of a lookup. Throws RequestLimitError for what no request can ask for. */
export function lookupOf({ kind, id, domain }: Asked): Lookup {
  const more = { prices_history: true };
  const request = {
    vin: () => requests.searchVin.from({ vin: id, ...more }),
    car: () => requests.car.from({ car_id: /^\d+$/.test(id) ? Number(id) : id, ...more }),
    lot: () => requests.searchLot.from({ lot: id, domain, ...more }),
    listing: () => requests.listing.from({ listing_id: id, domain_id: domain, ...more }),
  }[kind]();
  return { name: `${kind}-${id}`, request };
}

/** One vehicle for a person: what it is, where it was offered, and whether it is archived. */
function vehicleCard(record: unknown): string {
  const parsed = vehicleSchema.safeParse(record);
  if (!parsed.success) return JSON.stringify(record, null, 2);
  const vehicle = parsed.data;
  const lots = vehicle.lots ?? [];
  const isArchived = lots.length > 0 && lots.every((lot) => lot.archived === true);
  const facts = [
    `${printable(vehicle.title ?? `vehicle ${vehicle.id}`)}${isArchived ? ' (archived)' : ''}`,
    `id ${vehicle.id}, VIN ${printable(vehicle.vin) || 'unknown'}, ${printable(vehicle.year)} ${printable(vehicle.manufacturer?.name)} ${printable(vehicle.model?.name)} ${printable(vehicle.generation?.name)}`.trimEnd(),
    [
      vehicle.body_type,
      vehicle.color,
      vehicle.engine,
      vehicle.transmission,
      vehicle.drive_wheel,
      vehicle.fuel,
    ]
      .map((named) => printable(named?.name).trim())
      .filter((name) => name !== '')
      .join(', '),
    `inspection reports: ${vehicle.inspections?.length ?? 0}, history reports: ${vehicle.vehicle_history_reports?.length ?? 0}`,
  ];
  return `${facts.filter((line) => line !== '').join('\n')}\n${lotTable(lots)}`;
}

type Lots = NonNullable<z.infer<typeof vehicleSchema>['lots']>;

function lotTable(lots: Lots): string {
  return gridOf(
    ['source', 'lot', 'status', 'sale date', 'bid', 'final bid', 'buy now', 'damage', 'km', 'archived'],
    lots.map((lot) => [
      printable(lot.domain?.name),
      printable(lot.lot),
      printable(lot.status?.name),
      printable(lot.sale_date).slice(0, 16),
      printable(lot.bid),
      printable(lot.final_bid),
      printable(lot.buy_now),
      printable(lot.damage?.main?.name),
      printable(lot.odometer?.km),
      lot.archived === true ? printable(lot.archived_at).slice(0, 10) || 'yes' : '',
    ]),
  );
}
