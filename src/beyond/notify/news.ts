import { readFollowed } from '../../ask/query/followed.js';
import { readWatched } from '../../ask/query/watched.js';
import { type Alarm, lakeStanding } from '../../ask/report/alarms.js';
import type { Config } from '../../base/config/config.js';
import { messageOf } from '../../base/config/lotlake-error.js';
import { currentId, type Layout, layoutOf } from '../../core/lake/layout.js';
import { listSnapshots } from '../../core/lake/snapshots.js';
import type { News } from './notice.js';
import { KINDS, type Told } from './told.js';

/** What is new in the published snapshot for a channel. */
export interface SnapshotNews {
  /** The snapshot of each kind that the channel has once it is told. */
  readonly snapshots: Told['snapshots'];
  readonly news: Pick<News, 'alarms' | 'searches' | 'cars' | 'remarks'>;
}

type Kind = (typeof KINDS)[number];

/** Whether a snapshot is still there. */
const isKept = (layout: Layout, id: string): boolean =>
  listSnapshots(layout).some((snapshot) => snapshot.id === id && snapshot.manifest !== undefined);

const WORDS: Readonly<Record<Kind, string>> = {
  alarm: 'the alarms',
  watch: 'the watched searches',
  car: 'the cars that are followed',
};

/**
 * What reads the news of the published snapshot since the snapshots that a channel knows, each once for all channels that know the
 * same, and one after the other. A kind that cannot be read is a warning and a remark, and is read again the next time.
 */
export function newsReader(
  config: Config,
  {
    openAlarms,
    signal,
    warn,
  }: {
    readonly openAlarms: () => Promise<readonly Alarm[]>;
    readonly signal: AbortSignal;
    readonly warn: (message: string) => void;
  },
) {
  const layout = layoutOf(config.output);
  const published = currentId(layout);
  const read: Readonly<Record<Kind, (since: string | undefined) => Promise<SnapshotNews['news']>>> = {
    alarm: async (since) => ({ alarms: await freshAlarms(await openAlarms(), config, { since, signal }) }),
    watch: async (since) => ({ searches: await readWatched(config, { since, signal }) }),
    car: async (since) => ({ cars: await readFollowed(config, { since, signal }) }),
  };
  let last: Promise<unknown> = Promise.resolve();
  const found = new Map<string, Promise<SnapshotNews['news'] | undefined>>();
  const once = (kind: Kind, known: string | null): Promise<SnapshotNews['news'] | undefined> => {
    const since = known !== null && isKept(layout, known) ? known : undefined;
    const key = `${kind} ${since}`;
    const before = found.get(key);
    if (before !== undefined) return before;
    const reading = last.then(async () => {
      try {
        const news = await read[kind](since);
        // Another run may have published since: it tells its own news.
        return currentId(layout) === published ? news : undefined;
      } catch (error) {
        const problem = `${WORDS[kind]} could not be read: ${messageOf(error)}`;
        warn(`${problem}; the next run tells of them`);
        return { remarks: [problem] };
      }
    });
    last = reading;
    found.set(key, reading);
    return reading;
  };
  return async (told: Told['snapshots'], wants: (kind: Kind) => boolean): Promise<SnapshotNews> => {
    const snapshots = { ...told };
    const remarks = new Set<string>();
    let news: SnapshotNews['news'] = {};
    for (const kind of published === null ? [] : KINDS) {
      const known = told[kind];
      const fresh = known === published || !wants(kind) ? {} : await once(kind, known);
      if (fresh === undefined) continue;
      for (const remark of fresh.remarks ?? []) remarks.add(remark);
      if (fresh.remarks !== undefined) continue;
      snapshots[kind] = published;
      news = { ...news, ...fresh };
      if (wants(kind) && known !== null && !isKept(layout, known))
        remarks.add(
          `The snapshot ${known}, which it was told of last, is not kept any more: searches and cars are compared with the one before.`,
        );
    }
    return { snapshots, news: { ...news, remarks: [...remarks] } };
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
