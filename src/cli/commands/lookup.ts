import type { z } from 'zod';
import type { Config } from '../../config/config.js';
import { assertWritable } from '../../config/folder.js';
import { LotlakeError } from '../../config/lotlake-error.js';
import { type Answer, openClient, readJson } from '../../extract/client.js';
import { recordIn } from '../../extract/one-record.js';
import { currentSnapshot, layoutOf } from '../../lake/layout.js';
import { allNames, readManifest } from '../../lake/manifest.js';
import { ask } from '../../query/ask.js';
import { readLake } from '../../query/open-lake.js';
import { printable } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import type { Lookup } from '../../run/extract-lookups.js';
import { schemas } from '../../service/contract/records.js';
import { isFailure } from '../../service/errors.js';
import { requests } from '../../service/requests.js';
import { type Context, command } from '../command.js';
import type { Effects } from '../effects.js';
import { onService, sandboxOptions } from '../on-sandbox.js';
import { wholeNumber } from '../option-values.js';
import { createReporter, reportOn } from '../reporter.js';

/** Prints a vehicle as the service has it now, and for a person also its past in the lake. */
export const lookup = command({
  options: {
    kind: { choices: ['vin', 'lot', 'car', 'listing'], demandOption: true, describe: 'what the id names' },
    id: { type: 'string', demandOption: true, describe: 'VIN, lot number, vehicle id or listing id' },
    domain: { type: 'string', describe: 'source (1, 3 or 12); needed for listing' },
    save: { type: 'boolean', default: false, describe: 'add what comes to the lake' },
    ...sandboxOptions,
  },
  async run(given, effects) {
    const { kind, id, domain: source } = given;
    const domain = source === undefined ? undefined : wholeNumber('the source', source, 1, 999);
    const request = lookupOf({ kind, id, domain });
    await onService(given, effects, async ({ config, now }) => {
      if (given.save) assertWritable('the output folder', config.output);
      await show(config, request, given, effects).catch((error: unknown) => {
        if (!isFailure(error, 'SERVICE_NOT_FOUND')) throw error;
        throw new LotlakeError('SHARE_NOTHING_FOUND', `the service knows no ${kind} ${id}`, {
          cause: error,
          hint: 'archived vehicles stay readable for about a month; older ones may be in the lake',
        });
      });
      if (given.save) await save(config, request, now, given.json, effects);
    });
  },
});

/** Requests a vehicle and prints it. */
async function show(
  config: Config,
  { request }: Lookup,
  { json, print }: Pick<Context, 'json' | 'print'>,
  { signal }: Effects,
): Promise<void> {
  const client = openClient(config);
  try {
    const read = async (answer: Answer) => recordIn(await readJson(answer), answer.url);
    const record = await client.get(request.path, request.query, read, signal);
    const vehicle = schemas.vehicle.safeParse(record).data;
    const past = json || vehicle === undefined ? '' : await timelineOf(config, Number(vehicle.id), signal);
    print(record, () =>
      vehicle === undefined ? JSON.stringify(record, null, 2) : `${vehicleCard(vehicle)}${past}`,
    );
  } finally {
    await client.close();
  }
}

/** Adds what a lookup brings to the lake. */
async function save(
  config: Config,
  lookup: Lookup,
  now: () => Date,
  json: boolean,
  effects: Effects,
): Promise<void> {
  const reporter = createReporter(effects, { config, json });
  const { saveLookup } = await import('../../../pipelines/lookup.js');
  const job = { config, reporter, now, signal: effects.signal };
  const result = await saveLookup(job, lookup).catch((error: unknown) => {
    reporter.end(false);
    throw error;
  });
  await reportOn(config, reporter);
  reporter.end(true);
  const outcome = result.published ? 'saved in' : 'nothing to save came; current is';
  effects.err(`${outcome} snapshot ${result.snapshotId}\n`);
}

interface LookupOptions {
  readonly kind: 'vin' | 'lot' | 'car' | 'listing';
  readonly id: string;
  readonly domain?: number | undefined;
}

/** The request of a lookup. Throws SERVICE_REQUEST_LIMIT for a value that no request takes. */
export function lookupOf({ kind, id, domain }: LookupOptions): Lookup {
  const more = { prices_history: true };
  const request = {
    vin: () => requests.searchVin.from({ vin: id, ...more }),
    car: () => requests.car.from({ car_id: /^\d+$/.test(id) ? Number(id) : id, ...more }),
    lot: () => requests.searchLot.from({ lot: id, domain, ...more }),
    listing: () => requests.listing.from({ listing_id: id, domain_id: domain, ...more }),
  }[kind]();
  return { name: `${kind}-${id}`, request };
}

/** The printable value at a path such as `damage.main.name`; empty if there is none. */
const wordAt = (value: unknown, path: string): string =>
  printable(path.split('.').reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), value));

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function vehicleCard(vehicle: z.output<typeof schemas.vehicle>): string {
  const word = (path: string): string => wordAt(vehicle, path);
  const lots = listOf(vehicle.lots);
  const isArchived = lots.length > 0 && lots.every((lot) => wordAt(lot, 'archived') === 'true');
  const facts = [
    `${printable(vehicle.title ?? `vehicle ${vehicle.id}`)}${isArchived ? ' (archived)' : ''}`,
    `id ${vehicle.id}, VIN ${word('vin') || 'unknown'}, ${word('year')} ${word('manufacturer.name')} ${word('model.name')} ${word('generation.name')}`.trimEnd(),
    ['body_type', 'color', 'engine', 'transmission', 'drive_wheel', 'fuel']
      .map((name) => word(`${name}.name`).trim())
      .filter((name) => name !== '')
      .join(', '),
    `inspection reports: ${listOf(vehicle.inspections).length}, history reports: ${listOf(vehicle.vehicle_history_reports).length}`,
  ];
  return `${facts.filter((line) => line !== '').join('\n')}\n${lotTable(lots)}`;
}

function lotTable(lots: readonly unknown[]): string {
  return gridOf(
    ['source', 'lot', 'status', 'sale date', 'bid', 'final bid', 'buy now', 'damage', 'km', 'archived'],
    lots.map((lot) => [
      wordAt(lot, 'domain.name'),
      wordAt(lot, 'lot'),
      wordAt(lot, 'status.name'),
      wordAt(lot, 'sale_date').slice(0, 16),
      ...['bid', 'final_bid', 'buy_now', 'damage.main.name', 'odometer.km'].map((path) => wordAt(lot, path)),
      wordAt(lot, 'archived') === 'true' ? wordAt(lot, 'archived_at').slice(0, 10) || 'yes' : '',
    ]),
  );
}

const COLUMNS = ['date', 'event', 'source', 'lot', 'amount', 'currency', 'km', 'rolled back', 'description'];

/** The events of a vehicle in the published lake, a line each; empty if the lake has none. */
async function timelineOf(config: Config, vehicleId: number, signal: AbortSignal): Promise<string> {
  const snapshot = currentSnapshot(layoutOf(config.output));
  if (snapshot === undefined || !allNames(readManifest(snapshot)).includes('vehicle_timeline')) return '';
  const found = await readLake(config, { named: 'vehicle_timeline', signal }, ({ session }) =>
    ask(session.connection, 'cli/timeline', { vehicle_id: vehicleId }),
  );
  const lines = found.map((row) => Object.values(row).map((value) => printable(value)));
  return lines.length === 0 ? '' : `\n${gridOf(COLUMNS, lines)}`;
}
