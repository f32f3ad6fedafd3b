/** The arithmetic of docs/ask/marts.md in plain JavaScript, for oracles. */
import type { Named } from '../../served.js';

/** A percentile by linear interpolation; null for fewer values than `least`. */
export function percentile(values: readonly number[], share: number, least: number): number | null {
  if (values.length < least || values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const place = share * (sorted.length - 1);
  const low = sorted[Math.floor(place)] ?? 0;
  const high = sorted[Math.ceil(place)] ?? 0;
  return low + (high - low) * (place - Math.floor(place));
}

/** The middle value; null for fewer values than `least`. */
export const median = (values: readonly number[], least: number): number | null =>
  percentile(values, 0.5, least);

/** Groups items by a key. */
export function groupBy<T>(items: Iterable<T>, keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}

/** Rounded to the cent. */
export const cents = (amount: number | null): number | null =>
  amount === null ? null : Math.round(amount * 100) / 100;

/** One name for each id: the alphabetically last served name, without outer spaces. */
export function namesOf<T>(
  items: Iterable<T>,
  read: (item: T) => Named | null | undefined,
): Map<number, string> {
  const names = new Map<number, string>();
  for (const item of items) {
    const found = read(item);
    if (found?.name === undefined) continue;
    const name = found.name.trim();
    const known = names.get(found.id);
    if (known === undefined || name > known) names.set(found.id, name);
  }
  return names;
}
