import { execFile, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { packageRoot } from '../../src/base/config/package-root.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { WITHOUT_CATALOG } from '../pipelines/support.js';

/** The folder of a lake's settings in the files of docs/operate. */
const NAMED = '/srv/lotlake';

/** The user that runs lotlake, if this process may become another user. */
export const USER = 'nobody';
export const isRoot = process.getuid?.() === 0;
/** The folder of the command `node`. */
export const NODE = dirname(process.execPath);

/** Whether the machine has a command. */
export const has = (command: string, ...args: readonly string[]): boolean =>
  spawnSync(command, args).error === undefined;

/** A file of docs/operate. */
export const example = (name: string): string =>
  readFileSync(join(packageRoot, 'docs', 'run', 'operate', name), 'utf8');

/** Replaces a text that must exist. */
export function put(text: string, from: string | RegExp, to: string): string {
  const made = text.replace(from, to);
  if (made === text) throw new TypeError(`there is no ${from} in\n${text}`);
  return made;
}

/** A folder as docs/run/operate.md describes it: settings, `.env`, a command `lotlake` in `bin`, and a service. */
export interface Place {
  readonly folder: string;
  readonly bin: string;
  readonly output: string;
  readonly sandbox: Sandbox;
  /** A file of docs/run/operate, with its folder replaced by this one. */
  read(name: string): string;
  remove(): void;
}

/** Makes such a folder. It belongs to {@link USER} if this process may give it away. */
export async function makePlace(settings: object = {}): Promise<Place> {
  const sandbox = await startSandbox({ vehicles: 120, seed: 3, clock: new Date(), faults: WITHOUT_CATALOG });
  const folder = mkdtempSync(join(tmpdir(), 'lotlake-operate-'));
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  symlinkSync(CLI, join(bin, 'lotlake'));
  const quick = { rate: 1000, perPage: 100, memory: '700MB', threads: 1, retryBudget: 1 };
  const given = { baseUrl: sandbox.url, origin: 'test', ...quick, ...settings };
  writeFileSync(join(folder, 'lotlake.config.json'), JSON.stringify(given));
  writeFileSync(join(folder, '.env'), 'LOTLAKE_API_KEY=sandbox-key\n');
  chmodSync(folder, 0o755);
  chmodSync(join(folder, '.env'), 0o600);
  if (isRoot) spawnSync('chown', ['-R', USER, folder]);
  return {
    ...{ folder, bin, output: join(folder, 'output'), sandbox },
    read: (name) => example(name).replaceAll(NAMED, folder),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

const run = promisify(execFile);

/** The error of a process that exited with a code other than 0. */
const ended = z.object({ code: z.int(), stdout: z.string(), stderr: z.string() });

/**
 * Runs a command line in the folder of a place as {@link USER}, with only this environment. The service of the place
 * answers meanwhile.
 * @returns its exit code and all of its output
 */
export async function runAlone(
  { folder, bin }: Place,
  line: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const own = { PATH: `${bin}:${NODE}:/usr/local/bin:/usr/bin:/bin`, ...env };
  const alone = ['env', '-i', ...Object.entries(own).map(([name, value]) => `${name}=${value}`)];
  const as = isRoot ? ['setpriv', `--reuid=${USER}`, '--clear-groups', '--no-new-privs'] : [];
  const [command = '', ...args] = [...as, ...alone, 'sh', '-ec', line];
  const { code, stdout, stderr } = await run(command, args, { cwd: folder }).then(
    (output) => ({ code: 0, ...output }),
    (error: unknown) => ended.parse(error),
  );
  return { code, text: `${stdout}${stderr}` };
}
