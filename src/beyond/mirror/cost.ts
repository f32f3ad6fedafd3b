import type { Requests } from './store.js';

/**
 * Prices of Amazon S3 Standard in us-east-1, in US dollars, as public comparisons quoted them on the date; what counts is the
 * list of Amazon (https://aws.amazon.com/s3/pricing/). docs/run/scale.md says how to use others.
 */
export const S3_PRICES = {
  service: 'S3 Standard, us-east-1',
  date: '2026-11-26',
  /** A PUT, COPY, POST or LIST request. */
  write: 0.005 / 1000,
  /** A GET or HEAD request. DELETE costs nothing. */
  read: 0.0004 / 1000,
  /** A gigabyte (1e9 bytes) kept for a month, in the first 50 TB. */
  month: 0.023,
} as const;

/** What requests cost, and what the bytes that they wrote cost for each month that they stay, in US dollars. */
export function costOf({ put, get, list, bytes }: Requests) {
  return {
    requests: (put + list) * S3_PRICES.write + get * S3_PRICES.read,
    month: (bytes / 1e9) * S3_PRICES.month,
  };
}
