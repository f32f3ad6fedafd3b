import { defineConfig } from 'vitest/config';

/** Run with `npm run test:package`: the packed package, installed, on each Node that is there or can be had. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/package/*.package.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
    reporters: ['verbose'],
  },
});
