import {
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname } from 'node:path';
import { LakeError } from './lake-error.js';

/** Who works on an output folder. */
export interface Holder {
  readonly pid: number;
  readonly pipeline: string;
  readonly started_at: string;
  /** When the process began, in ticks since the machine did, where the system tells: another may get its pid. */
  readonly ticks?: string | undefined;
}

/** Attempts to take a lock while others take it over, and the longest wait between them in milliseconds. */
const MOST_ATTEMPTS = 100;
const LONGEST_WAIT = 20;

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
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    try {
      // The holder is what a symbolic link names: made in one step, and without space on a disk that is full.
      symlinkSync(JSON.stringify(mine), path);
      held.add(path);
      return () => {
        held.delete(path);
        rmSync(path, { force: true });
      };
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    const holder = liveHolder(path);
    if (holder !== undefined) throw refused(path, holder);
    if (!removeDead(path)) wait(Math.random() * LONGEST_WAIT);
  }
  throw new LakeError('LAKE_LOCKED', `${path} cannot be taken: other processes keep taking it`);
}

/**
 * Removes a lock whose holder is gone. One process at a time may, so that none removes what another has just taken.
 * Returns whether this one was let.
 */
function removeDead(path: string): boolean {
  const gate = `${path}.${process.pid}.${ticksOf(process.pid) ?? ''}${GATE}`;
  // Each announces itself before it looks around, so that of two at least one sees the other and withdraws.
  writeFileSync(gate, '');
  try {
    if (othersAtGate(path, gate)) return false;
    const text = readLock(path);
    // Where there is no lock now, somebody may be taking it.
    if (text !== undefined && !isAlive(holderIn(text), path)) rmSync(path, { force: true });
    return true;
  } finally {
    rmSync(gate, { force: true });
  }
}

/** Ending of the file by which a process announces that it removes a dead lock: `<lock>.<pid>.<ticks>.takeover`. */
const GATE = '.takeover';

function othersAtGate(path: string, mine: string): boolean {
  const prefix = `${basename(path)}.`;
  return readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && name.endsWith(GATE) && name !== basename(mine))
    .some((name) => {
      const [pid, ticks] = name.slice(prefix.length, -GATE.length).split('.');
      return isSameProcess(Number(pid), ticks === '' ? undefined : ticks);
    });
}

function wait(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Who holds a lock now; undefined where nobody does, or where the holder is gone. */
export function liveHolder(path: string): Holder | undefined {
  const holder = holderIn(readLock(path) ?? '');
  return isAlive(holder, path) ? holder : undefined;
}

/** Who left a lock without letting go of it; undefined where nobody did. */
export function deadHolder(path: string): Holder | undefined {
  const holder = holderIn(readLock(path) ?? '');
  return isAlive(holder, path) ? undefined : holder;
}

function refused(path: string, holder: Holder): LakeError {
  return new LakeError(
    'LAKE_LOCKED',
    `${path} is held by process ${holder.pid}, which runs ${holder.pipeline} since ${holder.started_at}`,
    { hint: 'wait for it to end, or use another output folder' },
  );
}

function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}

/** What stands in a lock, which may be nothing readable; undefined where there is no lock. */
function readLock(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : '';
  }
}

function holderIn(text: string): Holder | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isAlive(holder: Holder | undefined, path: string): boolean {
  if (holder === undefined) return false;
  return holder.pid === process.pid ? held.has(path) : isSameProcess(holder.pid, holder.ticks);
}

function isSameProcess(pid: number, ticks: string | undefined): boolean {
  return isRunning(pid) && (ticks === undefined || ticks === ticksOf(pid));
}

/** Field 22 of `/proc/<pid>/stat`; undefined on a system without it, and for a process that has ended. */
function ticksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the process, in parentheses, may hold spaces. One that nobody has waited for yet is a zombie.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : fields[18];
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
