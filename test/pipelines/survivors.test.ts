import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readModels } from '../../src/core/model/model-files.js';
import { createWorld } from '../../src/sandbox/index.js';
import { type Document, figureOf, nightOf, reportOf, tableOf } from '../report/lake.js';
import { type LotRecord, recordsOf } from '../served.js';
import { bareDuckDb, temporaryFolder } from './support.js';

/** The feed lacks lots that were sold before this, as if they had been archived before lotlake began. */
const BEGIN = new Date('2026-11-20T00:00:00Z');
const NIGHTS = [0, 2, 4].map((days) => new Date(BEGIN.getTime() + days * 86_400_000));
const SOLD = 6;
const TITLE = 'Share of offered lots that are sold, by source';

/**
 * The vehicles at a time, without the lots that were sold before the first night, and without vehicles that had no
 * other lots.
 */
function survivors(clock: Date): object[] {
  const isLeft = ({ status, sale_date }: LotRecord): boolean =>
    status.id !== SOLD ||
    typeof sale_date !== 'string' ||
    Date.parse(`${sale_date.slice(0, 10)}T00:00:00Z`) >= BEGIN.getTime();
  return recordsOf(createWorld({ vehicles: 700, clock }))
    .map((vehicle) => ({ ...vehicle, lots: vehicle.lots.filter(isLeft) }))
    .filter(({ lots }) => lots.length > 0);
}

const folder = temporaryFolder();
let duck: Awaited<ReturnType<typeof bareDuckDb>>;
let document: Document;
beforeAll(async () => {
  for (const now of NIGHTS) await nightOf(folder.path, survivors(now), now);
  ({ document } = await reportOf(folder.path));
  duck = await bareDuckDb();
}, 300_000);
afterAll(() => {
  duck.close();
  folder.remove();
});

const ask = (sql: string) =>
  duck.query(
    sql.replaceAll(
      /\{(\w+)\}/g,
      (_, table) => `'${join(folder.path, 'lake', 'current', table, '**', '*.parquet')}'`,
    ),
  );

describe('a feed without the lots that were sold before the first night', () => {
  it('has offers of earlier months, none of them sold', async () => {
    const [known] =
      await ask(`select count(*)::int as attempts, count(*) filter (where outcome = 'sold')::int as sold
      from {sales} where sale_date < '${BEGIN.toISOString()}'`);
    expect(known?.attempts).toBeGreaterThan(100);
    expect(known?.sold).toBe(0);
  });

  it('has no rate or count of sales for an unobserved month in any mart', async () => {
    let monthly = 0;
    for (const { name, exists } of readModels()) {
      if (exists === 'none' || exists === 'view') continue;
      const columns = (await ask(`describe select * from {${name}}`)).map(({ column_name }) =>
        String(column_name),
      );
      const figures = columns.filter(
        (column) =>
          /offered|unresolved|lots_|_sold$|sell_through/.test(column) && !column.startsWith('priced_'),
      );
      // A trusted price does not need an observed month.
      if (!columns.includes('sale_month') || figures.length === 0) continue;
      monthly += 1;
      const found = await ask(
        `select cast(sale_month as varchar) as month, observed, ${figures.join(', ')} from {${name}}`,
      );
      const early = found.filter(({ month }) => String(month) < '2026-11');
      expect(early.length, name).toBeGreaterThan(3);
      for (const { month: _, observed, ...row } of early) {
        expect(observed, name).toBe('none');
        expect(new Set(Object.values(row)), name).toEqual(new Set([null]));
      }
      const now = found.filter(({ month }) => month === '2026-11-01');
      expect(new Set(now.map(({ observed }) => observed)), name).toEqual(new Set(['part']));
    }
    expect(monthly).toBe(2);
  });

  it('counts only what was observed in every rate, and says since when', async () => {
    const [expected] =
      await ask(`select count(*)::int as offered, count(*) filter (where outcome = 'sold')::int as sold
      from {sales} where outcome in ('sold', 'not_sold', 'on_approval')
        and sale_date >= '${BEGIN.toISOString()}' and sale_date < timestamptz '${NIGHTS[2]?.toISOString()}' - interval 12 hour`);
    expect(expected?.sold).toBeGreaterThan(5);
    expect(expected?.offered).toBeGreaterThan(Number(expected?.sold));
    const sums = (mart: string, where = 'true') =>
      ask(
        `select sum(lots_offered)::int as offered, sum(lots_sold)::int as sold from {${mart}} where ${where}`,
      );
    expect(await sums('sell_through', "level = 'month'")).toEqual([expected]);
    for (const level of ['all', 'source', 'make', 'model', 'generation'])
      expect(await sums('price_trends', `level = '${level}'`), level).toEqual([expected]);
    expect(await sums('lot_breakdown', "subject = 'title'")).toEqual([expected]);
    expect(await sums('sell_through', "level = 'attempt'")).toEqual([expected]);
    const since = await ask(`select distinct epoch_ms(observed_since)::double as since from {sell_through}
      union select distinct epoch_ms(observed_since)::double from {offer_profiles}
      union select distinct epoch_ms(observed_since)::double from {lot_breakdown}`);
    expect(since).toEqual([{ since: NIGHTS[0]?.getTime() }]);
  });

  it('is shown in the report without a line over these months', () => {
    const figure = figureOf(document, TITLE);
    expect(figure.querySelector('.chart')).toBe(null);
    expect(figure.textContent).toContain('observed since 20 Nov 2026');
    const rows = tableOf(document, TITLE);
    // Months that were not observed have no row.
    expect(new Set(rows.map(([, month]) => month))).toEqual(new Set(['Nov 2026']));
    expect(rows.map((row) => row.at(-1))).toEqual(['so far', 'so far']);
    expect(rows.map((row) => row[4])).not.toContain('not observed');
  });
});
