import { quoted } from '../base/config/folder.js';
import { ConfigError } from '../base/config/lotlake-error.js';
import { didYouMean } from '../base/config/nearest.js';
import { type StreamName, streamNames } from '../core/service/streams.js';
import type { Values } from './command.js';
import type { worldOptions } from './options.js';

/** Parses a whole number. Throws ConfigError with the given text. */
export function wholeNumber(option: string, given: string, least: number, most: number): number {
  const value = /^\s*-?\d{1,15}\s*$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new ConfigError(`${option} is ${quoted(given)}; it takes a whole number from ${least} to ${most}`);
}

/** Parses a number above 0. Throws ConfigError with the given text. */
export function positiveNumber(option: string, given: string, most: number): number {
  const value = /^\s*(\d+(\.\d+)?|\.\d+)\s*$/.test(given) ? Number(given) : Number.NaN;
  if (value > 0 && value <= most) return value;
  throw new ConfigError(`${option} is ${quoted(given)}; it takes a number above 0 and up to ${most}`);
}

/** Hours in a unit of time. */
const UNITS: Readonly<Record<string, number>> = { m: 1 / 60, h: 1, d: 24 };

/** Parses an age such as 90m, 26h or 2d, in hours. Throws ConfigError with the given text. */
export function parseHours(option: string, given: string): number {
  const [, amount, unit = ''] = /^(\d{1,6}(?:\.\d+)?)([mhd])$/.exec(given.trim()) ?? [];
  if (amount !== undefined) return Number(amount) * (UNITS[unit] ?? 1);
  throw new ConfigError(`${option} is ${quoted(given)}; it takes an age such as 90m, 26h or 2d`);
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Range of the sandbox's clock. */
const [FIRST, LAST] = ['2000-01-01T00:00:00Z', '2200-01-01T00:00:00Z'];

/** Parses an instant, in UTC if it names no zone. Throws ConfigError with the given text. */
function instant(option: string, given: string): Date {
  const zoned = /T.*(Z|[+-]\d{2}:\d{2})$/.test(given) || !given.includes('T') ? given : `${given}Z`;
  const value = new Date(TIME.test(given) ? zoned : Number.NaN);
  if (value >= new Date(FIRST) && value < new Date(LAST)) return value;
  throw new ConfigError(
    `${option} is ${quoted(given)}; it takes an instant such as 2026-11-20T00:00:00Z, from ${FIRST} on and before ${LAST}`,
  );
}

/** The stream of a name. Throws ConfigError, which lists the streams, if there is none. */
export function streamOf(name: string, where: string): StreamName {
  const found = streamNames.find((stream) => stream === name);
  if (found !== undefined) return found;
  throw new ConfigError(
    `${where}: there is no stream ${name}${didYouMean(name, streamNames)}`,
    `streams: ${streamNames.join(', ')}`,
  );
}

/**
 * The world of the sandbox that options describe; its clock is `now` by default. Throws ConfigError for a value that does
 * not fit.
 */
export function worldOf({ vehicles = '6000', seed = '1', clock }: Values<typeof worldOptions>, now: Date) {
  return {
    vehicles: wholeNumber('--vehicles', vehicles, 1, 4_000_000),
    seed: wholeNumber('--seed', seed, 0, 2 ** 32 - 1),
    clock: clock === undefined ? now : instant('--clock', clock),
  };
}
