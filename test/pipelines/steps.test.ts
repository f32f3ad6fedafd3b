import { afterAll, beforeAll, expect, it } from 'vitest';
import { pipelines } from '../../pipelines/index.js';
import { saveLookup } from '../../pipelines/lookup.js';
import type { PipelineOptions } from '../../pipelines/options.js';
import { lookupOf } from '../../src/cli/commands/lookup.js';
import { createWorld } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import { recordsOf, vehicleAt } from '../served.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

const NIGHT = new Date('2026-11-18T02:00:00Z');
const records = recordsOf(createWorld({ vehicles: 40, seed: 5, clock: NIGHT }));
const { id } = vehicleAt(records, 0);
const folder = temporaryFolder();
let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  service = await serve(({ pathname }) => {
    if (pathname === '/api/cars') return { body: lastPage(records) };
    if (pathname === '/api/archived-lots') return { body: lastPage([]) };
    if (pathname === `/api/cars/${id}`) return { body: { data: records[0] } };
    return { status: 404, body: { message: 'not here' } };
  });
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

const { nightly, incremental, reference, closing } = pipelines;
const lookup = (options: PipelineOptions) => saveLookup(options, lookupOf({ kind: 'car', id: String(id) }));
/** What `closing` reads of the night before. */
const SALES = { modelling: { models: modelsOf(['sales']), checks: [] } };

/** The steps of a run. All runs are of one lake. */
async function stepsOf(
  pipeline: (options: PipelineOptions) => Promise<unknown>,
  models: Pick<PipelineOptions, 'modelling'>,
): Promise<string[]> {
  const reporter = silentReporter();
  const config = configFor(service.url, folder.path, { allowShrink: true });
  await pipeline({ ...models, config, reporter, now: () => NIGHT });
  return reporter.steps;
}

const asking = { nightly, closing, incremental, reference, lookup };

// A step ends the one before: pages of a stream would be shown as those of the service.
it.each(Object.entries(asking))('%s names the service first, and once', async (name, pipeline) => {
  const models = ['nightly', 'closing'].includes(name) ? SALES : WITHOUT_MARTS;
  const [first, ...others] = await stepsOf(pipeline, models);
  expect(first).toBe(`service ${service.url}`);
  expect(others.filter((step) => step.startsWith('service'))).toEqual([]);
});

it('no pipeline that asks a service is left out', () => {
  const { rebuild: _, ...others } = pipelines;
  expect(Object.keys(asking).sort()).toEqual(Object.keys({ ...others, lookup }).sort());
});
