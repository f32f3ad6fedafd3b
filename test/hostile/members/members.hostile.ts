import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../../pipelines/nightly.js';
import { lakeTables } from '../../../src/core/lake/tables.js';
import { type StreamName, streamNames, streams } from '../../../src/core/service/streams.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import {
  configFor,
  lastPage,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from '../../pipelines/support.js';
import { type Change, changed, changesOf, has, rowsAt } from './changes.js';

/*
 * Every key, time, source, list and text of every record gets each bad value once, in a record of its own. Three nights see
 * the records sound, changed and sound again, or changed, sound and changed. What should be there is counted from the
 * records themselves: a row may be missing only if a reject or a warning tells it, and a sound night brings all of it back.
 */

/** Most changes that are made, spread over all; all of them by default. */
const MOST = Number(process.env.LOTLAKE_CHANGES ?? Number.POSITIVE_INFINITY);

/** Vehicles of a lake; each has one change. */
const VEHICLES = 700;

const STARTS = ['2026-11-20T02:00:00Z', '2026-11-21T02:00:00Z', '2026-11-22T02:00:00Z'];

/** A record of the service and the change that is made to it. */
interface Case {
  readonly sound: unknown;
  readonly change: Change | undefined;
  readonly bad: unknown;
}

let sandbox: Sandbox;
/** Sound answers of the sandbox to everything but `/cars`, by path and query. */
const answers = new Map<string, string>();
/** The records of all streams, in the order in which they came. */
const pools = new Map<StreamName, unknown[]>();

const streamOf = (pathname: string): StreamName | undefined =>
  streamNames.find((name) => name !== 'cars' && pathname.startsWith(`/api${streams[name].path}`));

/** Gives a record the members that the sandbox never fills, so that they can be changed, too. */
function filled(stream: StreamName, record: unknown): unknown {
  const id = String(Reflect.get(Object(record), 'id'));
  if (stream === 'cities' || stream === 'damages') return { ...Object(record), code: `C${id}` };
  if (stream === 'models') return { ...Object(record), vehicle_type: { id: 1, name: `type ${id}` } };
  if (stream !== 'cars') return record;
  const lots: readonly object[] = Reflect.get(Object(record), 'lots') ?? [];
  const withLink = (lot: object, i: number): object => {
    const branch: unknown = Reflect.get(lot, 'selling_branch');
    const isObject = typeof branch === 'object' && branch !== null;
    return isObject
      ? { ...lot, selling_branch: { ...branch, link: `https://branch.example/${id}/${i}` } }
      : lot;
  };
  return { ...Object(record), lots: lots.map(withLink) };
}

const recordsIn = (answer: unknown): unknown[] =>
  Array.isArray(answer) ? answer : ((Reflect.get(Object(answer), 'data') as unknown[] | undefined) ?? []);

async function answerOf(url: string): Promise<string> {
  const known = answers.get(url);
  if (known !== undefined) return known;
  const response = await fetch(new URL(url, sandbox.url), { headers: { 'x-api-key': 'sandbox-key' } });
  const given = await response.text();
  const stream = streamOf(url);
  if (stream === undefined || !response.ok) return given;
  const answer: unknown = JSON.parse(given);
  const records = recordsIn(answer).map((record) => filled(stream, record));
  const text = JSON.stringify(Array.isArray(answer) ? records : { ...Object(answer), data: records });
  answers.set(url, text);
  pools.set(stream, [...(pools.get(stream) ?? []), ...records]);
  return text;
}

/** Gives each change a record of its own that has the member. Returns the cases, and the changes for which none was left. */
function assign(
  stream: StreamName,
  changes: readonly Change[],
  records: readonly unknown[],
): [Case[], Change[]] {
  const left = [...records];
  const cases: Case[] = [];
  const over: Change[] = [];
  for (const change of changes) {
    const at = left.findIndex((record) => has(record, change));
    const other = left.findIndex((record, i) => i !== at && has(record, change));
    if (at < 0 || other < 0) {
      over.push(change);
      continue;
    }
    const bad = changed(left[at], change, left[other]);
    const sound = left.splice(at, 1)[0];
    cases.push({ sound, change, bad });
  }
  const rest = stream === 'cars' ? left.slice(0, 20) : left;
  return [[...cases, ...rest.map((sound) => ({ sound, change: undefined, bad: sound }))], over];
}

/** A lake over some cases: its nights, and what they said. */
async function openLake(cases: ReadonlyMap<StreamName, readonly Case[]>) {
  const folder = temporaryFolder();
  let isBad = false;
  const bad = new Map(
    [...cases].flatMap(([name, all]) =>
      all.map((one): [string, unknown] => [`${name} ${JSON.stringify(one.sound)}`, one.bad]),
    ),
  );
  const now = (name: StreamName, record: unknown): unknown =>
    isBad ? (bad.get(`${name} ${JSON.stringify(record)}`) ?? record) : record;
  const cars = (cases.get('cars') ?? []).map(({ sound }) => sound);
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    response.sendDate = false;
    response.setHeader('content-type', 'application/json');
    if (url.pathname === '/api/cars') {
      const page = Number(url.searchParams.get('page') ?? 1);
      const body = lastPage(page === 1 ? cars.map((record) => now('cars', record)) : []);
      response.end(JSON.stringify(body));
      return;
    }
    // Each night asks for the archive of its last days; here it gets all of it.
    if (url.pathname === '/api/archived-lots') url.searchParams.delete('minutes');
    const answer: unknown = JSON.parse(await answerOf(`${url.pathname}${url.search}`));
    const stream = streamOf(url.pathname);
    const records = recordsIn(answer).map((record) => (stream === undefined ? record : now(stream, record)));
    response.end(JSON.stringify(Array.isArray(answer) ? records : { ...Object(answer), data: records }));
  });
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const guards = { shrinkGuard: 1, rejectGuard: 1, rejectAlarm: 1, referenceDays: 0, retryBudget: 0.01 };
  let nights = 0;
  return {
    async night(bad: boolean) {
      isBad = bad;
      const start = new Date(STARTS[nights++] ?? '');
      const reporter = silentReporter();
      const config = configFor(`http://127.0.0.1:${port}/api`, folder.path, { ...guards, memory: '2GB' });
      await nightly({ ...WITHOUT_MARTS, config, reporter, now: () => start });
      return { lake: await readLake(join(folder.path, 'lake', 'current')), warnings: reporter.warnings };
    },
    async close() {
      server.closeAllConnections();
      server.close();
      folder.remove();
    },
  };
}

type Lake = ReadonlyMap<string, readonly PlainRow[]>;

/** Columns of lotlake's own, which say when and how it saw a row. */
const OWN = /^(first_seen_at|changed_at|run_id|rejected|gone_at|archived_at|archived_by|last_seen_at|month)$/;

const isThere = (row: PlainRow): boolean => row.gone_at === null || row.gone_at === undefined;

const contentOf = (row: PlainRow): string =>
  JSON.stringify(Object.entries(row).filter(([name]) => !OWN.test(name)));

/** Rows of a sound lake that another lake lacks, or has with other values. */
function lacking(sound: Lake, found: Lake): string[] {
  return lakeTables().flatMap(({ name }) => {
    const has = new Set((found.get(name) ?? []).filter(isThere).map(contentOf));
    return (sound.get(name) ?? [])
      .filter((row) => isThere(row) && !has.has(contentOf(row)))
      .map((row) => `${name} ${contentOf(row).slice(0, 300)}`);
  });
}

/** How many rows of each table a night says to share their key. */
function toldOf(warnings: readonly string[]): Map<string, number> {
  const found = warnings.flatMap((warning) => {
    const [, number, table] = /^([\d,]+) rows? of (\w+) came with the key of another/.exec(warning) ?? [];
    return table === undefined ? [] : [[table, Number(number?.replaceAll(',', ''))] as const];
  });
  return new Map(found);
}

/** The rejects of records that came with one id. */
const rejectsOf = (lake: Lake, stream: string, id: unknown, started: string): PlainRow[] =>
  (lake.get('rejects') ?? []).filter(
    (row) =>
      row.stream === stream &&
      row.record_id === String(id) &&
      String(row.pass_id).startsWith(started.slice(0, 10).replaceAll('-', '')),
  );

/** A record without the rows that its rejects name. */
function withoutRejected(record: unknown, rejects: readonly PlainRow[]): unknown {
  const copy: unknown = structuredClone(record);
  for (const { path, column_name } of rejects) {
    if (column_name !== '*') continue;
    const steps = String(path).split(/\.|(?=\[)/);
    const last = steps.findLastIndex((step) => step.startsWith('['));
    const list = steps
      .slice(0, last)
      .reduce<unknown>((at, step) => Reflect.get(Object(at), step.replace(/[[\]]/g, '')), copy);
    if (Array.isArray(list)) list[Number(steps[last]?.slice(1, -1))] = null;
  }
  return copy;
}

/** Rows of changed vehicles that are not there and that nothing tells, by table, with the changes. */
function lostInSilence(
  lake: Lake,
  warnings: readonly string[],
  cases: readonly Case[],
  started: string,
): string[] {
  const short = new Map<string, { rows: number; changes: string[] }>();
  for (const { bad, change } of cases) {
    const id: unknown = Reflect.get(Object(bad), 'id');
    const rejects = rejectsOf(lake, 'cars', id, started);
    if (rejects.some(({ table_name }) => table_name === null) || change?.path === 'id') continue;
    const loaded = withoutRejected(bad, rejects);
    for (const { name, stream, from } of lakeTables()) {
      if (stream !== 'cars') continue;
      const wanted = Object.keys(from).reduce((sum, path) => sum + rowsAt(loaded, path).length, 0);
      const rows = (lake.get(name) ?? []).filter(
        (row) => isThere(row) && Number(row.vehicle_id) === Number(id),
      );
      if (rows.length >= wanted) continue;
      const found = short.get(name) ?? { rows: 0, changes: [] };
      found.rows += wanted - rows.length;
      found.changes.push(`${change?.path}: ${change?.how}: ${rows.length} of ${wanted}`);
      short.set(name, found);
    }
  }
  const told = toldOf(warnings);
  return [...short]
    .filter(([table, { rows }]) => rows > (told.get(table) ?? 0))
    .map(
      ([table, { rows, changes }]) =>
        `${rows} rows of ${table}, told ${told.get(table) ?? 0}: ${changes.join('; ')}`,
    );
}

/** Changes after which a row may be gone although its record is sound otherwise: another key, or an empty list. */
const mayEndRows = ({ kind, how, path }: Change): boolean =>
  kind === 'key' ||
  (kind === 'list' && how === 'an empty object') ||
  /vehicle_ref\.(domain_id|listing_id)$/.test(path);

/** Rows of changed vehicles that a sound night had and that are gone or archived after a change that ends none. */
function endedWrongly(sound: Lake, lake: Lake, cases: readonly Case[]): string[] {
  const kept = new Map(
    cases.flatMap(({ sound: record, change }) =>
      change === undefined || mayEndRows(change)
        ? []
        : [[Number(Reflect.get(Object(record), 'id')), change] as const],
    ),
  );
  return lakeTables().flatMap(({ name, stream, key }) => {
    if (stream !== 'cars') return [];
    const keyOf = (row: PlainRow): string => key.map((column) => row[column]).join(' ');
    const there = new Set(
      (lake.get(name) ?? []).filter((row) => isThere(row) && row.archived !== true).map(keyOf),
    );
    return (sound.get(name) ?? []).flatMap((row) => {
      const change = kept.get(Number(row.vehicle_id));
      const isEnded = change !== undefined && row.archived !== true && !there.has(keyOf(row));
      return isEnded ? [`${name} ${keyOf(row)} after ${change.path}: ${change.how}`] : [];
    });
  });
}

/** Records of the other streams that are neither there, nor rejected, nor told. */
function lostRecords(
  lake: Lake,
  warnings: readonly string[],
  cases: ReadonlyMap<StreamName, readonly Case[]>,
  started: string,
) {
  const day = started.slice(0, 10).replaceAll('-', '');
  return lakeTables().flatMap(({ name, stream }) => {
    if (stream === 'cars') return [];
    const came = new Set((cases.get(stream) ?? []).map(({ bad }) => JSON.stringify(bad))).size;
    const rejected = (lake.get('rejects') ?? []).filter(
      (row) => row.stream === stream && row.table_name === null && String(row.pass_id).startsWith(day),
    ).length;
    const there = (lake.get(name) ?? []).filter(isThere).length;
    const lost = came - rejected - there - (toldOf(warnings).get(name) ?? 0);
    return lost > 0 ? [`${lost} of ${came} rows of ${name}; ${rejected} rejected`] : [];
  });
}

const all = streamNames.flatMap(changesOf);
const step = Math.max(1, all.length / MOST);
const chosen = all.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));

describe(`${chosen.length} changes of members`, () => {
  let vehicles: unknown[];
  beforeAll(async () => {
    sandbox = await startSandbox({ vehicles: 6000, seed: 3, clock: new Date(STARTS[0] ?? '') });
    const { world } = sandbox;
    vehicles = world
      .activeIds()
      .map((id): unknown => JSON.parse(world.vehicleJson(id, { pricesHistory: true }) ?? '{}'))
      .map((record) => filled('cars', record));
    // One night asks for every list.
    const lake = await openLake(
      new Map([['cars', vehicles.slice(0, 5).map((sound) => ({ sound, change: undefined, bad: sound }))]]),
    );
    await lake.night(false);
    await lake.close();
  });
  afterAll(() => sandbox.close());

  it('lose no row in silence, and a sound night brings all rows back', async () => {
    let left: readonly Change[] = chosen;
    let made = 0;
    for (let round = 1; left.length > 0; round++) {
      const cases = new Map<StreamName, Case[]>();
      const over: Change[] = [];
      for (const stream of streamNames) {
        const own = left.filter((change) => change.stream === stream);
        const now = stream === 'cars' ? own.slice(0, VEHICLES) : own;
        const [assigned, others] = assign(
          stream,
          now,
          stream === 'cars' ? vehicles : (pools.get(stream) ?? []),
        );
        cases.set(stream, assigned);
        over.push(...others, ...own.slice(now.length));
      }
      const count = left.length - over.length;
      expect(count, over.map(({ stream, path }) => `${stream}.${path}`).join(', ')).toBeGreaterThan(0);
      made += count;
      await playRound(cases, round);
      left = over;
    }
    expect(made).toBe(chosen.length);
  }, 3_600_000);
});

/** Plays three nights over some cases, twice. */
async function playRound(cases: ReadonlyMap<StreamName, readonly Case[]>, round: number): Promise<void> {
  const cars = cases.get('cars') ?? [];
  const [first = '', second = '', third = ''] = STARTS;
  const once = await openLake(cases);
  const sound = await once.night(false);
  const between = await once.night(true);
  expect(lostInSilence(between.lake, between.warnings, cars, second), `round ${round}, changed`).toEqual([]);
  expect(lostRecords(between.lake, between.warnings, cases, second), `round ${round}, changed`).toEqual([]);
  expect(endedWrongly(sound.lake, between.lake, cars), `round ${round}, changed`).toEqual([]);
  const again = await once.night(false);
  expect(lacking(sound.lake, again.lake), `round ${round}, sound again`).toEqual([]);
  await once.close();

  const twice = await openLake(cases);
  const begin = await twice.night(true);
  expect(lostInSilence(begin.lake, begin.warnings, cars, first), `round ${round}, changed first`).toEqual([]);
  expect(lacking(sound.lake, (await twice.night(false)).lake), `round ${round}, then sound`).toEqual([]);
  const end = await twice.night(true);
  expect(lostInSilence(end.lake, end.warnings, cars, third), `round ${round}, changed last`).toEqual([]);
  await twice.close();
}
