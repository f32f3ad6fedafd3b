import { it } from 'vitest';
import { readWhilePublishing } from '../pipelines/readers.js';

/** About 20 seconds. */
it('8 readers see only whole snapshots through 20 publishes and three vacuums', async () => {
  await readWhilePublishing(8, 20);
});
