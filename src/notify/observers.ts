import type { Config } from '../config/config.js';
import { messageOf } from '../config/lotlake-error.js';
import { isUrl } from '../config/problems.js';
import { hideKey, redacted } from '../config/redact.js';
import { currentSnapshot, layoutOf } from '../lake/layout.js';
import { manifestIn } from '../lake/manifest.js';
import { type RunRecord, readRuns } from '../lake/run-records.js';
import type { TestFailures } from '../model/data-tests.js';
import { assertOutside, writeWhole } from '../query/places.js';
import { type Alarm, standingOf } from '../report/alarms.js';
import { type EventType, eventOf, eventTypeOf, sendEvent } from './lineage.js';
import { metricsText } from './metrics.js';
import { post } from './post.js';
import { noticeOf } from './webhook.js';

/** Milliseconds that the end of a run waits for those that are told, and that an interrupted run does. */
const MOST = 10_000;
const MOST_INTERRUPTED = 1500;

/** What observers read of a run. */
interface Observed {
  readonly record: RunRecord;
  /** Runs that began before, oldest first. */
  readonly before: readonly RunRecord[];
  /** Those of them that were killed, which nobody has told yet. */
  readonly killed: readonly RunRecord[];
  readonly tests: readonly TestFailures[];
}

interface ObserverOptions {
  readonly config: Config;
  readonly reporter: { warn(message: string): void };
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the observers of a run: metrics, lineage and webhook, as the configuration asks for them. They never throw: what
 * fails is a warning, and changes nothing of the run. From now on no message holds their secrets.
 */
export function openObservers({ config, reporter, signal }: ObserverOptions) {
  const { metrics, lineage, notify } = config;
  const layout = layoutOf(config.output);
  if (lineage.key !== undefined) hideKey(lineage.key, 'lineage');
  const late = new AbortController();
  const work: Promise<void>[] = [];
  const attempt = async (problem: string, task: () => unknown): Promise<void> => {
    try {
      await task();
    } catch (error) {
      reporter.warn(redacted(`${problem}: ${messageOf(error)}; the run goes its way without it`));
    }
  };
  /** Events go out one after the other. */
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
  const tell = (record: RunRecord, alarms: readonly Alarm[] = []): void => {
    const { url, on } = notify;
    const notice = noticeOf(record, alarms, on);
    if (url === undefined || notice === undefined) return;
    work.push(attempt('the webhook of notify.url was not told', () => post(url, notice, late.signal)));
  };

  return {
    /** Tells that a run begins, and how those ended that were killed; waits for nobody. */
    begun({ record, killed }: Observed): void {
      for (const run of killed) {
        emit(eventTypeOf(run), run);
        tell(run);
      }
      emit('START', record);
    },
    /** Tells how a run ended. Waits 10 seconds at most, and 2 once the run is interrupted. */
    async ended({ record, before, tests }: Observed): Promise<void> {
      // The run that has the lake tells of itself.
      if (record.outcome === 'locked') return;
      const end = deadline(late, signal);
      // A run that did not get the lock has not begun.
      if (events !== undefined) emit(eventTypeOf(record), record, tests);
      let open: readonly Alarm[] | undefined;
      let fresh: readonly Alarm[] = [];
      if (metrics !== undefined || notify.url !== undefined)
        await attempt('the alarms of the snapshot could not be read', async () => {
          open = (await standingOf(config, { signal: late.signal })).alarms;
          fresh = record.outcome === 'published' ? await freshOf(open, before, config, late.signal) : [];
        });
      tell(record, fresh);
      if (metrics !== undefined)
        await attempt(`the metrics ${metrics} were not written`, () => {
          assertOutside(metrics, config.output);
          const snapshot = currentSnapshot(layout);
          const manifest = snapshot === undefined ? undefined : manifestIn(snapshot);
          writeWhole(metrics, metricsText(readRuns(layout), manifest, open?.length));
        });
      await Promise.all(work);
      end();
    },
  };
}

/** Aborts after {@link MOST}, and soon after an interrupt; gives what ends the waiting. */
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

/** Alarms that the snapshot before did not have; all if it is gone. Failed runs were told when they failed. */
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
  const { alarms: earlier } = await standingOf(config, reading).catch(() => ({ alarms: [] }));
  return raised.filter(
    ({ subject, metric }) => !earlier.some((alarm) => alarm.subject === subject && alarm.metric === metric),
  );
}
