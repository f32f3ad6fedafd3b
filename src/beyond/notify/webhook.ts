import { type Alarm, alarmLine, endedText } from '../../ask/report/alarms.js';
import { instant } from '../../ask/report/format.js';
import type { Config } from '../../base/config/config.js';
import { counted } from '../../base/config/printable.js';
import { type RunRecord, reasonOf } from '../../core/lake/run-records.js';

/** An event that the setting `notify.on` can select. */
type Happening = Config['notify']['on'][number];

/**
 * The body for the webhook at the end of a run; undefined if `on` does not select it. An interrupt is never selected,
 * because somebody caused it.
 * @param alarms alarms that the run raised
 */
export function noticeOf(record: RunRecord, alarms: readonly Alarm[], on: readonly Happening[]) {
  const happened = [...happeningOf(record), ...(alarms.length > 0 ? (['alarm'] as const) : [])];
  if (!happened.some((happening) => on.includes(happening))) return undefined;
  const { run_id, pipeline, origin, outcome, exit_code, error, snapshot_id, started_at, ended_at } = record;
  const { records, loaded, rejected, version } = record;
  return {
    text: [sentence(record), ...alarms.map((alarm) => `alarm: ${alarmLine(alarm)}`)].join('\n'),
    run: {
      run_id,
      pipeline,
      origin,
      outcome,
      exit_code,
      error,
      snapshot_id,
      started_at,
      ended_at,
      records,
      loaded,
      rejected,
      version,
      alarms,
    },
  };
}

function happeningOf({ outcome, error }: RunRecord): Happening[] {
  if (outcome === 'interrupted' || outcome === 'locked') return [];
  if (outcome === 'held') return ['hold'];
  return [error === null ? 'success' : 'failure'];
}

function sentence(record: RunRecord): string {
  const { pipeline, started_at, error, snapshot_id, records, rejected } = record;
  const run = `lotlake ${pipeline} of ${instant(started_at)}`;
  if (error !== null)
    return `${run} ${endedText(record)}: ${reasonOf(record)}${error.hint === null ? '' : `\n${error.hint}`}`;
  return snapshot_id === null
    ? `${run} brought nothing new`
    : `${run} published ${snapshot_id}: ${counted(records, 'record')}, ${counted(rejected, 'reject')}`;
}
