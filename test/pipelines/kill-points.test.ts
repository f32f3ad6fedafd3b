import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { killPoints } from './kill-points.js';

it('the tests know exactly the kill points of the code', () => {
  const files = ['src', 'pipelines'].flatMap((folder) =>
    readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join(packageRoot, folder, name)),
  );
  const calls = files.flatMap((file) => [
    ...readFileSync(file, 'utf8').matchAll(/\bkillPoint\('([^']+)'\)/g),
  ]);
  expect(calls.map(([, name]) => name).sort()).toEqual([...killPoints].sort());
  const all = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\bkillPoint\(/g)]);
  // The function itself matches in addition to its calls.
  expect(all.length).toBe(calls.length + 1);
});
