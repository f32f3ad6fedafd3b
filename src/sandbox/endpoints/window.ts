import { MINUTE } from '../world/instants.js';
import { integer } from './parameter.js';

/** Longest window of a `minutes` parameter (service.md, limits). */
const MAX_MINUTES = 4320;

/** `minutes`: keeps to what happened lately. */
export const minutesParameter = (what: string) => integer(what, { low: 1, high: MAX_MINUTES });

/** Start of the window that `minutes` names, or undefined without it. */
export const sinceOf = (minutes: number | undefined, clock: Date): Date | undefined =>
  minutes === undefined ? undefined : new Date(clock.getTime() - minutes * MINUTE);
