import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { packageRoot } from '../../../src/base/config/package-root.js';
import { CLI } from '../../cli/support.js';
import { temporaryFolder } from '../../pipelines/support.js';

/** Names of a used clone that a fresh one lacks. */
const USED: readonly string[] = ['.git', '.env', 'lotlake.config.json', 'models', 'output'];

/** The result of a line in a shell. */
export interface Typed {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/**
 * A fresh clone, built, in a folder of its own, with `lotlake` on the path as an installed one. Our `npx` runs it at once:
 * the real one takes a second a call and writes below the home of the user.
 */
export function freshClone() {
  const folder = temporaryFolder();
  const clone = join(folder.path, 'clone');
  const bin = join(folder.path, 'bin');
  for (const path of [clone, bin]) mkdirSync(path);
  for (const name of readdirSync(packageRoot).filter((each) => !USED.includes(each)))
    symlinkSync(join(packageRoot, name), join(clone, name));
  symlinkSync(CLI, join(bin, 'lotlake'));
  symlinkSync(join(packageRoot, 'test', 'docs', 'typed', 'duckdb.mjs'), join(bin, 'duckdb'));
  writeFileSync(join(bin, 'npx'), '#!/bin/sh\nnpm_command=exec exec "$@"\n');
  chmodSync(join(bin, 'npx'), 0o755);
  const clean = Object.entries(process.env).filter(([name]) => !/^(npm_|LOTLAKE_)/i.test(name));
  const env = { ...Object.fromEntries(clean), PATH: [bin, process.env.PATH].join(delimiter) };
  const exported: string[] = [];
  return {
    path: clone,
    env,
    remove: folder.remove,
    /** Types a line in a shell in the clone. What a line exports, later lines see. */
    type(command: string, cwd = clone): Typed {
      if (command.startsWith('export ')) exported.push(command);
      const lines = [...exported, command].join('\n');
      const { status, stdout, stderr } = spawnSync('bash', ['-c', lines], { cwd, env, maxBuffer: 1 << 28 });
      return { code: status, out: String(stdout), err: String(stderr) };
    },
  };
}
