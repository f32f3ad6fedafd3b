import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { enumerations } from '../../src/core/service/contract/enumerations.js';
import { idOf, walkContract } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { type Stream, streams } from '../../src/core/service/streams.js';

const nodesOf = (stream: Stream) => [...walkContract(stream.contract)];

describe.each(Object.values(streams))('the contract of $name', (stream) => {
  const nodes = nodesOf(stream);

  it('describes each member in a sentence', () => {
    const named = nodes.filter(({ name }) => name !== '');
    expect(named.length).toBeGreaterThan(1);
    const unclear = named.filter(({ description }) => !/^[A-Z].+\.$/.test(description));
    expect(unclear.map(({ path, description }) => [path, description])).toEqual([]);
  });

  it('gives each member a type that any Parquet reader knows', () => {
    const allowed = ['BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN', 'TIMESTAMPTZ', 'JSON', 'STRUCT', 'LIST'];
    expect([...new Set(nodes.map(({ duckdb }) => duckdb))].filter((type) => !allowed.includes(type))).toEqual(
      [],
    );
    for (const node of nodes) {
      expect(node.element !== undefined, node.path).toBe(node.duckdb === 'LIST');
      if (node.duckdb === 'STRUCT') expect(node.members.size, node.path).toBeGreaterThan(0);
    }
  });

  it('names each path once, and the member that names a record', () => {
    const paths = nodes.map(({ path }) => path);
    expect(paths.length).toBe(new Set(paths).size);
    const names: Readonly<Record<string, string>> = { archived_lots: 'lot_id', duplicates: 'duplicate_id' };
    expect(idOf(stream.contract)).toMatchObject({
      path: names[stream.name] ?? 'id',
      required: true,
      duckdb: ['duplicates', 'damages'].includes(stream.name) ? 'VARCHAR' : 'BIGINT',
    });
  });

  it('has no two names that differ only in case', () => {
    for (const node of nodes) {
      const names = [...node.members.keys()].map((name) => name.toLowerCase());
      expect(names.length, node.path).toBe(new Set(names).size);
    }
  });

  it('refers to enumerations that exist', () => {
    const used = nodes.flatMap(({ values }) => values ?? []);
    expect(used.filter((name) => !(name in enumerations))).toEqual([]);
  });
});

describe('the contract as a whole', () => {
  it('uses each enumeration', () => {
    const used = new Set(
      Object.values(streams).flatMap((stream) => nodesOf(stream).flatMap(({ values }) => values ?? [])),
    );
    expect(Object.keys(enumerations).filter((name) => !used.has(name as keyof typeof enumerations))).toEqual(
      [],
    );
  });
});

describe('fields', () => {
  const refused = (stream: Stream, record: object): string[] => {
    const parsed = z.safeParse(stream.schema, record);
    return parsed.success ? [] : parsed.error.issues.map(({ path }) => path.join('.'));
  };
  const lot = (members: object): object => ({ id: 1, lots: [{ id: 2, ...members }] });

  it('may be missing or null, except keys', () => {
    expect(refused(streams.cars, { id: 1 })).toEqual([]);
    const nulls = [...streams.cars.contract.members.keys()].map((name) => [name, null]);
    expect(refused(streams.cars, { ...Object.fromEntries(nulls), id: 1 })).toEqual([]);
    expect(refused(streams.cars, { ...Object.fromEntries(nulls) })).toEqual(['id']);
    expect(refused(streams.archived_lots, {})).toEqual(['lot_id']);
  });

  it('come in the forms of the field notes', () => {
    const forms: readonly object[] = [
      { seller: null },
      { seller: 'State Farm' },
      { seller: { id: 1, name: 'x', logo: null, is_insurance: null, is_rental: 0, is_credit_company: true } },
      { seller_type: 'insurance' },
      { seller_type: { id: 1, name: 'insurance' } },
      { airbags: { id: 2, name: 'deployed' } },
      { grade_iaai: 0 },
      { grade_iaai: '43' },
      { tags: ['a'] },
      { tags: 'a' },
      { images: { small: null, exterior: ['a'], interior: 'b' } },
      { selling_branch: { number: null } },
      { timed_start_bid: 25 },
      { bid: 51928.1213, buy_now: 0, final_bid: -1 },
      { odometer: { km: 2553571660, mi: 1586000000 } },
      { sale_date: '2026-09-09T19:44:38.000000Z', updated_at: '2026-09-09 19:37:39' },
      { details: { 'a key with spaces': [1] }, archived: null },
    ];
    for (const form of forms) expect(refused(streams.cars, lot(form)), JSON.stringify(form)).toEqual([]);
  });

  it('of another type are refused with their path', () => {
    expect(refused(streams.cars, lot({ bid: {} }))).toEqual(['lots.0.bid']);
    expect(refused(streams.cars, lot({ updated_at: 'yesterday' }))).toEqual(['lots.0.updated_at']);
    expect(refused(streams.cars, { id: 1, lots: [null] })).toEqual(['lots.0']);
    expect(refused(streams.cars, { id: 1.5 })).toEqual(['id']);
  });

  it('of an archived lot come with their time of change, or plain', () => {
    const dated = { value: 100, updated_at: '2026-09-09T21:00:45.000000Z' };
    for (const bid of [null, dated, 100, { value: null, updated_at: null }])
      expect(schemas.archived_lot.safeParse({ lot_id: 1, bid, final_bid: bid, buy_now: bid }).success).toBe(
        true,
      );
    for (const sale_date of [
      null,
      '2026-09-08 15:00:00',
      { value: '2026-09-08T15:00:00.000000Z', updated_at: null },
    ])
      expect(schemas.archived_lot.safeParse({ lot_id: 1, sale_date }).success).toBe(true);
  });
});
