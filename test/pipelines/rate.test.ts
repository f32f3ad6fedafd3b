import { afterEach, describe, expect, it } from 'vitest';
import { recordsOf } from '../served.js';
import { activeIn, differences, rowsOf, type Stage, setUp } from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

describe('a nightly run with reference data', () => {
  it('keeps to one rate over all endpoints', async () => {
    const rate = 60;
    const stage = await setUp(
      { vehicles: 150, seed: 9, clock: CLOCK, catalog: true },
      { perPage: 10, rate, concurrency: 4 },
    );
    stages.push(stage);
    await stage.night();
    const { requests } = stage.sandbox;
    const endpoints = new Set(requests.map((one) => one.path.replace(/(?<=^\/(?!usa)\w[\w-]*)\/.*/, '')));
    expect(endpoints.size).toBeGreaterThanOrEqual(10);
    const [first, last] = [requests[0], requests.at(-1)].map((one) => one?.at.getTime() ?? 0);
    // Requests are spaced, so the whole walk takes as long as the rate requires.
    expect((last ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(((requests.length - 1) / rate) * 1000 - 50);
    expect(rowsOf(await stage.lake(), 'models').length).toBeGreaterThan(0);
  });

  it('completes against a service that allows less than the configured rate, and loses nothing', async () => {
    const stage = await setUp(
      { vehicles: 100, seed: 9, clock: CLOCK, rate: 60, catalog: true },
      { rate: 300, concurrency: 4 },
    );
    stages.push(stage);
    const { warnings } = await stage.night({ retryBudget: 30 });
    const refused = stage.sandbox.requests.filter((one) => one.status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(warnings.filter((warning) => warning.includes('(429)')).length).toBe(refused.length);
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(stage.sandbox.world.activeIds());
    expect(differences(lake, recordsOf(stage.sandbox.world))).toEqual([]);
  });
});
