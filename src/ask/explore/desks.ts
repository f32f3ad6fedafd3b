import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { constants, setPriority } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../../base/config/config.js';
import { type Code, LotlakeError } from '../../base/config/lotlake-error.js';
import { formatBytes, parseBytes } from '../../base/config/memory.js';
import { makeFolder, remove } from '../../base/config/owned.js';
import { packageRoot } from '../../base/config/package-root.js';
import type { Answer, Opening } from './desk.js';
import type { Job } from './jobs.js';
import { turnsOf } from './turns.js';

/** Desks that work at once, and readers that wait for one. */
const DESKS = 2;
const WAITING = 50;

/** Share of the memory that is for the pages themselves; the desks share the rest. */
const OWN_SHARE = 0.5;

/** Bytes that the process of a desk may take beside DuckDB's memory: Node, and values on their way. */
const BESIDE = 400e6;

/** What the pages may take of the memory that is configured. */
export const ownMemory = ({ memory }: Config): string => `${Math.floor(parseBytes(memory) * OWN_SHARE)}B`;

/** Runs work in other processes. */
export interface Desks {
  /**
   * Yields what comes of a piece of work. The process ends with the signal, whatever it does. Throws EXPLORE_BUSY if too many
   * wait, EXPLORE_ENDED if the process took too much memory, the errors of the work, and the reason of the signal.
   */
  run(job: Job, signal: AbortSignal): AsyncGenerator<string | Uint8Array>;
  close(): void;
}

/**
 * Processes that run the SQL of readers on one snapshot. DuckDB looks for an interrupt only while it runs a plan, and not while
 * it makes one or converts rows, so that a process is the least that ends at once and frees what it holds
 * (docs/decisions/0021-queries-by-their-tree.md).
 * @param shown snapshot and database that the pages show, and a folder for the files of the processes
 */
export function openDesks(
  config: Config,
  { snapshot, database, temp }: Pick<Opening, 'snapshot' | 'database'> & { readonly temp: string },
): Desks {
  const memory = Math.floor((parseBytes(config.memory) * (1 - OWN_SHARE)) / DESKS);
  const opening: Opening = {
    config: { ...config, apiKey: undefined, memory: `${memory}B` },
    snapshot,
    database,
    most: memory + BESIDE,
  };
  const all = new Set<ChildProcess>();
  const idle: ChildProcess[] = [];
  const turn = turnsOf(DESKS, WAITING);
  let count = 0;
  const begin = (): ChildProcess => {
    const own = join(temp, `desk-${count++}`);
    makeFolder(own);
    const desk = fork(join(packageRoot, 'dist', 'cli', 'desk.js'), {
      env: { ...process.env, TMPDIR: own, TMP: own, TEMP: own },
      execArgv: [`--max-old-space-size=${Math.floor(BESIDE / 2 / 1e6)}`],
      serialization: 'advanced',
      // Node writes to the error output when it runs out of memory. The answer to the reader says so.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    all.add(desk);
    // What a desk of no work does is seen when it gets some.
    desk.on('error', () => undefined);
    desk.once('exit', () => {
      all.delete(desk);
      if (idle.includes(desk)) idle.splice(idle.indexOf(desk), 1);
      remove(own);
    });
    // Pages go first.
    if (desk.pid !== undefined) setPriority(desk.pid, constants.priority.PRIORITY_BELOW_NORMAL);
    desk.send(opening);
    return desk;
  };
  return {
    async *run(job, signal) {
      const leave = await turn(signal);
      const desk = idle.pop() ?? begin();
      let isFree = false;
      const end = (): void => void desk.kill('SIGKILL');
      signal.addEventListener('abort', end, { once: true });
      try {
        desk.send(job);
        for (;;) {
          const answer = await answerOf(desk, signal, memory);
          if ('piece' in answer) {
            yield answer.piece;
            desk.send('next');
            continue;
          }
          // A trial that fails may leave its view.
          isFree = job.kind !== 'trial';
          if ('error' in answer) throw errorOf(answer.error);
          return;
        }
      } finally {
        signal.removeEventListener('abort', end);
        if (isFree && desk.connected) idle.push(desk);
        else end();
        leave();
      }
    },
    close: () => {
      for (const desk of all) desk.kill('SIGKILL');
    },
  };
}

/** The next answer of a desk. Throws the reason of the signal, and EXPLORE_ENDED for a desk that ended itself. */
async function answerOf(desk: ChildProcess, signal: AbortSignal, memory: number): Promise<Answer> {
  signal.throwIfAborted();
  // It can end between two pieces, while nobody listens.
  if (desk.exitCode !== null || desk.signalCode !== null) throw endedOf(desk.exitCode, memory);
  const settled = new AbortController();
  const options = { signal: settled.signal };
  const ended = once(desk, 'exit', options).then(([code]) => {
    signal.throwIfAborted();
    throw endedOf(code, memory);
  });
  try {
    const [answer] = await Promise.race([once(desk, 'message', options), ended]);
    return answer as Answer;
  } finally {
    settled.abort();
  }
}

/** A desk ends itself by a signal where it has too much memory; Node and DuckDB do where they get none. */
const endedOf = (code: number | null, memory: number): LotlakeError =>
  code === null
    ? new LotlakeError(
        'EXPLORE_ENDED',
        `it needed much more memory than ${formatBytes(memory)}, and was ended`,
        {
          outcome: 'usage',
          hint: 'ask for fewer rows, or shorter values; lotlake query may take all of the setting memory',
        },
      )
    : new LotlakeError('EXPLORE_ENDED', `its process ended with ${code}`, {
        hint: 'ask again; lotlake doctor looks at this machine',
      });

const errorOf = ({ code, message, outcome, hint }: Extract<Answer, { error: unknown }>['error']): Error =>
  code === undefined ? new Error(message) : new LotlakeError(code as Code, message, { outcome, hint });
