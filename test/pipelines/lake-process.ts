import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { CLI } from '../cli/support.js';
import { type PlainRow, readLake } from './support.js';

/** How a process ended and what it printed. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

/** The service, output folder and environment of a process. */
export interface Place {
  readonly url: string;
  readonly output: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Folder with a `lotlake.config.json`. */
  readonly cwd?: string;
}

/** The environment of a process. */
export function placeEnv({ url, output, env }: Place): NodeJS.ProcessEnv {
  return {
    ...process.env,
    LOTLAKE_BASE_URL: url,
    // As in `configFor`: tests reach one service through many ports.
    LOTLAKE_ORIGIN: 'test',
    LOTLAKE_API_KEY: 'sandbox-key',
    LOTLAKE_OUTPUT: output,
    LOTLAKE_RATE: '1000',
    LOTLAKE_PER_PAGE: '100',
    LOTLAKE_CONCURRENCY: '2',
    LOTLAKE_THREADS: '1',
    ...env,
  };
}

/** A running `lotlake`. */
export interface Started {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  /** Resolves when stderr contains the text; rejects if the process ends first. */
  printed(text: string): Promise<void>;
}

/** Starts `lotlake` in its own process. */
export function startLotlake(args: readonly string[], place: Place): Started {
  const child = spawn(process.execPath, [CLI, ...args], { cwd: place.cwd, env: placeEnv(place) });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  const printed = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (err.includes(text)) resolve();
      };
      look();
      child.stderr.on('data', look);
      child.on('close', () => reject(new Error(`ended without saying ${text}: ${err}`)));
    });
  return { child, ended, printed };
}

/** Waits until `LOTLAKE_PAUSE_AT` stops a process at a point, sends the signal, resumes it, and waits for its end. */
export async function interruptAt(started: Started, point: string, signal: NodeJS.Signals): Promise<Ended> {
  await started.printed(`paused at ${point}`);
  started.child.kill(signal);
  started.child.stdin?.write('\n');
  return started.ended;
}

/** Rows of every table except those about the run itself, without the columns that name a run or its time. */
export async function contentOf(output: string): Promise<Map<string, string[]>> {
  return contentIn(await readLake(join(output, 'lake', 'current')));
}

/** {@link contentOf} tables that were read already. */
export function contentIn(tables: ReadonlyMap<string, readonly PlainRow[]>): Map<string, string[]> {
  const content = new Map<string, string[]>();
  for (const [name, rows] of tables)
    if (!['runs', 'passes', 'data_health'].includes(name)) content.set(name, rows.map(plain).sort());
  return content;
}

function plain(row: PlainRow): string {
  const { run_id, first_seen_at, changed_at, last_seen_at, seen_at, archived_at, gone_at, ...others } = row;
  // `open_days_median` counts the days until the run.
  const { observed_from, observed_to, observed_since, asked_at, as_of, priced_at, occurred_at, ...more } =
    others;
  const { open_days_median, ...rest } = more;
  // A change gets the time of the run that saw it, and so does an amount if the lot has no time for it.
  const isOfRun =
    row.evidence_table === 'lot_changes' || row.event === 'archived' || row.description === 'as the lot says';
  // If a row is gone or was archived as absent, its time is that of the run that found this.
  const isSeen = row.archived_by === 'absence' || !('archived_by' in row);
  if (row.field === 'archived_at') return JSON.stringify({ ...rest, new_value: row.new_value !== null });
  return JSON.stringify({
    ...rest,
    ...(isOfRun ? {} : { occurred_at }),
    archived_at: isSeen ? archived_at !== null : archived_at,
    gone: gone_at !== null,
  });
}
