/** Every member of every record that is a key, a time, a source, a list or a text, and what a broken service may put there. */
import { type ContractNode, walkContract } from '../../../src/core/service/contract/node.js';
import { type StreamName, streams } from '../../../src/core/service/streams.js';

/** What a member is, as far as the lake depends on it. */
type Kind = 'key' | 'time' | 'source' | 'list' | 'text';

/** One member of the records of a stream with one bad value. */
export interface Change {
  readonly stream: StreamName;
  readonly path: string;
  readonly kind: Kind;
  /** Name of the bad value. */
  readonly how: string;
  /** Makes the bad value of the good one, and of that of another place. */
  readonly bad: (value: unknown, other: unknown) => unknown;
}

type Bad = Readonly<Record<string, Change['bad']>>;

const ANYWHERE: Bad = {
  null: () => null,
  'a repeat': (_, other) => other,
  'an object': () => ({ a: 1 }),
  'a list': () => [7],
  'a number with a fraction': () => 1.5,
  'an empty text': () => '',
  'N/A': () => 'N/A',
};

const BAD: Readonly<Record<Kind, Bad>> = {
  key: { ...ANYWHERE, zero: () => 0, 'below zero': () => -1, 'half of a pair': () => '\ud83d' },
  source: { ...ANYWHERE, zero: () => 0, 'no source': () => 99 },
  time: {
    ...ANYWHERE,
    'far ahead': () => '9999-12-31T23:59:59Z',
    'next year': () => '2027-11-20 02:00:00',
    'long ago': () => '0001-01-01 00:00:00',
    'no date': () => '0000-00-00 00:00:00',
    'no such day': () => '2026-02-30',
  },
  list: {
    null: () => null,
    'every row twice': (value) => [value, value].flat(),
    'a null among its rows': (value) => [null, value, null].flat(),
    'a number among its rows': (value) => [7, value].flat(),
    'an empty row': (value) => [value, {}].flat(),
    'an object': () => ({ a: 1 }),
    'an object of its rows': (value) => Object.fromEntries(Object.entries(Object(value))),
    'a text': () => 'none',
    'an empty text': () => '',
    'an empty object': () => ({}),
  },
  text: {
    ...ANYWHERE,
    'a long text': (value) => String(value).repeat(5000),
    'half of a pair': () => 'a\ud83d',
    'a NUL character': () => 'a\0b',
    'no character': () => 'a\uffff\ufeff',
  },
};

/** Members whose value is a source: they decide for which lots a pass speaks. */
const isSource = ({ path }: ContractNode): boolean => /(^|\.)(domain\.id|domain_id)$/.test(path);

function kindOf(node: ContractNode): Kind | undefined {
  if (node.path === '' || node.path.endsWith('[]')) return undefined;
  if (node.required) return 'key';
  if (isSource(node)) return 'source';
  if (node.element !== undefined) return 'list';
  if (node.lexical === 'timestamp') return 'time';
  return node.duckdb === 'VARCHAR' ? 'text' : undefined;
}

/** All changes of a stream. */
export function changesOf(stream: StreamName): Change[] {
  return [...walkContract(streams[stream].contract)].flatMap((node) => {
    const kind = kindOf(node);
    if (kind === undefined) return [];
    return Object.entries(BAD[kind]).map(([how, bad]) => ({ stream, path: node.path, kind, how, bad }));
  });
}

/** Steps of a path of the contract: `lots`, `[]` and `id` of `lots[].id`. */
const stepsOf = (path: string): string[] => path.split(/\.|(?=\[\])/);

/** The object or list that holds a member, with its name there, at the first place of a record that has the member. */
function placeIn(
  value: unknown,
  [step = '', ...rest]: readonly string[],
): [parent: object, name: string] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (step === '[]') {
    for (const element of Array.isArray(value) ? value : []) {
      const found = placeIn(element, rest);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  const inner: unknown = Reflect.get(value, step);
  if (rest.length > 0) return placeIn(inner, rest);
  const isEmpty = inner === null || inner === undefined || (Array.isArray(inner) && inner.length === 0);
  return isEmpty ? undefined : [value, step];
}

/** Whether a record has a member, so that the change can be made. */
export const has = (record: unknown, { path }: Pick<Change, 'path'>): boolean =>
  placeIn(record, stepsOf(path)) !== undefined;

/** The value of a member at the first place of a record. */
function valueIn(record: unknown, path: string): unknown {
  const [parent, name] = placeIn(record, stepsOf(path)) ?? [{}, ''];
  return Reflect.get(parent, name);
}

/** A record with a change made at its first place; its siblings, or else another record, give the other value. */
export function changed(record: unknown, { path, bad }: Change, another: unknown): unknown {
  const copy: unknown = structuredClone(record);
  const [parent, name] = placeIn(copy, stepsOf(path)) ?? [{}, ''];
  const value: unknown = Reflect.get(parent, name);
  const other = siblingOf(record, path, value) ?? valueIn(another, path);
  Reflect.set(parent, name, bad(value, other));
  return copy;
}

/** Another value of the same member in the innermost list that has several. */
function siblingOf(record: unknown, path: string, value: unknown): unknown {
  const all = [...valuesIn(record, stepsOf(path))];
  return all.find(
    (each) => each !== null && each !== undefined && JSON.stringify(each) !== JSON.stringify(value),
  );
}

function* valuesIn(value: unknown, [step, ...rest]: readonly string[]): Generator<unknown> {
  if (step === undefined) yield value;
  else if (step === '[]')
    for (const element of Array.isArray(value) ? value : []) yield* valuesIn(element, rest);
  else if (typeof value === 'object' && value !== null) yield* valuesIn(Reflect.get(value, step), rest);
}

/** The rows that a record holds at a path of the contract, as texts: its objects, each once. */
export function rowsAt(record: unknown, path: string): string[] {
  const found = path === '' ? [record] : [...valuesIn(record, stepsOf(path))].map(asRow);
  return [...new Set(found.filter((row) => row !== undefined).map((row) => JSON.stringify(row)))];
}

const asRow = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined;
