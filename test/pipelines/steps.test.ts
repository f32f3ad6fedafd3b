import { afterAll, beforeAll, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { nightly } from '../../pipelines/nightly.js';
import { createWorld } from '../../src/sandbox/index.js';
import { modelsOf } from '../model/support.js';
import { recordsOf } from '../served.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder } from './support.js';

const NIGHT = new Date('2026-11-18T02:00:00Z');
/** What `closing` reads. */
const modelling = { models: modelsOf(['sales']), checks: [] };
const folder = temporaryFolder();
let service: Awaited<ReturnType<typeof serve>>;
beforeAll(async () => {
  const records = recordsOf(createWorld({ vehicles: 40, seed: 5, clock: NIGHT }));
  service = await serve(({ pathname }) =>
    pathname === '/api/cars'
      ? { body: lastPage(records) }
      : pathname === '/api/archived-lots'
        ? { body: lastPage([]) }
        : { status: 404, body: { message: 'not here' } },
  );
});
afterAll(async () => {
  await service.close();
  folder.remove();
});

// A step ends the one before: pages of a stream would be shown as those of the service.
it.each([
  ['nightly', nightly, /^extract cars$/],
  ['closing', closing, /^extract \d+ vehicles/],
] as const)('%s names the service before what it asks of it', async (_, pipeline, first) => {
  const reporter = silentReporter();
  const config = configFor(service.url, folder.path, { allowShrink: true });
  await pipeline({ modelling, config, reporter, now: () => NIGHT });
  expect(reporter.steps[0]).toBe(`service ${service.url}`);
  expect(reporter.steps[1]).toMatch(first);
  expect(reporter.steps.filter((step) => step.startsWith('service'))).toHaveLength(1);
});
