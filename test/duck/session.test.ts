import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeScratch, remove } from '../../src/base/config/owned.js';
import { openSession, rows, type Session, scalar } from '../../src/base/duck/session.js';
import { withinLimits } from '../../src/base/duck/statement-limits.js';
import { problemOf } from '../../src/core/model/model-limits.js';

const ENDLESS =
  'select count(*) from range(10000000) as a, range(10000000) as b where a.range * b.range % 7 = 3';
let session: Session;
let root: string;
beforeAll(async () => {
  root = makeScratch(join(tmpdir(), 'lotlake-limits-'));
  session = await openSession({ memory: '256MB', temp: join(root, 'spill') });
});
afterAll(() => {
  session.close();
  remove(root);
});

const run = (sql: string) => () => session.connection.run(sql);

describe('a limit on a statement', () => {
  it('ends one that never ends, with its own error, and leaves the connection as it was', async () => {
    const problem = problemOf({ seconds: 0.1, freeBytes: () => 1e12 });
    const ended = withinLimits(session.connection, { problem }, run(ENDLESS));
    await expect(ended).rejects.toThrow('it took longer than 0.1 s');
    expect(await scalar(session.connection, 'select 1')).toBe(1);
  });

  it('ends every statement of the work, also those that begin after it is reached', async () => {
    const problem = problemOf({ seconds: 0.1, freeBytes: () => 1e12 });
    const twice = async (): Promise<unknown> => run(ENDLESS)().catch(run(ENDLESS));
    await expect(withinLimits(session.connection, { problem }, twice)).rejects.toThrow('it took longer');
  });

  it('lets work go that is done before', async () => {
    const problem = problemOf({ seconds: 60, freeBytes: () => null });
    expect(await withinLimits(session.connection, { problem }, async () => 7)).toBe(7);
    const failing = withinLimits(session.connection, { problem }, run('select no_such'));
    await expect(failing).rejects.toThrow('no_such');
  });

  it('is the disk, too: half of what is free, or 1 GB', async () => {
    let free = 300e6;
    const problem = problemOf({ seconds: 60, freeBytes: () => free });
    const timer = setTimeout(() => {
      free = 140e6;
    }, 300);
    const ended = withinLimits(session.connection, { problem }, run(ENDLESS));
    await expect(ended).rejects.toThrow('it filled the disk until 140.0 MB were left');
    clearTimeout(timer);
  });

  it('is a signal, whose reason is thrown', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(new Error('the reader left')), 100);
    const limits = { signal: controller.signal, problem: () => undefined };
    await expect(withinLimits(session.connection, limits, run(ENDLESS))).rejects.toThrow('the reader left');
  });
});

describe('rows of a query', () => {
  it('hold dates that no Date can hold as texts, and numbers of any width', async () => {
    const [found] = await rows(
      session.connection,
      `select 'infinity'::date as d, '-infinity'::timestamptz as t, ['infinity'::date] as l, [7::bigint] as b,
        {'n': [170141183460469231731687303715884105727::hugeint]} as s, date '2026-11-20' as plain`,
    );
    expect(JSON.parse(JSON.stringify(found))).toEqual({
      ...{ d: 'infinity', t: '-infinity', l: ['infinity'], b: [7], s: { n: [2 ** 127] } },
      plain: '2026-11-20T00:00:00.000Z',
    });
  });
});
