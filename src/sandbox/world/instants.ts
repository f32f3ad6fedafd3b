/** Instants are milliseconds since 1970 in UTC, always whole seconds. */
export type Instant = number;

const SECOND = 1_000;
export const MINUTE = 60_000;
export const HOUR = 3_600_000;
/** A twelfth of a year. */
export const MONTH = 30.4375 * 86_400_000;
export const DAY = 86_400_000;

/** Date and time joined by `T`, to the second. */
export const seconds = (at: Instant): string => new Date(at).toISOString().slice(0, 19);

/** The date of an instant, `YYYY-MM-DD`. */
export const dateOf = (at: Instant): string => seconds(at).slice(0, 10);

/** The described form of a timestamp, with microseconds and `Z` (service.md#values). */
export const micros = (at: Instant): string => `${seconds(at)}.000000Z`;

/** The other form seen in the same records, without a zone (service.md#values). */
export const plain = (at: Instant): string => seconds(at).replace('T', ' ');

/**
 * The form of the reports, with an offset (service.md#reports); `ahead` is by how many hours local time is ahead of
 * UTC.
 */
export const zoned = (at: Instant, ahead: number): string =>
  `${seconds(at + ahead * HOUR)}${ahead < 0 ? '-' : '+'}${String(Math.abs(ahead)).padStart(2, '0')}:00`;

/** The instant cut to whole seconds. */
export const wholeSecond = (at: number): Instant => Math.floor(at / SECOND) * SECOND;
