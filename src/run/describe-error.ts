import { constants, tmpdir } from 'node:os';
import { causesOf, codeOf, LotlakeError } from '../config/lotlake-error.js';
import { diskFullError } from '../lake/lake-error.js';
import hints from './system-hints.json' with { type: 'json' };

/** What to do about an error of the system, by its name. */
const HINTS: Readonly<Record<string, string>> = hints;

/** What DuckDB begins its errors with. */
const OF_DUCKDB = /^[A-Z][A-Za-z ]* Error: /;

/**
 * Any error as one of lotlake. One of the system, or with such a cause, is SYSTEM_FAILED, or LAKE_DISK_FULL if there is
 * no room; one of DuckDB is LAKE_FAILED; all else is a fault of lotlake.
 */
export function describeError(error: unknown): LotlakeError {
  if (error instanceof LotlakeError) return error;
  const paths = causesOf(error).map((each): unknown => Reflect.get(each, 'path'));
  const full = diskFullError(error, paths.find((path) => typeof path === 'string') ?? tmpdir());
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
  if (OF_DUCKDB.test(message)) {
    // A command of this version asks for what another version did not compute.
    const hint = /^(Binder|Catalog) /.test(message)
      ? 'the snapshot may be of another version of lotlake; the next run computes its marts again'
      : 'lotlake verify tells whether a file of the snapshot is damaged';
    return new LotlakeError('LAKE_FAILED', message, { hint });
  }
  return new LotlakeError('INTERNAL_ERROR', `${error instanceof Error ? `${error.name}: ` : ''}${message}`, {
    hint: 'this is a fault of lotlake itself; LOTLAKE_LOG=debug shows where, which a report of it needs',
  });
}
