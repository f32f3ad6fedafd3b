import { readSync, writeSync } from 'node:fs';

/** Moments at which a run can be killed, in the order in which a nightly job, a vacuum and a backup reach them. */
export const killPoints = [
  'job.locked',
  'extract.pass-opened',
  'extract.page-asked',
  'land.page-begun',
  'land.page-written',
  'land.page-renamed',
  'land.page-recorded',
  'extract.list-walked',
  'land.pass-sealed',
  'load.batch-begun',
  'load.batch-staged',
  'load.pass-loaded',
  'reconcile.begun',
  'reconcile.state-prepared',
  'reconcile.table-compared',
  'reconcile.table-merged',
  'reconcile.changes-appended',
  'reconcile.own-tables-written',
  'model.begun',
  'model.mart-written',
  'model.tested',
  'publish.described',
  'publish.sealed',
  'publish.link-made',
  'publish.switched',
  'publish.pass-marked',
  'job.published',
  'vacuum.planned',
  'vacuum.moved',
  'vacuum.folder-deleted',
  'vacuum.done',
  'backup.file-copied',
  'backup.copied',
  'backup.checked',
] as const;

/** Name of a moment at which a run can be killed. */
export type KillPoint = (typeof killPoints)[number];

/** How often the moment that a variable names was reached. */
const times = new Map<string, number>();

/** Whether a variable names this moment, with `#n` its n-th time. */
function isNow(variable: string, name: KillPoint): boolean {
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
export function killPoint(name: KillPoint): void {
  if (isNow('LOTLAKE_KILL_AT', name)) process.kill(process.pid, 'SIGKILL');
  if (!isNow('LOTLAKE_PAUSE_AT', name)) return;
  writeSync(2, `paused at ${name}\n`);
  readSync(0, Buffer.alloc(1));
}
