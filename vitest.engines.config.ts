import { defineConfig } from 'vitest/config';

/** Run with `npm run test:engines`: object storage, Iceberg readers and Spark, in an environment of their own. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/engines/**/*.engines.ts'],
    // A cluster takes the whole machine. The reporter names skipped suites with their reasons.
    maxWorkers: 1,
    reporters: ['verbose'],
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
  },
});
