import { cpSync, existsSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { identifier, literal, openSession, rows, type Session, scalar } from '../../src/base/duck/session.js';
import { writtenRelation } from '../../src/core/lake/files.js';
import { PARQUET } from '../../src/core/lake/parquet.js';
import { lakeTables, systemTables } from '../../src/core/lake/tables.js';
import { assertTests, runDataTests } from '../../src/core/model/data-tests.js';
import { runModels } from '../../src/core/model/run-models.js';
import { inWarehouse } from '../../src/core/model/warehouse.js';

/** The lots and prices that the figure of the marts rests on. */
const MANY = { lots: 1_000_000, prices: 3_000_000 };

/** Distance between the ids of two copies; no id of a bench world is as large. */
const STEP = 1_000_000_000;

/** Tables whose rows are copied: those that the marts read of lots and their prices. Other tables are taken once. */
const COPIED = ['vehicles', 'lots', 'prices', 'archived_lots'];

/** Ids that differ between the copies of a row. */
const IDS = ['vehicle_id', 'lot_id', 'price_id'];

/** Days between an auction of the bench world and its copy as an earlier attempt. */
const EARLIER = 14;

/**
 * Computes the models and data tests over a lake with at least so many lots and prices: the published lake below `output`
 * with copies of its rows under other ids. Throws MODEL_TESTS_FAILED if a data test fails.
 */
export async function modelMany(
  output: string,
  least = MANY,
): Promise<{ readonly lots: number; readonly prices: number; readonly seconds: number }> {
  const snapshot = realpathSync(join(output, 'lake', 'current'));
  const target = join(output, 'many');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const session = await openSession({ memory: '2GB', temp: join(output, 'spill') });
  try {
    const count = (table: string): Promise<number> =>
      scalar(session.connection, `select count(*) from ${writtenRelation(snapshot, table, true)}`);
    const [lots, prices] = [await count('lots'), await count('prices')];
    const copies = Math.ceil(least.lots / lots);
    const attempts = Math.ceil(least.prices / (prices * copies));
    for (const { name, partition } of [...lakeTables(), ...systemTables]) {
      const partitioned = partition !== undefined;
      await copyTable(session, snapshot, target, { name, partitioned, copies, attempts });
    }
    const start = performance.now();
    await inWarehouse(session, target, async (second) => {
      await runModels(session.connection, { target, beside: [second] });
      assertTests(
        await runDataTests(session.connection, {}, [second]),
        'the figure of the marts says nothing',
      );
    });
    const seconds = (performance.now() - start) / 1000;
    return { lots: lots * copies, prices: prices * copies * attempts, seconds };
  } finally {
    session.close();
    rmSync(target, { recursive: true, force: true });
  }
}

/**
 * Writes the rows of a table `copies` times under other ids, and each price also for earlier auctions, `attempts` in
 * all. A table that is not copied, or has no rows, is taken as it is.
 */
async function copyTable(
  { connection }: Session,
  snapshot: string,
  target: string,
  given: {
    readonly name: string;
    readonly partitioned: boolean;
    readonly copies: number;
    readonly attempts: number;
  },
): Promise<void> {
  const { name, partitioned, copies } = given;
  const attempts = name === 'prices' ? given.attempts : 1;
  if (!existsSync(join(snapshot, name))) return;
  const source = writtenRelation(snapshot, name, partitioned);
  const columns = (await rows(connection, `describe select * from ${source}`)).map((row) =>
    String(row.column_name),
  );
  const ids = COPIED.includes(name) ? IDS.filter((id) => columns.includes(id)) : [];
  const isEmpty = (await scalar(connection, `select count(*) from ${source}`)) === 0;
  if (ids.length === 0 || isEmpty)
    return cpSync(join(snapshot, name), join(target, name), { recursive: true });
  const moved = ids.map((id) =>
    id === 'price_id'
      ? `cast(cast(price_id as bigint) + c.n * ${STEP} + a.n * ${STEP * 1000} as varchar) as price_id`
      : `${identifier(id)} + c.n * ${STEP} as ${identifier(id)}`,
  );
  if (name === 'prices') moved.push(`sale_date - a.n * interval ${EARLIER} days as sale_date`);
  const partition = partitioned ? ', partition_by (domain_id, month)' : '';
  mkdirSync(join(target, name));
  const to = partitioned ? join(target, name) : join(target, name, 'data_0.parquet');
  await connection.run(
    `copy (select t.* replace (${moved.join(', ')}) from ${source} as t, range(${copies}) as c(n), range(${attempts}) as a(n))
     to ${literal(to)} (${PARQUET}${partition})`,
  );
}
