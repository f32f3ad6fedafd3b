import { chmodSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';
import { setUp } from './world-oracle.js';

/** A command in the place of Spark: it ends every step, and stages no record. */
function sparkWithoutFiles(folder: string): string[] {
  const path = join(folder, 'spark-sql');
  // The last argument is the script. Each of its steps is answered.
  const steps = `for script; do :; done; grep -c "^select '-- lotlake step'" "\${script#file:}"`;
  const body = [
    "echo '-- lotlake on Spark 4.1.4'",
    `for i in $(seq $(${steps})); do echo '-- lotlake step'; done`,
  ];
  writeFileSync(path, `#!/bin/sh\n${body.join('\n')}\n`);
  chmodSync(path, 0o755);
  return [path];
}

it('a rebuild whose Spark staged elsewhere names the records that are missing, and publishes nothing', async () => {
  const commands = temporaryFolder();
  const clock = new Date('2026-11-18T02:00:00Z');
  const stage = await setUp({ vehicles: 30, seed: 23, clock });
  await stage.night();
  const current = readlinkSync(join(stage.output, 'lake', 'current'));
  const config = configFor('http://127.0.0.1:1', stage.output, {
    spark: { submit: sparkWithoutFiles(commands.path) },
  });
  const run = rebuild({
    ...WITHOUT_MARTS,
    config,
    reporter: silentReporter(),
    now: () => clock,
    engine: 'spark',
  });
  await expect(run).rejects.toMatchObject({
    code: 'SPARK_FAILED',
    message: expect.stringMatching(/staged 0 of \d+ records of /),
  });
  expect(readlinkSync(join(stage.output, 'lake', 'current'))).toBe(current);
  await stage.close();
  commands.remove();
});
