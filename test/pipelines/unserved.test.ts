import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { nightly } from '../../pipelines/nightly.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { readRuns } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { type HostileService, ruleSchema, startService } from '../hostile/answers/service.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

/** 600 vehicles in pages of 100. */
const IDS = Array.from({ length: 600 }, (_, i) => i + 1);
const SETTINGS: ConfigInput = { perPage: 100, referenceDays: 1000, retryBudget: 3, timeout: 5 };

let service: HostileService;
let folder: ReturnType<typeof temporaryFolder>;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(() => {
  folder = temporaryFolder();
  return () => folder.remove();
});

const rules = (given: readonly z.input<typeof ruleSchema>[]) => z.array(ruleSchema).parse(given);

/** A night; returns the number of its requests for vehicles and its warnings. */
async function night(more: ConfigInput = {}) {
  const reporter = silentReporter();
  const config = configFor(service.url, folder.path, { ...SETTINGS, ...more });
  await nightly({ ...WITHOUT_MARTS, config, reporter });
  return { requests: service.requested.length, warnings: reporter.warnings };
}

/** Ids of the vehicles of the lake, and of those among them that are archived. */
async function vehicles(): Promise<{ all: number[]; archived: number[] }> {
  const duck = await bareDuckDb();
  const files = join(folder.path, 'lake/current/vehicles/**/*.parquet');
  const rows = await duck.query(`select vehicle_id, archived from '${files}' order by 1`);
  duck.close();
  const ids = (some: typeof rows): number[] => some.map(({ vehicle_id }) => Number(vehicle_id));
  return { all: ids(rows), archived: ids(rows.filter(({ archived }) => archived === true)) };
}

/** The places of the rejects of the newest run. */
async function rejects(): Promise<unknown[]> {
  const run = readRuns(layoutOf(folder.path)).at(-1)?.run_id;
  const duck = await bareDuckDb();
  const rows = await duck.query(
    `select page, position, expected, raw from '${folder.path}/lake/current/rejects/*.parquet' where run_id = '${run}' order by 1, 2`,
  );
  duck.close();
  return rows;
}

describe('a record that the service cannot serve', () => {
  it.each([
    [true, 12],
    [false, 4],
  ])(
    'wanders, and nothing is archived (totals: %s, %i nights)',
    async (totals, nights) => {
      service.become(IDS, totals, []);
      const { requests: healthy } = await night();
      for (let i = 0; i < nights; i++) {
        const id = 1 + ((i * 233) % 600);
        service.become(IDS, totals, rules([{ poison: id, status: 500, body: '{"message":"broken"}' }]));
        const { requests, warnings } = await night();
        expect(requests - healthy, `night ${i}`).toBeLessThanOrEqual(45);
        expect(
          warnings.filter((text) => text.includes('cannot serve record')),
          `night ${i}`,
        ).toHaveLength(1);
        expect(await rejects()).toEqual([
          {
            page: Math.ceil(id / 100),
            // The files of a delta hold nothing else.
            position: 0,
            expected: 'a record that the service can serve',
            raw: expect.stringContaining('broken'),
          },
        ]);
        expect(await vehicles(), `night ${i}`).toEqual({ all: IDS, archived: [] });
      }
    },
    240_000,
  );

  it('costs only itself in a first night, and its place archives nothing later', async () => {
    service.become(IDS, true, rules([{ poison: [250], cut: true }]));
    const { warnings } = await night();
    expect((await vehicles()).all).toEqual(IDS.filter((id) => id !== 250));
    expect(warnings.join('\n')).toContain('record 250 of /cars (page 3, between id 249 and id 251)');
    service.become(
      IDS.filter((id) => ![100, 250].includes(id)),
      true,
      rules([{ poison: 251, status: 500, body: '' }]),
    );
    await night();
    // 250 lay beside 251, so its absence is not proven.
    expect((await vehicles()).archived).toEqual([100]);
  });
});
