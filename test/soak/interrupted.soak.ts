import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import pLimit from 'p-limit';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hash } from '../../src/sandbox/world/random.js';
import { contentIn } from '../pipelines/lake-process.js';
import { expectSameLake, readLake, temporaryFolder } from '../pipelines/support.js';
import { type Interrupted, type Interruption, interrupt, KINDS, possibleKinds } from './interrupted/kinds.js';
import { OPERATIONS, type Operation } from './interrupted/operations.js';
import {
  contentAfter,
  copyLake,
  envOf,
  expectContent,
  expectSound,
  openShared,
  run,
  type Shared,
  type Site,
  type Step,
  withSite,
} from './interrupted/site.js';

/** Number of interruptions, and the seed of all draws. LOTLAKE_CASE runs some of them again, by number. */
const COUNT = Number(process.env.LOTLAKE_KILLS ?? 150);
const SEED = Number(process.env.LOTLAKE_SEED ?? 1);
const SOME = process.env.LOTLAKE_CASE?.split(',').map(Number);

/** Cases at once: while some wait for their commands, another works in this process. */
const LANES = 4;
/** How often an operation is begun that ends before its interruption comes. */
const ATTEMPTS = 3;
const CLOCK = pathToFileURL(join(import.meta.dirname, 'interrupted', 'fixed-clock.mjs')).href;

interface Case {
  readonly number: number;
  readonly operation: Operation;
  readonly how: Interruption;
  readonly isRepeated: boolean;
}

/** A number from 0 up to a limit, by the seed of a case and a salt. */
const draw = (seed: number, salt: number, limit: number): number =>
  Math.floor((hash(seed, 0, salt) / 2 ** 32) * limit);

function pick<T>(seed: number, salt: number, items: readonly T[]): T {
  const item = items[draw(seed, salt, items.length)];
  if (item === undefined) throw new Error('there is nothing to pick');
  return item;
}

/** Every kind meets every operation in 48 cases; the first 12 have every kind and every operation. */
function caseOf(number: number): Case {
  const seed = hash(SEED, number, 0);
  const place = number % OPERATIONS.length;
  const operation = pick(seed, 1, OPERATIONS[place] ?? []);
  const kind = KINDS[(place + Math.floor(number / OPERATIONS.length)) % KINDS.length] ?? 'KILL';
  const [point = '', most = '1'] = pick(seed, 2, operation.points).split('#');
  const how: Interruption = {
    kind,
    moment:
      draw(seed, 3, 2) === 0 ? `${point}#${1 + draw(seed, 4, Number(most))}` : (25 + draw(seed, 5, 75)) / 100,
    part: pick(seed, 6, operation.parts),
    // From one kilobyte to more than the largest file.
    blocks: Math.round(2 ** (1 + draw(seed, 7, 1000) / 100)),
    isTrapped: draw(seed, 8, 2) === 0,
  };
  return { number, operation, how, isRepeated: draw(seed, 9, 2) === 0 };
}

function nameOf({ number, operation, how, isRepeated }: Case): string {
  const { kind, moment, part, blocks, isTrapped } = how;
  const at = typeof moment === 'number' ? `after ${Math.round(moment * 100)}%` : `at ${moment}`;
  const what =
    kind === 'file size'
      ? `${blocks} blocks${isTrapped ? '' : ', with the signal'}`
      : `${kind === 'read-only' ? `${part === '' ? 'all' : part} ` : ''}${at}`;
  return `${number}: ${operation.name}, ${kind}: ${what}${isRepeated ? ', repeated' : ''}`;
}

const kinds = possibleKinds();
const CASES = Array.from({ length: COUNT }, (_, i) => caseOf(i)).filter(
  ({ number, how }) => kinds.includes(how.kind) && (SOME?.includes(number) ?? true),
);

const folder = temporaryFolder();
let shared: Shared;
beforeAll(async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'key');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret');
  shared = await openShared(folder.path);
});
afterAll(() => {
  vi.unstubAllEnvs();
  shared.mirrors.close();
  folder.remove();
});

const commandOf = (site: Site, operation: Operation) => ({
  args: ['--import', CLOCK, shared.command.main, ...operation.args(site)],
  env: envOf(site, site.moveTo(0)),
  ...{ cwd: site.cwd, place: site.place },
});

/** Works on a site with the lake before an operation. */
const withLake = <T>(name: string, operation: Operation, work: (site: Site) => Promise<T>): Promise<T> =>
  withSite(shared, name, operation.base, async (site) => {
    copyLake(join(folder.path, operation.base), site.output);
    await operation.prepare?.(site);
    return work(site);
  });

const times = new Map<Operation, Promise<number>>();

/** Milliseconds that an operation takes undisturbed, measured once. */
function timeOf(operation: Operation): Promise<number> {
  const known = times.get(operation);
  if (known !== undefined) return known;
  const measured = withLake(`measured-${times.size}`, operation, async (site) => {
    const command = commandOf(site, operation);
    const how: Interruption = { kind: 'file size', moment: 1, part: '', blocks: 1_000_000, isTrapped: true };
    const { code, err, took } = await interrupt(command, how, 0);
    expect(code, err).toBe(0);
    return took;
  });
  times.set(operation, measured);
  return measured;
}

/** Expects that an interrupted operation ended as it says that it does. */
function expectEnd({ kind, isTrapped }: Interruption, { isHit, code, signal, err }: Interrupted): void {
  const by = signal ?? code;
  if (kind === 'KILL' || kind === 'STOP+KILL') {
    // Some versions of unshare end with 1 if what they ran was killed.
    if (isHit) expect(kind === 'KILL' ? ['SIGKILL'] : ['SIGKILL', 137, 1], err).toContain(by);
    return;
  }
  // A signal may come before the command handles it, and after its work is done.
  if (kind === 'TERM') {
    expect([0, 130, 'SIGTERM'], err).toContain(by);
    if (by === 130) expect(err).toContain('interrupted: ');
    return;
  }
  if (kind === 'file size' && !isTrapped && by === 'SIGXFSZ') return;
  if (by === 0) return;
  // DuckDB tells some errors in several lines.
  expect(err).toMatch(/^\w+: [\s\S]* \[[A-Z]+(_[A-Z]+)+\]$/m);
  expect(err).not.toMatch(/^\s+at /m);
}

const hasLock = (output: string): boolean =>
  lstatSync(join(output, 'lotlake.lock'), { throwIfNoEntry: false }) !== undefined;

/** What became of the cases. */
const results: (Interrupted & Case & { readonly isTaken: boolean })[] = [];

/** Interrupts an operation, completes it, and compares the lake with an undisturbed one, and again after a rebuild. */
async function play(given: Case, how: Interruption, attempt: number): Promise<boolean> {
  const { operation, isRepeated } = given;
  const { base } = operation;
  return withLake(`case-${given.number}-${attempt}`, operation, async (site) => {
    const before = await expectSound(site.output);
    const whole = typeof how.moment === 'number' ? await timeOf(operation) : 0;
    const left = await interrupt(commandOf(site, operation), how, whole);
    expectEnd(how, left);
    const after = await expectSound(site.output);
    if (!left.isHit && how.kind !== 'file size' && attempt < ATTEMPTS) {
      // The machine was slower when it was measured.
      if (typeof how.moment === 'number') times.set(operation, Promise.resolve(left.took));
      return false;
    }
    const isTaken = how.kind === 'STOP+KILL' && hasLock(site.output);
    const steps = await operation.complete(site, { isPublished: after !== before, isRepeated });
    const night: Step = operation.night ?? ['nightly', 24];
    await run(site, night);
    const lake = await readLake(join(site.output, 'lake', 'current'));
    const undisturbed = operation.night === undefined ? night : (['nightly', 0] as const);
    expectContent(contentIn(lake), await contentAfter(shared, base, [...steps, undisturbed]));
    await run(site, ['rebuild', night[1] + 1 / 60]);
    expectSameLake(await readLake(join(site.output, 'lake', 'current')), lake);
    results.push({ ...given, ...left, isTaken });
    return true;
  });
}

const lane = pLimit(LANES);

/** About 15 minutes. A failure names its number: LOTLAKE_CASE with the same LOTLAKE_SEED runs it alone. */
describe('an interrupted operation loses nothing', () => {
  it.concurrent.for(CASES.map((given) => [nameOf(given), given] as const))('%s', ([, given]) =>
    lane(async () => {
      let { how } = given;
      // An operation that ended too early is interrupted sooner.
      for (let attempt = 1; !(await play(given, how, attempt)); attempt++)
        how = { ...how, moment: typeof how.moment === 'number' ? how.moment * 0.6 : 0.5 };
    }),
  );

  it.runIf(SOME === undefined)('of every kind, which came while the operation was at work', () => {
    process.stdout.write(`${tableOf()}\n`);
    const hit = results.filter(({ isHit }) => isHit);
    expect([...new Set(hit.map(({ how }) => how.kind))].sort()).toEqual([...kinds].sort());
    const operations = OPERATIONS.map(([{ name }]) => name).sort();
    expect([...new Set(hit.map(({ operation }) => operation.name))].sort()).toEqual(operations);
  });
});

/** Cases and hits by kind and operation, and the stages in which operations were hit. */
function tableOf(): string {
  const count = (some: readonly { readonly isHit: boolean }[]): string =>
    some.length === 0 ? '-' : `${some.filter(({ isHit }) => isHit).length}/${some.length}`;
  const lines = OPERATIONS.map(([{ name }]) => {
    const own = results.filter(({ operation }) => operation.name === name);
    const cells = [...KINDS.map((kind) => own.filter(({ how }) => how.kind === kind)), own].map(count);
    return [name, ...cells];
  });
  const all = [...KINDS.map((kind) => results.filter(({ how }) => how.kind === kind)), results].map(count);
  const grid = [['hit/cases', ...KINDS, 'all'], ...lines, ['all', ...all]].map((cells) =>
    cells.map((cell) => cell.padEnd(12)).join(''),
  );
  const stages = OPERATIONS.map(([{ name }]) => {
    const found = results
      .filter(({ operation, isHit }) => operation.name === name && isHit)
      .map(({ stage }) => stage);
    const counted = [...new Set(found)]
      .sort()
      .map((stage) => `${stage} ${found.filter((each) => each === stage).length}`);
    return `${name}: ${counted.join(', ')}`;
  });
  const taken = results.filter(({ isTaken }) => isTaken).length;
  const failed = results.filter(({ code }) => code !== 0).length;
  return [
    ...grid,
    ...stages,
    `${failed} of ${results.length} operations did not end with 0; ${taken} locks of a process that cannot be seen were taken over`,
  ].join('\n');
}
