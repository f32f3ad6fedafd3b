import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { LakeError } from './lake-error.js';

/** Who works on an output folder. */
interface Holder {
  readonly pid: number;
  readonly pipeline: string;
  readonly started_at: string;
}

/**
 * Takes the lock of an output folder, or takes it over from a process that is gone. Throws LakeError that names the
 * holder. Returns the function that lets go of it.
 */
export function takeLock(path: string, pipeline: string, now: Date): () => void {
  mkdirSync(dirname(path), { recursive: true });
  const mine: Holder = { pid: process.pid, pipeline, started_at: now.toISOString() };
  for (let attempt = 0; attempt < 3; attempt++) {
    try {
      writeFileSync(path, JSON.stringify(mine), { flag: 'wx' });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!isExisting(error)) throw error;
      const holder = readHolder(path);
      if (holder !== undefined && isAlive(holder.pid)) {
        throw new LakeError(
          'LAKE_LOCKED',
          `${path} is held by process ${holder.pid}, which runs ${holder.pipeline} since ${holder.started_at}`,
          { hint: 'wait for it to end, or use another output folder' },
        );
      }
      rmSync(path, { force: true });
    }
  }
  throw new LakeError('LAKE_LOCKED', `${path} cannot be taken: another process keeps taking it`);
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

function isAlive(pid: number): boolean {
  if (pid === process.pid) return true;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && Reflect.get(error, 'code') === 'EPERM';
  }
}
