import { defineConfig } from 'vitest/config';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: [
      'test/soak/**/*.soak.ts',
      'test/model/world/world.test.ts',
      'test/pipelines/{disk-full,week,rate,readers,kill,kill-matrix,interrupt,inventory,held-runs,lookups,sources,reference}.test.ts',
    ],
    env: { LOTLAKE_WORLD: '20000' },
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
