import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type DataFile, decode } from '../../src/beyond/iceberg/avro.js';
import { NO_METRICS } from '../../src/beyond/iceberg/column-metrics.js';
import {
  type CommitPlan,
  planCommit,
  readPrevious,
  withEntries,
} from '../../src/beyond/iceberg/commit-plan.js';
import type { IcebergTable } from '../../src/beyond/iceberg/iceberg-schema.js';
import type { PreviousMetadata } from '../../src/beyond/iceberg/manifests.js';
import { parseMetadata, retainSnapshots, snapshotIdOf } from '../../src/beyond/iceberg/metadata.js';
import { giveIds, hashOf } from '../../src/core/lake/field-ids.js';

const AT = 's3://bucket/tables/lots';

const lots: IcebergTable = {
  name: 'lots',
  description: 'Lots.',
  columns: [
    { name: 'lot_id', type: 'BIGINT', field_id: hashOf('lot_id'), description: 'Id of the lot.' },
    ...giveIds(
      [
        { name: 'tags', type: 'VARCHAR[]' },
        { name: 'domain_id', type: 'BIGINT' },
        { name: 'month', type: 'VARCHAR' },
      ],
      undefined,
      false,
    ).columns,
  ],
  key: ['lot_id'],
  sort: ['lot_id'],
  partitioned: true,
};

const metricsOf = (rows: number, nulls = 0) => ({
  value_counts: [{ key: hashOf('lot_id'), value: rows }],
  null_value_counts: [{ key: hashOf('lot_id'), value: nulls }],
  lower_bounds: [{ key: hashOf('lot_id'), value: Buffer.alloc(8) }],
  upper_bounds: [],
});

const file = (name: string, month: string, rows = 10, nulls = 0): DataFile => ({
  ...metricsOf(rows, nulls),
  ...{ content: 0, file_path: `${AT}/domain_id=3/month=${month}/${name}.parquet`, file_format: 'PARQUET' },
  ...{ partition: { domain_id: 3, month }, record_count: rows, file_size_in_bytes: rows * 100 },
});

const snapshot = (id: string, ...files: DataFile[]) => ({
  id,
  time: Date.UTC(2026, 10, Number(id), 6),
  files,
});

/** Three nights: two files, one of them replaced, one month added. */
async function threeNights(kept = ['1', '2', '3']) {
  const [a, b, b2, c] = [
    file('a', '2026-01'),
    file('b', '2026-02'),
    file('b2', '2026-02', 12),
    file('c', '2026-03'),
  ];
  const first = await planCommit(lots, AT, snapshot('1', a, b), kept);
  const second = await planCommit(lots, AT, snapshot('2', { ...a, ...NO_METRICS }, b2), kept, first);
  return { first, second, third: await planCommit(lots, AT, snapshot('3', a, b2, c), kept, second) };
}

/** Entries of all manifests of a snapshot, as far as they are known. */
const entriesIn = ({ manifests }: PreviousMetadata) => manifests.flatMap(({ entries = [] }) => entries);

const statusOf = (plan: PreviousMetadata): Record<string, number[]> =>
  Object.fromEntries(
    entriesIn(plan).map(({ status, snapshot_id, sequence_number, data_file }) => [
      data_file.file_path.replace(/.*\//, ''),
      [status, snapshot_id, sequence_number],
    ]),
  );

const last = ({ metadata }: CommitPlan) => metadata.snapshots.at(-1);

describe('the snapshots of a table', () => {
  it('correspond to the snapshots of the lake, with the files added, kept and removed', async () => {
    const { second, third } = await threeNights();
    const [one, two, three] = ['1', '2', '3'].map(snapshotIdOf);
    expect(statusOf(second)).toEqual({
      'a.parquet': [0, one, 1],
      'b2.parquet': [1, two, 2],
      'b.parquet': [2, two, 1],
    });
    expect(statusOf(third)).toEqual({
      'a.parquet': [0, one, 1],
      'b2.parquet': [0, two, 2],
      'c.parquet': [1, three, 3],
    });
    expect(entriesIn(second)[0]?.data_file.value_counts).toEqual(metricsOf(10).value_counts);
    expect(last(second)?.summary).toMatchObject({
      ...{ operation: 'overwrite', 'added-records': '12', 'deleted-records': '10', 'total-records': '22' },
      'lotlake.snapshot': '2',
    });
    expect(last(third)?.summary.operation).toBe('append');
    expect(third.metadata.snapshots.map((each) => each['parent-snapshot-id'])).toEqual([undefined, one, two]);
    expect(third.metadata['last-sequence-number']).toBe(3);
    expect(third.metadata['metadata-log']).toHaveLength(2);
  });

  it('are written before the metadata that names them, under names of their content', async () => {
    const { third } = await threeNights();
    const [list, manifest] = [third.before.at(-1), third.before[0]];
    expect(third.after.map(({ uri }) => uri)).toEqual([
      `${AT}/metadata/v3.metadata.json`,
      `${AT}/metadata/version-hint.text`,
    ]);
    expect(last(third)?.['manifest-list']).toBe(list?.uri);
    const [listed] = decode(list?.content ?? Buffer.alloc(0));
    expect(listed).toMatchObject({
      ...{ manifest_path: manifest?.uri, manifest_length: manifest?.content.length, added_files_count: 1 },
      ...{ existing_files_count: 2, existing_rows_count: 22, min_sequence_number: 1 },
      partitions: [
        { contains_null: false },
        { lower_bound: Buffer.from('2026-01'), upper_bound: Buffer.from('2026-03') },
      ],
    });
    expect(JSON.parse(JSON.stringify(decode(manifest?.content ?? Buffer.alloc(0))))).toEqual(
      JSON.parse(JSON.stringify(entriesIn(third))),
    );
    expect((await threeNights()).third.before).toEqual(third.before);
  });

  it('leave with the snapshots of the lake, and the current one stays', async () => {
    const { third } = await threeNights(['2', '3']);
    const ids = ['2', '3'].map(snapshotIdOf);
    expect(third.metadata.snapshots.map((each) => each['snapshot-id'])).toEqual(ids);
    expect(third.metadata['snapshot-log'].map((each) => each['snapshot-id'])).toEqual(ids);
    const gap = retainSnapshots((await threeNights()).third.metadata, ['1', '3']);
    expect(gap.snapshots).toHaveLength(2);
    // Otherwise a query by a time within the second night would find the first night.
    expect(gap['snapshot-log'].map((each) => each['snapshot-id'])).toEqual(ids.slice(1));
    const alone = retainSnapshots(third.metadata, []);
    expect(alone.snapshots.map((each) => each['snapshot-id'])).toEqual(ids.slice(1));
    expect(alone['metadata-log']).toHaveLength(1);
  });

  it('have rising times, even if a clock is set back', async () => {
    const first = await planCommit(lots, AT, snapshot('5', file('a', '2026-01')), []);
    const second = await planCommit(lots, AT, snapshot('4', file('a', '2026-01')), [], first);
    expect(second.metadata['last-updated-ms']).toBe(first.metadata['last-updated-ms'] + 1);
  });

  it('are read back as written', async () => {
    const { first, second, third } = await threeNights();
    const files = [first, second, third].flatMap(({ before, after }) => [...before, ...after]);
    const stored = new Map(files.map(({ uri, content }) => [uri, content]));
    const read = await readPrevious(AT, async (uri) => Buffer.from(stored.get(uri) ?? ''));
    expect(read?.version).toBe(3);
    expect(read?.metadata).toEqual(parseMetadata(JSON.stringify(third.metadata), ''));
    if (read === undefined) return expect.fail();
    const next = snapshot('4', file('c', '2026-03'));
    const before = await withEntries(read, next.files);
    const [a, b] = [planCommit(lots, AT, next, [], before), planCommit(lots, AT, next, [], third)];
    expect(a.after).toEqual(b.after);
    expect(a.before).toEqual(b.before);
  });

  it('may be without a file', async () => {
    const first = await planCommit(lots, AT, snapshot('1', file('empty', '2026-01', 0)), []);
    expect(entriesIn(first)).toEqual([]);
    expect(decode(first.before[0]?.content ?? Buffer.alloc(0))).toEqual([]);
    const second = await planCommit(lots, AT, snapshot('2', file('a', '2026-01')), [], first);
    const third = await planCommit(lots, AT, snapshot('3'), [], second);
    expect(last(third)?.summary).toMatchObject({ operation: 'delete', 'total-records': '0' });
  });
});

describe('the manifests of a table', () => {
  const [a, b, c] = [file('a', '2025-12'), file('b', '2026-01'), file('c', '2026-04')];
  const old = { ...file('old', '2026-01'), partition: { domain_id: null, month: 'unknown' } };
  const pathsOf = ({ manifests }: PreviousMetadata) => manifests.map(({ listed }) => listed.manifest_path);

  it('are one for each quarter, and those of other quarters stay as they are', () => {
    const first = planCommit(lots, AT, snapshot('1', a, b, c, old), ['1']);
    expect(pathsOf(first).map((path) => path.replace(/.*\/(\w+)-.*/, '$1'))).toEqual([
      ...['2025q4', '2026q1', '2026q2', 'other'],
    ]);
    const b2 = file('b2', '2026-01', 12);
    const second = planCommit(lots, AT, snapshot('2', a, b2, c, old), ['1'], first);
    expect(second.before.map(({ uri }) => uri.replace(/.*\/(\w+)-.*/, '$1'))).toEqual(['2026q1', 'snap']);
    const kept = pathsOf(first).filter((path) => pathsOf(second).includes(path));
    expect(kept).toHaveLength(3);
    expect(second.named).toEqual([...pathsOf(second), second.before.at(-1)?.uri]);
    expect(statusOf(second)).toMatchObject({ 'b2.parquet': [1, {}, 2], 'b.parquet': [2, {}, 1] });
    expect(last(second)?.summary).toMatchObject({
      ...{ 'total-data-files': '4', 'total-records': '42', 'total-files-size': '4200' },
      ...{ 'added-data-files': '1', 'deleted-data-files': '1' },
    });
    // The same as a plan from what is stored, which needs no other manifest.
    const stored = new Map([...first.before, ...first.after].map(({ uri, content }) => [uri, content]));
    const read: string[] = [];
    const readFile = async (uri: string) => {
      read.push(uri.replace(/.*\/(\w+)-.*/, '$1'));
      return Buffer.from(stored.get(uri) ?? '');
    };
    return readPrevious(AT, readFile).then(async (previous) => {
      if (previous === undefined) return expect.fail();
      const files = [a, b2, c, old];
      const again = planCommit(lots, AT, snapshot('2', ...files), ['1'], await withEntries(previous, files));
      expect(read.slice(2)).toEqual(['snap', '2026q1']);
      expect([again.before, again.after]).toEqual([second.before, second.after]);
    });
  });

  it('name the files that are gone once, and leave with the last of them', () => {
    const first = planCommit(lots, AT, snapshot('1', a, b), []);
    const second = planCommit(lots, AT, snapshot('2', b), [], first);
    expect(statusOf(second)).toMatchObject({ 'a.parquet': [2, {}, 1], 'b.parquet': [1, {}, 1] });
    const third = planCommit(lots, AT, snapshot('3', b), [], second);
    expect(pathsOf(third)).toEqual(pathsOf(first).slice(1));
    expect(last(third)?.summary).toMatchObject({ 'deleted-data-files': '0', 'total-data-files': '1' });
  });

  it('take over the files of one manifest that an older lotlake wrote for all', () => {
    const first = planCommit(lots, AT, snapshot('1', a, b), []);
    const listed = first.manifests[0]?.listed ?? expect.fail();
    const manifest_path = `${AT}/metadata/${snapshotIdOf('1')}-m0-${'0'.repeat(16)}.avro`;
    const older = {
      ...first,
      manifests: [{ listed: { ...listed, manifest_path }, entries: entriesIn(first) }],
    };
    const second = planCommit(lots, AT, snapshot('2', a, b, c), [], older);
    const [one, two] = ['1', '2'].map(snapshotIdOf);
    expect(statusOf(second)).toEqual({
      ...{ 'a.parquet': [0, one, 1], 'b.parquet': [0, one, 1], 'c.parquet': [1, two, 2] },
    });
  });

  const months = fc.constantFrom('2025-11', '2025-12', '2026-01', '2026-04', 'unknown');
  const night = fc.uniqueArray(fc.record({ month: months, version: fc.integer({ min: 0, max: 2 }) }), {
    selector: ({ month }) => month,
  });

  it('are read only if a file stays or came earlier, and the plan is the same', async () => {
    const stored = new Map<string, Buffer>();
    const read: string[] = [];
    const readFile = async (uri: string) => {
      read.push(uri.replace(/.*\/(\w+)-.*/, '$1'));
      return stored.get(uri);
    };
    const keep = ({ before, after }: CommitPlan): void => {
      for (const { uri, content } of [...before, ...after]) stored.set(uri, Buffer.from(content));
    };
    /** Plans a night from what is stored and the facts of the files before. Returns the manifests that it read. */
    const check = async (id: string, files: DataFile[], earlier: DataFile[], plan: CommitPlan) => {
      read.length = 0;
      const previous = await readPrevious(AT, readFile);
      if (previous === undefined) return expect.fail();
      const facts = earlier.map((each) => ({ ...each, ...NO_METRICS }));
      const again = planCommit(
        lots,
        AT,
        snapshot(id, ...files),
        [],
        await withEntries(previous, files, facts),
      );
      expect([again.before, again.after]).toEqual([plan.before, plan.after]);
      return read.slice(3);
    };
    const d = file('d', '2026-02');
    const nights: [DataFile[], string[]][] = [
      [[a, b, d, c], []],
      [[a, file('b2', '2026-01')], []],
      [[a, file('b3', '2026-01'), d], []],
      [[a, file('b4', '2026-01'), d], ['2026q1']],
      [[a], ['2026q1']],
    ];
    let plan: CommitPlan | undefined;
    for (const [i, [files, wanted]] of nights.entries()) {
      const next = planCommit(lots, AT, snapshot(String(i), ...files), [], plan);
      if (plan !== undefined)
        expect(await check(String(i), files, nights[i - 1]?.[0] ?? [], next)).toEqual(wanted);
      keep(next);
      plan = next;
    }
    await fc.assert(
      fc.asyncProperty(fc.array(night, { minLength: 2, maxLength: 5 }), async (all) => {
        stored.clear();
        let last: CommitPlan | undefined;
        let earlier: DataFile[] = [];
        for (const [i, wanted] of all.entries()) {
          const files = wanted.map(({ month, version }) => file(`v${version}`, month));
          const next = planCommit(lots, AT, snapshot(String(i), ...files), [], last);
          if (last !== undefined) await check(String(i), files, earlier, next);
          keep(next);
          [last, earlier] = [next, files];
        }
      }),
      { numRuns: 10 },
    );
  });

  it('are as many as quarters after any nights', () => {
    fc.assert(
      fc.property(fc.array(night, { minLength: 1, maxLength: 8 }), (all) => {
        let plan: CommitPlan | undefined;
        for (const [i, wanted] of all.entries()) {
          const files = wanted.map(({ month, version }) => file(`v${version}`, month));
          const before = plan;
          plan = planCommit(lots, AT, snapshot(String(i), ...files), [], before);
          const live = entriesIn(plan).filter(({ status }) => status !== 2);
          expect(live.map(({ data_file }) => data_file.file_path).sort()).toEqual(
            files.map(({ file_path }) => file_path).sort(),
          );
          expect(plan.manifests.length).toBeLessThanOrEqual(4);
          const added = live.filter((entry) => entry.snapshot_id === snapshotIdOf(String(i)));
          const known = new Set(
            (before ? entriesIn(before) : [])
              .filter(({ status }) => status !== 2)
              .map(({ data_file }) => data_file.file_path),
          );
          expect(added.map(({ data_file }) => data_file.file_path).sort()).toEqual(
            files
              .map(({ file_path }) => file_path)
              .filter((path) => !known.has(path))
              .sort(),
          );
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('the schema of a table', () => {
  it('has ids that stay, descriptions, and names for files without ids', async () => {
    const { metadata } = await planCommit(lots, AT, snapshot('1', file('a', '2026-01')), []);
    expect(metadata.schemas[0]).toMatchObject({
      fields: [
        { id: hashOf('lot_id'), required: true, type: 'long', doc: 'Id of the lot.' },
        { id: hashOf('tags'), required: false, type: { 'element-id': hashOf('tags.element') } },
        { id: hashOf('domain_id') },
        { id: hashOf('month'), type: 'string' },
      ],
      'identifier-field-ids': [hashOf('lot_id')],
    });
    const mapping = JSON.parse(metadata.properties['schema.name-mapping.default'] ?? '');
    expect(mapping[1]).toEqual({
      ...{ 'field-id': hashOf('tags'), names: ['tags'] },
      fields: [{ 'field-id': hashOf('tags.element'), names: ['element'] }],
    });
  });

  it('names columns for files without ids that it no longer has, too, and those under a new name', () => {
    const first = planCommit(lots, AT, snapshot('1', file('a', '2026-01')), ['1']);
    const [id, tags, ...rest] = lots.columns;
    if (id === undefined || tags === undefined) return expect.fail();
    const next = {
      ...lots,
      columns: [id, { ...rest[0], name: 'source', type: 'BIGINT', field_id: 5 }, ...rest],
    };
    const renamed = { ...next, columns: [...next.columns, { ...tags, name: 'labels' }] };
    const second = planCommit(renamed, AT, snapshot('2', file('a', '2026-01')), ['1'], first);
    const mapping = JSON.parse(second.metadata.properties['schema.name-mapping.default'] ?? '');
    const names = mapping.map((each: { names: string[] }) => each.names);
    expect(names).toEqual([['lot_id'], ['source'], ['domain_id'], ['month'], ['labels', 'tags']]);
    const third = planCommit({ ...next }, AT, snapshot('3', file('a', '2026-01')), ['1'], second);
    expect(JSON.parse(third.metadata.properties['schema.name-mapping.default'] ?? '').at(-1)).toMatchObject({
      ...{ 'field-id': hashOf('tags'), names: ['tags', 'labels'] },
      fields: [{ 'field-id': hashOf('tags.element') }],
    });
  });

  it('is a new one if a column is added, and an old snapshot keeps its own', async () => {
    const first = await planCommit(lots, AT, snapshot('1', file('a', '2026-01')), ['1']);
    const wider = {
      ...lots,
      columns: [...lots.columns, { name: 'fee', type: 'DOUBLE', field_id: hashOf('fee') }],
    };
    const second = await planCommit(wider, AT, snapshot('2', file('a', '2026-01')), ['1'], first);
    expect(second.metadata['current-schema-id']).toBe(1);
    expect(second.metadata.snapshots.map((each) => each['schema-id'])).toEqual([0, 1]);
    const third = await planCommit(wider, AT, snapshot('3', file('a', '2026-01')), ['1'], second);
    expect(third.metadata.schemas).toHaveLength(2);
  });

  it('requires no column of a key that was null once', async () => {
    const plan = (id: string, nulls: number, previous?: PreviousMetadata) =>
      planCommit(lots, AT, snapshot(id, file(id, '2026-01', 10, nulls)), [], previous);
    const first = await plan('1', 0);
    const second = await plan('2', 1, first);
    const third = await plan('3', 0, second);
    expect([first, second, third].map(({ metadata }) => metadata['current-schema-id'])).toEqual([0, 1, 1]);
    expect(third.metadata.schemas[1]).not.toHaveProperty('identifier-field-ids');
  });

  it('has no partition once the table gives it up, and the old files go', async () => {
    const first = await planCommit(lots, AT, snapshot('1', file('a', '2026-01')), ['1']);
    const flat = { ...file('flat', ''), file_path: `${AT}/flat.parquet`, partition: {} };
    const second = await planCommit({ ...lots, partitioned: false }, AT, snapshot('2', flat), ['1'], first);
    expect(second.metadata).toMatchObject({ 'default-spec-id': 1, 'partition-specs': [{}, { fields: [] }] });
    expect(entriesIn(second).map(({ data_file }) => data_file.file_path)).toEqual([flat.file_path]);
  });

  it('names a type that Iceberg lacks', async () => {
    const odd = { ...lots, columns: [{ name: 'x', type: 'INTERVAL', field_id: 1 }] };
    expect(() => planCommit(odd, AT, snapshot('1'), [])).toThrow(/INTERVAL/);
  });
});

describe('metadata that cannot be read', () => {
  it('is named', () => {
    expect(() => parseMetadata('{"format-version":1}', 'v1.metadata.json')).toThrow(/v1.metadata.json/);
    const { before } = planCommit(lots, AT, snapshot('1', file('a', '2026-01')), []);
    const list = before[0]?.content ?? Buffer.alloc(0);
    expect(decode(list)).toHaveLength(1);
    for (const torn of [
      Buffer.from('no Avro'),
      ...[0, 9, 300, list.length - 1].map((cut) => list.subarray(0, cut)),
    ])
      expect(() => decode(torn)).toThrow(/is not an Avro file/);
  });
});
