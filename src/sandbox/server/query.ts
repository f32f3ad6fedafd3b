import { badRequest } from './refusal.js';

/** Bounds of an integer parameter and what it is when absent. */
export interface IntegerRule {
  readonly low: number;
  readonly high: number;
  readonly fallback?: number;
}

/** An integer parameter within its bounds, or its fallback; throws a 400 otherwise. */
export function integerOf(query: URLSearchParams, name: string, rule: IntegerRule): number | undefined {
  const text = query.get(name);
  if (text === null) return rule.fallback;
  const value = Number(text);
  if (!/^-?\d{1,15}$/.test(text) || value < rule.low || value > rule.high) {
    throw badRequest(name, `The ${name} must be an integer from ${rule.low} to ${rule.high}.`);
  }
  return value;
}

/** A parameter that is 0 or 1. */
export const flagOf = (query: URLSearchParams, name: string, fallback: boolean): boolean =>
  integerOf(query, name, { low: 0, high: 1, fallback: fallback ? 1 : 0 }) === 1;

/** Longest window of the `minutes` parameter (service.md, limits). */
const MAX_MINUTES = 4320;

/** Start of the window that `minutes` names, or undefined without it. */
export function sinceOf(query: URLSearchParams, clock: Date): Date | undefined {
  const minutes = integerOf(query, 'minutes', { low: 1, high: MAX_MINUTES });
  return minutes === undefined ? undefined : new Date(clock.getTime() - minutes * 60_000);
}
