import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import * as Kind from '../../src/core/service/contract/kinds.js';
import { type ContractNode, contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { createWorld } from '../../src/sandbox/index.js';
import { recordsOf } from '../served.js';
import {
  configFor,
  lastPage,
  readLake,
  serve,
  silentReporter,
  temporaryFolder,
  WITHOUT_MARTS,
} from './support.js';
import { differences } from './world-oracle.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const VALUES = 1000;
const FIELDS = 200;

/** Values that some position does not accept, with their kinds. */
const BAD: readonly (readonly [kind: number, value: unknown])[] = [
  [Kind.TEXT, '0000-00-00 00:00:00'],
  [Kind.TEXT, '1,234.50'],
  [Kind.TEXT, ''],
  [Kind.REAL, 12.7],
  [Kind.OBJECT, { amount: 1 }],
  [Kind.ARRAY, [1, { two: 3 }]],
  [Kind.BOOLEAN, true],
];

const ANY = Kind.TEXT | Kind.OBJECT | Kind.ARRAY;

/** The values that a position does not accept. One that takes a text, an object and a list takes any value as its JSON. */
const fittingOf = ({ accepts }: ContractNode) =>
  (accepts & ANY) === ANY ? [] : BAD.filter(([kind]) => (accepts & kind) === 0);

/** A member of a record: its object, its name, its position, and its node of the contract. */
interface Member {
  readonly object: Record<string, unknown>;
  readonly name: string;
  readonly path: string;
  readonly position: number;
  readonly node: ContractNode;
}

/** Members of a record that may be missing: all except keys, objects and lists. */
function* membersOf(value: unknown, node: ContractNode, path: string, position: number): Generator<Member> {
  if (Array.isArray(value) && node.element !== undefined)
    for (const [i, element] of value.entries())
      yield* membersOf(element, node.element, `${path}[${i}]`, position);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const object = value as Record<string, unknown>;
  for (const [name, inner] of Object.entries(object)) {
    const member = node.members.get(name);
    const at = path === '' ? name : `${path}.${name}`;
    if (member === undefined) continue;
    const isPlain = member.duckdb !== 'STRUCT' && member.duckdb !== 'LIST' && !member.opaque;
    const isKey = member.required || /vehicle_ref\.(domain_id|listing_id)$/.test(member.path);
    if (isPlain && !isKey) yield { object, name, path: at, position, node: member };
    if (member.duckdb === 'STRUCT' || member.duckdb === 'LIST') yield* membersOf(inner, member, at, position);
  }
}

/** Some members of each field, as many as wanted. */
function chosen(members: readonly Member[]): Member[] {
  const fields = new Map<string, Member[]>();
  for (const member of members) {
    const known = fields.get(member.node.path);
    if (known === undefined) fields.set(member.node.path, [member]);
    else known.push(member);
  }
  const picked: Member[] = [];
  for (let round = 0; picked.length < VALUES; round++)
    for (const [i, members] of [...fields.values()].entries()) {
      const member = members[(round * 7919 + i * 31) % members.length];
      if (
        member !== undefined &&
        round < members.length &&
        picked.length < VALUES &&
        !picked.includes(member)
      )
        picked.push(member);
    }
  return picked;
}

it('a feed with a thousand bad values loses these values and nothing else', async () => {
  const world = createWorld({ vehicles: 400, seed: 11 });
  const [served, readable] = [recordsOf(world), recordsOf(world)];
  const contract = contractOf(schemas.vehicle);
  const all = (records: readonly unknown[]) =>
    records.flatMap((record, position) => [...membersOf(record, contract, '', position)]);
  const places = new Map(all(readable).map((member) => [`${member.position} ${member.path}`, member]));
  const given = chosen(all(served).filter(({ node }) => fittingOf(node).length > 0)).map((member, i) => {
    const fitting = fittingOf(member.node);
    const [, value] = fitting[i % fitting.length] ?? [];
    member.object[member.name] = value;
    // The readable part of the feed is the feed without this member.
    const twin = places.get(`${member.position} ${member.path}`);
    delete twin?.object[member.name];
    return { position: member.position, path: member.path, raw: JSON.stringify(value) };
  });
  expect(new Set(given.map(({ path }) => path.replaceAll(/\d+/g, ''))).size).toBeGreaterThanOrEqual(FIELDS);

  const service = await serve((url) =>
    url.pathname === '/api/cars'
      ? { body: lastPage(url.searchParams.get('page') === '1' ? served : []) }
      : { status: 404, body: { message: 'unknown' } },
  );
  const job = { config: configFor(service.url, folder.path), reporter: silentReporter(), ...WITHOUT_MARTS };
  const result = await nightly(job);
  await service.close();
  expect(result.passes[0]).toMatchObject({
    ...{ records: served.length, loaded: served.length, rejected: 0, rejectedValues: VALUES },
  });

  const lake = await readLake(join(folder.path, 'lake', 'current'));
  const rejects = lake.get('rejects') ?? [];
  const inOrder = (list: readonly Readonly<Record<string, unknown>>[]): string[] =>
    list.map(({ position, path, raw }) => `${position} ${path} ${raw}`).sort();
  expect(inOrder(rejects)).toEqual(inOrder(given));
  // A row may have lost every member by which the records could explain it.
  expect(differences(lake, readable, false)).toEqual([]);

  const lacking = rejects.flatMap(({ table_name, row_key, column_name }) => {
    const key = Object.entries(JSON.parse(String(row_key)));
    const row = lake
      .get(String(table_name))
      ?.find((each) => key.every(([name, value]) => String(each[name]) === String(value)));
    return String(column_name)
      .split(', ')
      .map((column) => ({ column, row }));
  });
  // `archived` is not just a member; the lake concludes it.
  const withValue = lacking.filter(
    ({ column, row }) => row?.[column] !== null && !column.startsWith('archived'),
  );
  expect(withValue).toEqual([]);
  // If the flag cannot be read, the time of archiving decides.
  const undecided = lacking.filter(({ column }) => column === 'archived').map(({ row }) => row);
  expect(undecided.length).toBeGreaterThan(0);
  expect(undecided.filter((row) => row?.archived !== (row?.archived_at !== null))).toEqual([]);
  expect(lacking.filter(({ column, row }) => ![row?.rejected].flat().includes(column))).toEqual([]);
}, 240_000);
