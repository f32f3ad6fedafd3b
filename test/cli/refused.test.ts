import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeRun } from '../../src/core/job/run-records.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { runRecord } from '../lake/run-record.js';
import { temporaryFolder } from '../pipelines/support.js';
import { effectsIn, printedBy, runCommand } from './support.js';

let folder: ReturnType<typeof temporaryFolder>;
let lake: string;
beforeEach(() => {
  folder = temporaryFolder();
  lake = join(folder.path, 'lake');
});
afterEach(() => folder.remove());

const KEY = { LOTLAKE_BASE_URL: 'http://127.0.0.1:1/api', LOTLAKE_API_KEY: 'the-key-of-tests' };

/** Writes the file of settings, and runs the nightly beside it. Returns its error. */
async function refused(settings: string, env: NodeJS.ProcessEnv, ...args: string[]) {
  writeFileSync(join(folder.path, 'lotlake.config.json'), settings);
  const { effects } = effectsIn(folder.path, env);
  return runCommand(effects, 'run', 'nightly', ...args).then(
    () => expect.unreachable('the run was not refused'),
    (error: unknown) => error,
  );
}

/** Alarms that `lotlake status` prints once the settings are right. */
async function alarms() {
  rmSync(join(folder.path, 'lotlake.config.json'), { force: true });
  return JSON.parse(String(await printedBy(lake, 'status', '--json'))).alarms;
}

const alarm = {
  ...{ pipeline: 'nightly', subject: 'run', metric: 'failing_runs' },
  what: 'the run failed and published nothing: CONFIG_INVALID',
};

describe('a night that its settings refuse is an alarm', () => {
  it.each([
    ['a value that is wrong', '{ "output": "lake", "rate": "fast" }', {}, /rate in .* is "fast"/],
    ['a setting that does not exist', '{ "output": "lake", "raet": 2 }', {}, /there is no such setting/],
    ['a key in the file', '{ "output": "lake", "apiKey": "x" }', {}, /the file holds the key/],
    ['a file that is no JSON', '{ "output": ', { LOTLAKE_OUTPUT: 'lake' }, /the file is no JSON/],
    ['a key file that is gone', '{ "output": "lake" }', { LOTLAKE_API_KEY_FILE: 'gone' }, /ENOENT/],
    [
      'an endpoint as base URL',
      '{ "output": "lake" }',
      { LOTLAKE_BASE_URL: 'http://127.0.0.1:1/api/cars/' },
      /ends with \/cars, which is an endpoint/,
    ],
    ['no base URL', '{ "output": "lake" }', { LOTLAKE_BASE_URL: '' }, /there is no base URL/],
    ['a log file that cannot be', '{ "output": "lake", "logFile": "no/log" }', {}, /the log file/],
  ])('%s', async (_, settings, env, message) => {
    mkdirSync(lake);
    const error = await refused(settings, { ...KEY, ...env });
    expect(error).toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringMatching(message) });
    expect(error).not.toMatchObject({ hint: expect.stringContaining('record of this run') });
    expect(await alarms()).toMatchObject([{ ...alarm, detail: expect.stringMatching(message) }]);
  });

  it('or says why there is no record', async () => {
    expect(await refused('{ "output": "lake", "rate": 0 }', KEY)).toMatchObject({
      hint: expect.stringContaining(`there is no folder ${lake} for a record of this run`),
    });
    mkdirSync(lake);
    expect(await refused('{ "output": ', KEY)).toMatchObject({
      hint: expect.stringMatching(/no record of this run, since its output folder cannot be read .* no JSON/),
    });
    expect(readdirSync(lake)).toEqual([]);
  });

  it.skipIf(process.getuid?.() === 0)('or says that the folder cannot be written', async () => {
    mkdirSync(lake);
    chmodSync(lake, 0o500);
    const error = await refused('{ "output": "lake" }', KEY);
    chmodSync(lake, 0o700);
    expect(error).toMatchObject({ hint: expect.stringContaining('will not know all of this run') });
  });

  it.each(['--vehicles', '--seed', '--clock'])('%s without --sandbox', async (option) => {
    mkdirSync(lake);
    const error = await refused('{ "output": "lake" }', KEY, option, '2026');
    expect(error).toMatchObject({
      ...{ code: 'USAGE_INVALID', outcome: 'usage' },
      message: `${option} describes the world of the sandbox, and --sandbox is not given`,
    });
    expect(await alarms()).toMatchObject([{ what: expect.stringContaining('USAGE_INVALID') }]);
    expect(existsSync(join(folder.path, 'output'))).toBe(false);
  });
});

describe('status --fail-on-alarm', () => {
  it('ends with 5 while an alarm is open, and names it', async () => {
    const layout = layoutOf(lake);
    mkdirSync(lake);
    await expect(printedBy(lake, 'status', '--fail-on-alarm')).rejects.toMatchObject({
      ...{ code: 'QUERY_NO_SNAPSHOT', message: `there is no lake in ${lake}` },
    });
    const error = { code: 'LAKE_ORIGIN', stage: 'lake', message: 'this is the lake of x', hint: null };
    writeRun(layout, runRecord({ attempt: 1, outcome: 'usage', exit_code: 2, error }));
    await expect(printedBy(lake, 'status', '--fail-on-alarm')).rejects.toMatchObject({
      ...{ code: 'LAKE_ALARM', outcome: 'held' },
      message: expect.stringMatching(
        /^1 alarm in .*lake: nightly of .*: LAKE_ORIGIN: this is the lake of x$/,
      ),
    });
    // A run that found the lake locked says nothing of the night before it.
    const locked = { code: 'LAKE_LOCKED', stage: 'lake', message: 'held by process 1', hint: null };
    writeRun(layout, runRecord({ attempt: 2, outcome: 'locked', exit_code: 6, error: locked }));
    expect(await alarms()).toMatchObject([{ what: expect.stringContaining('2 in a row: LAKE_ORIGIN') }]);
    expect(String(await printedBy(lake, 'status'))).toMatch(
      /last nightly of [^:]*:[^ ]* usage \(LAKE_ORIGIN\)/,
    );
    writeRun(layout, runRecord({ attempt: 3 }));
    expect(String(await printedBy(lake, 'status', '--fail-on-alarm'))).toContain('alarms:   none');
  });
});
