import { it } from 'vitest';
import { assertStories } from '../pipelines/oracle/tell.js';

/** About 15 minutes, with another seed each time. */
it('the lake is right after every run of hundreds of random stories', async () => {
  const counts = await assertStories({ numRuns: 400, longest: 4, interruptAfterTimeLimit: 3_000_000 });
  process.stdout.write(`${JSON.stringify(Object.fromEntries(counts), null, 1)}\n`);
});
