import { cpSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { LotlakeError } from '../../../src/base/config/lotlake-error.js';
import { temporaryFolder } from '../../pipelines/support.js';
import { type Mutation, mutation } from './mutations.js';
import { archived, FIRST, GONE, LEFT, night } from './nights.js';
import { type HostileService, startService } from './service.js';

/** Least number of mutated pages over all nights (LOTLAKE_PAGES). */
const LEAST = Number(process.env.LOTLAKE_PAGES ?? 2000);
/** Time limit of a night in milliseconds. */
const LONGEST = 30_000;

const base = temporaryFolder();
let service: HostileService;

beforeAll(async () => {
  service = await startService();
  service.become(FIRST, true, []);
  await night(service.url, base.path);
});
afterAll(async () => {
  await service.close();
  base.remove();
});

const isOnce = fc.integer({ min: 0, max: 3 }).map((turn) => turn > 0);
/** One night: which pages are mutated, and whether at every request or (three times of four) only once. */
const stories = fc.record({
  totals: fc.boolean(),
  pages: fc.array(fc.record({ page: fc.integer({ min: 1, max: 20 }), mutation, isOnce }), {
    minLength: 1,
    maxLength: 12,
  }),
});

it('random answers archive nothing that the good pages hold, and the next night succeeds', {
  timeout: 3_600_000,
}, async () => {
  const counts = { pages: 0, nights: 0, published: 0, failed: 0, longest: 0 };
  const property = fc.asyncProperty(stories, async ({ totals, pages }) => {
    const here = temporaryFolder();
    try {
      cpSync(base.path, here.path, { recursive: true, verbatimSymlinks: true });
      const open = new Map(pages.map(({ page, ...rest }) => [page, rest]));
      service.become(LEFT, totals, [], (page): Mutation | undefined => {
        const found = open.get(page);
        if (found?.isOnce === true) open.delete(page);
        if (found !== undefined) counts.pages++;
        return found?.mutation;
      });
      const start = performance.now();
      try {
        await night(service.url, here.path, { timeout: 0.5, retryBudget: 1 });
        counts.published++;
      } catch (error) {
        if (!(error instanceof LotlakeError)) throw error;
        counts.failed++;
      }
      counts.nights++;
      counts.longest = Math.max(counts.longest, performance.now() - start);
      expect((await archived(here.path)).filter((id) => !GONE.includes(id))).toEqual([]);
      service.become(LEFT, totals, []);
      // With default time-outs: a busy machine must not look like a failing service.
      await night(service.url, here.path);
      expect(await archived(here.path)).toEqual(GONE);
    } finally {
      here.remove();
    }
  });
  for (let seed = 1; counts.pages < LEAST; seed++)
    await fc.assert(property, { numRuns: 25, seed, endOnFailure: true });
  expect(counts.longest).toBeLessThan(LONGEST);
  expect(counts.published).toBeGreaterThan(counts.nights / 4);
  process.stdout.write(`${JSON.stringify(counts)}\n`);
});
