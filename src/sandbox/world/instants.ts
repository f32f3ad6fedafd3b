/** Instants are milliseconds since 1970 in UTC, always whole seconds. */
export type Instant = number;

const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;

const days = new Map<number, string>();
const pairs = Array.from({ length: 60 }, (_, value) => String(value).padStart(2, '0'));

/** The date of an instant, `YYYY-MM-DD`. */
export function dateOf(at: Instant): string {
  const day = Math.floor(at / DAY);
  let text = days.get(day);
  if (text === undefined) {
    text = new Date(day * DAY).toISOString().slice(0, 10);
    days.set(day, text);
  }
  return text;
}

/** The time of day of an instant, `HH:MM:SS`. */
export function timeOf(at: Instant): string {
  const seconds = Math.floor((at % DAY) / SECOND);
  return `${pairs[Math.floor(seconds / 3600)]}:${pairs[Math.floor(seconds / 60) % 60]}:${pairs[seconds % 60]}`;
}

/** The described form of a timestamp, with microseconds and `Z` (service.md). */
export const micros = (at: Instant): string => `${dateOf(at)}T${timeOf(at)}.000000Z`;

/** The other form seen in the same records, without a zone (field-notes.md). */
export const plain = (at: Instant): string => `${dateOf(at)} ${timeOf(at)}`;

/** The form of the reports, with an offset (reports.md); `ahead` is how many hours local time is ahead of UTC. */
export function zoned(at: Instant, ahead: number): string {
  const local = at + ahead * HOUR;
  return `${dateOf(local)}T${timeOf(local)}${ahead < 0 ? '-' : '+'}${pairs[Math.abs(ahead)]}:00`;
}

/** The instant cut to whole seconds. */
export const wholeSecond = (at: number): Instant => Math.floor(at / SECOND) * SECOND;
