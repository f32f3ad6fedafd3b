import { ask } from '../../ask/query/ask.js';
import { type Asked, findVehicle, LOOKUP_READS } from '../../ask/query/find-vehicle.js';
import { readLake } from '../../ask/query/open-lake.js';
import type { Config } from '../../base/config/config.js';
import { assertWritable } from '../../base/config/folder.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { recordIn } from '../../core/extract/one-record.js';
import type { Lookup } from '../../core/extract/stage-lookups.js';
import { brokenLink } from '../../core/lake/broken-link.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { allNames, readManifest } from '../../core/lake/manifest.js';
import { type Answer, openClient, readJson } from '../../core/service/client.js';
import { schemas } from '../../core/service/contract/records.js';
import { isFailure } from '../../core/service/errors.js';
import { requests } from '../../core/service/requests.js';
import { type Context, command, type Values } from '../command.js';
import type { Effects } from '../effects.js';
import { onService, sandboxOf, sandboxOptions } from '../on-sandbox.js';
import { wholeNumber } from '../option-values.js';
import { createReporter, reportOn } from '../reporter.js';
import { UsageError } from '../usage-error.js';
import { lakeCard, recordCard, timelineTable } from '../vehicle-card.js';

/**
 * Prints a vehicle as the service has it now, and for a person also its past in the lake. The lake alone answers with
 * `--lake`, or if there is no key and a lake.
 */
export const lookup = command({
  options: {
    kind: { choices: ['vin', 'lot', 'car', 'listing'], demandOption: true, describe: 'what the id names' },
    id: { type: 'string', demandOption: true, describe: 'VIN, lot number, vehicle id or listing id' },
    domain: { type: 'string', describe: 'source (1, 3 or 12); needed for listing' },
    save: { type: 'boolean', default: false, describe: 'add what comes to the lake' },
    lake: { type: 'boolean', default: false, describe: 'ask the lake, not the service; so without a key' },
    ...sandboxOptions,
  },
  async run(given, effects) {
    const { kind, domain: source } = given;
    const id = given.id.trim();
    const domain = source === undefined ? undefined : wholeNumber('the source', source, 1, 999);
    const asked = { kind, id, domain };
    // The lake takes what the service takes.
    const request = lookupOf(asked);
    if (isForLake(given, effects)) return showFromLake(asked, given, effects);
    await onService(given, effects, async ({ config, now }) => {
      if (given.save) assertWritable('the output folder', config.output);
      await show(config, request, given, effects).catch((error: unknown) => {
        if (!isFailure(error, 'SERVICE_NOT_FOUND')) throw error;
        throw new LotlakeError('QUERY_NOTHING_FOUND', `the service knows no ${kind} ${id}`, {
          cause: error,
          hint: 'archived vehicles stay readable for about a month; older ones may be in the lake',
        });
      });
      if (given.save) await save(config, request, now, given.json, effects);
    });
  },
});

/** Whether the lake answers. Throws UsageError for `--lake` with an option that only the service has a use for. */
function isForLake(
  given: Values<typeof sandboxOptions> & Pick<Context, 'config'> & Readonly<Record<'lake' | 'save', boolean>>,
  { now }: Effects,
): boolean {
  const other = given.save ? '--save' : '--sandbox';
  if (given.lake && (given.save || given.sandbox))
    throw new UsageError(
      `--lake and ${other} do not go together`,
      `${other} needs the service, and --lake asks it nothing; leave one of them out`,
    );
  if (sandboxOf(given, now()) !== undefined) return false;
  const { config } = given;
  const hasLake = (): boolean =>
    currentSnapshot(layoutOf(config.output)) !== undefined ||
    brokenLink(layoutOf(config.output)) !== undefined;
  return given.lake || (!given.save && config.apiKey === undefined && hasLake());
}

/** Prints a vehicle as the published lake has it. */
async function showFromLake(
  asked: Asked,
  { config, print }: Pick<Context, 'config' | 'print'>,
  { signal }: Effects,
): Promise<void> {
  const found = await readLake(config, { named: LOOKUP_READS, signal }, ({ session }) =>
    findVehicle(session.connection, asked),
  );
  if (found === undefined)
    throw new LotlakeError('QUERY_NOTHING_FOUND', `the lake knows no ${asked.kind} ${asked.id}`, {
      hint: 'the service may know it: with a key (LOTLAKE_API_KEY) and without --lake, lookup asks it',
    });
  print(found, () => lakeCard(found));
}

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
      vehicle === undefined ? JSON.stringify(record, null, 2) : `${recordCard(vehicle.id, vehicle)}${past}`,
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

/** The request of a lookup. Throws SERVICE_REQUEST_LIMIT for a value that no request takes. */
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

/** The table of what happened to a vehicle according to the published lake; empty if the lake has nothing of it. */
async function timelineOf(config: Config, vehicleId: number, signal: AbortSignal): Promise<string> {
  const layout = layoutOf(config.output);
  const broken = brokenLink(layout);
  if (broken !== undefined) return `\n\nIts past is not shown: ${broken.message}\n`;
  const snapshot = currentSnapshot(layout);
  if (snapshot === undefined || !allNames(readManifest(snapshot)).includes('vehicle_timeline')) return '';
  const found = await readLake(config, { named: 'vehicle_timeline', signal }, ({ session }) =>
    ask(session.connection, 'cli/timeline', { vehicle_id: vehicleId }),
  );
  return timelineTable(found);
}
