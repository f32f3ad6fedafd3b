import { cpSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { rebuild } from '../../pipelines/rebuild.js';
import { verifyLanding } from '../../src/beyond/keep/verify-landing.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { listPasses, readPass } from '../../src/core/lake/passes/pass.js';
import { type Stage, setUp } from './world-oracle.js';

const DAY = 86_400_000;

let stage: Stage;
let landing: string;
beforeAll(async () => {
  const clock = new Date('2026-11-18T02:00:00Z');
  stage = await setUp({ vehicles: 60, seed: 41, clock }, { referenceDays: 1000, perPage: 20 });
  landing = layoutOf(stage.output).landing;
  for (let night = 0; night < 4; night++) {
    await stage.night();
    stage.sandbox.setClock(new Date(stage.sandbox.clock.getTime() + DAY));
  }
  cpSync(landing, `${landing}-kept`, { recursive: true });
});
afterAll(() => stage.close());

const isContent = (name: string): boolean => name !== 'pass.json';

/** Exchanges files of two folders. */
function exchange(one: string, other: string, names: (name: string) => boolean): void {
  const aside = `${one}-aside`;
  cpSync(one, aside, { recursive: true });
  for (const [from, to] of [
    [other, one],
    [aside, other],
  ] as const) {
    for (const name of readdirSync(to).filter(names)) rmSync(join(to, name));
    for (const name of readdirSync(from).filter(names)) cpSync(join(from, name), join(to, name));
  }
  rmSync(aside, { recursive: true });
}

/** Name of a page that two passes have otherwise. */
function pageOf(one: string, other: string): string {
  const known = new Map(readPass(other).pages.map(({ file, sha256 }) => [file, sha256]));
  return (
    readPass(one).pages.find(({ file, sha256 }) => known.has(file) && known.get(file) !== sha256)?.file ?? ''
  );
}

/** Exchanges a page of two passes. */
function exchangePage(one: string, other: string): string {
  const page = pageOf(one, other);
  exchange(one, other, (name) => name === page);
  return page;
}

/** Exchanges a page of two passes with its line of the ledger. */
function exchangePages(one: string, other: string): void {
  const lines = [one, other].map((folder) => readFileSync(join(folder, 'pages.ndjson'), 'utf8').split('\n'));
  const page = exchangePage(one, other);
  const isOf = (line: string): boolean => line.includes(`"file":"${page}"`);
  for (const [i, folder] of [one, other].entries()) {
    const theirs = lines[1 - i]?.find(isOf) ?? '';
    const own = lines[i]?.map((line) => (isOf(line) ? theirs : line)) ?? [];
    writeFileSync(join(folder, 'pages.ndjson'), own.join('\n'));
  }
}

it.each([
  ['all but pass.json of two deltas', 'cars', (a: string, b: string) => exchange(a, b, isContent)],
  ['all of two deltas', 'cars', (a: string, b: string) => exchange(a, b, () => true)],
  ['a page of two deltas', 'cars', exchangePage],
  ['a page of two deltas with its line of the ledger', 'cars', exchangePages],
  [
    'all but pass.json of two windows over the archive',
    'archived_lots',
    (a: string, b: string) => exchange(a, b, isContent),
  ],
  [
    'the names of two deltas',
    'cars',
    (a: string, b: string) => {
      renameSync(a, `${a}-aside`);
      renameSync(b, a);
      renameSync(`${a}-aside`, b);
    },
  ],
])('verify and rebuild tell that %s were exchanged', async (_, stream, work) => {
  const [one = '', other = ''] = listPasses(landing, stream === 'cars' ? 'cars' : 'archived_lots')
    .map(({ folder }) => folder)
    .slice(-2);
  const check = () => verifyLanding(landing, new Date(), new AbortController().signal);
  expect((await check()).problems).toEqual([]);
  work(one, other);
  const ids = new Set([basename(one), basename(other)]);
  const { problems } = await check();
  expect(new Set(problems.map(({ pass_id }) => pass_id))).toEqual(ids);
  expect(new Set(problems.map((problem) => problem.stream))).toEqual(new Set([stream]));
  await expect(stage.run(rebuild)).rejects.toMatchObject({ code: 'LAND_FAILED' });
  rmSync(landing, { recursive: true });
  cpSync(`${landing}-kept`, landing, { recursive: true });
  expect(readPass(one).record.pass_id).toBe(basename(one));
});
