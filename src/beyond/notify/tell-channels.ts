import { createHash } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { instant } from '../../ask/page/format.js';
import { readFollowed } from '../../ask/query/followed.js';
import { readWatched, type Watched } from '../../ask/query/watched.js';
import { type Alarm, lakeStanding } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { killPoint } from '../../base/config/kill-point.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { redacted } from '../../base/config/redact.js';
import { takeLock } from '../../core/job/lock.js';
import type { RunRecord } from '../../core/job/run-records.js';
import { currentId, type Layout, layoutOf } from '../../core/lake/layout.js';
import { listSnapshots } from '../../core/lake/snapshots.js';
import type { Channel } from './channels.js';
import { type News, noticeOf } from './notice.js';
import { readTold, type Told, writeTold } from './told.js';

/** Milliseconds between two looks at a channel that another process is telling. */
const LOOK = 300;

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
export async function tellChannels(telling: Telling): Promise<void> {
  const layout = layoutOf(telling.config.output);
  /** A channel must be told of a disk that is full, too. */
  const note = ({ name, place }: Channel, told: Told): void => {
    try {
      writeTold(layout, name, told);
    } catch (error) {
      telling.warn(
        `${place} may be told twice, since it cannot be noted that it was told: ${messageOf(error)}`,
      );
    }
  };
  const newsSince = reader(telling);
  // A process that is killed while it tells one channel leaves the others for the next.
  for (const channel of telling.channels)
    if (readTold(layout, channel.name) === undefined) note(channel, untold(telling));
  await Promise.all(
    telling.channels.map(async (channel) => {
      try {
        await tellOne(channel, telling, newsSince, (told) => note(channel, told));
      } catch (error) {
        telling.warn(redacted(`${channel.place} was not told: ${messageOf(error)}; the next run tells it`));
      }
    }),
  );
}

/** Tells a channel, which no other process does at the same time. */
async function tellOne(
  channel: Channel,
  telling: Telling,
  newsSince: ReturnType<typeof reader>,
  note: (told: Told) => void,
): Promise<void> {
  const { config, before, runs, signal, warn } = telling;
  const layout = layoutOf(config.output);
  const release = await locked(layout, channel, telling);
  try {
    const told = readTold(layout, channel.name) ?? untold(telling);
    const found = await newsSince(told.snapshot_id);
    for (const name of unknownSearches(channel, found?.news.searches))
      warn(`${channel.place} is to be told of the search ${name}, and there is none of that name`);
    const ended = [
      ...before.filter(
        ({ attempt, run_id }) => attempt > told.attempt && !runs.some((run) => run.run_id === run_id),
      ),
      ...runs,
    ];
    const now = {
      snapshot_id: found?.snapshot_id ?? told.snapshot_id,
      attempt: Math.max(told.attempt, ...runs.map(({ attempt }) => attempt)),
    };
    const notice = noticeOf(
      { runs: ended, ...found?.news, doubts: doubtsOf(told), remarks: remarksOf(told, layout) },
      channel.route,
    );
    if (notice === undefined) return note({ ...told, ...now, failing_since: null });
    const at = new Date().toISOString();
    note({ ...told, sending: { ...now, at } });
    killPoint('notify.noted');
    try {
      const problem = await channel.send({ id: idOf(channel.name, notice), notice, signal });
      if (problem !== undefined) warn(redacted(`${channel.place}: ${problem}`));
    } catch (error) {
      note({ ...told, failing_since: told.failing_since ?? at });
      throw error;
    }
    killPoint('notify.sent');
    note({ ...now, sending: null, doubts: [], failing_since: null });
  } finally {
    release();
  }
}

/** The searches that a channel names and that nobody watches; none if they were not read. */
const unknownSearches = (
  { route }: Channel,
  searches: readonly Pick<Watched, 'name'>[] | undefined,
): readonly string[] =>
  route.on.includes('watch') && searches !== undefined
    ? (route.searches ?? []).filter((name) => !searches.some((each) => each.name === name))
    : [];

/** A channel that is new knows what was there before these runs. */
const untold = ({ before, runs }: Telling): Told => ({
  snapshot_id: before.findLast(({ snapshot_id }) => snapshot_id !== null)?.snapshot_id ?? null,
  attempt: Math.min(...runs.map(({ attempt }) => attempt)) - 1,
  sending: null,
  doubts: [],
  failing_since: null,
});

/**
 * Takes the lock of a channel, and waits for another process that tells it as long as the signal lets it. Where no lock can be made,
 * as on a disk that is read-only, there is none. Returns what gives it back.
 */
async function locked(
  layout: Layout,
  { name, place }: Channel,
  { config, signal, warn }: Telling,
): Promise<() => void> {
  for (;;) {
    try {
      const options = { pipeline: 'notify', now: new Date(), lease: config.lease, signal };
      return (await takeLock(`${layout.lock}.${name}`, options)).release;
    } catch (error) {
      if (signal.aborted) throw new Error('another process is telling it');
      if (!(error instanceof LotlakeError && error.code === 'LAKE_LOCKED')) {
        warn(`${place} is told without a lock: ${messageOf(error)}`);
        return () => undefined;
      }
      await wait(LOOK);
    }
  }
}

/** One id for one message, also if it is made again. */
const idOf = (name: string, { facts, parts }: { readonly facts: unknown; readonly parts: unknown }): string =>
  createHash('sha256')
    .update(JSON.stringify([name, facts, parts]))
    .digest('hex')
    .slice(0, 32);

/** What a message has to say of earlier ones that may not have arrived. */
const doubtsOf = ({ doubts }: Told): string[] =>
  doubts.map(
    ({ at, since }) =>
      `The message of ${instant(at)} may not have arrived, since lotlake was ended while it was sent. ${since === null ? 'lotlake runs' : `lotlake runs and lotlake watch --since ${since}`} can tell it again.`,
  );

/** What a message has to say of itself. */
const remarksOf = ({ failing_since, snapshot_id }: Told, layout: Layout): string[] => [
  ...(failing_since === null
    ? []
    : [`This channel could not be told since ${instant(failing_since)}; this is what it missed.`]),
  ...(snapshot_id === null || isKept(layout, snapshot_id)
    ? []
    : [
        `The snapshot ${snapshot_id}, which it was told of last, is not kept any more: searches and cars are compared with the one before.`,
      ]),
];

const isKept = (layout: Layout, id: string): boolean =>
  listSnapshots(layout).some((snapshot) => snapshot.id === id && snapshot.manifest !== undefined);

/** News of a snapshot. */
interface SnapshotNews {
  readonly snapshot_id: string;
  readonly news: Pick<News, 'alarms' | 'searches' | 'cars'>;
}

/**
 * What reads the news of the published snapshot since another one, once for all channels that know the same. It gives undefined if
 * they could not be read whole, which is a warning, so that they are read again the next time.
 */
function reader({ config, channels, withSnapshot, openAlarms, signal, warn }: Telling) {
  const layout = layoutOf(config.output);
  const wants = (happening: 'alarm' | 'watch' | 'car'): boolean =>
    channels.some(({ route }) => route.on.includes(happening));
  const attempt = async <T>(problem: string, read: () => Promise<readonly T[]>) =>
    read().catch((error: unknown) => {
      warn(redacted(`${problem}: ${messageOf(error)}; the next run tells of them`));
      return undefined;
    });
  const read = async (known: string | null): Promise<SnapshotNews | undefined> => {
    const snapshot_id = currentId(layout);
    if (snapshot_id === null) return undefined;
    if (snapshot_id === known) return { snapshot_id, news: {} };
    const since = known !== null && isKept(layout, known) ? known : undefined;
    const reading = { since, signal };
    const alarms = wants('alarm')
      ? await attempt('the alarms of the snapshot could not be read', async () =>
          freshAlarms(await openAlarms(), config, reading),
        )
      : [];
    const searches = wants('watch')
      ? await attempt('the watched searches could not be read', () => readWatched(config, reading))
      : [];
    const cars = wants('car')
      ? await attempt('the cars that are followed could not be read', () => readFollowed(config, reading))
      : [];
    // Another run may have published since: it tells its own news.
    if (
      alarms === undefined ||
      searches === undefined ||
      cars === undefined ||
      currentId(layout) !== snapshot_id
    )
      return undefined;
    return { snapshot_id, news: { alarms, searches, cars } };
  };
  const found = new Map<string | null, Promise<SnapshotNews | undefined>>();
  return (known: string | null): Promise<SnapshotNews | undefined> => {
    const news = found.get(known) ?? (withSnapshot ? read(known) : Promise.resolve(undefined));
    found.set(known, news);
    return news;
  };
}

/** Alarms that an earlier snapshot did not have; all if it is not kept. Failed runs are told when they fail. */
async function freshAlarms(
  open: readonly Alarm[],
  config: Config,
  { since, signal }: { readonly since: string | undefined; readonly signal: AbortSignal },
): Promise<readonly Alarm[]> {
  const raised = open.filter(({ metric }) => metric !== 'failing_runs');
  if (raised.length === 0 || since === undefined) return raised;
  const reading = { choice: { snapshot: since }, signal };
  const { alarms: earlier } = await lakeStanding(config, reading).catch(() => ({ alarms: [] }));
  return raised.filter(
    ({ subject, metric }) => !earlier.some((alarm) => alarm.subject === subject && alarm.metric === metric),
  );
}
