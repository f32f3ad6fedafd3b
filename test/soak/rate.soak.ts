import { expect, it } from 'vitest';
import { rowsOf, setUp } from '../pipelines/world-oracle.js';

/** About 2 minutes: all requests of a nightly run with reference data, five a second. */
it('a night with reference data over 2,000 vehicles keeps to 5 requests a second', async () => {
  const rate = 5;
  const clock = new Date('2026-11-18T02:00:00Z');
  const stage = await setUp(
    { vehicles: 2000, seed: 9, clock, catalog: true },
    { rate, perPage: 100, concurrency: 4 },
  );
  try {
    await stage.night();
    const { highestRate, requests } = stage.sandbox;
    process.stdout.write(`${requests.length} requests, at most ${highestRate} within a second\n`);
    expect(highestRate).toBeLessThanOrEqual(rate);
    expect(rowsOf(await stage.lake(), 'generations').length).toBeGreaterThan(0);
  } finally {
    await stage.close();
  }
});
