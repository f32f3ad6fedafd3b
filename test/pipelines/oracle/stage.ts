/** The state of a story while it is played: its world, its service, its lake, and what the lake should know. */

import { LotlakeError, type Outcome } from '../../../src/base/config/lotlake-error.js';
import type { JobOptions } from '../../../src/core/job/job.js';
import type { RunResult } from '../../../src/core/publish/step.js';
import { bareDuckDb, configFor, silentReporter, temporaryFolder } from '../support.js';
import { type Knowledge, NOTHING } from './knowledge.js';
import type { Ledger } from './passes.js';
import { SALES_ALONE } from './sales.js';
import { type Answer, type Disturbance, type Service, startService } from './service.js';
import type { Move, Step, Story, Trouble } from './story.js';
import { createWorld, happen, type World } from './world.js';

/** The lots of the feed with their vehicles at one moment, to find those that stayed in the feed. */
interface Footprint {
  readonly time: number;
  readonly lots: ReadonlyMap<number, number>;
}

/** A story while it is played. */
export interface Stage {
  readonly story: Story;
  readonly world: World;
  readonly service: Service;
  readonly output: string;
  readonly duck: Awaited<ReturnType<typeof bareDuckDb>>;
  readonly ledger: Ledger;
  readonly footprints: Footprint[];
  known: Knowledge;
  isPublished: boolean;
  /** When the run of the step began. */
  now: number;
  /** The time during that run: it goes on with each thing that happens in between. */
  clock: number;
  /** Whether a window can still reach every change of the feed since the last whole pass. */
  isGapless: boolean;
  /** Counts situations, to show that the stories reach all of them. */
  readonly note: (what: string, times?: number) => void;
  close(): Promise<void>;
}

const START = Date.parse('2026-11-18T02:00:00Z');

/** Sets up the world of a story, a service over it, and an output folder. */
export async function openStage(story: Story, note: Stage['note']): Promise<Stage> {
  const world = createWorld(story.size, story.mix, START);
  const folder = temporaryFolder();
  const service = await startService(world);
  const duck = await bareDuckDb();
  return {
    ...{ story, world, service, duck, note, output: folder.path, footprints: [], now: START, clock: START },
    ledger: { left: [], newest: new Map(), whole: new Map() },
    ...{ known: NOTHING, isPublished: false, isGapless: false },
    close: async () => {
      duck.close();
      await service.close();
      folder.remove();
    },
  };
}

/** Lets the time of a step pass, with its happenings. */
export function pass(stage: Stage, { minutes, happenings }: Step): void {
  const gap = minutes * 60_000;
  for (const [i, one] of happenings.entries()) {
    const time = stage.now + Math.floor((gap * (i + 1)) / (happenings.length + 1) / 1000) * 1000;
    happen(stage.world, one, time);
    leaveFootprint(stage, time);
  }
  stage.now += gap;
  stage.clock = stage.now;
  leaveFootprint(stage, stage.now);
}

function leaveFootprint({ world, footprints }: Stage, time: number): void {
  const lots = [...world.feed.values()].flatMap(({ vehicle }) =>
    (vehicle.lots ?? []).map((lot): [number, number] => [lot.id, vehicle.id]),
  );
  footprints.push({ time, lots: new Map(lots) });
}

/** How a run ended. */
export type Ended = { readonly result: RunResult } | { readonly outcome: Outcome; readonly message: string };

/** Waits for a run to end, with a result or an error of lotlake's. */
export async function ended(run: Promise<RunResult>): Promise<Ended> {
  try {
    return { result: await run };
  } catch (error) {
    if (error instanceof LotlakeError) return { outcome: error.outcome, message: error.message };
    throw error;
  }
}

/** The options of a job. If trouble begins after a number of pages, the job requests one page at a time. */
export function jobOf(stage: Stage, { trouble, sources, guard, allowShrink, concurrency }: Step): JobOptions {
  const { story } = stage;
  const inFlight = { none: concurrency, drift: trouble.kind === 'drift' ? trouble.concurrency : 1 };
  const config = configFor(stage.service.url, stage.output, {
    ...{
      perPage: story.perPage,
      shrinkGuard: guard,
      allowShrink,
      keyframeDays: story.keyframeDays ?? 7,
      referenceDays: 10_000,
      retryBudget: 0.01,
    },
    concurrency: trouble.kind === 'none' || trouble.kind === 'drift' ? inFlight[trouble.kind] : 1,
    ...(sources === null ? {} : { sources: [...sources] }),
  });
  return { ...SALES_ALONE, config, reporter: silentReporter(), now: () => new Date(stage.clock) };
}

/** Begins the log of a run whose service behaves as the step describes. */
export function beginRun(stage: Stage, { trouble, key }: Step): Answer[] {
  const { service, story, now } = stage;
  const { totals, ownLots = false } = story;
  return service.begin({ now, key, totals, ownLots, ...disturbanceOf(stage, trouble) });
}

function disturbanceOf(stage: Stage, trouble: Trouble): Disturbance {
  if (trouble.kind === 'cut') return { cut: trouble };
  if (trouble.kind === 'refused') return { refused: trouble };
  if (trouble.kind === 'turn') return { turn: trouble };
  if (trouble.kind === 'wrong-total') return { wrongTotal: trouble.by };
  if (trouble.kind === 'none') return {};
  const left = new Set<Move>(trouble.moves);
  return {
    drift: (answered) => {
      for (const move of [...left].filter(({ page }) => page <= answered)) {
        left.delete(move);
        const time = stage.now + 1000 * (1 + answered);
        stage.clock = Math.max(stage.clock, time);
        happen(stage.world, move.happening, time);
        leaveFootprint(stage, time);
      }
    },
  };
}
