import { it } from 'vitest';
import { readWhilePublishing } from './readers.js';

it('readers that resolve the link see whole snapshots alone while others are published and vacuumed', async () => {
  await readWhilePublishing(2, 4);
});
