import type { IncomingHttpHeaders } from 'node:http';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { aheadText, SKEW, secondsAhead } from '../extract/clock.js';
import type { PassRecord } from '../land/pass.js';

/** Gets the seconds by which the machine is ahead, and the milliseconds by which a time taken before the call is late. */
type Listener = (ahead: number, late: number) => void;

/** The clock of a run. */
export interface RunClock {
  /** This moment. */
  now(): Date;
  /** Whether an answer has come, with or without the time of the service. */
  readonly isHeard: boolean;
  /**
   * Takes the time of the service from the headers of its first answer. Warns if the machine is off by minutes. Throws
   * RUN_CLOCK if it is off by more than the overlap of the windows, unless that is allowed.
   */
  hear(headers: IncomingHttpHeaders, warn: (message: string) => void): void;
  /** Calls back once the distance is known, maybe at once; never if the service does not tell its time. */
  whenKnown(listener: Listener): void;
}

/**
 * Opens the clock of a run: the machine's, until an answer of the service tells the service's. Windows, and what a pass
 * saw, then follow the clock of the service, so a wrong clock of one night loses nothing in the next.
 */
export function openClock(machine: () => Date, { allowSkew }: { readonly allowSkew: boolean }): RunClock {
  let ahead: number | undefined;
  let isHeard = false;
  const listeners: Listener[] = [];
  return {
    now: () => new Date(machine().getTime() - (ahead ?? 0) * 1000),
    get isHeard() {
      return isHeard;
    },
    hear(headers, warn) {
      if (isHeard) return;
      isHeard = true;
      ahead = secondsAhead(headers, machine());
      if (ahead === undefined) return;
      for (const listener of listeners.splice(0)) listener(ahead, ahead * 1000);
      if (Math.abs(ahead) < SKEW.warning) return;
      if (Math.abs(ahead) > SKEW.refused && !allowSkew) throw wrongClock(ahead);
      warn(
        `${aheadText(ahead)}; this run takes its time from the service: set the clock of this machine, such as by NTP`,
      );
    },
    whenKnown(listener) {
      if (ahead !== undefined) listener(ahead, 0);
      else if (!isHeard) listeners.push(listener);
    },
  };
}

/** Whether a pass began in the future, by more than clocks may differ. Then a clock was wrong, and its order is not known. */
export const isFuture = (
  { now }: Pick<RunClock, 'now'>,
  { started_at }: Pick<PassRecord, 'started_at'>,
): boolean => Date.parse(started_at) - now().getTime() > SKEW.refused * 1000;

function wrongClock(ahead: number): LotlakeError {
  return new LotlakeError(
    'RUN_CLOCK',
    `${aheadText(ahead)}, and a run goes on up to ${SKEW.refused / 60} minutes of difference`,
    {
      outcome: 'held',
      hint: 'the last snapshot stays current and nothing was read; set the clock of this machine, such as by NTP, and run the same command again; if its clock is right, or cannot be set, add --allow-skew, and the run takes its time from the service',
    },
  );
}
