import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { remove } from '../../base/config/owned.js';
import { counted } from '../../base/config/printable.js';
import { rows } from '../../base/duck/session.js';
import { isFuture } from '../job/clock.js';
import type { Job } from '../job/job.js';
import type { BaseState } from '../lake/base.js';
import { tableRelation } from '../lake/files.js';
import { printsOfPage } from '../lake/passes/fingerprints.js';
import { chooseForm, type KnownPass, lackingOf } from '../lake/passes/group.js';
import { knownRecords } from '../lake/passes/known-records.js';
import {
  changePass,
  damagedPages,
  endPass,
  findPasses,
  hasOwnLedger,
  isWhole,
  listPasses,
  openPass,
  type Pass,
  type PassForm,
  type PassRequest,
  readPass,
  reopenPass,
} from '../lake/passes/pass.js';
import { contractFingerprint } from '../service/contract/fingerprint.js';
import type { StreamName } from '../service/streams.js';
import { askTime } from './probe.js';

/** An older open pass is not resumed: too much has moved since. */
const RESUME_HOURS = 12;

/** When a pass started, by its id: the end of that second. Undefined if the name is not an id. */
function startIn(id: string): string | undefined {
  const start = id.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z-.*$/, '$1-$2-$3T$4:$5:$6.999Z');
  return start === id ? undefined : start;
}

/**
 * Resumes the pass that an earlier run left open, or sealed but did not publish. Requests its lost or damaged pages again.
 * Abandons all other unpublished passes, so that every sealed pass in landing belongs to a published snapshot. Opens a new
 * pass if there is none to resume; a full pass over `/cars` as a keyframe or a delta.
 */
export async function findOrOpen(
  job: Job,
  stream: StreamName,
  kind: PassRequest['kind'],
  query: PassRequest['request'],
): Promise<Pass> {
  const contract = contractFingerprint(stream);
  const { passes, unreadable } = findPasses(job.layout.landing, stream);
  for (const { folder, reason } of unreadable)
    job.reporter.warn(
      `${folder} is left where it is, and this run does without it: ${reason}; bring the file back, or move the folder away`,
    );
  const left = passes.filter(
    ({ record }) => record.kind === kind && record.state !== 'abandoned' && !record.published,
  );
  const ageOf = ({ record }: Pass): number => job.now().getTime() - Date.parse(record.started_at);
  const isResumable = (pass: Pass): boolean =>
    !isFuture(job, pass.record) && ageOf(pass) < RESUME_HOURS * 3_600_000;
  // A wrong clock must not set a good pass aside.
  if (!left.every(isResumable)) await askTime(job);
  const newest = passes.findLast(({ record }) => record.kind === 'full' && record.published)?.record.sequence;
  // An unreadable pass may have been published since, so it is left alone. It does not tell its place.
  const unread = unreadable.flatMap(({ pass_id }) => startIn(pass_id) ?? []).sort();
  let found: Pass | undefined;
  for (const pass of left.reverse()) {
    // A later full pass covers this one. Reconcile keeps what later windows and lookups saw.
    const { sequence, started_at } = pass.record;
    const isNewest = (newest === undefined || sequence > newest) && started_at > (unread.at(-1) ?? '');
    const isSame = isSameRequest(pass.record, query, job.now());
    let reason = isFuture(job, pass.record)
      ? fromFuture(pass)
      : isSame
        ? 'left behind, and older than a later full pass or than 12 hours'
        : 'left behind by another request';
    if (isSame && isNewest && isResumable(pass) && found === undefined) {
      const isBroken = lackingOf(pass.record, undamaged(passes)).length > 0;
      found = isBroken ? undefined : await withoutDamage(job, pass);
      reason = isBroken
        ? 'left behind as a delta, and landing lacks a pass that it builds on'
        : 'left behind without all of its pages, which cannot be asked for one by one';
    }
    if (found?.folder === pass.folder) continue;
    abandon(job, pass, reason);
    job.reporter.warn(`pass ${pass.record.pass_id} of ${stream} is abandoned: ${reason}`);
  }
  if (found === undefined) {
    const origin = job.config.origin ?? null;
    const form = stream === 'cars' && kind === 'full' ? await formOf(job, passes) : {};
    return open(job, {
      stream,
      run_id: job.runId,
      sequence: job.sequence,
      origin,
      kind,
      request: query,
      contract,
      ...form,
    });
  }
  job.reporter.step('resume', `pass ${found.record.pass_id} of ${stream} with ${found.pages.length} pages`);
  return found;
}

/** Passes without those that are known to be damaged. */
const undamaged = (passes: readonly Pass[]): Pass[] =>
  passes.filter(({ record }) => record.damaged_at === null);

/** Whether a new full pass over `/cars` is a keyframe or a delta, and what it builds on. */
async function formOf({ base, session, config, now }: Job, passes: readonly Pass[]): Promise<PassForm> {
  const isComparable = knownRecords(base).ids.length > 0;
  const known = base === undefined || !isComparable ? [] : await passesOf(session.connection, base);
  return chooseForm({ passes, known, isComparable, keyframeDays: config.keyframeDays, now: now() });
}

/** The passes over `/cars` with records that a snapshot was made from. */
async function passesOf(connection: DuckDBConnection, base: BaseState): Promise<KnownPass[]> {
  const found = await rows(
    connection,
    `select pass_id, sequence from ${tableRelation(base, 'passes')}
     where stream = 'cars' and state = 'sealed' and records > 0`,
  );
  return found.map(({ pass_id, sequence }) => ({
    pass_id: String(pass_id),
    sequence: Number(sequence),
  }));
}

const fromFuture = ({ record }: Pass): string =>
  `it began in the future (${record.started_at}), by a clock that was wrong; its list is read again`;

/**
 * Abandons the unpublished passes from the future that no request of this run came upon, such as one over the catalog, so
 * that a vacuum can remove them. Called when the service has told its time, if it does.
 */
export function setFutureAside(job: Job): void {
  for (const pass of listPasses(job.layout.landing)) {
    const { state, published, pass_id, stream, run_id } = pass.record;
    const isUsed = published || run_id === job.runId;
    if (state === 'abandoned' || isUsed || !isFuture(job, pass.record)) continue;
    abandon(job, pass, fromFuture(pass));
    job.reporter.warn(`pass ${pass_id} of ${stream} is abandoned: ${fromFuture(pass)}`);
  }
}

/** Opens a pass. Its start follows the clock of the service, as soon as an answer has told it. */
function open(job: Job, request: PassRequest): Pass {
  let start = job.now();
  const pass = openPass(job.layout.landing, request, start);
  job.clock.whenKnown((clock_ahead, late) => {
    start = new Date(start.getTime() - late);
    changePass(pass.folder, { clock_ahead, started_at: start.toISOString() });
  });
  return pass;
}

/**
 * Removes pages of a pass that are damaged, and those of a delta that leave out a record that the lake no longer has: a run
 * in between has brought another. Opens a sealed pass again if it then lacks pages. Returns undefined if the missing pages
 * cannot be requested any more: a sealed window has moved on, and a scroll only goes forward. So it does if the ledger names the pages of
 * another pass.
 */
async function withoutDamage(job: Job, pass: Pass): Promise<Pass | undefined> {
  if (!hasOwnLedger(pass)) return undefined;
  for (const { path, changed } of await damagedPages(pass, job.signal)) {
    job.reporter.warn(`${changed} is not as it was landed: ${path} is removed, and its page asked for again`);
    remove(path);
  }
  const outdated = outdatedPages(job, readPass(pass.folder));
  if (outdated.length > 0)
    job.reporter.warn(
      `${counted(outdated.length, 'page')} of pass ${pass.record.pass_id} left out records that the lake has otherwise by now: they are asked for again`,
    );
  for (const path of outdated) remove(path);
  const left = readPass(pass.folder);
  const { record, pages } = left;
  if (record.state === 'sealed' && isWhole(left)) return left;
  const hasGap = 'limit' in record.request && pages.some(({ page }, i) => page !== i + 1);
  if ((record.kind !== 'full' && record.state === 'sealed') || hasGap) return undefined;
  return record.state === 'sealed' ? reopenPass(left) : left;
}

/** Paths of the pages of a delta that leave out a record that the lake does not have in this form. */
function outdatedPages({ base }: Job, { folder, record, pages }: Pass): string[] {
  if (record.form !== 'delta') return [];
  const known = knownRecords(base);
  return pages
    .filter(({ prints }) => prints !== undefined && !printsOfPage(folder, prints)[0].isWithin(known))
    .map(({ file }) => join(folder, file));
}

/** Ends a pass of this or an earlier run as abandoned. */
export function abandon(job: Job, pass: Pass, reason: string): void {
  endPass(pass, { state: 'abandoned', reason, complete: false, total: null, run_id: job.runId }, job.now());
}

/**
 * Whether a pass has the same request as this run: filters, sources, and how the list is walked, whatever the page size. An
 * open window is resumed only if its start is the same, so that all pages are of one list. A sealed window started
 * earlier, so it covers everything a new window would.
 */
function isSameRequest(
  { request, kind, state, started_at }: Pass['record'],
  wanted: PassRequest['request'],
  now: Date,
): boolean {
  const meaning = ({ minutes: _, per_page: __, limit, ...rest }: PassRequest['request']): string =>
    JSON.stringify({ ...rest, isScroll: limit !== undefined });
  if (meaning(request) !== meaning(wanted)) return false;
  if (kind !== 'window' || state === 'sealed') return true;
  const startOf = (instant: number, minutes: unknown): number => instant / 60_000 - Number(minutes);
  const moved = startOf(Date.parse(started_at), request.minutes) - startOf(now.getTime(), wanted.minutes);
  // Windows are of whole minutes.
  return Math.abs(moved) < 2;
}
