/** Compares what a run did with what it should have done. */
import { expect } from 'vitest';
import type { RunResult } from '../../../src/core/publish/step.js';
import type { LotRecord } from '../../served.js';
import { type Evidence, type Knowledge, learn, MODELLED } from './knowledge.js';
import { expectKnowledge, readKnowledge } from './lake.js';
import { countsOf, publish, type Walk } from './passes.js';
import { expectSales } from './sales.js';
import type { Ended, Stage } from './stage.js';
import { noteStates, wronglyAbsent, wronglyActive } from './state.js';
import type { Vehicle } from './world.js';

/** Applies a run that published to the model. Returns false if the run should be held instead. */
export function conclude(stage: Stage, walks: readonly Walk[], evidence: Evidence): boolean {
  const verdict = learn(stage.known, evidence);
  if (verdict.held) return false;
  noteStates(stage.note, stage.known, verdict.knowledge, evidence);
  noteChanges(stage, stage.known, verdict.knowledge);
  stage.known = verdict.knowledge;
  stage.isPublished = true;
  publish(stage.ledger, walks);
  return true;
}

/** Counts what a run rejected, and which rows below lots and vehicles are gone since. */
function noteChanges({ note }: Stage, before: Knowledge, after: Knowledge): void {
  const rejects = after.rejects.slice(before.rejects.length);
  note('records rejected', rejects.filter(({ raw }) => raw === null).length);
  note('values rejected', rejects.filter(({ raw }) => raw !== null).length);
  const gone = (known: Knowledge, table: 'prices' | 'inspections' | 'listings'): number =>
    [...known.tables[table].values()].filter(({ state }) => state.gone_at !== null).length;
  for (const table of ['prices', 'inspections', 'listings'] as const)
    note(`${table} gone`, Math.max(0, gone(after, table) - gone(before, table)));
}

/** Expects the lake to equal the model. */
export async function compare(stage: Stage): Promise<void> {
  if (!stage.isPublished) return;
  expectKnowledge(await readKnowledge(stage.duck, stage.output), stage.known);
  await expectSales(stage);
}

/** Expects the balance of a run to agree with the answers of the service and with the model. */
export function expectBalance(
  { balance }: RunResult,
  walks: readonly Walk[],
  before: Knowledge,
  after: Knowledge,
): void {
  for (const walk of walks) {
    const { landed, rejected, rejectedValues } = countsOf(walk);
    const loaded = { loaded: landed - rejected, rejected, rejectedValues };
    const sums = { stream: walk.stream, served: landed, landed, ...loaded };
    expect(balance.streams).toContainEqual(expect.objectContaining(sums));
  }
  for (const table of MODELLED) {
    const [was, is] = [before.tables[table].size, after.tables[table].size];
    const row = { table, before: was, inserted: is - was, removed: 0, carried: 0, after: is };
    expect(balance.tables).toContainEqual(row);
  }
}

/** The lots in the feed at each moment from the start of a pass until now. */
function momentsSince({ footprints }: Stage, since: number): ReadonlyMap<number, number>[] {
  const first = footprints.findLastIndex(({ time }) => time <= since);
  return footprints.slice(Math.max(0, first)).map(({ lots }) => lots);
}

/**
 * Expects that no lot is archived as absent if the feed had it on the same vehicle during the whole pass. A feed
 * without any lot lacks the lots of every source; only the shrink guard stops such a run.
 */
export function expectSteadyLotsKept(stage: Stage, cars: Walk, before: Knowledge): void {
  const moments = momentsSince(stage, cars.startedAt);
  if (seenSources(cars).length === 0) return;
  const wrong = wronglyAbsent(before.tables.lots, stage.known.tables.lots, (lot, vehicle) =>
    moments.every((lots) => lots.get(lot) === vehicle),
  );
  stage.note('passes after which what stayed is still there');
  expect(wrong, 'archived though it was in the feed all the while').toEqual([]);
}

/**
 * Expects the lake to have what the service shows now: every vehicle is active, with its values if all of them are
 * readable.
 */
export function expectTruth({ world, known }: Stage, evidence: Evidence): void {
  const valid = [...world.feed.values()].filter(({ broken }) => !broken);
  const readable = valid.filter(({ spoiled }) => spoiled === 0);
  const listed = [...world.feed.values()].flatMap(({ vehicle }) => vehicle.lots ?? []);
  // If several vehicles list a lot, the service does not say which of them owns it. When one of them stops listing it,
  // a window shows only that vehicle.
  const isShared = (lot: LotRecord): boolean =>
    listed.filter((other) => other === lot).length > 1 ||
    (evidence.kind === 'window' && world.shared.has(lot.id));
  const ownerOf = (lot: LotRecord, vehicle: unknown): unknown => (isShared(lot) ? 'several' : vehicle);
  // The last record of a lot counts, and another vehicle that cannot be read may have sent it.
  const unreadable = new Set(
    [...world.feed.values()]
      .filter(({ broken, spoiled }) => broken || spoiled > 0)
      .flatMap(({ vehicle }) => vehicle.lots ?? []),
  );
  const lotsOf = ({ lots }: Vehicle): LotRecord[] => (lots ?? []).filter((lot) => !unreadable.has(lot));
  // A window may show that a lot of several vehicles was archived without showing that this vehicle is still listed.
  const isOfSeveral = ({ lots }: Vehicle): boolean =>
    evidence.kind === 'window' && (lots ?? []).some(isShared);
  const expected = readable.map(({ vehicle }) => ({
    ...{ vehicle_id: vehicle.id, title: vehicle.title, year: vehicle.year },
    archived: isOfSeveral(vehicle) ? 'several' : false,
    lots: lotsOf(vehicle).map((lot) => [lot.id, ownerOf(lot, vehicle.id), lot.status.id, lot.bid]),
  }));
  const actual = readable.map(({ vehicle }) => {
    const row = known.tables.vehicles.get(String(vehicle.id));
    const lots = lotsOf(vehicle).map((lot) => {
      const content = known.tables.lots.get(String(lot.id))?.content;
      return [content?.lot_id, ownerOf(lot, content?.vehicle_id), content?.status_id, content?.bid];
    });
    return {
      ...row?.content,
      archived: isOfSeveral(vehicle) ? 'several' : row?.state.archived,
      lots,
    };
  });
  expect(actual, 'what the service shows').toEqual(expected);
  if (!evidence.provesAbsence) return;
  const shown = valid.flatMap(({ vehicle }) => vehicle.lots ?? []).map(({ domain }) => domain.id);
  const gone = wronglyActive(known.tables.lots, evidence, new Set(shown), (id) => world.feed.has(id));
  expect(gone, 'active though it left the feed').toEqual([]);
}

/**
 * Judges a pass with several pages in flight while the list moved. The lake may have missed new records and may keep
 * old ones, so the model takes over its rows. No lot that stayed in the feed may be archived, and no vehicle may appear
 * that was never served.
 */
export async function adopt(stage: Stage, end: Ended, walks: readonly Walk[]): Promise<void> {
  const [cars] = walks;
  if (!('result' in end)) {
    expect(end).toMatchObject({ outcome: 'held' });
    return compare(stage);
  }
  if (cars === undefined) return;
  const before = stage.known;
  const read = await readKnowledge(stage.duck, stage.output);
  const manifest = end.result.manifest;
  stage.known = read;
  stage.isPublished = true;
  stage.isGapless = false;
  publish(stage.ledger, walks);
  for (const [stream, at] of Object.entries(manifest.last_pass_at))
    if (stream === 'cars' || stream.startsWith('cars:'))
      stage.ledger.whole.set(stream as 'cars' | `cars:${string}`, Date.parse(at));
  const served = new Set(cars.answers.flatMap((answer) => answer.records as Vehicle[]).map(({ id }) => id));
  const invented = [...read.tables.vehicles.values()]
    .map(({ content }) => Number(content.vehicle_id))
    .filter((id) => !served.has(id) && !before.tables.vehicles.has(String(id)));
  expect(invented, 'never served').toEqual([]);
  stage.note('passes that moved with several pages in flight');
  expectSteadyLotsKept(stage, cars, before);
}

const seenSources = ({ answers }: Walk): number[] =>
  (answers.flatMap((answer) => answer.records) as Vehicle[]).flatMap(({ lots }) =>
    (lots ?? []).map((lot) => lot.domain.id),
  );
