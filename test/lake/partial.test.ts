import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { findLeftovers, partialOf } from '../../src/core/job/leftovers.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { runLotlake } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const TARGET = join(packageRoot, 'dist', 'src', 'ask', 'export', 'target.js');

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ['landing', 'lake', 'exports']) mkdirSync(join(folder.path, name));
});
afterEach(() => folder.remove());

/** Starts an export in its own process. Returns a function that kills it. */
async function beginExport(to: string): Promise<() => Promise<void>> {
  const script = `import { openTarget } from ${JSON.stringify(pathToFileURL(TARGET).href)};
    openTarget({ to: ${JSON.stringify(to)}, zip: false, force: false });
    console.log('begun');
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
  const ended = new Promise<void>((resolve) => child.on('exit', () => resolve()));
  await new Promise((resolve) => child.stdout.once('data', resolve));
  return () => {
    child.kill('SIGKILL');
    return ended;
  };
}

/** Paths below the output folder that a vacuum would remove. */
const going = (): string[] =>
  findLeftovers(layoutOf(folder.path), []).map(({ path }) => path.slice(folder.path.length + 1));

it('a vacuum removes what a killed export left in the output folder, and leaves a running one alone', async () => {
  const exports = join(folder.path, 'exports');
  const kill = await beginExport(join(exports, 'x'));
  const [staging = ''] = readdirSync(exports);
  expect(staging).toMatch(/^\.x\.partial-/);
  expect(going()).toEqual([]);
  await kill();
  expect(going()).toEqual([join('exports', staging)]);
  const { code, out, err } = runLotlake(folder.path, 'vacuum', '--json');
  expect(code, err).toBe(0);
  expect(JSON.parse(out).removals).toMatchObject([
    { path: join('exports', staging), reason: 'begun by a process that died' },
  ]);
  expect(readdirSync(exports)).toEqual([]);
});

it('a vacuum removes what a process of another host left, after a day', () => {
  const names = ['.x.partial-0123abcd.2.elsewhere', '.y.partial-0123abcd.1.elsewhere'];
  for (const name of names) mkdirSync(join(folder.path, 'exports', name, 'data'), { recursive: true });
  expect(going()).toEqual([]);
  const old = new Date(Date.now() - 25 * 3_600_000);
  for (const path of names.flatMap((name) => [join(name, 'data'), name]))
    utimesSync(join(folder.path, 'exports', path), old, old);
  expect(going()).toEqual(names.map((name) => join('exports', name)));
  writeFileSync(join(folder.path, 'exports', names[0] ?? '', 'data', 'lots.csv'), '');
  expect(going()).toEqual([join('exports', names[1] ?? '')]);
});

it('a vacuum keeps a replaced export until the new one has taken its name', () => {
  const earlier = partialOf(join(folder.path, 'x'), 'replaced').replace(`.${process.pid}.`, '.999999999.');
  mkdirSync(earlier);
  expect(going()).toEqual([]);
  mkdirSync(join(folder.path, 'x'));
  expect(going()).toHaveLength(1);
});

it('an export of a missing lake makes no folder', () => {
  const typo = join(folder.path, 'typo');
  const { code, err } = runLotlake(
    typo.slice(0, -5),
    'export',
    'lots',
    '--output',
    typo,
    '--to',
    join(typo, 'exports', 'x'),
  );
  expect([code, err]).toEqual([1, expect.stringContaining('QUERY_NO_SNAPSHOT')]);
  expect(existsSync(typo)).toBe(false);
});
