import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LakeError } from './lake-error.js';

/** Who works on an output folder. */
export interface Holder {
  readonly pid: number;
  readonly pipeline: string;
  readonly started_at: string;
}

/** Locks that this process holds: its pid in another lock is what an earlier process of the same pid left. */
const held = new Set<string>();

/**
 * Takes the lock of an output folder, or takes it over from a process that is gone. Throws LakeError that names the
 * holder. Returns the function that lets go of it.
 */
export function takeLock(path: string, pipeline: string, now: Date): () => void {
  mkdirSync(dirname(path), { recursive: true });
  const mine: Holder = { pid: process.pid, pipeline, started_at: now.toISOString() };
  // Written beside its name and linked, so that nobody sees a lock without its holder.
  const prepared = `${path}.${process.pid}.tmp`;
  writeFileSync(prepared, JSON.stringify(mine));
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
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
        rmSync(path, { force: true });
      }
    }
  } finally {
    rmSync(prepared, { force: true });
  }
  throw new LakeError('LAKE_LOCKED', `${path} cannot be taken: another process keeps taking it`);
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
  if (holder.pid === process.pid) return held.has(path);
  try {
    process.kill(holder.pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}
