import { defineConfig } from 'vitest/config';

/** Run with `npm run test:guard`: the suites that guard data, in a size for every change. */
// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: [
      'test/pipelines/{disk-full,kill-matrix,plans,unserved}.test.ts',
      'test/soak/model-based.soak.ts',
      'test/hostile/{answers,folders,records,leaks}/*.hostile.ts',
    ],
    env: { LOTLAKE_STORIES: '25', LOTLAKE_SEED: '1', LOTLAKE_LAKES: '12', LOTLAKE_PAGES: '250' },
    testTimeout: 1_200_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
