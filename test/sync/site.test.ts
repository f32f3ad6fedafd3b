import { spawn } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { runLotlake } from '../cli/support.js';
import { freePort } from '../engines/support/free-port.js';
import { type Postgres, postgresBin, startPostgres } from '../engines/support/postgres.js';
import { twoNights } from '../export/changed-lake.js';

const OFFERS = (bid: number): string =>
  `select lot_id::bigint as lot_id, 2019::bigint as year, make as manufacturer_name, model as model_name, 'NJ' as state_code,
     timestamptz '2026-11-30 12:00:00+00' as sale_date, ${bid}::double as bid, 3000::double as estimate, 2500::double as low_80,
     3500::double as high_80, 'USD' as currency
   from (values (1, 'Toyota', 'Camry'), (2, 'Toyota', '<script>alert("x")</script>'), (3, 'Kia', 'K5')) v(lot_id, make, model)`;

// The site has to find the package `pg`.
const file = join(packageRoot, `site-of-the-page-${process.pid}.mjs`);

describe.skipIf(postgresBin() === undefined)(
  'the site of docs/run/sync.md (skipped without Postgres)',
  () => {
    let lake: Awaited<ReturnType<typeof twoNights>>;
    let postgres: Postgres;
    let site: ReturnType<typeof spawn>;
    let port: number;
    beforeAll(async () => {
      lake = await twoNights(
        { lots_on_offer: ['lot_id'] },
        [{}, { lots_on_offer: OFFERS(100) }],
        [{}, { lots_on_offer: OFFERS(200) }],
      );
      postgres = await startPostgres();
      port = await freePort();
      const sync = {
        site: {
          database: postgres.database,
          tables: { lots_on_offer: { indexes: ['manufacturer_name', 'sale_date'] } },
        },
      };
      writeFileSync(join(lake.config.output, 'lotlake.config.json'), JSON.stringify({ sync }));
      writeFileSync(join(lake.config.output, 'password'), postgres.password);
      const page = readFileSync(join(packageRoot, 'docs', 'run', 'sync.md'), 'utf8');
      const code = /```js\n(.*?)```/s.exec(page)?.[1] ?? '';
      writeFileSync(file, code.replace('8080', String(port)));
      const address = new URL(postgres.database);
      address.password = postgres.password;
      site = spawn(process.execPath, [file], {
        env: { ...process.env, DATABASE: address.href },
        stdio: 'inherit',
      });
    });
    afterAll(async () => {
      site.kill();
      rmSync(file);
      await postgres.close();
      lake.remove();
    });

    it('shows the lots of a make as the last sync has them, and texts of the feed as text', async () => {
      const { code, err } = runLotlake(lake.config.output, 'sync', 'site', '--json');
      // No password is named.
      expect([code, err]).toEqual([4, expect.stringContaining('SYNC_UNREACHABLE')]);
      const { sync } = JSON.parse(readFileSync(join(lake.config.output, 'lotlake.config.json'), 'utf8'));
      sync.site.passwordFile = 'password';
      writeFileSync(join(lake.config.output, 'lotlake.config.json'), JSON.stringify({ sync }));
      expect(runLotlake(lake.config.output, 'sync', 'site').err).toBe('');
      const html = await (await fetch(`http://127.0.0.1:${port}/?make=toy`)).text();
      expect(html.match(/<tr>/g)).toHaveLength(2);
      expect(html).toContain(
        '<td>Toyota</td><td>Camry</td><td>NJ</td><td>2026-11-30</td><td>200</td><td>3000</td><td>2500</td><td>3500</td>',
      );
      expect(html).not.toContain('<script>');
      expect(await (await fetch(`http://127.0.0.1:${port}/?make=%27%3B--`)).text()).toBe(
        '<form><input name=make></form><table></table>',
      );
    });
  },
);
