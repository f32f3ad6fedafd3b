import { chmodSync, readlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';
import { setUp } from './world-oracle.js';

const require = createRequire(import.meta.url);

/** A command in place of Spark. It runs a script on the statements, and then answers each step. */
function sparkThat(folder: string, script: string): string[] {
  const [path, node] = [join(folder, 'spark-sql'), join(folder, 'stage.mjs')];
  writeFileSync(node, script);
  // The last argument is the script. Each of its steps is answered.
  const steps = `grep -c "^select '-- lotlake step'" "\${script#file:}"`;
  const body = [
    'for script; do :; done',
    `${process.execPath} ${node} "\${script#file:}" || exit 1`,
    "echo '-- lotlake on Spark 4.1.4'",
    `for i in $(seq $(${steps})); do echo '-- lotlake step'; done`,
  ];
  writeFileSync(path, `#!/bin/sh\n${body.join('\n')}\n`);
  chmodSync(path, 0o755);
  return [path];
}

/** Stages a row for each record of the plan, as if all of them came from the first run. */
const UNDER_ONE_RUN = `
  import { mkdirSync, readFileSync } from 'node:fs';
  import { gunzipSync } from 'node:zlib';
  import { DuckDBInstance } from '${pathToFileURL(require.resolve('@duckdb/node-api'))}';
  const script = readFileSync(process.argv[2], 'utf8');
  const duck = await (await DuckDBInstance.create()).connect();
  for (const [, target] of script.matchAll(/location 'file:([^']+)\\/vehicles'/g)) {
    const pages = readFileSync(target + '/plan.ndjson', 'utf8').trim().split('\\n').map((line) => JSON.parse(line));
    const landing = target.replace(/\\/lake.*|\\/work.*/, '') + '/landing/cars/';
    const linesOf = ({ file }) => String(gunzipSync(readFileSync(landing + file))).trim().split('\\n').length;
    const records = pages.reduce((sum, page) => sum + linesOf(page), 0);
    const folder = target + '/vehicles/_run=' + pages[0].run;
    mkdirSync(folder, { recursive: true });
    await duck.run("copy (from range(" + records + ")) to '" + folder + "/part.parquet' (format parquet)");
  }
`;

it.each([
  ['elsewhere names the records that are missing', '', /staged 0 of \d+ records of /],
  [
    'records of one run under another names both numbers',
    UNDER_ONE_RUN,
    /staged [1-9]\d* of \d+ records of cars of run 2026/,
  ],
])('a rebuild whose Spark staged %s, and publishes nothing', async (_, script, message) => {
  const commands = temporaryFolder();
  const clock = new Date('2026-11-18T02:00:00Z');
  const stage = await setUp({ vehicles: 30, seed: 23, clock });
  await stage.night();
  stage.sandbox.setClock(new Date(clock.getTime() + 86_400_000));
  await stage.night();
  const current = readlinkSync(join(stage.output, 'lake', 'current'));
  const config = configFor('http://127.0.0.1:1', stage.output, {
    spark: { submit: sparkThat(commands.path, script) },
  });
  const run = rebuild({
    ...WITHOUT_MARTS,
    config,
    reporter: silentReporter(),
    now: () => new Date(clock.getTime() + 2 * 86_400_000),
    engine: 'spark',
  });
  await expect(run).rejects.toMatchObject({
    code: 'SPARK_FAILED',
    message: expect.stringMatching(message),
  });
  expect(readlinkSync(join(stage.output, 'lake', 'current'))).toBe(current);
  await stage.close();
  commands.remove();
});
