import { ConfigError } from '../src/base/config/lotlake-error.js';
import { literal, rows } from '../src/base/duck/session.js';
import { beside } from '../src/beyond/beside.js';
import { stageLookups } from '../src/core/extract/step.js';
import { type Job, runJob } from '../src/core/job/job.js';
import { tableRelation } from '../src/core/lake/files.js';
import { model, readModelling } from '../src/core/model/step.js';
import { keepCurrent, publish, type RunResult } from '../src/core/publish/step.js';
import { type ClosingRow, reconcile } from '../src/core/reconcile/step.js';
import { requests } from '../src/core/service/requests.js';
import type { PipelineOptions } from './options.js';

/** How long the service keeps an archived vehicle (service.md#lifecycle: about a month). */
const RETENTION_DAYS = 31;

/** Most lookups of a vehicle. Two are at least a day apart. */
const MOST_LOOKUPS = 3;

/**
 * Looks up vehicles that left the feed without a trusted price, or with a lot that only the archive feed has, newest
 * first, within a budget of requests, while the service still keeps them. A vehicle that was offered again after a sale
 * is not looked up. The outcome of each lookup is recorded, so that no vehicle is looked up forever.
 */
export function closing(options: PipelineOptions): Promise<RunResult> {
  return runJob('closing', { beside, ...options }, async (job) => {
    const models = await readModelling(job, options);
    const open = await findOpen(job);
    const lookups = open.map(({ vehicle_id }) => ({
      name: String(vehicle_id),
      request: requests.car({ car_id: vehicle_id, prices_history: true }),
      id: vehicle_id,
    }));
    const detail = `${open.length} vehicles without a trusted final price or a known lot`;
    const { passes, unanswered } = await stageLookups(job, lookups, { detail });
    const closings = open.map(
      ({ vehicle_id, asked }): ClosingRow => ({
        vehicle_id,
        asked_at: job.now().toISOString(),
        asked: asked + 1,
        outcome: OUTCOMES[unanswered.get(String(vehicle_id)) ?? 'found'],
        run_id: job.runId,
      }),
    );
    const state = await reconcile(job, passes, { ...models, closings });
    if (state === undefined) return keepCurrent(job, passes);
    const marts = await model(job, state, models);
    return publish(job, state, marts);
  });
}

/** Outcomes in `closings` by the answer. */
const OUTCOMES = {
  missing: 'gone',
  refused: 'refused',
  found: 'found',
  unreadable: 'unreadable',
  other: 'other_vehicle',
} as const;

/** The vehicles to look up, and how often each was looked up before. */
async function findOpen(job: Job): Promise<Pick<ClosingRow, 'vehicle_id' | 'asked'>[]> {
  const { base } = job;
  if (base === undefined)
    throw new ConfigError('there is no published lake to close', 'run lotlake run nightly first');
  const table = (name: string): string => tableRelation(base, name);
  const now = `cast(${literal(job.now().toISOString())} as timestamptz)`;
  const found = await rows(
    job.session.connection,
    `with lots as (select * from ${table('lots')}),
    priced as (select distinct lot_id from ${table('sales')} where is_trusted or trust_reason = 'offered_again'),
    left_lots as (
      select vehicle_id, domain_id, archived_at from lots where archived and lot_id not in (select lot_id from priced)
      union all
      select vehicle_id, domain_id, archived_at
      from ${table('archived_lots')}
      where vehicle_id is not null and lot_id not in (select lot_id from lots)
    ),
    open as (
      select vehicle_id, max(archived_at) as archived_at
      from left_lots
      where domain_id <> 12 and archived_at > ${now} - interval ${RETENTION_DAYS} day
      group by vehicle_id
    ),
    asked as (select vehicle_id, asked, asked_at, outcome from ${table('closings')})
    select open.vehicle_id, coalesce(asked.asked, 0) as asked
    from open left join asked on asked.vehicle_id = open.vehicle_id
    where asked.vehicle_id is null
      or (asked.outcome <> 'gone' and asked.asked < ${MOST_LOOKUPS} and asked.asked_at < ${now} - interval 1 day)
    order by open.archived_at desc, open.vehicle_id
    limit ${job.config.closingBudget}`,
  );
  return found.map((row) => ({ vehicle_id: Number(row.vehicle_id), asked: Number(row.asked) }));
}
