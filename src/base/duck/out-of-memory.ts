import { causesOf, LotlakeError } from '../config/lotlake-error.js';

/** Whether DuckDB ended a statement because it reached its memory limit: `error` or one of its causes says so. */
export function isOutOfMemory(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => !(cause instanceof LotlakeError) && cause.message.startsWith('Out of Memory Error'),
  );
}
