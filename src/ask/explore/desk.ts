import { on } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Config } from '../../base/config/config.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { HINTS } from '../../core/model/read-only.js';
import { openJobLake } from './job-lake.js';
import { type Job, runJob } from './jobs.js';

/** What a desk is told first: the snapshot that the pages show, and the bytes of memory at which it ends itself. */
export interface Opening {
  readonly config: Config;
  readonly snapshot: string;
  /** Database with the lots on offer. */
  readonly database: string;
  readonly most: number;
}

/** What to do about a query that failed, on a page. */
const PAGE_HINTS: Readonly<Record<keyof typeof HINTS, string>> = {
  tables: 'the page Tables lists what there is, and the page of a table its columns',
  files: 'a query reads tables by name, such as from lots where domain_id = 3, and no other files',
  keep: 'the links CSV and Parquet over a result keep it, and Save keeps the query',
  plan: 'take CSV',
};

/** The hint of an error without commands and flags, which a page has not. */
function hintOf({ hint }: LotlakeError): string | undefined {
  for (const [name, text] of Object.entries(PAGE_HINTS))
    if (hint === HINTS[name as keyof typeof HINTS]) return text;
  return hint;
}

/** What a desk answers. After a piece it waits until the next one is wanted. */
export type Answer =
  | { readonly piece: string | Uint8Array }
  | { readonly done: true }
  | { readonly error: Pick<LotlakeError, 'message' | 'outcome' | 'hint'> & { readonly code?: string } };

/**
 * A desk is the process in which one reader's SQL runs at a time (desks.ts starts it). It ends with the server, and at a size
 * at which DuckDB's own limit failed: values of a result are not counted by it.
 */
const messages = on(process, 'message');
const receive = async <T>(): Promise<T> => (await messages.next()).value[0] as T;
const send = (answer: Answer): void => void process.send?.(answer);

process.once('disconnect', () => process.exit());

// A thread of its own looks, since the conversion of a result leaves this one no time.
const LOOK = `setInterval(() => {
  if (process.memoryUsage.rss() > require('node:worker_threads').workerData) process.kill(process.pid, 'SIGKILL');
}, 50)`;

const { config, snapshot, database, most } = await receive<Opening>();
new Worker(LOOK, { eval: true, workerData: most });
const opening = openJobLake(config, snapshot, database);
// What cannot be opened is the answer to each job.
opening.catch(() => undefined);
for (;;) await work(await receive<Job>());

async function work(job: Job): Promise<void> {
  try {
    for await (const piece of runJob(await opening, job)) {
      send({ piece });
      await receive();
    }
    send({ done: true });
  } catch (error) {
    const known = error instanceof LotlakeError ? error : undefined;
    send({
      error: {
        message: messageOf(error),
        outcome: known?.outcome ?? 'failed',
        hint: known && hintOf(known),
        ...(known !== undefined && { code: known.code }),
      },
    });
  }
}
