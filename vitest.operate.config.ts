import { defineConfig } from 'vitest/config';

/** Run with `npm run test:operate`: the files of docs/run/operate with the tools that they are for. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/operate/*.operate.ts'],
    testTimeout: 900_000,
    hookTimeout: 900_000,
    maxWorkers: 1,
    reporters: ['verbose'],
  },
});
