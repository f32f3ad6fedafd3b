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

/** Tells the moment that a variable names, with `#n` its n-th time; undefined where the variable is not set. */
function momentIn(variable: string): ((name: KillPoint) => boolean) | undefined {
  const [wanted, nth = '1'] = (process.env[variable] ?? '').split('#');
  if (wanted === '') return undefined;
  let left = Number(nth);
  return (name) => name === wanted && --left === 0;
}

const isToBeKilled = momentIn('LOTLAKE_KILL_AT');
const isToPause = momentIn('LOTLAKE_PAUSE_AT');

/**
 * A moment after which a killed run must leave nothing broken: tests end the process here with SIGKILL, by its name in
 * `LOTLAKE_KILL_AT`, or hold it here, by its name in `LOTLAKE_PAUSE_AT`, until a byte comes on stdin.
 */
export const killPoint: (name: KillPoint) => void =
  isToBeKilled === undefined && isToPause === undefined
    ? () => undefined
    : (name) => {
        if (isToBeKilled?.(name) === true) process.kill(process.pid, 'SIGKILL');
        if (isToPause?.(name) === true) pause(name);
      };

/** Stands still, so that a signal that comes meanwhile is met at exactly this moment. */
function pause(name: KillPoint): void {
  writeSync(2, `paused at ${name}\n`);
  readSync(0, Buffer.alloc(1));
}
