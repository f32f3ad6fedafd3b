import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { codeOf } from '../config/lotlake-error.js';
import { jsonIn } from '../land/files.js';

/** Who works on an output folder. */
export interface Holder {
  /** Tells this lock from every other, also from later ones of the same process. */
  readonly token?: string | undefined;
  readonly pid: number;
  readonly host?: string | undefined;
  /** Where the pid means this process; see {@link placeOf}. An older lotlake did not write it. */
  readonly place?: string | undefined;
  /** When the process began, in ticks since the boot, where the system says so. Another process may get its pid. */
  readonly ticks?: string | undefined;
  readonly pipeline: string;
  readonly started_at: string;
  /** Seconds without a renewal after which another place may take the lock over. */
  readonly lease?: number | undefined;
}

/** What this process writes into a lock. */
export function thisHolder(pipeline: string, startedAt: Date, lease: number): Holder {
  return {
    token: randomBytes(8).toString('hex'),
    pid: process.pid,
    host: hostname(),
    place: placeOf(),
    ticks: ticksOf(process.pid),
    pipeline,
    started_at: startedAt.toISOString(),
    lease,
  };
}

/**
 * Where pids mean the same processes: one boot of one kernel, and one process namespace (a container has its own). The
 * name of the host where the system names neither.
 */
export function placeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** Whether the process of a holder runs; undefined where the holder is in another place, or does not say where. */
export function isRunning({ pid, place, ticks }: Holder): boolean | undefined {
  if (place !== undefined && place !== placeOf()) return undefined;
  const runs = isProcess(pid) && (ticks === undefined || ticks === ticksOf(pid));
  return place === undefined && !runs ? undefined : runs;
}

/** The holder that the text of a lock names; undefined where it cannot be read. */
export const holderIn = (text: string): Holder | undefined => jsonIn(text) as Holder | undefined;

/** Says who holds a lock, such as `process 4711 on host a, which runs nightly since 2026-11-18T02:00:00.000Z`. */
export function sayHolder({ pid, host, pipeline, started_at }: Holder): string {
  const on = host === undefined || host === hostname() ? '' : ` on host ${host}`;
  return `process ${pid}${on}, which runs ${pipeline} since ${started_at}`;
}

/** Field 22 of `/proc/<pid>/stat`; undefined on a system without it, and for an ended process. */
function ticksOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name of the process, in parentheses, may hold spaces. A zombie has ended.
    const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === 'Z' ? undefined : fields[18];
  } catch {
    return undefined;
  }
}

/** Whether there is a process of an id in this place. */
export function isProcess(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) === 'EPERM';
  }
}
