import type { DuckDBType, DuckDBValue, Json } from '@duckdb/node-api';
import { duckdb } from '../../base/duck/api.js';

const {
  DuckDBDateValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  JsonDuckDBValueConverter,
} = duckdb;

/**
 * A value as every text format shows it, nested values too. DuckDB's own converter writes instants in the time zone of
 * the process; this one reads the integer. An instant is ISO 8601 in UTC with microseconds
 * (`2026-12-28T16:40:03.230000Z`). A timestamp without a zone has no `Z`, and the decimals of its type. A date is
 * `2026-12-28`. The ends of time are `infinity` and `-infinity`.
 */
export function jsonValue(value: DuckDBValue, type: DuckDBType): Json | null {
  return isoText(value) ?? JsonDuckDBValueConverter(value, type, jsonValue);
}

/**
 * A value as a column of Arrow takes it: a timestamp in microseconds since 1970, a date in days since 1970, any other
 * value as {@link jsonValue} gives it. The ends of time are the integers that DuckDB writes into Parquet for them.
 */
export function arrowValue(value: DuckDBValue, type: DuckDBType): Json | bigint | null {
  if (value instanceof DuckDBDateValue) return value.days;
  const time = timeOf(value);
  return time === undefined ? jsonValue(value, type) : microseconds(time);
}

/** The times that a spreadsheet has: its calendar has a day too many before March 1900, and ends with the year 9999. */
const [FIRST_CELL, END_OF_CELLS] = [Date.UTC(1900, 2, 1), Date.UTC(10_000, 0, 1)];

/**
 * A value as a cell of a spreadsheet takes it: a date or timestamp as a Date in UTC, in milliseconds. A time that no
 * spreadsheet has, and any other value, is as {@link jsonValue} gives it.
 */
export function cellValue(value: DuckDBValue, type: DuckDBType): Json | Date | null {
  const time = timeOf(value);
  const millis =
    value instanceof DuckDBDateValue
      ? value.days * SECONDS_OF_A_DAY * 1000
      : Number(time === undefined ? Number.NaN : microseconds(time) / 1000n);
  return millis >= FIRST_CELL && millis < END_OF_CELLS ? new Date(millis) : jsonValue(value, type);
}

/** A point in time as an integer. */
interface Time {
  /** Units since 1970. */
  readonly units: bigint;
  /** Decimals of a second: 6 if a unit is a microsecond. */
  readonly decimals: number;
  readonly isFinite: boolean;
}

function timeOf(value: DuckDBValue): Time | undefined {
  if (value instanceof DuckDBTimestampTZValue || value instanceof DuckDBTimestampValue)
    return { units: value.micros, decimals: 6, isFinite: value.isFinite };
  if (value instanceof DuckDBTimestampSecondsValue)
    return { units: value.seconds, decimals: 0, isFinite: value.isFinite };
  if (value instanceof DuckDBTimestampMillisecondsValue)
    return { units: value.millis, decimals: 3, isFinite: value.isFinite };
  if (value instanceof DuckDBTimestampNanosecondsValue)
    return { units: value.nanos, decimals: 9, isFinite: value.isFinite };
  return undefined;
}

function isoText(value: DuckDBValue): string | undefined {
  if (value instanceof DuckDBDateValue)
    return value.isFinite ? isoSecond(value.days * SECONDS_OF_A_DAY).slice(0, -9) : infinity(value.days);
  const time = timeOf(value);
  if (time === undefined) return undefined;
  if (!time.isFinite) return infinity(time.units);
  return `${isoTime(time)}${value instanceof DuckDBTimestampTZValue ? 'Z' : ''}`;
}

const infinity = (sign: number | bigint): string => (sign < 0 ? '-infinity' : 'infinity');

function isoTime({ units, decimals }: Time): string {
  const second = 10n ** BigInt(decimals);
  const rest = ((units % second) + second) % second;
  const fraction = decimals === 0 ? '' : `.${String(rest).padStart(decimals, '0')}`;
  return `${isoSecond(Number((units - rest) / second))}${fraction}`;
}

const SECONDS_OF_A_DAY = 86_400;
const SECONDS_OF_400_YEARS = 146_097 * SECONDS_OF_A_DAY;

/** DuckDB knows years that the dates of JavaScript do not; 400 years always have the same days. */
function isoSecond(seconds: number): string {
  const cycles = Math.floor(seconds / SECONDS_OF_400_YEARS);
  const date = new Date((seconds - cycles * SECONDS_OF_400_YEARS) * 1000);
  return `${isoYear(date.getUTCFullYear() + cycles * 400)}${date.toISOString().slice(4, 19)}`;
}

/** ISO 8601 gives years before 0 and after 9999 a sign and six digits. */
function isoYear(year: number): string {
  if (year >= 0 && year <= 9999) return String(year).padStart(4, '0');
  return `${year < 0 ? '-' : '+'}${String(Math.abs(year)).padStart(6, '0')}`;
}

/** Nanoseconds are truncated, as DuckDB's casts do. */
function microseconds(time: Time): bigint {
  const { units, decimals } = time;
  if (!time.isFinite) return units;
  return decimals > 6 ? units / 10n ** BigInt(decimals - 6) : units * 10n ** BigInt(6 - decimals);
}
