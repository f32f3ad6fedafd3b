import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { packageRoot } from '../../src/base/config/package-root.js';
import { type Effects, openStreams } from '../../src/cli/effects.js';
import { createParser } from '../../src/cli/parser.js';

/** The built command line. */
export const CLI = join(packageRoot, 'dist', 'cli', 'lotlake.cjs');

/** The result of a command: its exit code and its output. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
  readonly bytes: Buffer;
}

/** Runs a command over an output folder in its own process and waits for its end. */
export function runLotlake(output: string, ...args: readonly string[]): Ended {
  const result = spawnSync(process.execPath, [CLI, ...args], {
    // Folder in which lotlake looks for `lotlake.config.json`.
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

/** A stream that keeps what is written to it. */
function kept() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, bytes: () => Buffer.concat(chunks) };
}

/** Effects for a command that runs in this process, and what it wrote to stdout and stderr. */
export function effectsIn(cwd: string, env: NodeJS.ProcessEnv = {}) {
  const [stdout, stderr] = [kept(), kept()];
  const effects: Effects = {
    ...openStreams({ stdout: stdout.stream, stderr: stderr.stream }),
    input: async () => new Uint8Array(),
    now: () => new Date(),
    ...{ env, cwd, columns: () => undefined, width: undefined, signal: new AbortController().signal },
  };
  return {
    effects,
    bytes: stdout.bytes,
    out: () => String(stdout.bytes()),
    err: () => String(stderr.bytes()),
  };
}

/** Runs a command over an output folder in this process, which takes a third of the time. Returns what it prints. */
export async function printedBy(output: string, ...args: readonly string[]): Promise<Buffer> {
  const { effects, bytes } = effectsIn(output, { LOTLAKE_OUTPUT: output });
  await runCommand(effects, ...args);
  return bytes();
}

/** Runs a command in this process. Throws its error. */
export async function runCommand(effects: Effects, ...args: readonly string[]): Promise<void> {
  const cli = await createParser(args, effects, ({ run }, given) => run(given, effects));
  await cli.parseAsync();
}
