import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { literals, openTemporarySession, rows, type TemporarySession } from '../../src/base/duck/session.js';
import { readPrevious } from '../../src/beyond/iceberg/commit-plan.js';
import { fieldsOf, hashOf } from '../../src/core/lake/field-ids.js';
import { allTables, readManifest } from '../../src/core/lake/manifest.js';
import { startSandbox } from '../../src/sandbox/index.js';
import {
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
  WITHOUT_MARTS,
} from '../pipelines/support.js';

const folder = temporaryFolder();
const output = join(folder.path, 'lake');
const models = join(folder.path, 'models');
let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '300MB', threads: 1 });
  mkdirSync(models);
});
afterAll(() => {
  opened.close();
  folder.remove();
});

/** Writes the model `marked` of the user: expressions of its columns by name, and the names that they had. */
function define(columns: Readonly<Record<string, string>>, was: Readonly<Record<string, string>> = {}): void {
  const selected = Object.entries(columns).map(([name, sql]) => `${sql} as ${name}`);
  writeFileSync(join(models, 'marked.sql'), `select lot_id, ${selected.join(', ')} from lots`);
  const described = Object.keys(columns).map(
    (name) => `  ${name}: { description: One.${was[name] === undefined ? '' : `, was: ${was[name]}`} }\n`,
  );
  writeFileSync(
    join(models, 'marked.yml'),
    `description: Marks.\ngrain: one row a lot\nkey: [lot_id]\ncolumns:\n  lot_id: { description: Lot. }\n${described.join('')}`,
  );
}

/** Runs a pipeline on a day, and returns the new manifest. */
async function run(day: number, pipeline: typeof nightly | typeof rebuild = nightly) {
  const clock = new Date(`2026-11-${day}T06:00:00Z`);
  const sandbox = await startSandbox({ vehicles: 6, seed: 5, clock, faults: WITHOUT_CATALOG });
  const config = configFor(sandbox.url, output, { models, iceberg: true });
  const options = { config, reporter: silentReporter(), now: () => clock, ...WITHOUT_MARTS };
  const { snapshot, manifest } = await pipeline(options).finally(() => sandbox.close());
  await expectIds(snapshot);
  return { snapshot, manifest };
}

/** Compares the ids in all files of a snapshot, and in its Iceberg metadata, with its manifest. */
async function expectIds(snapshot: string): Promise<void> {
  for (const [name, table] of Object.entries(allTables(readManifest(snapshot)))) {
    const found = await rows(
      opened.session.connection,
      `select distinct name, field_id from parquet_schema(${literals(table.files.map(({ path }) => join(snapshot, path)))})
       where name not in ('duckdb_schema', 'list', 'element', 'month')`,
    );
    const ids = new Map(fieldsOf(table).map((field) => [field.name, field.field_id]));
    for (const { name: column, field_id } of found)
      expect(Number(field_id), `${name}.${column}`).toBe(ids.get(String(column)));
    const read = async (uri: string) => readFileSync(uri.slice('file://'.length));
    const metadata = (await readPrevious(`file://${snapshot}/${name}`, read))?.metadata;
    const fields = metadata?.schemas.find(
      (each) => each['schema-id'] === metadata['current-schema-id'],
    )?.fields;
    for (const { name: column, id } of fields ?? expect.fail(`no metadata of ${name}`))
      if (column !== 'month') expect(id, `${name}.${column}`).toBe(ids.get(column));
  }
}

const idsOf = (manifest: ReturnType<typeof readManifest>, name = 'marked') =>
  Object.fromEntries(
    fieldsOf(allTables(manifest)[name] ?? expect.fail()).map((field) => [field.name, field.field_id]),
  );

it('the columns of a lake keep their ids, whatever its models do', { timeout: 180_000 }, async () => {
  define({ price_35: '1::bigint', price_945: '2::bigint', tags: "['a']" });
  const first = await run(20);
  expect(idsOf(first.manifest)).toEqual({
    ...{ lot_id: hashOf('lot_id'), tags: hashOf('tags') },
    ...{ price_35: hashOf('price_35'), price_945: hashOf('price_35') + 1 },
  });
  expect(first.manifest.marts.marked?.columns.at(-1)).toMatchObject({ element_id: hashOf('tags.element') });

  // The type of one column changes, and another has a new name.
  define({ price_945: "'2'", labels: "['a']" }, { labels: 'tags' });
  const second = await run(21);
  expect(idsOf(second.manifest)).toEqual({
    ...{ lot_id: hashOf('lot_id'), price_945: hashOf('price_35') + 2, labels: hashOf('tags') },
  });
  expect(second.manifest.marts.marked?.dropped?.map(({ name }) => name)).toEqual(['price_35', 'price_945']);

  // A night without the model.
  define({ price_945: "error('no')", labels: "['a']" }, { labels: 'tags' });
  const third = await run(22);
  expect(third.manifest.marts).not.toHaveProperty('marked');

  define({ price_945: "'2'", labels: "['a']" }, { labels: 'tags' });
  const fourth = await run(23);
  expect(fourth.manifest.marts.marked?.columns).toEqual(second.manifest.marts.marked?.columns);
  expect(fourth.manifest.absent).toBeUndefined();

  const rebuilt = await run(23, rebuild);
  for (const [name, table] of Object.entries(allTables(fourth.manifest)))
    expect(allTables(rebuilt.manifest)[name]?.columns, name).toEqual(table.columns);
});
