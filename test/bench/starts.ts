import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { CLI, PRELOAD } from './command.js';
import type { BenchReport } from './report.js';

const run = promisify(execFile);

/** How often each start is measured, by turns with the others. */
const TURNS = 7;
const NIGHTS = 3;

/** A start to measure: its words after `node`, and what it took, in seconds. */
interface Start {
  readonly words: readonly string[];
  readonly processor: number[];
  readonly clock: number[];
}

/**
 * How long commands take to start: processor time over an empty Node process, and the first command of a fresh clone.
 * @param lake a folder with a published lake
 * @param before `dist/cli/lotlake.cjs` of another build to compare with
 */
export async function compareStarts(
  report: BenchReport,
  {
    lake,
    work,
    before,
  }: { readonly lake: string; readonly work: string; readonly before?: string | undefined },
): Promise<void> {
  const starts = [
    ['-e', '0'],
    [CLI, '--help'],
    [CLI, 'query', 'select 1', '--output', lake],
  ].map(startOf);
  for (let turn = 0; turn < TURNS; turn++) for (const start of starts) await measure(start, work);
  const [empty = 0, help = 0, query = 0] = starts.map(({ processor }) => median(processor));
  const both = (seconds: number): string => `${milliseconds(seconds)}, ${milliseconds(empty)}`;
  report.figure('lotlake --help, × an empty Node', both(help), help / empty, { most: 3 });
  report.figure("lotlake query 'select 1', × an empty Node", both(query), query / empty, { most: 6 });

  const output = join(work, 'start');
  const night = ['run', 'nightly', '--sandbox', '--quiet', '--output', output];
  const nights = [CLI, ...(before === undefined ? [] : [before])].map((main) => startOf([main, ...night]));
  for (let turn = 0; turn < NIGHTS; turn++)
    for (const start of nights) {
      await measure(start, work);
      rmSync(output, { recursive: true });
    }
  const [now, then] = nights;
  const [clock, processor] = [median(now?.clock ?? []), median(now?.processor ?? [])];
  const took = `${processor.toFixed(1)} s of processor time, ${(processor / empty).toFixed(0)} × an empty Node`;
  report.figure('npm start after the build, 6,000 vehicles, s', took, clock, { most: 7 });
  if (then === undefined) return;
  const earlier = median(then.processor);
  report.note('the same, × the other build', `${earlier.toFixed(1)} s`, processor / earlier);
}

const startOf = (words: readonly string[]): Start => ({ words, processor: [], clock: [] });

async function measure({ words, processor, clock }: Start, work: string): Promise<void> {
  mkdirSync(work, { recursive: true });
  const usage = join(work, 'usage.json');
  const env = { ...process.env, LOTLAKE_BENCH_USAGE: usage };
  const started = performance.now();
  await run(process.execPath, ['--import', PRELOAD, ...words], { env, maxBuffer: 1 << 26 });
  clock.push((performance.now() - started) / 1000);
  processor.push(JSON.parse(readFileSync(usage, 'utf8')).processor_seconds);
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;

const milliseconds = (seconds: number): string => `${(seconds * 1000).toFixed(0)} ms`;
