import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { jsonIn } from '../../base/config/json.js';
import { codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, makeLink, remove, touchLink } from '../../base/config/owned.js';
import { LEASE } from '../../base/config/settings.js';
import { isDiskFull } from '../lake/lake-error.js';

/** How often within a lease its holder renews a lock, and a process that waits for its end looks at it. */
const RENEWALS = 6;
const LOOKS = 60;

/** Name of the lock in the folder that it protects. */
export const LOCK = 'lotlake.lock';

/** Who works on an output folder. A lock on a full disk says only token, pid and ticks. */
export interface Holder {
  /** Tells this lock from every other, also from later ones of the same process. */
  readonly token?: string | undefined;
  readonly pid: number;
  readonly host?: string | undefined;
  /** Where the pid means this process; see {@link placeOf}. A lock on a full disk does not say it. */
  readonly place?: string | undefined;
  /** When the process began, in ticks since the boot, if the system says so. Another process may get its pid. */
  readonly ticks?: string | undefined;
  readonly pipeline?: string | undefined;
  readonly started_at?: string | undefined;
  /** Seconds without a renewal after which another place may take the lock over. */
  readonly lease?: number | undefined;
}

/** What taking a lock needs besides its path. */
export interface LockOptions {
  readonly pipeline: string;
  readonly now: Date;
  /** Seconds; {@link LEASE} by default. */
  readonly lease?: number;
  readonly signal?: AbortSignal | undefined;
  /** Called when the process of the holder cannot be seen from here, so its lease has to be waited for. */
  readonly onWait?: (message: string) => void;
  /** Called once if another process has taken the lock. */
  readonly onLost?: () => void;
}

/** Tokens of locks that this process holds. An earlier process with its pid left any other lock that names that pid. */
const held = new Set<string | undefined>();

/**
 * Takes the lock of an output folder, or takes it over from a dead holder. A holder in the same place is dead when its
 * process is. A holder in another place (container, host) is dead when it has not renewed its lock for its whole lease,
 * by the clock of this process. Throws LAKE_LOCKED that names the holder.
 */
export async function takeLock(path: string, options: LockOptions) {
  makeFolder(dirname(path));
  const { pipeline, now, lease = LEASE } = options;
  const token = randomBytes(6).toString('hex');
  const mine: Holder = {
    token,
    pid: process.pid,
    host: hostname(),
    place: placeOf(),
    ticks: ticksOf(process.pid),
    pipeline,
    started_at: now.toISOString(),
    lease,
  };
  held.add(token);
  try {
    const text = await makeLock(path, mine, options);
    return hold(path, text, token, options);
  } catch (error) {
    held.delete(token);
    throw error;
  }
}

/** Makes the lock, and removes a dead one first. Returns its text. */
async function makeLock(path: string, mine: Holder, options: LockOptions): Promise<string> {
  for (;;) {
    // A symbolic link names the holder. It is made in one step.
    const text = create(path, mine);
    if (text !== undefined) return text;
    options.signal?.throwIfAborted();
    const found = readLock(path);
    if (found === undefined) continue;
    const end = await watch(path, found, options);
    const holder = holderIn(found);
    if (end === 'renewed') throw lockedError(path, holder);
    if (end === 'gone') await removeDead(path, found, mine, options);
  }
}

/**
 * Removes a dead lock. Only the process that makes the claim on it may, so no process removes a lock that another has
 * just taken. A claim whose maker died is a dead lock itself.
 */
async function removeDead(path: string, dead: string, mine: Holder, options: LockOptions): Promise<void> {
  const claim = `${path}.${createHash('sha256').update(dead).digest('hex').slice(0, 12)}${CLAIM}`;
  if (create(claim, mine) === undefined) {
    const other = readLock(claim);
    if (other === undefined) return;
    const end = await watch(claim, other, options);
    if (end === 'gone') await removeDead(claim, other, mine, options);
    else await wait(Math.random() * LONGEST_WAIT);
    return;
  }
  try {
    if (readLock(path) === dead) remove(path);
  } finally {
    remove(claim);
  }
}

/** Ending of the link that claims the removal of a dead lock. */
export const CLAIM = '.takeover';

/** Longest wait in milliseconds for a process that removes a dead lock. */
const LONGEST_WAIT = 20;

/** Says whether a holder is dead. If its process cannot be seen, watches the lock for a lease. */
async function watch(
  path: string,
  text: string,
  { signal, onWait, lease = LEASE }: LockOptions,
): Promise<'renewed' | 'gone' | 'changed'> {
  const holder = holderIn(text);
  const runs = holder === undefined ? undefined : isAlive(holder);
  if (runs !== undefined) return runs ? 'renewed' : 'gone';
  const seconds = holder?.lease ?? lease;
  const before = renewalOf(path);
  if (holder !== undefined)
    onWait?.(
      `${path} is held by ${sayHolder(holder)}, whose process cannot be seen from here; waiting up to ${seconds} s for it to renew its lock`,
    );
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await wait((seconds * 1000) / LOOKS, undefined, signal === undefined ? {} : { signal });
    if (readLock(path) !== text) return 'changed';
    if (renewalOf(path) !== before) return 'renewed';
  }
  return 'gone';
}

function hold(path: string, text: string, token: string, { lease = LEASE, onLost }: LockOptions) {
  const isHeld = (): boolean => readLock(path) === text;
  const timer = setInterval(
    () => {
      if (isHeld()) return renew(path);
      clearInterval(timer);
      onLost?.();
    },
    (lease * 1000) / RENEWALS,
  ).unref();
  return {
    /** Tells this lock from every other. */
    token,
    /** Whether the lock is still this one. A process that stood still past its lease may have lost it. */
    isHeld,
    release: () => {
      clearInterval(timer);
      held.delete(token);
      if (isHeld()) remove(path);
    },
  };
}

function renew(path: string): void {
  try {
    touchLink(path);
  } catch {
    // If the lock is gone, the next look will show it.
  }
}

/**
 * The holder of a lock, whether its process runs (undefined if it cannot be seen from here), and when the lock was last
 * renewed, by the clock of the disk. Undefined if nobody holds the lock, or the lock cannot be read.
 */
export function lockState(path: string) {
  const holder = holderIn(readLock(path) ?? '');
  if (holder === undefined) return undefined;
  return { holder, runs: isAlive(holder), renewedAt: new Date(renewalOf(path)) };
}

/** {@link lockState} if the holder is at work. A holder whose process cannot be seen is gone once its lease is over. */
export function holderAtWork(path: string, now = new Date()) {
  const state = lockState(path);
  if (state === undefined || state.runs === false) return undefined;
  const { holder, runs, renewedAt } = state;
  const isSilent = now.getTime() - renewedAt.getTime() > (holder.lease ?? LEASE) * 1000;
  return runs === undefined && isSilent ? undefined : state;
}

/** Whether the process of a holder runs; undefined if the holder is in another place or does not say where. */
function isAlive({ pid, place, ticks, token }: Holder): boolean | undefined {
  if (place !== undefined && place !== placeOf()) return undefined;
  if (place !== undefined && pid === process.pid) return held.has(token);
  const runs = isProcess(pid) && (ticks === undefined || ticks === ticksOf(pid));
  return place === undefined && !runs ? undefined : runs;
}

/**
 * Makes a lock and returns its text; undefined if there is one. On a full disk, a vacuum needs the lock before it can free
 * space: a text of up to 59 bytes is kept in the entry of the link itself and takes no block (ext4, XFS, tmpfs), so such a
 * lock says only what tells its holder from others.
 */
function create(path: string, holder: Holder): string | undefined {
  const { token, pid, ticks } = holder;
  const [text, short] = [holder, { token, pid, ticks }].map((each) => JSON.stringify(each));
  try {
    return link(path, text);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    return link(path, short);
  }
}

function link(path: string, text = ''): string | undefined {
  try {
    makeLink(text, path);
    return text;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    // The system's error would name the text of the lock as a path.
    throw error instanceof Error
      ? Object.assign(error, { message: error.message.replace(`'${text}' -> `, ''), path })
      : error;
  }
}

/** The text of a lock; empty if it cannot be read, undefined if there is no lock. */
function readLock(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? undefined : '';
  }
}

const renewalOf = (path: string): number => lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * The place in which pids mean the same processes: one boot of one kernel, and one process namespace (a container has its
 * own). If the system names neither, the name of the host.
 */
export function placeOf(): string {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return hostname();
  }
}

/** The holder in the text of a lock; undefined if it cannot be read. */
const holderIn = (text: string): Holder | undefined => jsonIn(text) as Holder | undefined;

/** The error of a lock whose holder works. */
export function lockedError(path: string, holder: Holder | undefined): LotlakeError {
  const who = holder === undefined ? 'somebody' : sayHolder(holder);
  const hint = 'wait for it to end, or use another output folder';
  return new LotlakeError('LAKE_LOCKED', `${path} is held by ${who}`, { outcome: 'locked', hint });
}

/** Says who holds a lock, such as `process 4711 on host a, which runs nightly since 2026-11-18T02:00:00.000Z`. */
export function sayHolder({ pid, host, pipeline, started_at }: Holder): string {
  const on = host === undefined || host === hostname() ? '' : ` on host ${host}`;
  const what = pipeline === undefined ? '' : `, which runs ${pipeline} since ${started_at}`;
  return `process ${pid}${on}${what}`;
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
