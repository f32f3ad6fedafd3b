import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { findNodes, here, sharedFolder, user, userOf } from './support.js';

const folder = sharedFolder();
const nodes = findNodes(folder.path, ['20', '22', '24']);
const older = findNodes(folder.path, ['16', '18']);
let tarball: string;
let packed: { readonly filename: string; readonly files: readonly { readonly path: string }[] };

beforeAll(() => {
  [packed] = JSON.parse(here('npm', 'pack', '--json', '--silent', '--pack-destination', folder.path));
  tarball = join(folder.path, packed.filename);
  chmodSync(tarball, 0o644);
});
afterAll(() => folder.remove());

/** The example of docs/ask/library.md. */
const example = (): string => {
  const page = readFileSync(join(packageRoot, 'docs', 'ask', 'library.md'), 'utf8');
  return /```ts\n(.*?)```/s.exec(page)?.[1] ?? '';
};

const COMPILER = {
  ...{
    target: 'ES2022',
    module: 'NodeNext',
    strict: true,
    skipLibCheck: false,
    outDir: '.',
    types: ['node'],
  },
  ...{ exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  typeRoots: [join(packageRoot, 'node_modules', '@types')],
};

describe('the package', () => {
  it('holds what a user needs, the pages that the build makes, and neither tests, sources nor pictures', () => {
    const paths = packed.files.map(({ path }) => path);
    const needed = [
      'README.md',
      'LICENSE',
      'CHANGELOG.md',
      'llms.txt',
      'docs/ask/library.md',
      'dist/src/index.d.ts',
    ];
    for (const path of [
      ...needed,
      ...['docs/ask/marts.md', 'docs/ask/tables.md', 'docs/change/endpoints.md', 'docs/run/settings.md'],
    ])
      expect(paths).toContain(path);
    const strange = /(^|\/)test\/|\.map$|(?<!\.d)\.ts$|\.png$/;
    expect(paths.filter((path) => strange.test(path))).toEqual([]);
  });

  it('can be published without a warning except about the login', () => {
    const { status, stderr } = spawnSync('npm', ['publish', '--dry-run', '--ignore-scripts'], {
      ...{ cwd: packageRoot, encoding: 'utf8' },
    });
    expect(status, stderr).toBe(0);
    const ours = stderr.split('\n').filter((line) => /npm (warn publish|error)/.test(line));
    expect(ours.filter((line) => !line.includes('requires you to be logged in'))).toEqual([]);
  });
});

describe.each([...nodes])(`installed for ${user} on Node %s`, (major, node) => {
  const prefix = folder.open(`prefix-${major}`);
  const home = folder.open(`home-${major}`);
  const night = folder.open(`night-${major}`);
  const project = folder.open(`project-${major}`);
  const as = userOf(node, home, join(prefix, 'bin'));

  it('runs on that version of Node', () => {
    expect(as(night, 'node', '--version')).toMatch(new RegExp(`^v${major}\\.`));
  });

  it('fills a lake from a clean folder, and cannot write to its own folder', () => {
    as(night, 'npm', 'install', '--global', '--prefix', prefix, tarball);
    here('chmod', '-R', 'a-w', join(prefix, 'lib'));
    expect(as(night, 'lotlake', 'init')).toContain('lotlake.config.json');
    // The commands of a first night, in order.
    for (const words of ['run nightly --sandbox --vehicles 200', 'tables --output output/sandbox'])
      expect(as(night, 'lotlake', ...words.split(' '))).toContain('lots');
    const rows = as(
      night,
      'lotlake',
      'query',
      'select count(*) as n from lots',
      '--output',
      'output/sandbox',
      '--json',
    );
    expect(JSON.parse(rows)[0].n).toBeGreaterThan(200);
    expect(as(night, 'lotlake', '--version').trim()).toBe(
      JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8')).version,
    );
    here('chmod', '-R', 'u+w', join(prefix, 'lib'));
  });

  it('runs the example of docs/ask/library.md, with its types', () => {
    writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }');
    // npm writes the package that it installs into this file.
    chmodSync(join(project, 'package.json'), 0o666);
    as(project, 'npm', 'install', tarball);
    writeFileSync(join(project, 'example.ts'), example());
    writeFileSync(
      join(project, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: COMPILER, files: ['example.ts'] }),
    );
    here(process.execPath, join(packageRoot, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', project);
    folder.open(join(`project-${major}`, 'example-lake'));
    const out = as(project, 'node', 'example.js');
    expect(out).toMatch(/^snapshot .*\n\d+ tables and marts, \d+ rows \[/);
    expect(out).toContain('manufacturer_name:');
    expect(out).toMatch(/\n\d+ lots of snapshot /);
  });
});

describe.each([...older])('the package on Node %s', (_, node) => {
  it.each([['doctor'], ['status', '--json'], ['--version']])('says which Node it needs: %s', (...words) => {
    const start = join(packageRoot, 'dist', 'cli', 'lotlake.cjs');
    const { status, stdout, stderr } = spawnSync(node, [start, ...words], { encoding: 'utf8' });
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/needs Node 20\.19 or newer, and this is Node 1[68]\..*SYSTEM_NODE/s);
  });
});
