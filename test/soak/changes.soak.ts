import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { writeChanges } from '../../src/ask/export/write-changes.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { applied } from '../export/changed-lake.js';
import { assertStories } from '../pipelines/oracle/tell.js';
import { configFor } from '../pipelines/support.js';

/** Minutes after which no new story begins. */
const MINUTES = Number(process.env.LOTLAKE_MINUTES ?? 15);

/** Some 20 seconds a story, with another seed each time. */
it('a feed of changes makes each snapshot of forty random stories of the one before, of the first, and of nothing', async () => {
  let feeds = 0;
  const counts = await assertStories({
    ...{ numRuns: 40, longest: 4, interruptAfterTimeLimit: MINUTES * 60_000 },
    look: async ({ output, service }) => {
      const config = configFor(service.url, output);
      const kept = listSnapshots(layoutOf(output)).map(({ id }) => id);
      const last = kept.at(-1);
      if (last === undefined) return;
      for (const since of new Set([undefined, kept[0], kept.at(-2)])) {
        const to = join(output, 'feed');
        await writeChanges({ since, until: last, to, format: 'parquet' }, config, undefined);
        expect(await applied(layoutOf(output).snapshots, to), `since ${since}`).toEqual({});
        rmSync(to, { recursive: true });
        feeds++;
      }
    },
  });
  process.stdout.write(`${counts.get('stories') ?? 0} stories, ${feeds} feeds\n`);
  expect(feeds).toBeGreaterThan(10);
});
