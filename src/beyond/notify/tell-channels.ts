import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { instant } from '../../ask/page/format.js';
import type { Alarm } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { redacted } from '../../base/config/redact.js';
import { takeLock } from '../../core/job/lock.js';
import type { RunRecord } from '../../core/job/run-records.js';
import { type Layout, layoutOf } from '../../core/lake/layout.js';
import type { Channel } from './channels.js';
import { newsReader } from './news.js';
import { noticeOf } from './notice.js';
import { Unsure } from './post.js';
import { beginTold, inDoubt, readTold, type Told, writeTold } from './told.js';

/** Milliseconds between two looks at a channel that another process is telling. */
const LOOK = 300;

/** Seconds after which the lock of a channel whose holder cannot be seen is taken over: well below the time that a run has for notices. */
const LEASE = 20;

/** What has to be told, and to whom. */
export interface Telling {
  readonly config: Config;
  readonly channels: readonly Channel[];
  /** Earlier runs, oldest first: a channel is told of those that it was not told of yet. */
  readonly before: readonly RunRecord[];
  /** Runs that every channel is told of. */
  readonly runs: readonly RunRecord[];
  /** Whether what is new in the published snapshot is told, too. */
  readonly withSnapshot: boolean;
  /** The alarms of the published snapshot. */
  readonly openAlarms: () => Promise<readonly Alarm[]>;
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/**
 * Tells every channel what happened since it was last told, each by itself. One that cannot be told is a warning, and is told the
 * next time, from the snapshot on that it knows. Throws nothing.
 */
export async function tellChannels(given: Telling): Promise<void> {
  const telling = { ...given, warn: (message: string) => given.warn(redacted(message)) };
  const layout = layoutOf(telling.config.output);
  const news = newsReader(telling.config, telling);
  // A process that is killed while it tells one channel leaves the others for the next.
  for (const channel of telling.channels)
    noting(channel, telling, () => beginTold(layout, channel.name, untold(telling)));
  await Promise.all(
    telling.channels.map(async (channel) => {
      try {
        await tellOne(channel, telling, news);
      } catch (error) {
        telling.warn(
          error instanceof Unsure
            ? `${channel.place} may not have been told: ${messageOf(error)}; it is not told again, and its next message says so`
            : `${channel.place} was not told: ${messageOf(error)}; the next run tells it`,
        );
      }
    }),
  );
}

/** Notes something about a channel. That it cannot be noted, as on a full disk, keeps nobody from being told. */
function noting({ place }: Channel, { warn }: Telling, note: () => void): void {
  try {
    note();
  } catch (error) {
    warn(`${place} may be told twice, since it cannot be noted that it was told: ${messageOf(error)}`);
  }
}

/** Tells a channel, which no other process does at the same time. */
async function tellOne(
  channel: Channel,
  telling: Telling,
  newsSince: ReturnType<typeof newsReader>,
): Promise<void> {
  const { config, before, runs, withSnapshot, signal, warn } = telling;
  const { route } = channel;
  const layout = layoutOf(config.output);
  const lock = await locked(layout, channel, telling);
  const note = (told: Told): void => {
    // Another process may have taken the channel over from one that slept.
    if (lock?.isHeld() !== false) noting(channel, telling, () => writeTold(layout, channel.name, told));
  };
  try {
    const told = knownOf(layout, channel, telling);
    const found = withSnapshot
      ? await newsSince(told.snapshots, (kind) => route.on.includes(kind))
      : { snapshots: told.snapshots, news: {} };
    const { searches, remarks = [] } = found.news;
    for (const name of route.searches ?? [])
      if (searches?.every((each) => each.name !== name) === true)
        warn(`${channel.place} is to be told of the search ${name}, and there is none of that name`);
    const missed = before.filter(
      ({ attempt, run_id }) => attempt > told.attempt && !runs.some((run) => run.run_id === run_id),
    );
    const notice = noticeOf(
      {
        ...found.news,
        runs: [...missed, ...runs],
        doubts: doubtsOf(told),
        remarks: [...failingOf(told), ...remarks],
      },
      route,
    );
    const attempt = Math.max(told.attempt, ...runs.map((run) => run.attempt));
    const now = { snapshots: found.snapshots, attempt };
    if (notice === undefined) return note({ ...told, ...now, failing_since: null });
    const sending = { ...now, at: new Date().toISOString() };
    note({ ...told, sending });
    killPoint('notify.noted');
    try {
      const problem = await channel.send({ id: idOf(channel.name, notice), notice, signal });
      if (problem !== undefined) warn(`${channel.place}: ${problem}`);
    } catch (error) {
      note(
        error instanceof Unsure
          ? inDoubt(told, sending)
          : { ...told, failing_since: told.failing_since ?? sending.at },
      );
      throw error;
    }
    killPoint('notify.sent');
    note({ ...now, sending: null, doubts: [], failing_since: null });
  } finally {
    lock?.release();
  }
}

/** What a channel has been told. A file that cannot be read is a warning, and counts as none. */
function knownOf(layout: Layout, { name, place }: Channel, telling: Telling): Told {
  try {
    return readTold(layout, name) ?? untold(telling);
  } catch (error) {
    telling.warn(
      `what ${place} was told of cannot be read: ${messageOf(error)}; it is told of this run alone`,
    );
    return untold(telling);
  }
}

/** A channel that is new knows what was there before these runs. */
function untold({ before, runs }: Telling): Told {
  const known = before.findLast(({ snapshot_id }) => snapshot_id !== null)?.snapshot_id ?? null;
  return {
    snapshots: { alarm: known, watch: known, car: known },
    attempt: Math.min(...runs.map(({ attempt }) => attempt)) - 1,
    sending: null,
    doubts: [],
    failing_since: null,
  };
}

/**
 * Takes the lock of a channel, and waits for another process that tells it as long as the signal lets it. Where no lock can be made,
 * as on a disk that is read-only, there is none.
 */
async function locked(layout: Layout, { name, place }: Channel, { signal, warn }: Telling) {
  for (;;) {
    try {
      const options = { pipeline: 'notify', now: new Date(), lease: LEASE, signal };
      return await takeLock(`${layout.lock}.${name}`, options);
    } catch (error) {
      if (signal.aborted) throw new Error('another process is telling it');
      if (!(error instanceof LotlakeError && error.code === 'LAKE_LOCKED')) {
        warn(`${place} is told without a lock: ${messageOf(error)}`);
        return undefined;
      }
      await wait(LOOK);
    }
  }
}

/** One id for one message. */
const idOf = (name: string, { facts, parts }: { readonly facts: unknown; readonly parts: unknown }): string =>
  createHash('sha256')
    .update(JSON.stringify([name, facts, parts]))
    .digest('hex')
    .slice(0, 32);

/** What a message has to say of earlier ones that may not have arrived. */
const doubtsOf = ({ doubts }: Told): string[] =>
  doubts.map(
    ({ at, since }) =>
      `The message of ${instant(at)} may not have arrived. ${since === null ? 'lotlake runs' : `lotlake runs and lotlake watch --since ${since}`} can tell it again.`,
  );

const failingOf = ({ failing_since }: Told): string[] =>
  failing_since === null
    ? []
    : [`This channel could not be told since ${instant(failing_since)}; this is what it missed.`];
