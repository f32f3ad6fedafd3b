import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // With `npm run test:soak`: together some 35 s.
    exclude: ['test/pipelines/disk-full.test.ts', 'test/pipelines/week.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Two cores: suites that each start a pipeline would only take them from each other.
    maxWorkers: 2,
  },
});
