import { constants } from 'node:os';
import { dirname } from 'node:path';
import { causesOf, codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { diskFullError } from '../lake/lake-error.js';
import hints from './system-hints.json' with { type: 'json' };

/** Hints for errors of the operating system, by code. */
const HINTS: Readonly<Record<string, string>> = hints;

/** Start of every DuckDB error message. */
const DUCKDB_ERROR = /^[A-Z][A-Za-z ]* Error: /;

/**
 * Turns any other error into a LotlakeError. A full disk becomes LAKE_DISK_FULL, an error of the operating system or a
 * missing module SYSTEM_FAILED, an error of DuckDB LAKE_FAILED, and anything else is a fault of lotlake: INTERNAL_ERROR.
 */
export function describeError(error: unknown): LotlakeError {
  if (error instanceof LotlakeError) return error;
  const paths = causesOf(error).map((each): unknown => Reflect.get(each, 'path'));
  const path = paths.find((path) => typeof path === 'string');
  const full = diskFullError(error, path === undefined ? undefined : dirname(path));
  if (full !== undefined) return full;
  for (const cause of causesOf(error)) {
    const name = String(codeOf(cause));
    if (!(name in constants.errno)) continue;
    const message = cause.message.includes(name) ? cause.message : `${name}: ${cause.message}`;
    const hint = HINTS[name] ?? 'the system refused this; mend the cause and run the same command again';
    return new LotlakeError('SYSTEM_FAILED', message, { hint });
  }
  const message = error instanceof Error ? error.message : String(error);
  if (causesOf(error).some((each) => codeOf(each) === 'ERR_MODULE_NOT_FOUND')) {
    const hint =
      'install lotlake again (npm ci); where it is whole, raise the limit of open files (ulimit -n)';
    return new LotlakeError('SYSTEM_FAILED', message, { hint });
  }
  if (DUCKDB_ERROR.test(message)) {
    // This version may query a table or column that the version which wrote the snapshot did not compute.
    const hint = /^(Binder|Catalog) /.test(message)
      ? 'the snapshot may be of another version of lotlake; the next run computes its marts again'
      : 'lotlake verify tells whether a file of the snapshot is damaged';
    return new LotlakeError('LAKE_FAILED', message, { hint });
  }
  return new LotlakeError('INTERNAL_ERROR', `${error instanceof Error ? `${error.name}: ` : ''}${message}`, {
    hint: 'this is a fault of lotlake itself; LOTLAKE_LOG=debug shows where, which a report of it needs',
  });
}
