import { configDefaults, defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
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

/** Long, and so left to the guard, which every change also runs. */
const GUARDED: readonly string[] = [
  'test/docs/readme.test.ts',
  'test/duck/plans.test.ts',
  'test/explore/{access,browser,command,costs,figures,heavy,hostile-texts,publishing,watched}.test.ts',
  'test/model/{data-health,implausible-dates,observed,price-answers,price-doubts,sold-by-day}.test.ts',
  'test/model/pricing/{fit-prices,interval-factors}.test.ts',
  'test/notify/sent-once.test.ts',
  'test/pipelines/{given-estimates,odd-lookups}.test.ts',
  'test/reconcile/nights.test.ts',
  'test/sync/*.test.ts',
];

/** Run with `npm run test:soak`. */
const SLOW: readonly string[] = [
  'test/pipelines/{alarms,any-folder,clocks,damaged-lake,damaged-pages,disk-full,exchanged-passes,faults,formats,held-runs,interrupt,inventory,keyframes,kill,kill-matrix,lookups}.test.ts',
  'test/pipelines/{model-found,nothing-new,odd-rows,origin,oversized,quarantine,rate,readers,recovery,reference,rejected-values,rejects-kept,resume,sources}.test.ts',
  'test/pipelines/{learned-contract,observed,older-lake,order-of-nights,plans,replayed,strange-members,survivors,thousand-bad-values}.test.ts',
  'test/pipelines/{unserved,unchanged,vacuum,week}.test.ts',
  'test/library/two-keys.test.ts',
  'test/model/costs/random-lots.test.ts',
  'test/notify/nights.test.ts',
  'test/cli/{backup,data-tests,export,json,model,moved,signals,snapshots,vacuum,verify}.test.ts',
  'test/{docs/as-typed,iceberg/{field-ids,local},lake/{lock,unreadable},publish/{described,synced},report/{browser,cli},service/requests-sandbox}.test.ts',
  'test/model/{accident-discount,marts-random,matched-shares,price-comparisons,profiles,vehicle-timeline}.test.ts',
  'test/sandbox/{catalog,filters,lookups,scroll,world}.test.ts',
];

/** Suites of what queries and exports print and write, which run again in another time zone than UTC. */
const SHARING = ['test/{export/export,query/instants}.test.ts', 'test/cli/instants.test.ts'];

/** Behind UTC, by half hours, with summer time. */
const ZONES = ['America/St_Johns'];

const SECOND = 1000;
const MINUTE = 60 * SECOND;

type Options = NonNullable<TestProjectInlineConfiguration['test']>;

const project = (test: Options): TestProjectInlineConfiguration => ({ extends: true, test });

/** What `npm test` runs: `--project 'unit*'`, and the default. */
const unit = [
  project({
    name: 'unit',
    include: ['test/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...GUARDED, ...SLOW, ...MOCKING],
    isolate: false,
  }),
  project({ name: 'unit-mocking', include: MOCKING }),
  ...ZONES.map((zone) =>
    project({ name: `unit-${zone}`, include: SHARING, isolate: false, env: { TZ: zone } }),
  ),
];

/** A project that runs on request alone, with how long a test and a hook of it may take. */
const onRequest = (name: string, testTimeout: number, hookTimeout: number, options: Options) =>
  project({ name, testTimeout, hookTimeout, ...options });

/** What the other scripts run, each with `--project` and its name. */
const slow = [
  // The suites that guard data, in a size for every change.
  onRequest('guard', 20 * MINUTE, 2 * MINUTE, {
    include: [
      ...GUARDED,
      'test/pipelines/{disk-full,kill-matrix,odd-rows,plans,unserved}.test.ts',
      'test/soak/{interrupted,model-based}.soak.ts',
      'test/hostile/{answers,folders,members,models,records,leaks}/*.hostile.ts',
    ],
    env: {
      ...{ LOTLAKE_STORIES: '25', LOTLAKE_SEED: '1', LOTLAKE_KILLS: '12' },
      ...{ LOTLAKE_LAKES: '12', LOTLAKE_PAGES: '250', LOTLAKE_CHANGES: '300' },
    },
    maxWorkers: 2,
  }),
  onRequest('hostile', 2 * MINUTE, 2 * MINUTE, { include: ['test/hostile/**/*.hostile.ts'], maxWorkers: 2 }),
  onRequest('soak', 60 * MINUTE, 10 * MINUTE, {
    include: ['test/soak/**/*.soak.ts', 'test/model/world/world.test.ts', ...GUARDED, ...SLOW],
    env: { LOTLAKE_WORLD: '20000' },
    maxWorkers: 1,
  }),
  // Object storage, Iceberg readers and Spark, in an environment of their own; a cluster takes the whole machine.
  onRequest('engines', 30 * MINUTE, 30 * MINUTE, {
    include: ['test/engines/**/*.engines.ts'],
    maxWorkers: 1,
  }),
  // The files of docs/run/operate with the tools that they are for.
  onRequest('operate', 15 * MINUTE, 15 * MINUTE, { include: ['test/operate/*.operate.ts'], maxWorkers: 1 }),
  // The packed package, installed, on each Node that is there or can be had.
  onRequest('package', 15 * MINUTE, 15 * MINUTE, { include: ['test/package/*.package.ts'], maxWorkers: 1 }),
];

/** Without a project, a name of a file or folder means its fast suites. */
const isAsked = process.argv.some((given) => given.startsWith('--project'));

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    testTimeout: MINUTE,
    hookTimeout: 2 * MINUTE,
    // Two cores; a third suite runs while others wait for a clock or a server.
    maxWorkers: 3,
    sequence: { sequencer: LongFirst },
    reporters: ['default', new LeftOut()],
    projects: isAsked ? [...unit, ...slow] : unit,
  },
});
