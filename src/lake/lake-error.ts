import { causesOf, codeOf, LotlakeError, messageOf } from '../config/lotlake-error.js';
import { amountOf, bytesOfAmount, MEMORY, memoryHere } from '../config/memory.js';
import { isOutOfMemory } from '../duck/session.js';

/** The error of a lake that is damaged: nothing is done until someone has looked at it. */
export const unsoundError = (message: string, hint: string): LotlakeError =>
  new LotlakeError('LAKE_UNSOUND', message, { outcome: 'held', hint });

/** Codes of the system where a disk, a quota or a file has no room left. */
const CODES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** Messages of DuckDB in that case. It repeats the text of the system, or names its own limit for spilled data. */
const SAID =
  /^[A-Z][A-Za-z ]* Error: .*(?:No space left on device|Disk quota exceeded|File too large|max_temp_directory_size)/s;

/**
 * The error of a run that found no room to write, where `error` or one of its causes says so. Undefined for any other
 * error, such as a service that reports its own full disk.
 */
export function diskFullError(error: unknown, output: string): LotlakeError | undefined {
  if (!causesOf(error).some(isDiskFull)) return undefined;
  // DuckDB's message may have several lines.
  const told = messageOf(error).replaceAll(/\s*\n\s*/g, ' ');
  return new LotlakeError('LAKE_DISK_FULL', `there is no room to write below ${output}: ${told}`, {
    cause: error,
    hint: 'the last snapshot stays current and landing keeps every page that was whole; free space (lotlake vacuum --dry-run tells what can go) and run the same command again',
  });
}

function isDiskFull(error: Error): boolean {
  if (CODES.has(codeOf(error))) return true;
  return !(error instanceof LotlakeError) && SAID.test(error.message);
}

/** The error of work that does not fit into memory even by itself; undefined for any other error. */
export function outOfMemoryError(error: unknown, memory: string): LotlakeError | undefined {
  if (!isOutOfMemory(error)) return undefined;
  const told = messageOf(error).split('\n')[0];
  return new LotlakeError(
    'LAKE_OUT_OF_MEMORY',
    `${told} (limit ${memory}, of ${amountOf(memoryHere())} that this machine or its container has)`,
    { cause: error, hint: `what was landed and published stays; ${adviceOn(memory)}` },
  );
}

/** What to do: raise the limit where the machine has more memory, or else use another machine. */
function adviceOn(memory: string): string {
  const most = Math.floor((memoryHere() - MEMORY.beside) / 1e6) * 1e6;
  return most > bytesOfAmount(memory)
    ? `set LOTLAKE_MEMORY to up to ${amountOf(most)} and run the same command again`
    : 'run the same command again on a machine, or in a container, with more memory';
}

/** Throws LAKE_OUT_OF_MEMORY where a job would have less memory than it needs at the least. */
export function assertMemory(memory: string, here: number = memoryHere()): void {
  const needed = MEMORY.least + MEMORY.beside;
  if (here >= needed) return;
  throw new LotlakeError(
    'LAKE_OUT_OF_MEMORY',
    `this machine or its container has ${amountOf(here)} of memory, and a job needs ${amountOf(needed)}: ${memory} for DuckDB and up to ${amountOf(MEMORY.beside)} beside it`,
    { outcome: 'usage', hint: 'nothing was asked or written; run it where there is more memory' },
  );
}
