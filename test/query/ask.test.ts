import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tablesOf } from '../../src/ask/query/ask.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { lakeTables, systemTables } from '../../src/core/lake/tables.js';
import { readModels } from '../../src/core/model/model-files.js';

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
});
afterAll(() => opened.close());

const filesOf = (folder: string): string[] =>
  readdirSync(join(packageRoot, 'sql', folder))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => `${folder}/${file.slice(0, -4)}`);

describe('the tables that a query file reads', () => {
  it.each(['report', 'cli'])('are tables, marts and the view vins, never a CTE: %s', async (folder) => {
    const stored = [...lakeTables(), ...systemTables, ...readModels()].map(({ name }) => name);
    const known = [...stored, 'vins'];
    const read = await tablesOf(opened.session.connection, filesOf(folder));
    expect(read.length).toBeGreaterThan(3);
    expect(read.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('are all of several files, each once', async () => {
    const { connection } = opened.session;
    const alone = await Promise.all(
      ['report/headline', 'report/sold_by_day'].map((query) => tablesOf(connection, [query])),
    );
    const together = await tablesOf(connection, ['report/headline', 'report/sold_by_day']);
    expect(together).toEqual([...new Set(alone.flat())].sort());
    expect(together).toContain('sold_by_day');
  });
});
