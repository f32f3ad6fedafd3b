import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LakeError } from './lake-error.js';

/** Who works on an output folder. */
export interface Holder {
  readonly pid: number;
  readonly pipeline: string;
  readonly started_at: string;
  /** When the process began, in ticks since the machine did, where the system tells: another may get its pid. */
  readonly ticks?: string | undefined;
}

/** Attempts to take a lock while others take it over, and the wait between them in milliseconds. */
const MOST_ATTEMPTS = 50;
const WAIT = 20;

/** Locks that this process holds: its pid in another lock is what an earlier process of the same pid left. */
const held = new Set<string>();

/**
 * Takes the lock of an output folder, or takes it over from a process that is gone. Throws LakeError that names the
 * holder. Returns the function that lets go of it.
 */
export function takeLock(path: string, pipeline: string, now: Date): () => void {
  mkdirSync(dirname(path), { recursive: true });
  const mine: Holder = {
    pid: process.pid,
    pipeline,
    started_at: now.toISOString(),
    ticks: ticksOf(process.pid),
  };
  // Written beside its name and linked, so that nobody sees a lock without its holder.
  const prepared = `${path}.${process.pid}.tmp`;
  writeFileSync(prepared, JSON.stringify(mine));
  try {
    for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
      try {
        linkSync(prepared, path);
        held.add(path);
        return () => {
          held.delete(path);
          rmSync(path, { force: true });
        };
      } catch (error) {
        if (!isExisting(error)) throw error;
        const holder = readHolder(path);
        if (holder !== undefined && isAlive(holder, path)) throw refused(path, holder);
        removeDead(path, prepared);
      }
    }
  } finally {
    rmSync(prepared, { force: true });
  }
  throw new LakeError('LAKE_LOCKED', `${path} cannot be taken: another process keeps taking it`);
}

/** Removes a lock whose holder is gone. One process at a time may, so that none removes what another has just taken. */
function removeDead(path: string, prepared: string): void {
  const gate = `${path}.takeover`;
  try {
    linkSync(prepared, gate);
  } catch (error) {
    if (!isExisting(error)) throw error;
    if (liveHolder(gate) === undefined) rmSync(gate, { force: true });
    else Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT);
    return;
  }
  try {
    if (liveHolder(path) === undefined) rmSync(path, { force: true });
  } finally {
    rmSync(gate, { force: true });
  }
}

/** Who holds a lock now; undefined where nobody does, or where the holder is gone. */
export function liveHolder(path: string): Holder | undefined {
  const holder = readHolder(path);
  return holder !== undefined && isAlive(holder, path) ? holder : undefined;
}

function refused(path: string, holder: Holder): LakeError {
  return new LakeError(
    'LAKE_LOCKED',
    `${path} is held by process ${holder.pid}, which runs ${holder.pipeline} since ${holder.started_at}`,
    { hint: 'wait for it to end, or use another output folder' },
  );
}

function isExisting(error: unknown): boolean {
  return error instanceof Error && Reflect.get(error, 'code') === 'EEXIST';
}

function readHolder(path: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder, path: string): boolean {
  if (holder.pid === process.pid) return held.has(path) || path.endsWith('.takeover');
  return isRunning(holder.pid) && (holder.ticks === undefined || holder.ticks === ticksOf(holder.pid));
}

/** Field 22 of `/proc/<pid>/stat`; undefined on a system without it. */
function ticksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the process, in parentheses, may hold spaces.
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}

/** Whether there is a process of an id. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}
