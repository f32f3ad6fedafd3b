import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How an operation is interrupted. */
export const KINDS = ['KILL', 'STOP+KILL', 'TERM', 'file size', 'full disk', 'read-only'] as const;

/** See {@link KINDS}. */
export type Kind = (typeof KINDS)[number];

/** A kill point, such as `land.page-written#2`, or a share of the time that the undisturbed operation takes. */
type Moment = string | number;

/** An interruption. */
export interface Interruption {
  readonly kind: Kind;
  readonly moment: Moment;
  /** The folder that becomes read-only, below that of the operation. */
  readonly part: string;
  /** Largest size of a file, in blocks of 512 bytes. */
  readonly blocks: number;
  /** Whether a file that gets too large is an error and not a signal. */
  readonly isTrapped: boolean;
}

/** An operation as a command. */
export interface Command {
  /** Arguments of Node. */
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Folder with the settings, in which an interruption also puts its notes. */
  readonly cwd: string;
  /** Folder below it that holds all that the operation writes. */
  readonly place: string;
}

/** What became of an operation. */
export interface Interrupted {
  /** Whether the operation was at work when it was interrupted, or failed for what was in its way. */
  readonly isHit: boolean;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly err: string;
  /** The last step of a run, or the kill point, or the share of the time. */
  readonly stage: string;
  /** Milliseconds until the end. */
  readonly took: number;
}

/** Kinds after which no operation ends with 0, if they came in time. */
const MUST_FAIL: ReadonlySet<Kind> = new Set(['KILL', 'STOP+KILL', 'file size']);

const isRoot = process.getuid?.() === 0;
/** Gives a command file systems of its own; users need the right to create namespaces. */
const MOUNTS = isRoot ? ['unshare', '-m'] : ['unshare', '-rm'];
/** Gives a command processes of its own, as in a container: nobody else sees whether it runs. */
const PROCESSES = ['unshare', isRoot ? '-pf' : '-rpf', '--mount-proc', '--kill-child'];

const works = ([program = '', ...args]: readonly string[], ...command: string[]): boolean =>
  spawnSync(program, [...args, ...command], { timeout: 5000 }).status === 0;

/** The kinds that this machine allows. */
export const possibleKinds = (): Kind[] => {
  const mounts = works(MOUNTS, 'sh', '-c', 'mount -t tmpfs tmpfs /mnt');
  const processes = works(PROCESSES, 'true');
  return KINDS.filter(
    (kind) =>
      (mounts || (kind !== 'full disk' && kind !== 'read-only')) && (processes || kind !== 'STOP+KILL'),
  );
};

/** Ends a script: runs the command, lets its helper end, and keeps the exit code. */
const RUN = `"$@"; code=$?; touch over flag; wait`;

/** The place is a small disk during the command. It is filled when `flag` appears, and then `done` does. */
const FULL = `
  mount --bind "$PLACE" /mnt && mount -t tmpfs -o size=64m tmpfs "$PLACE" && cp -a /mnt/. "$PLACE/" || exit 99
  (until [ -e flag ]; do sleep 0.02; done; cat /dev/zero > "$PLACE/ballast" 2> /dev/null; touch done) < /dev/null &
  ${RUN}
  rm -f "$PLACE/ballast" && find /mnt -mindepth 1 -delete && cp -a "$PLACE/." /mnt/ || exit 99
  exit $code`;

/**
 * A folder is read-only from the moment after `flag` appears in which no file of it is being written: no system makes it so before.
 * `missed` appears if the command ends first.
 */
const READ_ONLY = `
  (until [ -e flag ]; do sleep 0.02; done
    [ -d "$PART" ] || PART=$PLACE
    mount --bind "$PART" "$PART" || exit
    until mount -o remount,ro,bind "$PART" 2> busy; do
      grep -q busy busy || exit
      [ ! -e over ] || { touch missed; exit; }
      sleep 0.01
    done
    touch done) < /dev/null &
  ${RUN}
  [ -e done ] || [ -e missed ] || { cat busy >&2; exit 99; }
  exit $code`;

/** Words before a command that make an interruption possible. */
function wrapping({ kind, blocks, isTrapped }: Interruption): readonly string[] {
  if (kind === 'STOP+KILL') return PROCESSES;
  if (kind === 'full disk') return [...MOUNTS, 'sh', '-c', FULL, 'sh'];
  if (kind === 'read-only') return [...MOUNTS, 'sh', '-c', READ_ONLY, 'sh'];
  const trap = isTrapped ? "trap '' XFSZ; " : '';
  if (kind === 'file size') return ['sh', '-c', `${trap}ulimit -f ${blocks}; exec "$@"`, 'sh'];
  return [];
}

/**
 * Starts an operation and interrupts it.
 * @param whole milliseconds that the undisturbed operation takes
 */
export async function interrupt(command: Command, how: Interruption, whole: number): Promise<Interrupted> {
  const { cwd, place } = command;
  for (const name of ['flag', 'done', 'over', 'missed', 'busy']) rmSync(join(cwd, name), { force: true });
  const { kind, moment } = how;
  const [program = '', ...args] = [...wrapping(how), process.execPath, ...command.args];
  const at = typeof moment === 'string' && kind !== 'file size' ? { LOTLAKE_PAUSE_AT: moment } : {};
  const env = { ...command.env, ...at, PLACE: place, PART: join(place, how.part) };
  const began = performance.now();
  const child = spawn(program, args, { cwd, env });
  let err = '';
  child.stderr.on('data', (data) => {
    err += data;
  });
  child.stdout.resume();
  // A process that was killed does not read.
  child.stdin.on('error', () => undefined);
  let isOver = false;
  const ended = new Promise<Pick<Interrupted, 'code' | 'signal'>>((resolve) =>
    child.on('close', (code, signal) => {
      isOver = true;
      resolve({ code, signal });
    }),
  );
  if (kind !== 'file size') {
    if (typeof moment === 'number') await Promise.race([ended, sleep(moment * whole)]);
    else while (!isOver && !err.includes(`paused at ${moment.split('#')[0]}`)) await sleep(5);
  }
  const isAtWork = !isOver;
  if (isAtWork) await act(kind, child, cwd, () => isOver);
  child.stdin.write('\n');
  const { code, signal } = await ended;
  if (code === 99) throw new Error(`the interruption could not be made: ${err}`);
  // The end of a process may not have been told yet when it is interrupted.
  const isHit = isAtWork && !existsSync(join(cwd, 'missed')) && (!MUST_FAIL.has(kind) || code !== 0);
  return { isHit, code, signal, err, stage: stageIn(err, how), took: performance.now() - began };
}

async function act(kind: Kind, child: ChildProcess, cwd: string, isOver: () => boolean): Promise<void> {
  if (kind === 'KILL') child.kill('SIGKILL');
  if (kind === 'TERM') child.kill('SIGTERM');
  if (kind === 'STOP+KILL') {
    const pid = innerOf(child.pid ?? 0);
    send(pid, 'SIGSTOP');
    await sleep(150);
    send(pid, 'SIGKILL');
  }
  if (kind !== 'full disk' && kind !== 'read-only') return;
  writeFileSync(join(cwd, 'flag'), '');
  while (!isOver() && !['done', 'missed'].some((name) => existsSync(join(cwd, name)))) await sleep(5);
}

/** The only child of a process; 0 if there is none any more. */
function innerOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')[0]);
  } catch {
    return 0;
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  // Signal to process 0 would go to this one.
  if (pid > 0) process.kill(pid, signal);
}

function stageIn(err: string, { kind, moment }: Interruption): string {
  if (typeof moment === 'string' && kind !== 'file size') return moment.replace(/#.*/, '');
  const steps = [...err.matchAll(/^\d{4}-\S+Z (?!warning)(\w+(?: \w+)?) {2,}/gm)].map(
    ([, step = '']) => step,
  );
  // Commands other than runs name no steps.
  return steps.at(-1) ?? (kind === 'file size' ? 'a write' : `after ${Math.round(Number(moment) * 10)}0%`);
}
