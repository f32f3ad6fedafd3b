import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemTables } from '../../src/core/lake/tables.js';
import { exportTo, filesBelow, type HandMade, handMadeLake } from '../query/support.js';

/** What the records of runs hold of the machine and the service. */
const HOST = 'http://127.0.0.1:18787/api/cars?minutes=61 in /srv/lotlake/output';

/** Columns of `runs` and `passes` in which a run writes messages, settings or its service. */
const TOLD = /^(origin|error|settings|warnings|held|failing|reason)$/;

let lake: HandMade;

beforeAll(async () => {
  const rowOf = (table: string): string => {
    const columns = systemTables.find(({ name }) => name === table)?.columns ?? [];
    const values = columns.map(({ name, type }) => {
      const value = !TOLD.test(name) ? 'null' : type === 'VARCHAR' ? `'${HOST}'` : `['${HOST}']`;
      return `cast(${name === 'error_code' ? "'SERVICE_UNREACHABLE'" : value} as ${type}) as ${name}`;
    });
    return `select ${values.join(', ')}`;
  };
  lake = await handMadeLake({ runs: rowOf('runs'), passes: rowOf('passes') });
});
afterAll(() => lake.remove());

it('an export names the code of a failed run, and no host, URL or path', async () => {
  const { path, at } = await exportTo(lake, { tables: ['runs', 'passes'], format: 'csv' });
  const texts = filesBelow(path).map((file) => readFileSync(at(file), 'utf8'));
  expect(texts.join('\n')).toContain('SERVICE_UNREACHABLE');
  for (const text of texts) expect(text).not.toMatch(/127\.0\.0\.1|srv/);
  expect(readFileSync(at('data/runs.csv'), 'utf8')).toMatch(
    /^run_id,.*,outcome,exit_code,error_code,snapshot_id,/,
  );
});

it('has what is internal if somebody names the column', async () => {
  const { at } = await exportTo(lake, { tables: ['runs'], columns: ['error'], format: 'csv' });
  expect(readFileSync(at('data/runs.csv'), 'utf8')).toContain(HOST);
});
