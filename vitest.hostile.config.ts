import { defineConfig } from 'vitest/config';

/** Run with `npm run test:hostile`. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/hostile/**/*.hostile.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
