import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { packageRoot } from '../../src/base/config/package-root.js';
import { temporaryFolder } from '../pipelines/support.js';

const GITHUB = join(packageRoot, '.github');
const step = z.object({ run: z.string().optional(), uses: z.string().optional() });
const job = z.object({ 'timeout-minutes': z.int(), steps: z.array(step) });
const workflow = z.object({
  permissions: z.object({ contents: z.literal('read') }),
  jobs: z.record(z.string(), job),
});

const workflows = readdirSync(join(GITHUB, 'workflows')).map((name) => {
  const { jobs } = workflow.parse(load(readFileSync(join(GITHUB, 'workflows', name), 'utf8')));
  return { name, steps: Object.values(jobs).flatMap(({ steps }) => steps) };
});

describe('a workflow', () => {
  it.each(workflows)('runs scripts and files that exist: $name', ({ steps }) => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    const lines = steps.flatMap(({ run }) => run ?? []).join('\n');
    const called = [...lines.matchAll(/npm (?:run )?(test|run)(?::\w+)?/g)].map(([call]) =>
      call.replace(/npm (run )?/, ''),
    );
    expect(called.filter((name) => !(name in scripts))).toEqual([]);
    expect(called).toContain('test');
    const files = [...lines.matchAll(/node (\S+\.mjs)/g)].map(([, file = '']) => join(packageRoot, file));
    expect(files.filter((file) => !existsSync(file))).toEqual([]);
  });

  it.each(workflows)('names a version of each action: $name', ({ steps }) => {
    expect(
      steps.flatMap(({ uses }) => uses ?? []).filter((uses) => !/@v\d|@[0-9a-f]{40}$/.test(uses)),
    ).toEqual([]);
  });
});

describe('the other files of .github', () => {
  it('are YAML, and a report of a bug asks for lotlake doctor --json', () => {
    expect(load(readFileSync(join(GITHUB, 'dependabot.yml'), 'utf8'))).toMatchObject({ version: 2 });
    const form = readFileSync(join(GITHUB, 'ISSUE_TEMPLATE', 'bug.yml'), 'utf8');
    expect(JSON.stringify(load(form))).toContain('lotlake doctor --json');
  });
});

describe('the changelog of a release', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());
  const changelog = join(folder.path, 'CHANGELOG.md');
  const call = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync('node', [join(GITHUB, 'changelog.mjs'), ...args], {
      cwd: folder.path,
      encoding: 'utf8',
    });
    return { status, out: stdout, err: stderr };
  };
  writeFileSync(join(folder.path, 'package.json'), '{"version": "0.2.0"}');
  writeFileSync(
    changelog,
    '# Changelog\n\n## Unreleased\n\n### Added\n\n- One.\n\n## 0.1.0 - 2026-01-01\n\n- Zero.\n',
  );

  it('dates what is unreleased, and begins anew', () => {
    expect(call('cut', '0.2.0').status).toBe(0);
    expect(readFileSync(changelog, 'utf8')).toMatch(
      /^# Changelog\n\n## Unreleased\n\n## 0\.2\.0 - \d{4}-\d\d-\d\d\n\n### Added\n\n- One\.\n\n## 0\.1\.0/,
    );
  });

  it('gives the notes of one version', () => {
    expect(call('notes', '0.2.0')).toEqual({ status: 0, out: '### Added\n\n- One.\n', err: '' });
  });

  it('fails for a version without notes, another one than that of the package, and none', () => {
    expect(call('notes', '0.1.0').err).toContain('package.json has version 0.2.0');
    expect(call('cut', '0.3.0')).toMatchObject({
      status: 1,
      err: expect.stringContaining('nothing under "Unreleased"'),
    });
    expect(call('cut')).toMatchObject({ status: 1 });
  });

  it('has a section for what is not released', () => {
    expect(readFileSync(join(packageRoot, 'CHANGELOG.md'), 'utf8')).toMatch(/^## Unreleased$/m);
  });
});
