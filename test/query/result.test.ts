import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { writeCsv } from '../../src/ask/export/data-files.js';
import { openResult } from '../../src/ask/query/result.js';
import { jsonValue } from '../../src/ask/query/result-values.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { readQuery } from '../../src/core/model/read-only.js';

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '200MB', threads: 2 });
});
afterAll(() => opened.close());

const FAILING =
  "select case when i < 900000 then i else error('amid ' || i) end as i from range(1000000) t(i)";

async function resultOf(sql: string) {
  const { connection } = opened.session;
  return openResult(connection, await readQuery(connection, sql));
}

async function countOf(sql: string): Promise<number> {
  let count = 0;
  for await (const rows of (await resultOf(sql)).rows(jsonValue)) count += rows.length;
  return count;
}

describe('a streamed result', () => {
  it.each([0, 1, 2048, 2049, 300_000])('has all of %i rows', async (count) => {
    expect(await countOf(`from range(${count})`)).toBe(count);
    expect(await (await resultOf(`from range(${count})`)).countRest()).toBe(count);
  });

  it('keeps the order that the query asks for', async () => {
    const got: unknown[] = [];
    const result = await resultOf('select i from range(300000) t(i) order by i desc');
    for await (const rows of result.rows(jsonValue)) got.push(...rows.map(([i]) => i));
    expect(got).toEqual(Array.from({ length: 300_000 }, (_, i) => 299_999 - i));
  });

  it('that fails in the middle of its rows throws', async () => {
    await expect(countOf(FAILING)).rejects.toThrow('amid 9');
    await expect((await resultOf(FAILING)).countRest()).rejects.toThrow('amid 9');
  });

  it('that fails in the middle of its rows makes an export fail', async () => {
    const folder = `${opened.temp}/csv`;
    const written = writeCsv(opened.session.connection, FAILING, folder, { maxBytes: 1e9, bom: false });
    await expect(written).rejects.toThrow('amid 9');
  });
});
