/** Moments at which a run can be killed, in the order in which a nightly job and a vacuum reach them. */
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
] as const;

/** Name of a moment at which a run can be killed. */
export type KillPoint = (typeof killPoints)[number];

const [wanted, nth = '1'] = (process.env.LOTLAKE_KILL_AT ?? '').split('#');
let left = Number(nth);

/**
 * A moment after which a killed run must leave nothing broken: tests end the process here with SIGKILL, by its name in
 * `LOTLAKE_KILL_AT`, with `#n` at the n-th time.
 */
export const killPoint: (name: KillPoint) => void =
  wanted === ''
    ? () => undefined
    : (name) => {
        if (name === wanted && --left === 0) process.kill(process.pid, 'SIGKILL');
      };
