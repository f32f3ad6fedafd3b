import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSpark } from '../../src/beyond/spark/run-spark.js';
import { scriptOf, sparkLiteral, submitArguments } from '../../src/beyond/spark/script.js';

/** A command in place of Spark. It prints what the script of the test says, and keeps its arguments. */
describe('a script on Spark', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'lotlake-test-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const command = (body: string): readonly string[] => {
    const path = join(folder, 'spark-sql');
    writeFileSync(path, `#!/bin/sh\necho "$@" > ${folder}/args\n${body}\n`);
    chmodSync(path, 0o755);
    return [path, '--master', 'local[2]'];
  };
  const steps = [
    { name: 'first', statements: ['select 1'] },
    { name: 'second', query: 'select 2 as a' },
  ];
  const begin = `echo '-- lotlake on Spark 4.1.4 45b9b17'`;
  const step = `echo '-- lotlake step'`;

  it('gives the rows of each step, and ignores other lines', async () => {
    const row = `echo '-- lotlake row {"a":2,"b":null}'`;
    const submit = command(`${begin}; echo 1; echo '{started}'; ${step}; echo '{"a":1}'; ${row}; ${step}`);
    const heard: string[] = [];
    const results = await runSpark(steps, { submit, onStep: ({ name }) => heard.push(name) });
    expect(results.map(({ name, rows }) => ({ name, rows }))).toEqual([
      { name: 'first', rows: [] },
      { name: 'second', rows: [{ a: 2, b: null }] },
    ]);
    expect(heard).toEqual(['first', 'second']);
    const args = readFileSync(join(folder, 'args'), 'utf8');
    expect(args).toContain('--master local[2]');
    expect(args).toContain('--conf spark.sql.session.timeZone=UTC');
  });

  it('names the failed step, with the message of Spark and without its stack trace', async () => {
    const submit = command(
      `${begin}; ${step}
       echo '26/11/23 06:24:13 WARN NativeCodeLoader: Unable to load' >&2
       echo 'Time taken: 0.2 seconds' >&2
       echo '26/11/28 21:16:11 ERROR SparkSQLDriver: Failed in [' >&2
       printf 'insert overwrite directory\\nselect 1\\nfrom a\\nwhere b\\n]\\n' >&2
       echo '[DIVIDE_BY_ZERO] Division by zero.' >&2
       printf '\\tat org.apache.spark.sql(x.scala:1)\\n' >&2
       exit 1`,
    );
    await expect(runSpark(steps, { submit })).rejects.toMatchObject({
      code: 'SPARK_FAILED',
      message: 'Spark failed in second (exit code 1): [DIVIDE_BY_ZERO] Division by zero.',
    });
  });

  it('says whether Spark did not start, ended early, or was killed', async () => {
    const failed = (message: string) => ({ code: 'SPARK_FAILED', message });
    const run = (body: string) => runSpark(steps, { submit: command(body) });
    await expect(run(`echo 'All masters are unresponsive!' >&2; exit 1`)).rejects.toMatchObject(
      failed('Spark did not start (exit code 1): All masters are unresponsive!'),
    );
    await expect(run(`${begin}; ${step}`)).rejects.toMatchObject(
      failed('Spark failed in second (exit code 0): it says nothing'),
    );
    await expect(run(`${begin}; kill -9 $$`)).rejects.toMatchObject(
      failed('Spark failed in first (ended by SIGKILL): it says nothing'),
    );
  });

  it('refuses a Spark that is missing or too old', async () => {
    await expect(runSpark(steps, { submit: [join(folder, 'nothing')] })).rejects.toMatchObject({
      code: 'SPARK_NOT_FOUND',
      outcome: 'usage',
    });
    const submit = command(`echo '-- lotlake on Spark 3.5.1 abc'; ${step}; sleep 60`);
    await expect(runSpark(steps, { submit })).rejects.toMatchObject({ code: 'SPARK_VERSION' });
  });

  it('ends Spark and its children when the run ends', async () => {
    const child = `(trap 'echo ended > ${folder}/child; exit' TERM; ${step}; while :; do sleep 0.05; done)`;
    const submit = command(`${begin}; ${child} & wait`);
    const controller = new AbortController();
    const reason = new Error('enough');
    const running = runSpark(steps, {
      submit,
      signal: controller.signal,
      onStep: () => controller.abort(reason),
    });
    await expect(running).rejects.toBe(reason);
    expect(readFileSync(join(folder, 'child'), 'utf8')).toBe('ended\n');
  });
});

describe('the script', () => {
  it('runs through spark-submit with the driver of spark-sql', () => {
    const given = submitArguments(
      ['/opt/spark/bin/spark-submit', '--master', 'spark://host:7077'],
      '/tmp/x.sql',
    );
    expect(given.slice(0, 3)).toEqual(['/opt/spark/bin/spark-submit', '--master', 'spark://host:7077']);
    expect(given.slice(-4)).toEqual([
      '--class',
      'org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver',
      '-f',
      'file:/tmp/x.sql',
    ]);
  });

  it('requests the rows of a query as JSON, and marks the end of each step', () => {
    const lines = scriptOf([{ name: 'a', statements: ['create view v as select 1'], query: 'select 2' }]);
    expect(lines.split(';\n').map((line) => line.split('(')[0])).toEqual([
      "select '-- lotlake on Spark ' || version",
      'create view v as select 1',
      "select '-- lotlake row ' || to_json",
      "select '-- lotlake step'",
      '',
    ]);
  });

  it('escapes what Spark reads as an escape', () => {
    expect(sparkLiteral("it's \\d")).toBe("'it\\'s \\\\d'");
  });
});
