import { causesOf, codeOf, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { formatBytes, MEMORY, memoryHere, parseBytes } from '../../base/config/memory.js';
import { isOutOfMemory } from '../../base/duck/out-of-memory.js';

/** The error of a damaged lake. Nothing is done until someone has looked at it. */
export const unsoundError = (message: string, hint: string): LotlakeError =>
  new LotlakeError('LAKE_UNSOUND', message, { outcome: 'held', hint });

/** System codes for a full disk, a full quota or a file that is too large. */
const DISK_FULL_CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** DuckDB messages in that case: the text of the system, or its own limit for spilled data. */
const DISK_FULL_MESSAGE =
  /^[A-Z][A-Za-z ]* Error: .*(?:No space left on device|Disk quota exceeded|File too large|max_temp_directory_size)/s;

/**
 * LAKE_DISK_FULL if `error` or one of its causes is about a full disk; undefined otherwise, such as for a service that reports
 * its own full disk.
 * @param folder where there is no room, if that is known
 */
export function diskFullError(error: unknown, folder?: string): LotlakeError | undefined {
  if (!causesOf(error).some(isDiskFull)) return undefined;
  // DuckDB's message may have several lines.
  const message = messageOf(error).replaceAll(/\s*\n\s*/g, ' ');
  return new LotlakeError(
    'LAKE_DISK_FULL',
    `there is no room to write${folder === undefined ? '' : ` below ${folder}`}: ${message}`,
    {
      cause: error,
      hint: 'what is published stays as it is and landing keeps every page that was whole; free space and run the same command again: lotlake vacuum removes what is past retention, also from a full disk, and lotlake vacuum --dry-run tells what that is',
    },
  );
}

/** Throws LAKE_DISK_FULL if there is next to no room below a folder, before a run requests anything. */
export function assertSpace(folder: string, free: number | null, least: number): void {
  if (free === null || free >= least) return;
  throw new LotlakeError(
    'LAKE_DISK_FULL',
    `there is no room to write below ${folder}: ${formatBytes(free)} are left, and no run goes without ${formatBytes(least)}`,
    {
      hint: 'nothing was requested, and what is landed and published stays; free space and run the same command again: lotlake vacuum removes what is past retention, also from a full disk',
    },
  );
}

/** Whether an error itself, and not a cause of it, says that a disk is full. */
export function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (DISK_FULL_CODES.has(codeOf(error))) return true;
  return !(error instanceof LotlakeError) && DISK_FULL_MESSAGE.test(error.message);
}

/** LAKE_OUT_OF_MEMORY if `error` is about memory, although the work ran alone; undefined otherwise. */
export function outOfMemoryError(error: unknown, memory: string): LotlakeError | undefined {
  if (!isOutOfMemory(error)) return undefined;
  const [message] = messageOf(error).split('\n');
  return new LotlakeError(
    'LAKE_OUT_OF_MEMORY',
    `${message} (limit ${memory}, of ${formatBytes(memoryHere())} that this machine or its container has)`,
    { cause: error, hint: `what was landed and published stays; ${adviceOn(memory)}` },
  );
}

/** Advises to raise the limit if the machine has more memory, or else to use another machine. */
function adviceOn(memory: string): string {
  const most = Math.floor((memoryHere() - MEMORY.beside) / 1e6) * 1e6;
  return most > parseBytes(memory)
    ? `set LOTLAKE_MEMORY to up to ${formatBytes(most)} and run the same command again`
    : 'run the same command again on a machine, or in a container, with more memory';
}

/** Throws LAKE_OUT_OF_MEMORY if the machine has less memory than a job needs. */
export function assertMemory(memory: string, here: number = memoryHere()): void {
  const needed = MEMORY.least + MEMORY.beside;
  if (here >= needed) return;
  throw new LotlakeError(
    'LAKE_OUT_OF_MEMORY',
    `this machine or its container has ${formatBytes(here)} of memory, and a job needs ${formatBytes(needed)}: ${memory} for DuckDB and up to ${formatBytes(MEMORY.beside)} beside it`,
    { outcome: 'usage', hint: 'nothing was asked or written; run it where there is more memory' },
  );
}
