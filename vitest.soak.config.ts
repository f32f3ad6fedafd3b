import { defineConfig } from 'vitest/config';
import { SLOW } from './vitest.config.js';

// biome-ignore lint/style/noDefaultExport: vitest reads the default export
export default defineConfig({
  test: {
    include: ['test/soak/**/*.soak.ts', 'test/model/world/world.test.ts', ...SLOW],
    env: { LOTLAKE_WORLD: '20000' },
    testTimeout: 3_600_000,
    hookTimeout: 600_000,
    maxWorkers: 1,
  },
});
