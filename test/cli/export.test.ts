import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesBelow, type HandMade, handMadeLake, LOTS, SALES, SNAPSHOT } from '../query/support.js';
import { runLotlake } from './support.js';

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS }, { sales: SALES });
});
afterAll(() => lake.remove());

const lotlake = (...args: string[]) => runLotlake(lake.config.output, 'export', ...args);

describe('lotlake export', () => {
  it('writes a folder below the working folder that sha256sum finds sound, and says what is in it', () => {
    const { code, out, err } = lotlake('sales', 'lots', '--to', 'hand-over', '--format', 'csv', '--bom');
    expect(code, err).toBe(0);
    expect(out).toBe(
      `exported snapshot ${SNAPSHOT}\nsales: 50 rows in 1 file, 0.0 MB\nlots: 120 rows in 1 file, 0.0 MB\nin hand-over\n`,
    );
    const folder = join(lake.config.output, 'hand-over');
    expect(filesBelow(join(folder, 'data'))).toEqual(['lots.csv', 'sales.csv']);
    const check = spawnSync('sha256sum', ['-c', '--quiet', '--strict', 'SHA256SUMS'], { cwd: folder });
    expect(check.status, String(check.stderr)).toBe(0);
  });

  it('takes conditions, columns and a snapshot, and prints JSON', () => {
    const { code, out, err } = lotlake(
      ...['sales', '--to', 'chosen', '--columns', 'lot_id, price', '--where', 'is_trusted'],
      ...['--snapshot', SNAPSHOT, '--zip', '--json'],
    );
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      path: join(lake.config.output, 'chosen.zip'),
      snapshot: SNAPSHOT,
      tables: [{ name: 'sales', rows: 25, columns: 2, files: [{ path: 'data/sales.parquet' }] }],
    });
  });

  it.each([
    [['sale', '--to', 'x'], /no table sale; did you mean sales/],
    [['sales', '--to', 'x', '--snapshot', '20200101T000000Z-aaaaaa'], /LAKE_NO_SNAPSHOT/],
    [['sales', '--to', 'x', '--max-bytes', 'big'], /EXPORT_OPTIONS/],
    [['sales'], /to/],
  ])('ends with exit code 2 and a hint: %j', (args, message) => {
    const { code, err } = lotlake(...args);
    expect(err).toMatch(message);
    expect(code).toBe(2);
  });
});
