import { assertOutside, writeWhole } from '../../ask/query/places.js';
import { type Alarm, lakeStanding } from '../../ask/report/alarms.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { ownNamed } from '../../base/config/owned.js';
import { isUrl } from '../../base/config/problems.js';
import { hideKey, redacted } from '../../base/config/redact.js';
import type { ObserverOptions, Observers, TestFailures } from '../../core/job/beside.js';
import { type RunRecord, readRuns } from '../../core/job/run-records.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { manifestIn } from '../../core/lake/manifest.js';
import { channelsOf } from './channels.js';
import { metricsText } from './metrics.js';
import { type EventType, eventOf, eventTypeOf, sendEvent } from './openlineage.js';
import { type Telling, tellChannels } from './tell-channels.js';

/** Milliseconds that the end of a run waits for lineage. */
const MOST = 10_000;
/** Milliseconds that it waits for notices, which read the lake. */
const MOST_NOTICES = 60_000;
/** Milliseconds that it waits once the run is interrupted. */
const MOST_INTERRUPTED = 1500;

/**
 * Opens the observers of a run that are configured: metrics, lineage and the channels of notices. They never throw: a failure is a
 * warning and does not change the run. From now on no message holds their secrets.
 */
export function openObservers({ config, reporter, signal }: ObserverOptions): Observers {
  const { metrics, lineage } = config;
  const layout = layoutOf(config.output);
  if (lineage.key !== undefined) hideKey(lineage.key);
  const [late, lateNotices] = [new AbortController(), new AbortController()];
  let alarms: Promise<readonly Alarm[]> | undefined;
  /** The alarms of the published snapshot, read once. */
  const openAlarms = (): Promise<readonly Alarm[]> => {
    alarms ??= lakeStanding(config, { signal: lateNotices.signal }).then((standing) => standing.alarms);
    return alarms;
  };
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
  const channels = channelsOf(config);
  /** Notices go to the channels one after the other. */
  let notices = Promise.resolve();
  const notice = (given: Pick<Telling, 'before' | 'runs' | 'withSnapshot'>): void => {
    if (channels.length === 0) return;
    const telling = {
      ...given,
      config,
      channels,
      openAlarms,
      signal: lateNotices.signal,
      warn: reporter.warn,
    };
    notices = notices.then(() => attempt('the channels were not told', () => tellChannels(telling)));
    work.push(notices);
  };

  return {
    begun({ record, before, killed }) {
      // The end of earlier runs that were killed.
      for (const run of killed) emit(eventTypeOf(run), run);
      if (killed.length > 0) notice({ before, runs: killed, withSnapshot: false });
      emit('START', record);
    },
    async ended({ record, before, tests }) {
      // The run that holds the lock reports itself.
      if (record.outcome === 'locked') return;
      const end = deadline({ late, lateNotices }, signal);
      // Without an event of its start, the run did not begin.
      if (events !== undefined) emit(eventTypeOf(record), record, tests);
      const open =
        metrics === undefined
          ? undefined
          : openAlarms().catch((error: unknown) => {
              reporter.warn(redacted(`the alarms of the snapshot could not be read: ${messageOf(error)}`));
            });
      notice({ before, runs: [record], withSnapshot: record.outcome !== 'interrupted' });
      await notices;
      if (metrics !== undefined)
        await attempt(`the metrics ${metrics} were not written`, async () => {
          assertOutside(metrics, config.output);
          const snapshot = currentSnapshot(layout);
          const manifest = snapshot === undefined ? undefined : manifestIn(snapshot);
          writeWhole(ownNamed(metrics), metricsText(readRuns(layout), manifest, (await open)?.length));
        });
      await Promise.all(work);
      end();
    },
  };
}

/** Aborts when its time is over, and soon after an interrupt. Returns a function that stops the timers. */
function deadline(
  { late, lateNotices }: Readonly<Record<'late' | 'lateNotices', AbortController>>,
  interrupt: AbortSignal | undefined,
): () => void {
  const after = (milliseconds: number, ...controllers: readonly AbortController[]) =>
    setTimeout(() => {
      for (const controller of controllers) controller.abort();
    }, milliseconds);
  const timers = [after(MOST, late), after(MOST_NOTICES, lateNotices)];
  const soon = (): void => void timers.push(after(MOST_INTERRUPTED, late, lateNotices));
  if (interrupt?.aborted === true) soon();
  else interrupt?.addEventListener('abort', soon);
  return () => {
    interrupt?.removeEventListener('abort', soon);
    for (const timer of timers) clearTimeout(timer);
  };
}
