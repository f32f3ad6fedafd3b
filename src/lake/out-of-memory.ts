import { LotlakeError, messageOf } from '../config/lotlake-error.js';
import { amountOf, bytesOfAmount, MEMORY, memoryHere } from '../config/memory.js';
import { causesOf } from './disk-full.js';
import { LakeError } from './lake-error.js';

/** Whether DuckDB ended a statement because it reached its memory limit: `error` or one of its causes says so. */
export function isOutOfMemory(error: unknown): boolean {
  return causesOf(error).some(
    (cause) => !(cause instanceof LotlakeError) && cause.message.startsWith('Out of Memory Error'),
  );
}

/** The error of work that does not fit into memory even by itself; undefined for any other error. */
export function outOfMemoryError(error: unknown, memory: string): LakeError | undefined {
  if (!isOutOfMemory(error)) return undefined;
  const told = messageOf(error).split('\n')[0];
  return new LakeError(
    'LAKE_OUT_OF_MEMORY',
    `${told} (limit ${memory}, of ${amountOf(memoryHere())} that this machine or its container has)`,
    { cause: error, hint: `what was landed and published stays; ${adviceOn(memory)}` },
  );
}

/** What to do about memory, as the machine has more than the limit takes or not. */
function adviceOn(memory: string): string {
  const most = Math.floor((memoryHere() - MEMORY.beside) / 1e6) * 1e6;
  return most > bytesOfAmount(memory)
    ? `set LOTLAKE_MEMORY to up to ${amountOf(most)} and run the same command again`
    : 'run the same command again on a machine, or in a container, with more memory';
}

/** Throws LakeError (LAKE_OUT_OF_MEMORY) where a job would have less memory than it needs at the least. */
export function assertMemory(memory: string, here: number = memoryHere()): void {
  const needed = MEMORY.least + MEMORY.beside;
  if (here >= needed) return;
  throw new LakeError(
    'LAKE_OUT_OF_MEMORY',
    `this machine or its container has ${amountOf(here)} of memory, and a job needs ${amountOf(needed)}: ${memory} for DuckDB and up to ${amountOf(MEMORY.beside)} beside it`,
    { outcome: 'usage', hint: 'nothing was asked or written; run it where there is more memory' },
  );
}
