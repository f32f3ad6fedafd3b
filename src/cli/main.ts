#!/usr/bin/env node
import { buffer } from 'node:stream/consumers';
import type { Effects } from './effects.js';
// First, so that a signal is handled while the other modules load.
import { end, fail, stopSignal, streams } from './ending.js';

const { createParser, executing } = await import('./parser.js');

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
  signal: stopSignal,
};

try {
  const cli = await createParser(process.argv.slice(2), effects, executing(effects));
  await cli.parseAsync();
  await streams.finish();
} catch (error) {
  fail(error);
}
await end();
