import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { printedBy } from '../cli/support.js';
import { type HandMade, handMadeLake, LOTS, SALES } from './support.js';

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS }, { sales: SALES });
});
afterAll(() => lake.remove());

const current = (...path: string[]): string => join(lake.config.output, 'lake', 'current', ...path);
const answer = async (sql: string): Promise<string> =>
  String(await printedBy(lake.config.output, 'query', '--format', 'csv', sql));

describe('lotlake query', () => {
  it.each([["from '%'"], ["from read_parquet('%', hive_partitioning = true)"]])(
    'reads the whole of a table by its files: %s',
    async (from) => {
      const sql = `select count(*) as n from (${from.replaceAll('%', current('lots', '**', '*.parquet'))} select 1)`;
      expect(await answer(sql)).toBe('n\r\n120\r\n');
    },
  );

  it.each([
    () => current('lots', 'domain_id=1', '**', '*.parquet'),
    () => current('manifest.json'),
    () => join(lake.config.output, 'sandbox', 'lake', 'current', 'lots', '**', '*.parquet'),
    () => '/etc/hosts',
  ])('says what it reads instead of any other file (%#)', async (path) => {
    await expect(answer(`from read_text('${path()}')`)).rejects.toMatchObject({
      code: 'QUERY_FAILED',
      message: expect.stringContaining(`Cannot access file "${path()}"`),
      hint: expect.stringMatching(/reads tables by name, such as from lots .* DuckDB reads any file/),
    });
  });
});
