import { hash } from 'node:crypto';

/** The value of a JSON text; undefined if it is not JSON, such as a line that a crash has torn. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value is a JSON object: neither a list nor null. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * An object by names that a user may choose, such as `constructor`: a name that it does not have finds nothing, and not a
 * member that all objects have.
 */
export const byName = <T>(object: Readonly<Record<string, T>>): Record<string, T> =>
  Object.assign(Object.create(null), object);

/** Fingerprint of any JSON value: 16 hex digits. */
export const jsonHash = (value: unknown): string => hash('sha256', JSON.stringify(value)).slice(0, 16);
