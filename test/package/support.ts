import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { packageRoot } from '../../src/base/config/package-root.js';

/** The user who installs the package: `nobody`, by number, if this process may become that user. */
const IDS = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
export const user = IDS.uid === undefined ? 'the same user' : `user ${IDS.uid}`;

/** A folder that every user may enter. `open` makes a folder of {@link user} in it. */
export function sharedFolder() {
  const path = mkdtempSync(join(tmpdir(), 'lotlake-package-'));
  chmodSync(path, 0o755);
  return {
    path,
    open: (name: string): string => {
      mkdirSync(join(path, name), { recursive: true });
      if (IDS.uid !== undefined) chownSync(join(path, name), IDS.uid, IDS.gid);
      return join(path, name);
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Runs a program and waits for its end. Throws with its output if it fails. */
export function call(
  options: {
    readonly cwd: string;
    readonly env: NodeJS.ProcessEnv;
    readonly uid?: number;
    readonly gid?: number;
  },
  ...command: string[]
): string {
  const [program = '', ...args] = command;
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    ...{ ...options, encoding: 'utf8', maxBuffer: 1 << 28 },
  });
  if (status === 0) return stdout;
  throw new Error(`${command.join(' ')} ended with ${status}: ${stdout}${stderr}`, {
    cause: error,
  });
}

/** {@link call} in this process's environment, in the repository by default. */
export const here = (...command: string[]): string =>
  call({ cwd: packageRoot, env: process.env }, ...command);

/** Runs programs as {@link user}, with one Node version, its own home, and without the settings of this process. */
export function userOf(node: string, home: string, ...folders: string[]) {
  const path = [...folders, dirname(node), process.env.PATH].join(delimiter);
  // Certificates and proxies stay. npm passes its own settings, such as the cache, to child processes.
  const kept = Object.entries(process.env).filter(([name]) => !/^(npm_|LOTLAKE_)/i.test(name));
  const env = { ...Object.fromEntries(kept), PATH: path, HOME: home };
  return (cwd: string, ...command: string[]): string => call({ cwd, env, ...IDS }, ...command);
}

/** Versions of Node to test: that of this process where it is asked for, and others from the npm package `node`. */
export function findNodes(folder: string, majors: readonly string[]): Map<string, string> {
  const own = String(process.versions.node.split('.')[0]);
  const nodes = new Map(majors.includes(own) ? [[own, process.execPath]] : []);
  for (const major of majors) {
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
