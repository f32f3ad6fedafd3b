import type { DuckDBConnection } from '@duckdb/node-api';
import { rows } from '../duck/session.js';
import { label, type Maybe, maybe } from './format.js';
import { dateOf } from './read-market.js';

/** How a stream stood at the last run. */
interface StreamHealth {
  readonly stream: string;
  readonly ageHours: Maybe;
  readonly records: Maybe;
  readonly rejected: Maybe;
  readonly drifted: Maybe;
}

/** One run that published. */
interface RunHealth {
  readonly startedAt: Date;
  readonly pipeline: string;
  readonly minutes: Maybe;
  readonly warnings: Maybe;
  readonly held: Maybe;
  readonly alarms: number;
}

/** Whether the data can be relied on: the last run in full, and the runs before it in a line each. */
export interface Health {
  readonly streams: readonly StreamHealth[];
  readonly runs: readonly RunHealth[];
  readonly empties: readonly { readonly column: string; readonly share: Maybe }[];
}

/** Reads the health of the last run and of the ten last runs. */
export async function readHealth(connection: DuckDBConnection): Promise<Health> {
  const last = await rows(
    connection,
    `select * from data_health
     where started_at = (select max(started_at) from data_health)
     order by subject, metric`,
  );
  const runs = await rows(
    connection,
    `select run_id, started_at, pipeline,
       max(value) filter (where subject = 'run' and metric = 'minutes') as minutes,
       max(value) filter (where subject = 'run' and metric = 'warnings') as warnings,
       max(value) filter (where subject = 'run' and metric = 'guard_held') as held,
       count(*) filter (where is_alarm) as alarms
     from data_health
     group by run_id, started_at, pipeline
     order by started_at desc
     limit 10`,
  );
  const figure = (subject: unknown, metric: string): Maybe =>
    maybe(last.find((row) => row.subject === subject && row.metric === metric)?.value);
  const streams = last.filter((row) => row.metric === 'age_hours' || row.metric === 'records');
  return {
    streams: [...new Set(streams.map((row) => row.subject))].map((subject) => ({
      stream: label(subject),
      ageHours: figure(subject, 'age_hours'),
      records: figure(subject, 'records'),
      rejected: figure(subject, 'rejected'),
      drifted: figure(subject, 'drifted_members'),
    })),
    runs: runs.map((row) => ({
      startedAt: dateOf(row.started_at),
      pipeline: label(row.pipeline),
      minutes: maybe(row.minutes),
      warnings: maybe(row.warnings),
      held: maybe(row.held),
      alarms: Number(row.alarms),
    })),
    empties: last
      .filter((row) => row.metric === 'null_share')
      .map((row) => ({ column: label(row.subject), share: maybe(row.value) }))
      .sort((a, b) => (b.share ?? 0) - (a.share ?? 0)),
  };
}
