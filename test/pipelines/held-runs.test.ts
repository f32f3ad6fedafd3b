import { afterEach, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import type { Modelling } from '../../src/core/model/own-models.js';
import { rowsOf, type Stage, setUp } from './world-oracle.js';

const FIRST = Date.parse('2026-11-09T02:00:00Z');

/** A data test that always fails. */
const failing: Partial<Modelling> = {
  models: [],
  checks: [
    {
      ...{ model: 'checks', test: 'nothing_is_right', description: 'Nothing passes.', severity: 'error' },
      sql: 'select 1 as wrong',
    },
  ],
};

const stages: Stage[] = [];
afterEach(async () => {
  for (const stage of stages.splice(0)) await stage.close();
});

async function open() {
  const stage = await setUp(
    { vehicles: 40, seed: 3, clock: new Date(FIRST) },
    { perPage: 100, referenceDays: 1000, shrinkGuard: 1 },
  );
  stages.push(stage);
  return {
    stage,
    moveTo: (day: number) => stage.sandbox.setClock(new Date(FIRST + day * 86_400_000)),
    /** Lists of held runs of all published runs, oldest first. */
    held: async () => {
      const runs = [...rowsOf(await stage.lake(), 'runs')];
      return runs
        .filter(({ outcome }) => outcome === 'published')
        .sort((a, b) => String(a.run_id).localeCompare(String(b.run_id)))
        .map((run) => (run.held as string[]).map((reason) => reason.replace(/:.*/s, '')));
    },
    /** Failed runs of other pipelines, as the last published run knows them. */
    failingRuns: async () => {
      const runs = [...rowsOf(await stage.lake(), 'runs')];
      const last = runs.sort((a, b) => String(a.run_id).localeCompare(String(b.run_id))).at(-1);
      return ((last?.failing ?? []) as string[]).map((reason) =>
        reason.replace(/^(\w+) of [^ ]+: (\w+): .*/s, '$1 $2'),
      );
    },
    failTests: () => stage.run((options) => nightly({ ...options, modelling: failing })),
  };
}

describe('a run that was held', () => {
  it('is listed by the next run that publishes, whatever held it; a failed run is not', async () => {
    const { stage, moveTo, held, failTests } = await open();
    await stage.night();
    moveTo(6);
    await expect(stage.night({ shrinkGuard: 0.001 })).rejects.toMatchObject({ code: 'RECONCILE_SHRINK' });
    expect(await held()).toEqual([[]]);
    moveTo(7);
    await expect(failTests()).rejects.toMatchObject({ code: 'MODEL_TESTS_FAILED' });
    moveTo(8);
    stage.sandbox.setFaults([{ match: { path: '/cars' }, fault: { kind: 'not-found' } }]);
    await expect(stage.night()).rejects.toMatchObject({ outcome: 'failed' });
    stage.sandbox.setFaults([]);
    await stage.night();
    moveTo(9);
    await stage.night();
    expect(await held()).toEqual([[], ['RECONCILE_SHRINK', 'MODEL_TESTS_FAILED'], []]);
    // Runs that published nothing are in the tables, too.
    const lake = await stage.lake();
    const ran = [...rowsOf(lake, 'runs')].sort((a, b) => Number(a.attempt) - Number(b.attempt));
    expect(ran.map(({ outcome, exit_code, error_code }) => [outcome, exit_code, error_code])).toEqual([
      ['published', 0, null],
      ['held', 5, 'RECONCILE_SHRINK'],
      ['held', 5, 'MODEL_TESTS_FAILED'],
      ['failed', 1, 'SERVICE_NOT_FOUND'],
      ['published', 0, null],
      ['published', 0, null],
    ]);
    const abandoned = rowsOf(lake, 'passes').filter(({ state }) => state === 'abandoned');
    expect(abandoned.map(({ reason }) => String(reason))).toContainEqual(
      expect.stringMatching(/^held: the feed lacks too much/),
    );
  }, 120_000);

  it('is listed even if it was the first run or a rebuild', async () => {
    const { stage, moveTo, held, failingRuns, failTests } = await open();
    await expect(failTests()).rejects.toMatchObject({ outcome: 'held' });
    moveTo(1);
    await stage.night();
    expect(await held()).toEqual([['MODEL_TESTS_FAILED']]);
    moveTo(2);
    await expect(stage.run((options) => rebuild({ ...options, modelling: failing }))).rejects.toMatchObject({
      outcome: 'held',
    });
    // Ids of runs sort by the second.
    moveTo(3);
    await stage.night();
    expect(await held()).toEqual([['MODEL_TESTS_FAILED'], ['MODEL_TESTS_FAILED']]);
    expect(await failingRuns()).toEqual(['rebuild MODEL_TESTS_FAILED']);
    moveTo(4);
    await stage.night();
    expect(await failingRuns()).toEqual(['rebuild MODEL_TESTS_FAILED']);
    moveTo(5);
    await stage.run(rebuild);
    expect(await failingRuns()).toEqual([]);
  }, 120_000);
});
