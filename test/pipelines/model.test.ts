import { expect, it } from 'vitest';
import { assertStories } from './oracle/tell.js';

/** Another seed each time; hundreds with `npm run test:soak`. */
it('the lake knows what it should after every run of random stories', async () => {
  const counts = await assertStories({ numRuns: 15, longest: 2, interruptAfterTimeLimit: 240_000 });
  expect(counts.get('nightly')).toBeGreaterThan(15);
}, 300_000);
