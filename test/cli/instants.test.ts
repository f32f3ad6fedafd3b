import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tableFromIPC } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HandMade, handMadeLake } from '../query/support.js';
import { runLotlake } from './support.js';

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({
    lots: `select cast(1 as bigint) as lot_id, timestamptz '2026-06-15 12:00:00.123456+00' as sale_date`,
  });
});
afterAll(() => lake.remove());

const lotlake = (...args: string[]) => {
  const ended = runLotlake(lake.config.output, ...args);
  expect(ended.code, ended.err).toBe(0);
  return ended;
};

const SHOWN = '2026-06-15T12:00:00.123456Z';

describe('an instant in UTC, whatever the time zone of the process', () => {
  it.each([
    ['json', `[{"lot_id":1,"sale_date":"${SHOWN}"}]\n`],
    ['csv', `lot_id,sale_date\r\n1,${SHOWN}\r\n`],
    ['table', `│ ${SHOWN} │`],
  ])('is what a query prints as %s', (format, text) => {
    expect(lotlake('query', 'select * from lots', '--format', format).out).toContain(text);
  });

  it('is what a query writes as Arrow', () => {
    const { bytes } = lotlake('query', 'select * from lots', '--format', 'arrow');
    const column = tableFromIPC(bytes).getChild('sale_date');
    expect(String(column?.type)).toBe('Timestamp<MICROSECOND, UTC>');
    expect(column?.data[0]?.values[0]).toBe(1781524800123456n);
  });

  it('is what an export writes as CSV', () => {
    lotlake('export', 'lots', '--to', 'csv', '--format', 'csv');
    const text = readFileSync(join(lake.config.output, 'csv', 'data', 'lots.csv'), 'utf8');
    expect(text).toBe(`lot_id,sale_date\r\n1,${SHOWN}\r\n`);
  });
});
