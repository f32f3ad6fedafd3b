import { LotlakeError, messageOf } from '../config/lotlake-error.js';
import { LakeError } from './lake-error.js';

/** Codes of the system for a disk, a quota or a file that has no room left. */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What DuckDB says then: the text of the system, or the setting that keeps what it spills within the disk. */
const SAID =
  /^[A-Z][A-Za-z ]* Error: .*(?:No space left on device|Disk quota exceeded|File too large|max_temp_directory_size)/s;

/**
 * The error of a run that found no room to write: `error` or one of its causes says so. Undefined for any other, such
 * as a service that tells of its own disk.
 */
export function diskFullError(error: unknown, output: string): LakeError | undefined {
  if (!causesOf(error).some(isDiskFull)) return undefined;
  // DuckDB's message may have several lines.
  const told = messageOf(error).replaceAll(/\s*\n\s*/g, ' ');
  return new LakeError('LAKE_DISK_FULL', `there is no room to write below ${output}: ${told}`, {
    cause: error,
    hint: 'the last snapshot stays current and landing keeps every page that was whole; free space (lotlake vacuum --dry-run tells what can go) and run the same command again',
  });
}

function isDiskFull(error: Error): boolean {
  if (CODES.has(Reflect.get(error, 'code'))) return true;
  return !(error instanceof LotlakeError) && SAID.test(error.message);
}

/** An error and what caused it. */
export function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}
