import { readSync, writeSync } from 'node:fs';

/** How often the kill point that a variable names was reached. */
const times = new Map<string, number>();

/** Whether a variable names this kill point, with `#n` the n-th time that it is reached. */
function isNow(variable: string, name: string): boolean {
  const [wanted, nth = '1'] = (process.env[variable] ?? '').split('#');
  if (wanted !== name) return false;
  const time = (times.get(variable) ?? 0) + 1;
  times.set(variable, time);
  return time === Number(nth);
}

/**
 * A moment at which a killed run must leave nothing broken. Tests name it in `LOTLAKE_KILL_AT` to end the process here with
 * SIGKILL, or in `LOTLAKE_PAUSE_AT` to stop it here until a byte comes on stdin, so that a signal arrives at exactly this
 * moment.
 */
export function killPoint(name: string): void {
  if (isNow('LOTLAKE_KILL_AT', name)) process.kill(process.pid, 'SIGKILL');
  if (!isNow('LOTLAKE_PAUSE_AT', name)) return;
  writeSync(2, `paused at ${name}\n`);
  readSync(0, Buffer.alloc(1));
}
