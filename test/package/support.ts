import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';

const isRoot = process.getuid?.() === 0;

/** Whom the package is installed for: another user where this one may become it. */
export const user = isRoot ? 'nobody' : 'the same user';

/** A folder that every user may enter, with one that every user may write to for each name. */
export function sharedFolder() {
  const path = mkdtempSync(join(tmpdir(), 'lotlake-package-'));
  chmodSync(path, 0o755);
  return {
    path,
    open: (name: string): string => {
      mkdirSync(join(path, name), { recursive: true });
      chmodSync(join(path, name), 0o777);
      return join(path, name);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Runs a program to its end. Throws with what it said, if that was not success. */
export function call(cwd: string, env: NodeJS.ProcessEnv, program: string, ...args: string[]): string {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...{ cwd, env, encoding: 'utf8', maxBuffer: 1 << 28 },
  });
  if (status === 0) return stdout;
  throw new Error(`${[program, ...args].join(' ')} ended with ${status}: ${stdout}${stderr}`, {
    cause: error,
  });
}

/** {@link call} in this process's environment, in the repository by default. */
export const here = (program: string, ...args: string[]): string =>
  call(packageRoot, process.env, program, ...args);

/** Runs programs as {@link user}, with one Node and a home of its own, and without the settings of this process. */
export function userOf(node: string, home: string, ...folders: string[]) {
  const path = [...folders, dirname(node), process.env.PATH].join(delimiter);
  const env = { PATH: path, HOME: home, npm_config_audit: 'false', npm_config_fund: 'false' };
  return (cwd: string, ...command: string[]): string => {
    const [program = '', ...args] = isRoot ? ['runuser', '-u', user, '--', ...command] : command;
    return call(cwd, env, program, ...args);
  };
}

/** The nodes to try: the one of this process, and others by way of the npm package `node`. */
export function findNodes(folder: string): Map<string, string> {
  const nodes = new Map([[String(process.versions.node.split('.')[0]), process.execPath]]);
  for (const major of ['22', '24']) {
    if (nodes.has(major)) continue;
    const prefix = join(folder, `node-${major}`);
    try {
      here('npm', 'install', '--no-save', '--prefix', prefix, `node@${major}`);
      nodes.set(major, join(prefix, 'node_modules', 'node', 'bin', 'node'));
    } catch (error) {
      process.stderr.write(`Node ${major} is not tried: ${String(error).slice(0, 300)}\n`);
    }
  }
  return nodes;
}
