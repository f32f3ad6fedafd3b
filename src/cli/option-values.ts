import { quoted } from '../config/folder.js';
import { ConfigError } from '../config/lotlake-error.js';

/** A whole number that an option gives. Throws ConfigError with the text that was given. */
export function wholeNumber(option: string, given: string, least: number, most: number): number {
  const value = /^\s*-?\d{1,15}\s*$/.test(given) ? Number(given) : Number.NaN;
  if (value >= least && value <= most) return value;
  throw new ConfigError(`${option} is ${quoted(given)}; it takes a whole number from ${least} to ${most}`);
}

/** A number above 0 that an option gives. Throws ConfigError with the text that was given. */
export function positiveNumber(option: string, given: string, most: number): number {
  const value = /^\s*(\d+(\.\d+)?|\.\d+)\s*$/.test(given) ? Number(given) : Number.NaN;
  if (value > 0 && value <= most) return value;
  throw new ConfigError(`${option} is ${quoted(given)}; it takes a number above 0 and up to ${most}`);
}

const TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** Times that the sandbox can have. */
const [FIRST, LAST] = ['2000-01-01T00:00:00Z', '2200-01-01T00:00:00Z'];

/** An instant that an option gives; UTC where it names no zone. Throws ConfigError with the text that was given. */
export function instant(option: string, given: string): Date {
  const zoned = /T.*(Z|[+-]\d{2}:\d{2})$/.test(given) || !given.includes('T') ? given : `${given}Z`;
  const value = new Date(TIME.test(given) ? zoned : Number.NaN);
  if (value >= new Date(FIRST) && value < new Date(LAST)) return value;
  throw new ConfigError(
    `${option} is ${quoted(given)}; it takes an instant such as 2026-11-20T00:00:00Z, from ${FIRST} on and before ${LAST}`,
  );
}
