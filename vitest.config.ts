import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Suites that take long and in one piece; begun last, they would keep one core waiting for them. */
const FIRST = /(model|faults|incremental|lookups)\.test\.ts$/;

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId }: TestSpecification): boolean => FIRST.test(moduleId);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // With `npm run test:soak`: together about a minute.
    exclude: ['test/pipelines/{disk-full,week,rate,readers,kill}.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: suites that each start a pipeline would only take them from each other.
    maxWorkers: 2,
    sequence: { sequencer: LongFirst },
  },
});
