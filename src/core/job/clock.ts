import type { IncomingHttpHeaders } from 'node:http';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import type { PassRecord } from '../lake/passes/pass.js';
import { aheadText, compareClocks, SKEW } from '../service/compare-clocks.js';

/** Gets the seconds by which the machine is ahead, and the milliseconds by which the times taken so far are late. */
type Listener = (ahead: number, late: number) => void;

/** How often a request is sent whose answers do not agree on the time. */
const TRIES = 3;

/** Milliseconds until it is sent again. The `Date` of a live answer has moved on by then. */
const WAIT = 2000;

/** The clock of a run. */
export interface RunClock {
  /** This moment. */
  now(): Date;
  /** Whether an answer has come, with or without the time of the service. */
  readonly isHeard: boolean;
  /**
   * Takes the time of the service from the headers of an answer. If it is far from the time of the machine, throws an error
   * that lets the client ask again, until two answers agree ({@link compareClocks}); if they never do, warns, and the clock of
   * the machine counts. Warns if the machine is off by minutes. Throws RUN_CLOCK if it is off by more than the overlap of the
   * windows, unless that is allowed.
   */
  hear(headers: IncomingHttpHeaders, warn: (message: string) => void): void;
  /** Calls back once the distance is known, maybe at once, and again if a newer answer corrects it. */
  whenKnown(listener: Listener): void;
}

/**
 * Opens the clock of a run: the machine's, until the answers of the service tell the service's. Windows, and what a pass
 * saw, then follow the clock of the service, so a wrong clock of one night loses nothing in the next.
 */
export function openClock(machine: () => Date, { allowSkew }: { readonly allowSkew: boolean }): RunClock {
  const answers = compareClocks();
  let isHeard = false;
  let unsure = 0;
  const listeners: Listener[] = [];
  return {
    now: () => new Date(machine().getTime() - (answers.ahead ?? 0) * 1000),
    get isHeard() {
      return isHeard;
    },
    hear(headers, warn) {
      const before = answers.ahead;
      const seconds = answers.hear(headers, machine());
      const { ahead, isUnsure } = answers;
      if (isUnsure && seconds !== undefined && unsure < TRIES) {
        unsure++;
        if (unsure < TRIES) throw unsureClock(seconds);
        warn(
          'the answers are dated hours from one another, as if a cache had kept them: this run takes its time from the clock of this machine',
        );
      }
      isHeard = true;
      if (ahead === undefined || ahead === before) return;
      for (const listener of listeners) listener(ahead, (ahead - (before ?? 0)) * 1000);
      if (before !== undefined || Math.abs(ahead) < SKEW.warning) return;
      if (Math.abs(ahead) > SKEW.refused && !allowSkew) throw wrongClock(ahead);
      warn(
        `${aheadText(ahead)}; this run takes its time from the service: set the clock of this machine, such as by NTP`,
      );
    },
    whenKnown(listener) {
      listeners.push(listener);
      if (answers.ahead !== undefined) listener(answers.ahead, 0);
    },
  };
}

/** Whether a pass began in the future, by more than clocks may differ. Then a clock was wrong, and its order is not known. */
export const isFuture = (
  { now }: Pick<RunClock, 'now'>,
  { started_at }: Pick<PassRecord, 'started_at'>,
): boolean => Date.parse(started_at) - now().getTime() > SKEW.refused * 1000;

/**
 * Throws RUN_CLOCK if it is long before the last snapshot, as in a lake of a sandbox that is asked for an earlier day: all that the
 * service has changed since would be taken back.
 * @param last time of the last snapshot
 */
export function assertAfter(last: string, now: Date): void {
  if (Date.parse(last) - now.getTime() <= SKEW.refused * 1000) return;
  throw new LotlakeError(
    'RUN_CLOCK',
    `the service says that it is ${now.toISOString()}, and the lake has a snapshot of ${last}`,
    {
      outcome: 'held',
      hint: 'the last snapshot stays current and nothing is landed; with --sandbox, name a later --clock or another --output; --allow-skew goes on all the same',
    },
  );
}

function unsureClock(ahead: number): LotlakeError {
  return new LotlakeError(
    'RUN_CLOCK',
    `by this answer, ${aheadText(ahead)}; a cache may have kept it, so the request is sent again`,
    {
      outcome: 'held',
      retryable: true,
      retryAfter: WAIT,
      hint: 'set the clock of this machine, such as by NTP',
    },
  );
}

function wrongClock(ahead: number): LotlakeError {
  return new LotlakeError(
    'RUN_CLOCK',
    `${aheadText(ahead)}, and a run goes on up to ${SKEW.refused / 60} minutes of difference`,
    {
      outcome: 'held',
      hint: 'the last snapshot stays current; set the clock of this machine, such as by NTP, and run the same command again; if its clock is right, or cannot be set, add --allow-skew, and the run takes its time from the service',
    },
  );
}
