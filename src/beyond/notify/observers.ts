import { assertOutside, writeWhole } from '../../ask/query/places.js';
import { readWatched, type Watched } from '../../ask/query/watched.js';
import { type Alarm, lakeStanding } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { ownNamed } from '../../base/config/owned.js';
import { isUrl } from '../../base/config/problems.js';
import { hideKey, redacted } from '../../base/config/redact.js';
import type { ObserverOptions, Observers, TestFailures } from '../../core/job/beside.js';
import { type RunRecord, readRuns } from '../../core/job/run-records.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { manifestIn } from '../../core/lake/manifest.js';
import { metricsText } from './metrics.js';
import { type EventType, eventOf, eventTypeOf, sendEvent } from './openlineage.js';
import { post } from './post.js';
import { noticeOf } from './webhook.js';

/** Milliseconds that the end of a run waits for its observers. */
const MOST = 10_000;
/** Milliseconds that it waits once the run is interrupted. */
const MOST_INTERRUPTED = 1500;

/**
 * Opens the observers of a run that are configured: metrics, lineage and webhook. They never throw: a failure is a
 * warning and does not change the run. From now on no message holds their secrets.
 */
export function openObservers({ config, reporter, signal }: ObserverOptions): Observers {
  const { metrics, lineage, notify } = config;
  const layout = layoutOf(config.output);
  if (lineage.key !== undefined) hideKey(lineage.key);
  const late = new AbortController();
  const work: Promise<void>[] = [];
  const attempt = async (problem: string, task: () => unknown): Promise<void> => {
    try {
      await task();
    } catch (error) {
      reporter.warn(redacted(`${problem}: ${messageOf(error)}; the run goes its way without it`));
    }
  };
  /** The last event; events are sent one after the other. */
  let events: Promise<void> | undefined;
  const emit = (type: EventType, record: RunRecord, tests: readonly TestFailures[] = []): void => {
    const { to } = lineage;
    if (to === undefined) return;
    const send = () => {
      if (!isUrl(to)) assertOutside(to, config.output);
      return sendEvent({ ...lineage, to }, eventOf(type, record, { config, tests }), late.signal);
    };
    const before = events ?? Promise.resolve();
    events = before.then(() => attempt(`OpenLineage events did not get to ${to}`, send));
    work.push(events);
  };
  const notice = (
    record: RunRecord,
    alarms: readonly Alarm[] = [],
    searches: readonly Watched[] = [],
  ): void => {
    const { url, on } = notify;
    const body = noticeOf(record, alarms, on, searches);
    if (url === undefined || body === undefined) return;
    work.push(attempt('the webhook of notify.url was not told', () => post(url, body, late.signal)));
  };

  return {
    begun({ record, killed }) {
      // The end of earlier runs that were killed.
      for (const run of killed) {
        emit(eventTypeOf(run), run);
        notice(run);
      }
      emit('START', record);
    },
    async ended({ record, before, tests }) {
      // The run that holds the lock reports itself.
      if (record.outcome === 'locked') return;
      const end = deadline(late, signal);
      // Without an event of its start, the run did not begin.
      if (events !== undefined) emit(eventTypeOf(record), record, tests);
      let open: readonly Alarm[] | undefined;
      let fresh: readonly Alarm[] = [];
      if (metrics !== undefined || notify.url !== undefined)
        await attempt('the alarms of the snapshot could not be read', async () => {
          open = (await lakeStanding(config, { signal: late.signal })).alarms;
          fresh = record.outcome === 'published' ? await freshOf(open, before, config, late.signal) : [];
        });
      let searches: readonly Watched[] = [];
      if (notify.url !== undefined && notify.on.includes('watch') && record.outcome === 'published')
        await attempt('the watched searches could not be read', async () => {
          searches = await readWatched(config, { signal: late.signal });
        });
      notice(record, fresh, searches);
      if (metrics !== undefined)
        await attempt(`the metrics ${metrics} were not written`, () => {
          assertOutside(metrics, config.output);
          const snapshot = currentSnapshot(layout);
          const manifest = snapshot === undefined ? undefined : manifestIn(snapshot);
          writeWhole(ownNamed(metrics), metricsText(readRuns(layout), manifest, open?.length));
        });
      await Promise.all(work);
      end();
    },
  };
}

/** Aborts after {@link MOST}, and soon after an interrupt. Returns a function that stops the timers. */
function deadline(late: AbortController, interrupt: AbortSignal | undefined): () => void {
  const timers = [setTimeout(() => late.abort(), MOST)];
  const soon = (): void => void timers.push(setTimeout(() => late.abort(), MOST_INTERRUPTED));
  if (interrupt?.aborted === true) soon();
  else interrupt?.addEventListener('abort', soon);
  return () => {
    interrupt?.removeEventListener('abort', soon);
    for (const timer of timers) clearTimeout(timer);
  };
}

/** Alarms that the snapshot before did not have; all if it is gone. Failed runs are reported when they fail. */
async function freshOf(
  open: readonly Alarm[],
  before: readonly RunRecord[],
  config: Config,
  signal: AbortSignal,
): Promise<readonly Alarm[]> {
  const raised = open.filter(({ metric }) => metric !== 'failing_runs');
  const last = before.findLast(({ snapshot_id }) => snapshot_id !== null)?.snapshot_id;
  if (raised.length === 0 || last === undefined || last === null) return raised;
  const reading = { choice: { snapshot: last }, signal };
  const { alarms: earlier } = await lakeStanding(config, reading).catch(() => ({ alarms: [] }));
  return raised.filter(
    ({ subject, metric }) => !earlier.some((alarm) => alarm.subject === subject && alarm.metric === metric),
  );
}
