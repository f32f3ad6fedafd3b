import { expect, it } from 'vitest';
import { readLake } from '../../src/ask/query/open-lake.js';
import { scalar } from '../../src/base/duck/session.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { night } from '../report/lake.js';
import { openExplore } from './server.js';

it('two readers see whole pages while a night publishes, then the new snapshot', async () => {
  const folder = temporaryFolder();
  await night(folder.path, { vehicles: 1500, clock: new Date('2026-11-20T04:00:00Z') });
  const explore = await openExplore(folder.path);
  let isOver = false;
  const stamps = new Set<string>();
  const reader = async (paths: readonly string[]): Promise<number> => {
    let pages = 0;
    while (!isOver)
      for (const path of paths) {
        const page = await explore.text(path);
        expect(page, path).toContain('</html>');
        expect(page, path).not.toContain('role="alert"');
        stamps.add(/Snapshot (\S+?)"/.exec(page)?.[1] ?? '');
        pages++;
      }
    return pages;
  };
  const car = (await explore.text('/lots')).match(/\/car\/\d+/)?.[0] ?? '';
  const readers = [
    reader(['/lots', car, '/compare?kind=make&of=Toyota']),
    reader(['/lots?make=Toyota', '/sql?q=from+sales', '/marts/sales.html?by=outcome']),
  ];
  await night(folder.path, { vehicles: 1500, clock: new Date('2026-11-21T04:00:00Z') });
  await expect.poll(() => stamps.size, { timeout: 20_000 }).toBe(2);
  isOver = true;
  const read = await Promise.all(readers);
  expect(Math.min(...read)).toBeGreaterThan(3);
  const offered = await readLake(configFor('http://127.0.0.1:9/api', folder.path), {}, ({ session }) =>
    scalar(
      session.connection,
      "select count(*) from price_estimates join lots using (lot_id) left join sell_through_odds odds using (lot_id) where is_offered and (market = 'asking' or odds.lot_id is not null) and (odds.sale_date is not null or coalesce(lots.status_id, 3) in (3, 5, 9, 10))",
    ),
  );
  expect(await explore.text('/lots')).toContain(`role="status">${offered.toLocaleString('en')} lots`);
  await explore.close();
  folder.remove();
});
