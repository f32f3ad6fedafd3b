#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import { exitCodes } from '../base/config/lotlake-error.js';
import { describeError } from '../core/job/describe-error.js';
import { type Effects, openStreams } from './effects.js';

const stop = new AbortController();
const streams = openStreams(process);

/** What is kept after an interrupt and what to do next, by command. */
const AFTER_INTERRUPT: Readonly<Record<string, string>> = {
  run: 'the last snapshot stays current and what has landed is kept; run the same command again to go on',
  backup: 'the lake is as it was and nothing is left of the copy; run the same command again',
  push: 'the mirror keeps its snapshot; run the same command again to go on with what was sent',
  pull: 'the lake is as it was; run the same command again to go on with what was fetched',
  sync: 'the database is as it was, or has the snapshot; run the same command again',
  vacuum: 'the lake is whole; run the same command again to remove the rest',
};

function report(message: string, facts: object = {}, text = message): void {
  streams.live('');
  if (streams.failed(message, facts)) return;
  const isJson = process.argv.includes('--json');
  streams.err(`${isJson ? JSON.stringify({ error: { message, ...facts } }) : text}\n`);
}

/** Writes an error to stderr, with its stack if LOTLAKE_LOG is debug, and sets the exit code. */
function fail(error: unknown): void {
  if (stop.signal.aborted) {
    const advice = AFTER_INTERRUPT[process.argv[2] ?? ''] ?? 'run the same command again';
    report(`interrupted: ${advice}`);
    process.exitCode = exitCodes.interrupted;
    return;
  }
  const { message, code, stage, hint, outcome } = describeError(error);
  const isDebug = process.env.LOTLAKE_LOG === 'debug';
  const stack = isDebug && error instanceof Error ? error.stack : undefined;
  const lines = [`${stage}: ${message} [${code}]`, hint === undefined ? [] : `  ${hint}`, stack ?? []];
  report(message, { code, stage, hint, stack }, lines.flat().join('\n'));
  process.exitCode = exitCodes[outcome];
}

/** npm passes on a signal that the terminal also sends. Signals within this many milliseconds are one signal. */
const SAME_SIGNAL = 1000;
let interruptedAt: number | undefined;

/** Ends the command at its next safe point; a second signal ends it at once. */
function interrupt(): void {
  const now = performance.now();
  interruptedAt ??= now;
  stop.abort();
  if (now - interruptedAt < SAME_SIGNAL) return;
  const advice = 'lotlake status tells what is published, and vacuum removes what is left';
  report(`interrupted: ended at once; ${advice}`);
  process.exit(exitCodes.interrupted);
}

/**
 * Ends the process when everything is written. A process that ended by itself would remove its signal handlers first, and
 * a signal could then change the exit code.
 */
async function end(): Promise<never> {
  // An interrupted command does not wait for a reader of stdout that stopped reading.
  const waited = stop.signal.aborted ? [process.stderr] : [process.stdout, process.stderr];
  for (const stream of waited) await new Promise<void>((resolve) => stream.write('', () => resolve()));
  // The error of the last write comes one turn of the event loop later.
  await new Promise((resolve) => setImmediate(resolve));
  process.exit();
}

for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, interrupt);
process.on('uncaughtException', (error) => {
  fail(error);
  process.exit();
});

// Imported here, so that signals are handled while the other modules load.
const { createParser } = await import('./parser.js');

const columns = Number(process.env.COLUMNS);
const { CI = '', TERM } = process.env;
const isLive = process.stderr.isTTY && TERM !== 'dumb' && (CI === '' || CI === 'false');
const effects: Effects = {
  ...streams,
  now: () => new Date(),
  env: process.env,
  cwd: process.cwd(),
  columns: () => (isLive ? process.stderr.columns || 80 : undefined),
  width: process.stdout.columns ?? (Number.isInteger(columns) && columns > 0 ? columns : undefined),
  input: () => buffer(process.stdin),
  signal: stop.signal,
};

try {
  const cli = await createParser(process.argv.slice(2), effects, ({ run }, given) => {
    stop.signal.throwIfAborted();
    return run(given, effects);
  });
  await cli.parseAsync();
  await streams.finish();
} catch (error) {
  fail(error);
}
await end();
