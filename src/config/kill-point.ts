import { readSync, writeSync } from 'node:fs';

/** How often the moment that a variable names was reached. */
const times = new Map<string, number>();

/** Whether a variable names this moment, with `#n` its n-th time. */
function isNow(variable: string, name: string): boolean {
  const [wanted, nth = '1'] = (process.env[variable] ?? '').split('#');
  if (wanted !== name) return false;
  const time = (times.get(variable) ?? 0) + 1;
  times.set(variable, time);
  return time === Number(nth);
}

/**
 * A moment after which a killed run must leave nothing broken: tests end the process here with SIGKILL, by its name in
 * `LOTLAKE_KILL_AT`, or hold it here, by its name in `LOTLAKE_PAUSE_AT`, until a byte comes on stdin, so that a signal
 * that comes meanwhile is met at exactly this moment.
 */
export function killPoint(name: string): void {
  if (isNow('LOTLAKE_KILL_AT', name)) process.kill(process.pid, 'SIGKILL');
  if (!isNow('LOTLAKE_PAUSE_AT', name)) return;
  writeSync(2, `paused at ${name}\n`);
  readSync(0, Buffer.alloc(1));
}
