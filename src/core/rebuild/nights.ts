import { join } from 'node:path';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { count } from '../../base/config/printable.js';
import { literals, rows } from '../../base/duck/session.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import { brokenDeltas, checkPages, noteDamage } from '../lake/passes/group.js';
import {
  findPasses,
  inMergedOrder,
  isWhole,
  leftOutOf,
  type Pass,
  type UnreadablePass,
} from '../lake/passes/pass.js';

/** The passes that one run used. */
export interface Night {
  readonly runId: string;
  readonly passes: readonly Pass[];
}

/**
 * The nights in landing, oldest first. Their pages were compared with their checksums. Deltas that landing lacks a pass for
 * are left out, with a warning. Throws LAND_FAILED if a page is damaged, a pass cannot be read, or there is no night.
 */
export async function landedNights(job: Job, carriers: readonly BaseState[]): Promise<readonly Night[]> {
  const nights = groupByRun(job, await publishedPasses(job, carriers));
  if (nights.length === 0)
    throw new LotlakeError(
      'LAND_FAILED',
      `there is no pass of a published run in ${job.layout.landing} that can be replayed`,
      {
        hint: 'the last snapshot stays current; run lotlake run nightly first, which lands every record',
      },
    );
  await assertUndamaged(job, nights);
  return nights;
}

/**
 * Ids of the passes that the snapshots name; undefined if no snapshot can say. A run that was killed right after its switch
 * did not mark its passes as published.
 */
async function publishedPasses(
  job: Job,
  carriers: readonly BaseState[],
): Promise<ReadonlySet<string> | undefined> {
  const files = carriers.flatMap(({ folder, manifest }) =>
    (manifest.tables.passes?.files ?? []).map((file) => join(folder, file.path)),
  );
  if (files.length === 0) return undefined;
  const named = await rows(
    job.session.connection,
    `select distinct pass_id from read_parquet(${literals(files)}, hive_partitioning = false, union_by_name = true) where state = 'sealed'`,
  );
  return new Set(named.map((row) => String(row.pass_id)));
}

/** Leaves out an unreadable pass that the lake was not made from. Throws LAND_FAILED if the lake may have been made from it. */
function leaveOut(
  job: Job,
  { folder, pass_id, reason }: UnreadablePass,
  known: ReadonlySet<string> | undefined,
): void {
  if (known?.has(pass_id) === false) {
    job.reporter.warn(`${folder} is left out, since no published run used it: ${reason}`);
    return;
  }
  throw new LotlakeError(
    'LAND_FAILED',
    `${folder}, from which the lake ${known === undefined ? 'may have been' : 'was'} made: ${reason}`,
    {
      hint: 'bring the file back, or move the folder of this pass away, and what the published snapshot knows of it is carried over; the last snapshot stays current',
    },
  );
}

/**
 * Sealed passes by the run that used them, in the order in which the runs merged them, whatever clocks said: a run may go on with
 * a pass that began before another run merged its own.
 */
function groupByRun(job: Job, known: ReadonlySet<string> | undefined): Night[] {
  const byRun = new Map<string, Pass[]>();
  for (const pass of replayable(job, known))
    byRun.set(pass.record.run_id, [...(byRun.get(pass.record.run_id) ?? []), pass]);
  // The last pass of a run says when the run merged all of its own.
  return [...byRun]
    .flatMap(([runId, passes]) => {
      const last = passes.toSorted(inMergedOrder).at(-1);
      return last === undefined ? [] : { last, night: { runId, passes } };
    })
    .sort((a, b) => inMergedOrder(a.last, b.last))
    .map(({ night }) => night);
}

/** The passes from which the lake is made again. */
function replayable(job: Job, known: ReadonlySet<string> | undefined): Pass[] {
  const found: Pass[] = [];
  const { passes, unreadable } = findPasses(job.layout.landing);
  for (const pass of unreadable) leaveOut(job, pass, known);
  for (const pass of passes) {
    const { state, published, pass_id, pages } = pass.record;
    // The lake was not made from a night that was never published.
    if (state !== 'sealed' || !(published || known?.has(pass_id) === true)) continue;
    if (!isWhole(pass))
      throw new LotlakeError('LAND_FAILED', `${pass.folder} has ${pass.pages.length} of its ${pages} pages`, {
        hint: 'bring the missing files back, or move the folder of this pass away; the last snapshot stays current',
      });
    found.push(pass);
  }
  const broken = brokenDeltas(found);
  for (const { pass, lacking } of broken)
    job.reporter.warn(
      `${pass.folder} is left out: it is a delta of ${pass.record.started_at} that leaves out ${count(leftOutOf(pass.record))} of ${count(pass.record.records)} records, and landing lacks ${lacking.join(', ')}, which it builds on; what the published snapshot knows of it is carried over, and the next full pass lands every record`,
    );
  return found.filter((pass) => !broken.some((each) => each.pass === pass));
}

/** Throws LAND_FAILED if a page has changed since it was landed, before hours are spent on the others. */
async function assertUndamaged(job: Job, nights: readonly Night[]): Promise<void> {
  job.reporter.step('check', 'the pages of landing against their checksums');
  const passes = nights.flatMap((night) => night.passes);
  const found = await checkPages(passes, job.signal);
  noteDamage(passes, found, job.now());
  if (found.length === 0) return;
  const damaged = found.map(({ changed }) => changed);
  const bad = new Set(found.map(({ pass }) => pass));
  const lost = brokenDeltas(passes.filter((pass) => !bad.has(pass))).map(({ pass }) => pass.record.pass_id);
  const also =
    lost.length === 0 ? '' : `; without it the deltas ${lost.join(', ')} cannot be replayed either`;
  const files = damaged.length === 1 ? 'a page' : `${damaged.length} pages`;
  throw new LotlakeError(
    'LAND_FAILED',
    `${files} of published passes are not as they were landed: ${damaged.join(', ')}${also}`,
    {
      hint: 'the last snapshot stays current and landing stays as it is; the service cannot be asked for an old page again: bring each file back from a copy, or move the folder of its pass out of landing and run rebuild again, which carries over what the snapshot knows of it',
    },
  );
}
