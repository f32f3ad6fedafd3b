import { afterEach, describe, expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import { WITHOUT_CATALOG } from './support.js';
import { activeIn, differences, type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const CLOCK = new Date('2026-11-18T02:00:00Z');
const WORLD = { vehicles: 150, seed: 29 };
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

async function stageOf(domains?: readonly number[]): Promise<Stage> {
  const stage = await setUp({ ...WORLD, clock: CLOCK, ...(domains === undefined ? {} : { domains }) });
  closers.push(() => stage.close());
  return stage;
}

/** The same world five days later, for a key that has some sources. */
async function laterFor(domains: readonly number[]) {
  const clock = new Date(CLOCK.getTime() + 5 * 86_400_000);
  const sandbox = await startSandbox({ ...WORLD, clock, domains, faults: WITHOUT_CATALOG });
  closers.push(() => sandbox.close());
  return sandbox;
}

const lotsOf = (lake: Lake, sources: readonly number[]) =>
  rowsOf(lake, 'lots').filter((lot) => sources.includes(Number(lot.domain_id)));
const LATER = 5 * 24 * 60;

describe('a key that lacks a source', () => {
  it('still gets the others, requested one by one, and a warning names the source', async () => {
    const stage = await stageOf([1, 3]);
    const { warnings, result } = await stage.night({ sources: [12, 1, 3] });
    expect(warnings.filter((warning) => warning.startsWith('source 12 is left out'))).toHaveLength(1);
    expect(warnings.find((warning) => warning.startsWith('source 12'))).toContain('(401)');
    expect(result.passes.find(({ record }) => record.stream === 'cars')?.record.sources).toEqual([1, 3]);
    const served = recordsOf(stage.sandbox.world).filter((record) =>
      record.lots.some((lot) => lot.domain.id !== 12),
    );
    const lake = await stage.lake();
    expect(activeIn(lake)).toEqual(served.map((record) => record.id).sort((a, b) => a - b));
    // Few lots of sources 1 and 3 have reports, so some tables may stay empty.
    expect(differences(lake, served).filter((line) => !line.startsWith('the records fill'))).toEqual([]);
    // The service refuses the lists of source 12 to the key as well.
    expect(rowsOf(lake, 'default_options')).toEqual([]);
    expect(warnings.filter((warning) => /korea-(options|duplicates) is skipped/.test(warning))).toHaveLength(
      2,
    );
  });

  it.for([undefined, [1, 3, 12], [1, 3]])(
    'keeps the rows of that source, and archives what left the others (sources %s)',
    async (sources) => {
      const stage = await stageOf();
      await stage.night(sources === undefined ? {} : { sources });
      const before = await stage.lake();
      const later = await laterFor([1, 3]);
      await stage.night({
        ...(sources === undefined ? {} : { sources }),
        url: later.url,
        minutes: LATER,
        allowShrink: true,
      });
      const lake = await stage.lake();
      // The archive feed has no filter for sources, so its lots are archived for every key.
      const unnamed = lotsOf(lake, [12]).filter((lot) => lot.archived_by !== 'archive-feed');
      if (sources?.includes(12) !== false) expect(unnamed.length).toBeGreaterThan(5);
      const ids = new Set(unnamed.map((lot) => lot.lot_id));
      expect(unnamed).toEqual(lotsOf(before, [12]).filter((lot) => ids.has(lot.lot_id)));
      const left = lotsOf(lake, [1, 3]).filter((lot) => lot.archived === true);
      expect(left.length).toBeGreaterThan(5);
      const inFeed = new Set(recordsOf(later.world).flatMap((record) => record.lots.map(({ id }) => id)));
      const active = lotsOf(lake, [1, 3]).filter((lot) => lot.archived !== true);
      expect(active.filter((lot) => !inFeed.has(Number(lot.lot_id)))).toEqual([]);
    },
  );

  it('ends the run if it has none of the requested sources', async () => {
    const stage = await stageOf([3]);
    await expect(stage.night({ sources: [1, 12] })).rejects.toMatchObject({
      code: 'SERVICE_SOURCE_REFUSED',
      outcome: 'refused',
    });
  });
});

describe('sources that are requested one by one', () => {
  it('make the same lake as one request for all', async () => {
    const [together, apart] = [await stageOf(), await stageOf()];
    await together.night();
    await apart.night({ sources: [1, 3, 12] });
    const rows = (lake: Lake) =>
      rowsOf(lake, 'lots').map((lot) => [lot.lot_id, lot.domain_id, lot.status_id]);
    const sorted = (lake: Lake) => rows(lake).sort((a, b) => Number(a[0]) - Number(b[0]));
    const [a, b] = [await together.lake(), await apart.lake()];
    expect(sorted(b)).toEqual(sorted(a));
    expect(activeIn(b)).toEqual(activeIn(a));
  });
});
