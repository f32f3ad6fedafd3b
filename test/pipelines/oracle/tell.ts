/** Plays random stories. After each step a job runs, and the lake is compared with its model. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect } from 'vitest';
import { incremental } from '../../../pipelines/incremental.js';
import { saveLookup } from '../../../pipelines/lookup.js';
import { nightly } from '../../../pipelines/nightly.js';
import { rebuild } from '../../../pipelines/rebuild.js';
import type { Outcome } from '../../../src/base/config/lotlake-error.js';
import { readPass } from '../../../src/core/lake/passes/pass.js';
import { readModels } from '../../../src/core/model/model-files.js';
import type { RunResult } from '../../../src/core/publish/step.js';
import { requests } from '../../../src/core/service/requests.js';
import { expectSameLake, readLake } from '../support.js';
import { adopt, compare, conclude, expectBalance, expectSteadyLotsKept, expectTruth } from './judge.js';
import { begin, evidenceOf, type Followed, fill, type Walk } from './passes.js';
import type { Answer } from './service.js';
import { beginRun, type Ended, ended, jobOf, openStage, pass, type Stage } from './stage.js';
import { type Step, type Story, stories } from './story.js';

/**
 * Plays a story. Throws if the lake or the outcome of a run differs from the model.
 * @param look looks at the lake after each step
 */
export async function playStory(
  story: Story,
  note: Stage['note'] = () => undefined,
  look: (stage: Stage) => Promise<void> = async () => undefined,
): Promise<void> {
  const stage = await openStage(story, note);
  try {
    for (const [i, next] of story.steps.entries()) {
      try {
        await take(stage, next);
        await look(stage);
      } catch (error) {
        if (error instanceof Error) error.message = `step ${i + 1}, ${next.run}: ${error.message}`;
        throw error;
      }
    }
  } finally {
    await stage.close();
  }
}

async function take(stage: Stage, next: Step): Promise<void> {
  pass(stage, next);
  stage.note(next.run);
  if (next.run === 'rebuild') return rebuildLake(stage, next);
  if (next.run === 'lookup') return lookUp(stage, next);
  return walkFeed(stage, next, next.run);
}

async function rebuildLake(stage: Stage, next: Step): Promise<void> {
  const lake = join(stage.output, 'lake', 'current');
  const before = stage.isPublished ? await readTables(lake) : undefined;
  beginRun(stage, next);
  const end = await ended(rebuild(jobOf(stage, next)));
  if (before === undefined) return expect(end).toMatchObject({ outcome: 'failed' });
  expect(end).toHaveProperty('result');
  expectSameLake(await readTables(lake), before);
  await compare(stage);
}

/** Every table of a lake except the marts, which depend on the start of the last run. */
async function readTables(lake: string): ReturnType<typeof readLake> {
  const tables = await readLake(lake);
  for (const { name } of readModels()) tables.delete(name);
  // Leaves rebuilds out: they replay the pages of other runs.
  return tables.set(
    'runs',
    (tables.get('runs') ?? []).filter((run) => run.pipeline !== 'rebuild'),
  );
}

async function lookUp(stage: Stage, next: Step): Promise<void> {
  const { feed, left } = stage.world;
  const all = [...feed.keys(), ...left.keys()];
  const id = all[next.who % all.length];
  if (id === undefined) return;
  const log = beginRun(stage, next);
  const request = requests.car.from({ car_id: id, prices_history: true });
  const end = await ended(saveLookup(jobOf(stage, next), { name: 'asked', request }));
  expect(end).toHaveProperty('result');
  const walk: Walk = {
    ...{ stream: 'cars', kind: 'lookup', sources: undefined, refused: [], hidden: [], isSealed: true },
    startedAt: stage.now,
    answers: log.map((answer) => ({ ...answer, list: 'asked' })),
  };
  conclude(stage, [walk], evidenceOf(walk, undefined, 1));
  await compare(stage);
}

/** The longest window, and how far a window reaches back beyond the last whole pass, in minutes. */
const MOST_MINUTES = 4320;
const OVERLAP_MINUTES = 60;

/** Runs a nightly or an incremental job and judges it. */
async function walkFeed(stage: Stage, next: Step, run: 'nightly' | 'incremental'): Promise<void> {
  const { ledger, now } = stage;
  const since = (stream: Followed, source = ''): number =>
    (now - Math.max(ledger.whole.get(stream) ?? 0, ledger.whole.get(`cars:${source}`) ?? 0)) / 60_000;
  const ofSources = next.sources?.map((source) => since('cars', String(source))) ?? [since('cars')];
  const reach: Reach = { cars: Math.max(...ofSources), archived_lots: since('archived_lots') };
  const log = beginRun(stage, next);
  const job = jobOf(stage, next);
  const end = await ended(run === 'nightly' ? nightly(job) : incremental(job));
  if (run === 'incremental' && reach.cars > MOST_MINUTES) {
    // No window reaches back that far, so a full pass is due.
    stage.note('full pass due');
    expect(end).toMatchObject({ outcome: 'usage' });
    expect(log).toEqual([]);
  } else {
    const filled = fillWalks(stage, next, run === 'nightly' ? 'full' : 'window', reach, log);
    if ('outcome' in filled) {
      stage.note(filled.outcome);
      ledger.left = [...ledger.left, ...filled.walks];
      expect(end).toMatchObject({ outcome: filled.outcome });
    } else return judge(stage, next, filled.walks, end);
  }
  await compare(stage);
}

/** Minutes since the last whole pass over each stream. A window has to reach back that far. */
type Reach = Readonly<Record<Followed, number>>;

/** Fills the passes of a run from its log. Returns an outcome if the log shows that the run has to fail. */
function fillWalks(
  { ledger, now, note }: Stage,
  next: Step,
  kind: 'full' | 'window',
  reach: Reach,
  log: readonly Answer[],
):
  | { readonly walks: readonly [Walk, Walk] }
  | { readonly walks: readonly Walk[]; readonly outcome: Outcome } {
  for (const { path, minutes } of log)
    if (minutes !== undefined)
      expect(minutes, path).toBeGreaterThanOrEqual(path === '/cars' ? reach.cars : reach.archived_lots);
  const sources = next.sources ?? undefined;
  const beginsAt = (minutes: number): number =>
    now / 60_000 - Math.min(Math.ceil(minutes) + OVERLAP_MINUTES, MOST_MINUTES);
  const begins = kind === 'full' ? undefined : beginsAt(reach.cars);
  const cars = begin(ledger, { stream: 'cars', kind, sources, begins }, now);
  if (cars.startedAt !== now) note('resumed passes');
  // A run requests nothing more for a sealed pass.
  // Unless it is a delta that leaves out what a run in between has replaced.
  if (cars.isSealed && log.some(({ path }) => path === '/cars')) {
    note('pages of a sealed delta asked for again');
    expect(cars.kind).toBe('full');
  }
  fill(cars, log);
  const failed = log.find(({ status }) => status === 500);
  if (sources?.every((source) => cars.refused.includes(String(source))) === true)
    return { walks: [cars], outcome: 'refused' };
  if (failed?.path === '/cars') return { walks: [cars], outcome: 'unavailable' };
  cars.isSealed = true;
  const archiveKind = reach.archived_lots > MOST_MINUTES ? 'full' : 'window';
  const wanted = { stream: 'archived_lots', kind: archiveKind, sources: undefined } as const;
  const archive = begin(ledger, { ...wanted, begins: beginsAt(reach.archived_lots) }, now);
  fill(archive, log);
  archive.isSealed = failed?.path !== '/archived-lots';
  const walks = [cars, archive] as const;
  return failed === undefined ? { walks } : { walks, outcome: 'unavailable' };
}

/** Whether a page was requested again, because a known record was missing at its border. */
const isReread = ({ answers }: Walk): boolean =>
  new Set(answers.map(({ list, page }) => `${list} ${page}`)).size < answers.length;

/**
 * Answers in the order and at the times that the client saw them. The service does not know these for requests that
 * were in flight together. The last answer for a page is the last one of its name in the ledger. A delta has given up pages
 * that it lacks.
 */
function asReceived({ output }: Stage, { passes }: RunResult, answers: readonly Answer[]): Answer[] {
  const passId = passes.find(({ record }) => record.stream === 'cars')?.record.pass_id ?? '';
  const folder = join(output, 'landing', 'cars', passId);
  // A run that got no record leaves no pass.
  if (!existsSync(folder)) return [...answers];
  const { pages, record } = readPass(folder);
  const nameOf = ({ list, page }: { readonly list: string; readonly page: number }) => `${list} ${page}`;
  const times = new Map<string, number>();
  const places = answers.flatMap((answer) => {
    const name = nameOf(answer);
    const time = times.get(name) ?? 0;
    times.set(name, time + 1);
    const landed = pages.filter((each) => nameOf(each) === name);
    const givenUp =
      record.form === 'delta' ? answers.filter((each) => nameOf(each) === name).length - landed.length : 0;
    if (time < givenUp) return [];
    const page = landed[time - givenUp];
    if (page === undefined) return [{ answer, seq: Number.POSITIVE_INFINITY }];
    const [asked, answered] = [microseconds(page.requestedAt), microseconds(page.receivedAt)];
    const lines = linesOf(join(folder, page.file), answer.records);
    return [{ answer: { ...answer, asked, answered, lines }, seq: page.seq }];
  });
  return places.sort((a, b) => a.seq - b.seq).map(({ answer }) => answer);
}

/** The line of each record in a landed file; the line of the next one for a record that the file leaves out. */
function linesOf(file: string, records: readonly unknown[]): number[] {
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  let line = 0;
  return records.map((record) => (lines[line] === JSON.stringify(record) ? line++ : line));
}

/** An instant of a ledger as microseconds. */
const microseconds = (text: string): number =>
  Date.parse(`${text.slice(0, 23)}Z`) * 1000 + Number(text.slice(23, 26));

/** Judges a run whose passes were walked to their end. */
async function judge(stage: Stage, next: Step, walks: readonly [Walk, Walk], end: Ended): Promise<void> {
  const { known: before, note } = stage;
  const [cars, archive] = walks;
  if ('result' in end && !end.result.published) {
    // The knowledge of the lake stays, and the next window reaches back to the same time.
    note('windows that brought nothing');
    expect(walks.map(({ kind }) => kind)).toEqual(['window', 'window']);
    expect(walks.flatMap(({ answers }) => answers.flatMap(({ records }) => records))).toEqual([]);
    return compare(stage);
  }
  const { trouble } = next;
  // If a list changes while its borders are read again, a border may stay unsettled, and the log does not show it.
  const isUnsettled = (trouble.kind === 'drift' || trouble.kind === 'turn') && isReread(cars);
  if (isUnsettled || (trouble.kind === 'drift' && trouble.concurrency > 1)) return adopt(stage, end, walks);
  if ('result' in end) cars.answers = asReceived(stage, end.result, cars.answers);
  const evidence = evidenceOf(cars, archive, next.allowShrink ? 1 : next.guard);
  if (!evidence.provesAbsence && cars.kind === 'full') note('full passes that prove no absence');
  if (evidence.unproven.length > 0) note('passes with open borders');
  if (!conclude(stage, walks, evidence)) {
    note('held');
    expect(end).toMatchObject({ outcome: 'held' });
    return compare(stage);
  }
  if ('result' in end && end.result.passes.some(({ record }) => record.form === 'delta')) note('deltas');
  if (!('result' in end)) throw new Error(`the run ended with ${end.outcome}: ${end.message}`);
  expectBalance(end.result, walks, before, stage.known);
  await compare(stage);
  expectSteadyLotsKept(stage, cars, before);
  const isFull = cars.kind === 'full';
  const isQuiet =
    !['drift', 'turn'].includes(next.trouble.kind) &&
    cars.startedAt === stage.now &&
    cars.refused.length === 0;
  const isOfAll = isQuiet && next.sources === null && next.key.length === 3;
  if (stage.ledger.whole.get('cars') === cars.startedAt)
    stage.isGapless = isOfAll && (isFull || stage.isGapless);
  if (!isOfAll || !(isFull || stage.isGapless)) return;
  note(`${cars.kind} passes with all that the service shows`);
  expectTruth(stage, evidence);
}

/**
 * Plays random stories and counts what happened in them. A failure prints its seed and path; LOTLAKE_SEED and
 * LOTLAKE_PATH replay it. LOTLAKE_STORIES sets the number of stories. LOTLAKE_GUARD sets the shrink guard of all their
 * runs; with 1 it holds no run.
 */
export async function assertStories({
  longest,
  look,
  ...given
}: {
  readonly numRuns: number;
  readonly seed?: number;
  /** Most steps of a story after its first night. */
  readonly longest: number;
  /** Milliseconds after which no new story begins and no failure is shrunk further. */
  readonly interruptAfterTimeLimit: number;
  readonly look?: Parameters<typeof playStory>[2];
}): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const note: Stage['note'] = (what, times = 1) => counts.set(what, (counts.get(what) ?? 0) + times);
  const {
    LOTLAKE_SEED: seed,
    LOTLAKE_PATH: path,
    LOTLAKE_STORIES: count,
    LOTLAKE_GUARD: guard,
  } = process.env;
  const guarded = (story: Story): Story =>
    guard === undefined
      ? story
      : { ...story, steps: story.steps.map((step) => ({ ...step, guard: Number(guard) })) };
  await fc.assert(
    fc.asyncProperty(stories(longest), async (story) => {
      await playStory(guarded(story), note, look);
      note('stories');
    }),
    {
      ...given,
      ...(count === undefined ? {} : { numRuns: Number(count) }),
      ...(seed === undefined ? {} : { seed: Number(seed) }),
      ...(path === undefined ? {} : { path, endOnFailure: true }),
    },
  );
  return counts;
}
