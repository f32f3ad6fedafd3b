import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../src/base/config/package-root.js';

export const CLI = join(packageRoot, 'dist', 'cli', 'main.js');
/** Loaded before a command to measure it. */
export const PRELOAD: string = fileURLToPath(new URL('./preload.js', import.meta.url));

/** Milliseconds between two measurements of what a command has spilled. */
const LOOK_EVERY = 250;

/** What one command took. */
export interface CommandFacts {
  readonly seconds: number;
  readonly processor_seconds: number;
  readonly peak_bytes: number;
  /** Most bytes that DuckDB held on disk because memory was full. */
  readonly spilled_bytes: number;
  /** Bytes below the output folder afterwards. A file with several names counts once. */
  readonly disk_bytes: number;
  /** Name and start of each step in order, in seconds since the start of the command. */
  readonly steps: readonly (readonly [string, number])[];
  readonly warnings: readonly string[];
}

/** Runs a lotlake command in its own process. Throws Error with the end of its stderr unless it exits with 0. */
export async function runCommand(
  args: readonly string[],
  given: { readonly output: string; readonly cwd: string; readonly env: Readonly<Record<string, string>> },
): Promise<CommandFacts> {
  const scratch = join(given.cwd, 'scratch');
  const usage = join(given.cwd, 'usage.json');
  const work = join(given.output, 'work');
  rmSync(scratch, { recursive: true, force: true });
  mkdirSync(scratch, { recursive: true });
  const started = performance.now();
  const since = (): number => (performance.now() - started) / 1000;
  const child = spawn(process.execPath, ['--import', PRELOAD, CLI, ...args, '--output', given.output], {
    cwd: given.cwd,
    env: { ...process.env, TMPDIR: scratch, LOTLAKE_BENCH_USAGE: usage, ...given.env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const lines: string[] = [];
  const steps: [string, number][] = [];
  createInterface(child.stderr).on('line', (timed) => {
    const line = timed.replace(/^\S+Z /, '');
    lines.push(line);
    const [step = ''] = /^[a-z]+(?: [a-z_]+)?/.exec(line.replace(/\s+/g, ' ')) ?? [];
    if (/^(extract|replay|carry|reconcile|model|publish)/.test(step)) steps.push([step, since()]);
  });
  let spilled = 0;
  const looking = setInterval(() => {
    // A walk over the staged files beside the spill would cost a third of a core.
    const runs = existsSync(work) ? readdirSync(work) : [];
    const spills = runs.map((run) => bytesBelow(join(work, run, 'spill'), /./));
    spilled = Math.max(spilled, bytesBelow(scratch, /./) + spills.reduce((sum, bytes) => sum + bytes, 0));
  }, LOOK_EVERY);
  const [code] = await once(child, 'close');
  clearInterval(looking);
  const seconds = since();
  if (code !== 0)
    throw new Error(`lotlake ${args.join(' ')} ended with ${code}: ${lines.slice(-12).join('\n')}`);
  const warnings = lines.filter((line) => line.startsWith('warning')).map((line) => line.slice(11));
  const disk = bytesBelow(given.output, /./);
  return {
    seconds,
    ...JSON.parse(readFileSync(usage, 'utf8')),
    spilled_bytes: spilled,
    disk_bytes: disk,
    steps,
    warnings,
  };
}

/** Bytes of the files below a folder whose path matches. A file with several names counts once. */
function bytesBelow(folder: string, path: RegExp): number {
  const seen = new Map<number, number>();
  try {
    for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
      const file = join(entry.parentPath, entry.name);
      if (!entry.isFile() || !path.test(file)) continue;
      const found = statSync(file, { throwIfNoEntry: false });
      if (found !== undefined) seen.set(found.ino, found.size);
    }
  } catch {
    // Files may disappear while they are measured.
  }
  return [...seen.values()].reduce((sum, bytes) => sum + bytes, 0);
}
