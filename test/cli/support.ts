import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import type { Effects } from '../../src/cli/effects.js';
import { packageRoot } from '../../src/config/package-root.js';

/** The built command line. */
export const CLI = join(packageRoot, 'dist', 'src', 'cli', 'main.js');

/** The result of a command: its exit code and its output. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly bytes: Buffer;
}

/** Runs a command over an output folder in a process of its own, to its end. */
export function runLotlake(output: string, ...args: readonly string[]): Ended {
  const result = spawnSync(process.execPath, [CLI, ...args], {
    // Where `lotlake.config.json` is looked for.
    cwd: output,
    env: { ...process.env, LOTLAKE_OUTPUT: output },
    maxBuffer: 1 << 28,
  });
  return {
    code: result.status,
    out: result.stdout.toString(),
    err: result.stderr.toString(),
    bytes: result.stdout,
  };
}

/** Effects of a command that runs in this process, and what it wrote to stdout and stderr. */
export function effectsIn(cwd: string, env: NodeJS.ProcessEnv = {}) {
  const [written, told]: [string[], string[]] = [[], []];
  const effects: Effects = {
    out: (text) => void written.push(text),
    err: (text) => void told.push(text),
    pipe: async () => undefined,
    input: async () => new Uint8Array(),
    now: () => new Date(),
    ...{ env, cwd, columns: () => undefined, width: undefined, signal: new AbortController().signal },
    live: () => undefined,
    logFailure: () => undefined,
  };
  return { effects, out: () => written.join(''), err: () => told.join('') };
}
