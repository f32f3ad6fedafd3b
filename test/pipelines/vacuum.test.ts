import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { layoutOf } from '../../src/lake/layout.js';
import { openTemporarySession } from '../../src/lake/temporary-session.js';
import { executeVacuum, planVacuum } from '../../src/lake/vacuum.js';
import { createWorld } from '../../src/sandbox/index.js';
import {
  configFor,
  expectSameLake,
  lastPage,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';

const START = Date.parse('2026-11-02T02:00:00Z');
const NIGHT = 36 * 3_600_000;

describe('what only a night that landing no longer holds said', () => {
  it('is still there when the lake is made again', async () => {
    const world = createWorld({ vehicles: 40, seed: 9 });
    // biome-ignore lint/suspicious/noExplicitAny: records are changed on purpose
    const vehicles: any[] = world
      .activeIds()
      .map((id) => JSON.parse(world.vehicleJson(id, { pricesHistory: true }) ?? ''));
    const index = vehicles.findIndex(({ lots }) => lots.length === 1 && lots[0].archived === undefined);
    const [broken, flagged] = structuredClone([vehicles[(index + 1) % vehicles.length], vehicles[index]]);
    broken.listings = { of: 'the vehicle' };
    flagged.lots[0].archived = true;
    const others = vehicles.filter(({ id }) => id !== broken.id && id !== flagged.id);
    // The flag and the broken record come in the first night alone; then both vehicles are sound, then gone.
    const nights = [[...others, broken, flagged], vehicles, others];
    const folder = temporaryFolder();
    let night: number;
    const service = await serve(({ pathname, searchParams }) =>
      pathname === '/api/cars'
        ? { body: lastPage(searchParams.get('page') === '1' ? (nights[night] ?? []) : []) }
        : { status: 404, body: { message: 'not here' } },
    );
    const job = () => ({
      config: configFor(service.url, folder.path, { referenceDays: 1000 }),
      ...WITHOUT_MARTS,
      reporter: silentReporter(),
      now: () => new Date(START + night * NIGHT),
    });
    const layout = layoutOf(folder.path);
    for (night = 0; night < nights.length; night++) await nightly(job());
    night = nights.length - 1;
    const before = await readLake(layout.current);
    expect(before.get('rejects')).toMatchObject([{ path: 'listings', record_id: String(broken.id) }]);
    const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
    const retention = { snapshots: 2, passes: () => 2 };
    const plan = await planVacuum(opened.session.connection, layout, retention).finally(opened.close);
    await executeVacuum(layout, plan, new AbortController().signal);
    expect(readdirSync(join(layout.landing, 'cars')).length).toBe(2);
    await rebuild(job());
    expectSameLake(await readLake(layout.current), before);
    await service.close();
    folder.remove();
  });
});
