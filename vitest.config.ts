import { configDefaults, defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LeftOut } from './test/left-out.js';

/** Suites that take long and in one piece; begun last, they would keep one core waiting for them. */
const FIRST = /(incremental|nights)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => FIRST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

/** Suites that put other modules or clocks in place of the real ones, or look at what modules hold, and so load them anew. */
const MOCKING = [
  'test/config/owned.test.ts',
  'test/extract/{rate-limit,moving-list}.test.ts',
  'test/mirror/{pull,vacuum}.test.ts',
];

/** Run with `npm run test:soak`. */
export const SLOW: readonly string[] = [
  'test/pipelines/{absence,alarms,clocks,damaged-lake,damaged-pages,disk-full,faults,formats,held-runs,interrupt,inventory,kill,kill-matrix,lookups}.test.ts',
  'test/pipelines/{model-found,nothing-new,origin,oversized,quarantine,rate,readers,recovery,reference,rejected-values,rejects-kept,resume,sources}.test.ts',
  'test/pipelines/{learned-contract,observed,older-lake,plans,replayed,strange-members,survivors,thousand-bad-values}.test.ts',
  'test/pipelines/{unserved,unchanged,vacuum,week}.test.ts',
  'test/library/two-keys.test.ts',
  'test/cli/{backup,data-tests,export,json,model,moved,signals,snapshots,vacuum,verify}.test.ts',
  'test/{docs/{as-typed,browser},iceberg/{field-ids,local},lake/{lock,unreadable},publish/{described,synced},report/{browser,cli},service/requests-sandbox}.test.ts',
  'test/model/{accident-discount,marts-random,matched-shares,price-comparisons,profiles,vehicle-timeline}.test.ts',
  'test/sandbox/{catalog,filters,lookups,scroll,world}.test.ts',
];

/** Suites of what queries and exports print and write, which run again in another time zone than UTC. */
const SHARING = ['test/{export/export,query/instants}.test.ts', 'test/cli/instants.test.ts'];

/** Behind UTC, by half hours, with summer time. */
const ZONES = ['America/St_Johns'];

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // Two cores; a third suite runs while others wait for a clock or a server.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    reporters: ['default', new LeftOut()],
    projects: [
      {
        extends: true,
        test: {
          name: 'shared',
          include: ['test/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...SLOW, ...MOCKING],
          isolate: false,
        },
      },
      { extends: true, test: { name: 'mocking', include: MOCKING } },
      ...ZONES.map((zone) => ({
        extends: true as const,
        test: { name: zone, include: SHARING, isolate: false, env: { TZ: zone } },
      })),
    ],
  },
});
