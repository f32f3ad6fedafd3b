import { afterAll, beforeAll, expect, it } from 'vitest';
import { literal, openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';
import { type Metrics, readMetrics } from '../../src/beyond/iceberg/column-metrics.js';
import { giveIds, hashOf } from '../../src/core/lake/field-ids.js';

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '200MB', threads: 1 });
});
afterAll(() => opened.close());

/** Statistics of a file of the table `t` with the rows of a query. */
async function metricsOf(sql: string, options = ''): Promise<Metrics> {
  const { connection } = opened.session;
  await connection.run(`copy (${sql}) to ${literal(`${opened.temp}/t.parquet`)} (format parquet ${options})`);
  const described = await connection.runAndReadAll(`describe ${sql}`);
  const named = described.getRowObjectsJS().map(({ column_name, column_type }) => ({
    ...{ name: String(column_name), type: String(column_type) },
  }));
  const { columns } = giveIds(named, undefined, false);
  const table = { columns, key: [], partitioned: false, rows: 0, bytes: 0, files: [] };
  const metrics = await readMetrics(connection, opened.temp, ['t.parquet'], { 't.parquet': table });
  return metrics.get('t.parquet') ?? expect.fail('no statistics');
}

const found = <T>(list: readonly { key: number; value: T }[], name: string): T | undefined =>
  list.find(({ key }) => key === hashOf(name))?.value;

it('counts values and nulls, and leaves the elements of lists out', async () => {
  const metrics = await metricsOf(`from (values (1, 'a', ['x']), (null, null, null)) as t(n, s, l)`);
  expect(metrics.value_counts.map(({ key }) => key)).toEqual([hashOf('n'), hashOf('s')]);
  expect(found(metrics.value_counts, 'n')).toBe(2);
  expect(found(metrics.null_value_counts, 's')).toBe(1);
});

it('takes the bounds of all row groups', async () => {
  const metrics = await metricsOf(
    'select i as n, cast(i as varchar) as s from range(10000) as r(i) order by i',
    ', row_group_size 2048',
  );
  expect(found(metrics.value_counts, 'n')).toBe(10000);
  expect(found(metrics.lower_bounds, 'n')?.readBigInt64LE()).toBe(0n);
  expect(found(metrics.upper_bounds, 'n')?.readBigInt64LE()).toBe(9999n);
  expect(found(metrics.upper_bounds, 's')?.toString()).toBe('9999');
});

it('has no bounds for only nulls, for numbers with NaN, and for texts without bounds in the footer', async () => {
  const metrics = await metricsOf(
    `from (values (cast(null as bigint), 'nan'::double, repeat('€', 200)), (null, 1, 'a')) as t(n, d, s)`,
  );
  expect(found(metrics.null_value_counts, 'n')).toBe(2);
  expect([...metrics.lower_bounds, ...metrics.upper_bounds]).toEqual([]);
});

it('has bounds of texts that DuckDB shortens in the footer', async () => {
  const { lower_bounds, upper_bounds } = await metricsOf(`select repeat('ab', 400) as s`);
  expect(found(lower_bounds, 's')?.toString()).toBe('abababababababab');
  expect(found(upper_bounds, 's')?.toString()).toBe('abababababababac');
});

it('has exact bounds of instants and days', async () => {
  const metrics = await metricsOf(
    `select timestamptz '2026-11-01 08:34:32.000001Z' as at, date '2026-11-01' as day, true as yes`,
  );
  expect(found(metrics.upper_bounds, 'at')?.readBigInt64LE()).toBe(1793522072000001n);
  expect(found(metrics.lower_bounds, 'day')?.readInt32LE()).toBe(20758);
  expect(found(metrics.lower_bounds, 'yes')).toEqual(Buffer.from([1]));
});
