import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openLake } from '../../src/index.js';
import { type HandMade, handMadeLake, LOTS } from '../query/support.js';

let made: HandMade;
beforeAll(async () => {
  made = await handMadeLake({ lots: LOTS }, {});
  // Other suites have scratch folders, too.
  mkdirSync(scratchRoot());
  vi.stubEnv('TMPDIR', scratchRoot());
});
afterAll(() => {
  vi.unstubAllEnvs();
  made.remove();
});

const CLOSED = { code: 'QUERY_CLOSED', stage: 'query' };
const LONG = 'select a.range from range(10000000) a, range(1000) b';
const scratchRoot = (): string => join(made.folder, 'scratch');
const scratch = (): string[] => readdirSync(scratchRoot());
const open = () => openLake({ output: made.config.output });

describe('a lake that was closed', () => {
  it('refuses queries, streams and its state, and may be closed again', async () => {
    const lake = await open();
    lake.close();
    lake.close();
    await expect(lake.query('select 1')).rejects.toMatchObject(CLOSED);
    await expect(lake.status()).rejects.toMatchObject(CLOSED);
    await expect(lake.stream('select 1', 'csv')[Symbol.asyncIterator]().next()).rejects.toMatchObject(CLOSED);
  });

  it('ends a query that is at work', async () => {
    const before = scratch();
    const lake = await open();
    const answer = lake.query(`select count(*) from (${LONG})`).catch((error) => error);
    const others = Array.from({ length: 5 }, () => lake.query('select 1').catch((error) => error));
    await new Promise((resolve) => setTimeout(resolve, 100));
    lake.close();
    expect(await answer).toMatchObject(CLOSED);
    await Promise.all(others);
    expect(scratch()).toEqual(before);
  });

  it.each(['json', 'csv', 'arrow', 'parquet'] as const)(
    'ends a stream of %s that is half read',
    async (format) => {
      const before = scratch();
      const lake = await open();
      const sql = format === 'parquet' ? 'select range from range(2000000)' : LONG;
      const pieces = lake.stream(sql, format)[Symbol.asyncIterator]();
      expect((await pieces.next()).done).toBe(false);
      lake.close();
      await expect(pieces.next()).rejects.toMatchObject(CLOSED);
      expect(await pieces.next()).toEqual({ done: true, value: undefined });
      expect(scratch()).toEqual(before);
    },
  );

  it('ends a stream that waits for its next piece', async () => {
    const lake = await open();
    const pieces = lake.stream(LONG, 'csv')[Symbol.asyncIterator]();
    await pieces.next();
    const next = pieces.next().catch((error) => error);
    lake.close();
    // The piece may have been there already.
    await next;
    const after = await pieces.next().catch((error) => error);
    expect(after).toMatchObject(after instanceof Error ? CLOSED : { done: true });
  });

  it('leaves 50 readers of another lake alone', async () => {
    const [lake, other] = [await open(), await open()];
    const readers = Array.from({ length: 50 }, async () => {
      const pieces: unknown[] = [];
      for await (const piece of other.stream('select lot_id, title_name from lots order by lot_id', 'json'))
        pieces.push(piece);
      return pieces.join('');
    });
    lake.close();
    const texts = new Set(await Promise.all(readers));
    expect(texts.size).toBe(1);
    other.close();
  });
});
