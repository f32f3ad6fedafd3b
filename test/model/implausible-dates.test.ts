import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { identifier, rows, scalar } from '../../src/base/duck/session.js';
import { writtenRelation } from '../../src/core/lake/files.js';
import { columnsOf } from '../../src/core/lake/schema.js';
import { lakeTables, systemTables } from '../../src/core/lake/tables.js';
import { readLayer, readModels } from '../../src/core/model/model-files.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';
import { computeModels, openLake, type TestLake } from './support.js';

/** Instants that the lake itself writes; all others are the feed's. */
const OWN = ['first_seen_at', 'changed_at', 'gone_at', 'last_seen_at', 'vehicles.archived_at'];

/** Dates of what happened to a car, which can be older than any feed. */
const EVENTS = ['occurred_at', 'ended_at', 'value_date', 'summary_first_registered_at'];

/** What a date that cannot be is in a table: as the feed says, or none. */
type Told = 'as the feed says' | 'none';

const CLOCK = new Date('2026-11-20T00:00:00Z');
const models = [...readModels(), ...readLayer('examples')];

/** Models that can be asked, but for the one that counts such dates. */
const marts = models.flatMap(({ name, exists }) =>
  exists === 'none' || name === 'data_health' ? [] : [name],
);

let source: { readonly snapshot: string; remove(): void };
const lakes: Partial<Record<Told, TestLake>> = {};
beforeAll(async () => {
  const sandbox = await startSandbox({ seed: 5, vehicles: 400, clock: CLOCK, faults: WITHOUT_CATALOG });
  const folder = temporaryFolder();
  const config = configFor(sandbox.url, folder.path, { memory: '1GB', threads: 2 });
  await nightly({ config, reporter: silentReporter(), now: () => CLOCK });
  await sandbox.close();
  source = { snapshot: `${folder.path}/lake/current`, remove: folder.remove };
  for (const told of ['as the feed says', 'none'] as const) lakes[told] = await modelled(told);
}, 120_000);
afterAll(() => {
  for (const lake of Object.values(lakes)) lake.close();
  source.remove();
});

/** Computes all models over the lake with a fifth of the dates of the feed replaced, in each column those of other rows. */
async function modelled(told: Told): Promise<TestLake> {
  const lake = await openLake();
  const tables = [...lakeTables(), ...systemTables];
  for (const { name, partition } of tables) {
    const columns = await columnsOf(lake.connection, `from ${identifier(name)}`);
    const dates = columns.filter((column) => isOfFeed(name, column));
    const given = columns.map(({ name: column }) => {
      // A date has its text and its offset beside it.
      const place = dates.findIndex((date) =>
        [date.name, `${date.name}_local`, `${date.name}_offset`].includes(column),
      );
      if (place < 0) return identifier(column);
      const kept =
        told === 'none' ? 'null' : column === dates[place]?.name ? impossible(column) : identifier(column);
      return `case when (number + ${place}) % 5 = 0 then ${kept} else ${identifier(column)} end`;
    });
    const from = writtenRelation(source.snapshot, name, partition !== undefined);
    await lake.connection.run(
      `insert into ${identifier(name)} select ${given.join(', ')}
       from (select *, row_number() over () as number from (select * from ${from} order by all))`,
    );
  }
  await computeModels(lake, models);
  return lake;
}

const isOfFeed = (table: string, { name, type }: { name: string; type: string }): boolean =>
  lakeTables().some((each) => each.name === table) &&
  type.startsWith('TIMESTAMP') &&
  !OWN.includes(name) &&
  !OWN.includes(`${table}.${name}`);

const firstYear = (column: string): number => (EVENTS.includes(column) ? 1900 : 1990);

/** Dates that cannot be: placeholders, and the last instant before and the first one after those that can. */
const impossible = (column: string): string =>
  `case number % 4 when 0 then timestamptz '0001-01-01 00:00:00Z' when 1 then timestamptz '9999-12-31 23:59:59Z'
   when 2 then timestamptz '2028-11-21 00:00:00Z' else timestamptz '${firstYear(column) - 1}-12-31 23:59:59Z' end`;

describe('a date that cannot be', () => {
  it.each(marts)('is none for %s', async (name) => {
    const told = await shown(lakes['as the feed says'], name);
    expect(told).toEqual(await shown(lakes.none, name));
  });
});

describe('data_health', () => {
  it('counts the dates of each column of the feed that cannot be', async () => {
    const { connection } = lakes['as the feed says'] as TestLake;
    const expected: unknown[] = [];
    for (const { name } of lakeTables())
      for (const column of (await columnsOf(connection, `from ${identifier(name)}`)).filter((each) =>
        isOfFeed(name, each),
      )) {
        const date = identifier(column.name);
        const value = await scalar(
          connection,
          `select count(*) from ${identifier(name)} where ${date} < timestamptz '${firstYear(column.name)}-01-01 00:00:00Z'
             or ${date} >= timestamptz '2028-11-21 00:00:00Z'`,
        );
        if (value > 0) expected.push({ subject: `${name}.${column.name}`, value });
      }
    expect(expected.length).toBeGreaterThan(25);
    const counted = await rows(
      connection,
      "select subject, value from data_health where metric = 'placeholder_dates'",
    );
    expect(new Set(counted)).toEqual(new Set(expected));
  });
});

/** The rows of a model as text, numbers to six digits. */
async function shown(lake: TestLake | undefined, name: string): Promise<readonly string[]> {
  if (lake === undefined) throw new Error('there is no lake');
  const found = await rows(lake.connection, `select * from ${identifier(name)}`);
  const digits = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? value.toPrecision(6) : typeof value === 'bigint' ? String(value) : value;
  return found.map((row) => JSON.stringify(row, digits)).sort();
}
