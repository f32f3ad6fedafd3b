import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { isOutOfMemory } from '../../src/base/duck/out-of-memory.js';
import { poolOf, settled } from '../../src/base/duck/pool.js';
import { openSession, type Session, scalar } from '../../src/base/duck/session.js';
import { assertMemory, outOfMemoryError } from '../../src/core/lake/lake-error.js';
import { readModels } from '../../src/core/model/model-files.js';
import { runModels } from '../../src/core/model/run-models.js';
import { temporaryFolder } from '../pipelines/support.js';

/** DuckDB holds a list whole. This list needs more than the memory of the session. */
const TOO_MUCH = 'select length(list(i)) from range(20000000) as r(i)';
/** One of these lists fits into the memory; two at once do not. */
const HALF = 'select length(list(i)) as n from range(6000000) as r(i)';

let folder: ReturnType<typeof temporaryFolder>;
let session: Session;

beforeEach(async () => {
  folder = temporaryFolder();
  session = await openSession({ memory: '200MB', temp: folder.path, threads: 1 });
});
afterEach(() => {
  session.close();
  folder.remove();
});

const errorOf = (sql: string): Promise<unknown> =>
  session.connection.run(sql).catch((error: unknown) => error);

describe('an error of DuckDB', () => {
  it('is recognized as out of memory, even as the cause of another error', async () => {
    const error = await errorOf(TOO_MUCH);
    expect(isOutOfMemory(error)).toBe(true);
    const failed = (message: string, cause: unknown) => new LotlakeError('MODEL_FAILED', message, { cause });
    expect(isOutOfMemory(failed('model sales failed', error))).toBe(true);
    expect(isOutOfMemory(await errorOf('select no_such_column'))).toBe(false);
    expect(isOutOfMemory(failed('Out of Memory Error, says the service', 0))).toBe(false);
  });

  it('is reported with the limit, the memory of the machine, and what to do', async () => {
    const error = outOfMemoryError(await errorOf(TOO_MUCH), '200MB');
    expect(error?.code).toBe('LAKE_OUT_OF_MEMORY');
    expect(error?.message).toMatch(/^Out of Memory Error: .* \(limit 200MB, of [\d.]+ GB that this machine/);
    expect(error?.hint).toMatch(/what was landed and published stays; set LOTLAKE_MEMORY to up to [\d.]+ GB/);
    expect(outOfMemoryError(new Error('another'), '200MB')).toBeUndefined();
    expect(outOfMemoryError(await errorOf(TOO_MUCH), '900GB')?.hint).toMatch(/with more memory$/);
  });

  it('comes before the first request if the machine has less than a job needs', () => {
    expect(() => assertMemory('700MB', 1.2e9)).toThrow(/has 1.2 GB of memory, and a job needs 1.6 GB/);
    expect(() => assertMemory('700MB', 1.6e9)).not.toThrow();
  });
});

describe('work that does not fit into memory beside other work', () => {
  it('runs again alone, with all of the memory', async () => {
    const use = poolOf([session.connection, await session.connect()], session.alone);
    let running = 0;
    const besideLast: number[] = [];
    const tasks = [0, 1, 2, 3].map(() =>
      use(async (connection) => {
        running += 1;
        besideLast.push(running);
        try {
          return await scalar(connection, HALF);
        } finally {
          running -= 1;
        }
      }),
    );
    expect(await session.whileWriting(() => settled(tasks))).toEqual([6e6, 6e6, 6e6, 6e6]);
    expect(session.timesAlone).toBeGreaterThan(0);
    expect(besideLast.slice(-session.timesAlone)).toEqual(Array(session.timesAlone).fill(1));
  });

  it('fails later work if it does not fit alone either', async () => {
    const use = poolOf([session.connection, await session.connect()], session.alone);
    const tasks = [TOO_MUCH, 'select 1'].map((sql) => use((connection) => scalar(connection, sql)));
    const [tooMuch, one] = await Promise.allSettled(tasks);
    expect(tooMuch).toMatchObject({ status: 'rejected', reason: { message: /Out of Memory/ } });
    expect(one).toEqual({ status: 'fulfilled', value: 1 });
    await expect(use((connection) => scalar(connection, 'select 1'))).rejects.toThrow(/Out of Memory/);
  });

  it('does not fail a model, and the file of the model is sorted', async () => {
    const [model] = readModels();
    if (model === undefined) throw new Error('there is no model');
    const models = ['a', 'b', 'c'].map((name) => ({
      ...model,
      name,
      key: ['id'],
      sql: `select i as id, (${HALF}) as n from range(2000) as r(i) order by hash(i)`,
    }));
    const beside = [await session.connect()];
    const { alone } = session;
    const options = { target: folder.path, models, beside, alone };
    const results = await session.whileWriting(() => runModels(session.connection, options));
    expect(results.map(({ rows }) => rows)).toEqual([2000, 2000, 2000]);
    expect(session.timesAlone).toBeGreaterThan(0);
    for (const { name } of models) {
      const sorted = `select bool_and(id = file_row_number) from read_parquet('${folder.path}/${name}/*', file_row_number = true)`;
      const reader = await session.connection.runAndReadAll(sorted);
      expect(reader.getRows()).toEqual([[true]]);
    }
  });
});
