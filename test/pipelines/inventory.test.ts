import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { readChecks } from '../../src/core/model/checks.js';
import { modelsOf } from '../model/support.js';
import { compareRows } from '../model/world/compare.js';
import type { MartRow } from '../model/world/night.js';
import { need } from '../served.js';
import { type Lake, rowsOf, type Stage, setUp } from './world-oracle.js';

const FIRST = Date.parse('2026-11-09T02:00:00Z');
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** Start of each run, and the time of the world that it sees, both in hours. Lots leave, come back and leave again. */
const RUNS = [
  { at: 0, world: 0 },
  { at: 24, world: 72 },
  { at: 72, world: 0 },
  { at: 84, world: 120 },
  { at: 120, world: 130 },
] as const;

const modelling = {
  models: modelsOf(['inventory_daily']),
  checks: readChecks().filter(({ test }) => test.startsWith('inventory_daily')),
};

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

type Counts = Record<'new_lots' | 'archived_lots' | 'returned_lots', number>;

/** Records for several runs which lots each run left active, compared with the run before. */
function openBook() {
  const wasActive = new Map<unknown, boolean>();
  const names = new Map<number, string>();
  const days = new Map<string, Counts>();
  const closing = new Map<string, number>();
  const look = (day: string, lots: readonly MartRow[]): void => {
    for (const { domain_id, domain_name } of lots) {
      const key = `${day} ${domain_id}`;
      names.set(Number(domain_id), String(domain_name));
      days.set(key, days.get(key) ?? { new_lots: 0, archived_lots: 0, returned_lots: 0 });
      closing.set(key, 0);
    }
    for (const { lot_id, domain_id, archived } of lots) {
      const key = `${day} ${domain_id}`;
      const counts = need(days.get(key), 'the counts of the day');
      const [was, isActive] = [wasActive.get(lot_id), archived === false];
      if (isActive) closing.set(key, (closing.get(key) ?? 0) + 1);
      if (isActive && was === undefined) counts.new_lots += 1;
      if (isActive && was === false) counts.returned_lots += 1;
      if (!isActive && was === true) counts.archived_lots += 1;
      wasActive.set(lot_id, isActive);
    }
  };
  return { look, names, days, closing };
}

/** Rows of the mart according to the book. A day without a run has the lots of the day before. */
function expectedRows({ names, days, closing }: ReturnType<typeof openBook>, lake: Lake): MartRow[] {
  const last = FIRST + (RUNS.at(-1)?.at ?? 0) * HOUR;
  const held = rowsOf(lake, 'sales').filter(
    ({ attempt, outcome }) =>
      Number(attempt) > 1 && ['sold', 'not_sold', 'on_approval'].includes(String(outcome)),
  );
  return [...names].flatMap(([domain, name]) => {
    const rows: MartRow[] = [];
    for (let at = FIRST, active = 0; dayOf(at) <= dayOf(last); at += DAY) {
      const day = dayOf(at);
      const counts = days.get(`${day} ${domain}`);
      active = closing.get(`${day} ${domain}`) ?? active;
      rows.push({
        day,
        domain_id: domain,
        domain_name: name.trim(),
        active_lots: active,
        new_lots: at === FIRST ? null : (counts?.new_lots ?? 0),
        archived_lots: counts?.archived_lots ?? 0,
        relisted_lots: held.filter(
          (sale) => sale.domain_id === domain && String(sale.sale_date).startsWith(day),
        ).length,
        returned_lots: counts?.returned_lots ?? 0,
        first_day: at === FIRST,
      });
    }
    return rows;
  });
}

describe('inventory_daily over five runs', () => {
  let stage: Stage;
  const book = openBook();

  beforeAll(async () => {
    stage = await setUp(
      { vehicles: 200, seed: 5, clock: new Date(FIRST) },
      { perPage: 500, referenceDays: 1000, allowShrink: true },
    );
    for (const { at, world } of RUNS) {
      stage.sandbox.setClock(new Date(FIRST + world * HOUR));
      await stage.run((options) => nightly({ ...options, modelling }), { minutes: (at - world) * 60 });
      book.look(dayOf(FIRST + at * HOUR), rowsOf(await stage.lake(), 'lots') as MartRow[]);
    }
  }, 180_000);
  afterAll(() => stage.close());

  it('equals a count of the lots that each run added, archived and brought back', async () => {
    const lake = await stage.lake();
    const rows = rowsOf(lake, 'inventory_daily') as MartRow[];
    expect(compareRows(rows, expectedRows(book, lake), ['day', 'domain_id'])).toEqual([]);
    const sums = (column: string): number => rows.reduce((sum, row) => sum + Number(row[column]), 0);
    for (const column of ['new_lots', 'archived_lots', 'returned_lots', 'relisted_lots'])
      expect(sums(column), column).toBeGreaterThan(2);
  });

  it('stays the same after a rebuild', async () => {
    const before = await stage.lake();
    await stage.run((options) => rebuild({ ...options, modelling }), { minutes: -10 * 60 });
    const after = await stage.lake();
    expect(rowsOf(after, 'inventory_daily')).toEqual(rowsOf(before, 'inventory_daily'));
  }, 120_000);
});
