import { it } from 'vitest';
import { readWhilePublishing } from './readers.js';

it('readers that resolve the link see only whole snapshots while others are published and removed', async () => {
  await readWhilePublishing(2, 4);
});
