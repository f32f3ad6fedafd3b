import type { RunRecord } from '../../src/core/job/run-records.js';

const limits = { minimum_group: 5, relisting_days: 30, reject_alarm: 0.01, estimate_alarm: 0.25 };

/** The id of the run of an attempt. */
export const runId = (attempt: number): string => `20261120T020000Z-${String(attempt).padStart(6, '0')}`;

/** The record of a published run, with the given members. */
export function runRecord(given: Partial<RunRecord> & Pick<RunRecord, 'attempt'>): RunRecord {
  const at = new Date(Date.UTC(2026, 10, 1 + given.attempt, 2)).toISOString();
  return {
    ...{ run_id: runId(given.attempt), pipeline: 'nightly', version: '0.1.0', lake_id: null, origin: 'test' },
    ...{ outcome: 'published', exit_code: 0, error: null, snapshot_id: null, started_at: at, updated_at: at },
    ended_at: at,
    process: { pid: 1, host: 'here', token: 'none' },
    ...{ settings: [], limits, stages: [], requests: {}, retries: 0, records: 0, loaded: 0, rejected: 0 },
    ...{
      rejected_values: 0,
      drift: [],
      counts: {},
      tests: null,
      warnings: [],
      held: [],
      failing: [],
      disk: null,
    },
    ...given,
  };
}
