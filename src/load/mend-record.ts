import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { kindNames } from '../land/kinds.js';
import { locate, type RecordPath } from '../land/locate.js';
import type { ContractNode } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import type { ColumnPlaces, FilledColumns } from './column-places.js';
import { isRowPlace, nodeAt, REJECTED_MEMBER } from './types.js';

/** Why a record cannot be loaded. */
export interface Fault {
  readonly record_id: string | null;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

/** A value that breaks the contract, and the row and column that lack it. */
export interface BadValue extends Fault {
  readonly table_name: string;
  /** JSON of the key of its row, by column. */
  readonly row_key: string;
  /** The column that it would have filled; of an object that fills several, all of them. */
  readonly column_name: string;
  /** The value as it came. */
  readonly raw: string;
}

/** A record that can be loaded, and what is missing in it. */
export interface MendedRecord {
  readonly record: Buffer;
  readonly values: readonly BadValue[];
}

/** What checking a record needs to know of its stream. */
export interface RecordRules {
  readonly stream: Stream;
  readonly contract: ContractNode;
  readonly places: ColumnPlaces;
}

/**
 * Makes a record loadable: each value that breaks the contract becomes null, and each row that lacks a value says which
 * columns that are, in the member {@link REJECTED_MEMBER}. All other bytes stay. A record whose keys or rows cannot be
 * read is a fault.
 */
export function mendRecord(line: Buffer, rules: RecordRules): MendedRecord | Fault {
  const { stream, contract } = rules;
  if (!isUtf8(line)) {
    const record_id = idOf(JSON.parse(line.toString('latin1')), stream.idField);
    return { record_id, path: '', expected: 'JSON in UTF-8', found: 'bytes that are no UTF-8' };
  }
  const record: unknown = JSON.parse(line.toString('utf8'));
  const bad: { readonly path: RecordPath; readonly found: string }[] = [];
  for (;;) {
    const parsed = z.safeParse(stream.schema, record);
    if (parsed.success) break;
    const paths = parsed.error.issues.flatMap(pathsOf);
    const unmendable = paths.find((path) => !isMendable(path, rules) || valueAt(record, path) === null);
    if (unmendable !== undefined) {
      const node = nodeAt(contract, placeOf(unmendable));
      return {
        record_id: idOf(record, stream.idField),
        path: pathText(unmendable),
        expected: node === undefined ? '' : expectation(node),
        found: describe(valueAt(record, unmendable)),
      };
    }
    for (const path of paths) {
      const value = valueAt(record, path);
      if (value === null) continue;
      bad.push({ path, found: describe(value) });
      setNull(record, path);
    }
  }
  return bad.length === 0 ? { record: line, values: [] } : withoutValues(line, record, bad, rules);
}

/** Paths of what an issue is about: of a value with several forms, what is wrong inside the form that it has. */
function pathsOf(issue: z.core.$ZodIssue): RecordPath[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code !== 'invalid_union') return [path];
  const inside = issue.errors
    .map((issues) => issues.flatMap(pathsOf))
    .find((paths) => paths.length > 0 && paths.every((inner) => inner.length > 0));
  return inside === undefined ? [path] : inside.map((inner) => [...path, ...inner]);
}

/** Whether a value may be missing: it is no row, no list of rows, and no key of one. */
function isMendable(path: RecordPath, { contract, places }: RecordRules): boolean {
  const place = placeOf(path);
  const node = nodeAt(contract, place);
  return node !== undefined && !node.required && !isRowPlace(node) && !places.holdsKey(place);
}

function withoutValues(
  line: Buffer,
  record: unknown,
  bad: readonly { readonly path: RecordPath; readonly found: string }[],
  { stream, contract, places }: RecordRules,
): MendedRecord {
  const marks = new Map<string, { readonly path: RecordPath; readonly columns: Set<string> }>();
  const filled = bad.map(({ path }) => places.filledBy(placeOf(path)));
  for (const [i, { path }] of bad.entries()) {
    const own = entityOf(path, places);
    for (const { entity, columns } of filled[i] ?? []) {
      const start = placeOf(own);
      const steps = entity === start ? [] : stepsOf(entity.slice(start.length));
      for (const at of objectsAt(valueAt(record, own), steps, own)) {
        const mark = marks.get(pathText(at)) ?? { path: at, columns: new Set() };
        for (const column of columns) mark.columns.add(column);
        marks.set(pathText(at), mark);
      }
    }
  }
  const marked = [...marks.values()];
  const spans = locate(
    line,
    [...bad, ...marked].map(({ path }) => path),
    contract,
  );
  const edits = spans.flatMap((span, i): { start: number; end: number; text: string }[] => {
    if (span === undefined) return [];
    const [start, end] = span;
    const columns = marked[i - bad.length]?.columns;
    if (columns === undefined) return [{ start, end, text: 'null' }];
    const isEmpty = /^\{\s*\}/.test(line.toString('latin1', start, Math.min(end, start + 16)));
    const text = `"${REJECTED_MEMBER}":${JSON.stringify([...columns].sort())}${isEmpty ? '' : ','}`;
    return [{ start: start + 1, end: start + 1, text }];
  });
  const record_id = idOf(record, stream.idField);
  const values = bad.map(({ path, found }, i): BadValue => {
    const node = nodeAt(contract, placeOf(path));
    const [row] = filled[i] ?? [];
    const [start, end] = spans[i] ?? [0, 0];
    return {
      record_id,
      path: pathText(path),
      expected: node === undefined ? '' : expectation(node),
      found,
      raw: line.toString('utf8', start, end),
      table_name: row?.table.name ?? '',
      row_key: row === undefined ? '{}' : rowKey(record, path, row, places),
      // What is derived from a value stands behind the column of the value itself.
      column_name: (node?.members.size === 0 ? row?.columns.slice(0, 1) : row?.columns)?.join(', ') ?? '',
    };
  });
  return { record: edited(line, edits), values };
}

/** The longest beginning of a path that is a row of some table. */
function entityOf(path: RecordPath, { entities }: ColumnPlaces): RecordPath {
  let length = path.length - 1;
  while (length > 0 && !entities.has(placeOf(path.slice(0, length)))) length--;
  return path.slice(0, length);
}

function edited(
  line: Buffer,
  edits: readonly { readonly start: number; readonly end: number; readonly text: string }[],
): Buffer {
  const parts: Buffer[] = [];
  let from = 0;
  for (const { start, end, text } of [...edits].sort((a, b) => a.start - b.start)) {
    parts.push(line.subarray(from, start), Buffer.from(text));
    from = end;
  }
  return Buffer.concat([...parts, line.subarray(from)]);
}

/** JSON of the key of the row that a value belongs to. */
function rowKey(
  record: unknown,
  path: RecordPath,
  { table, entity }: FilledColumns,
  places: ColumnPlaces,
): string {
  const own = entityOf(path, places);
  const entries = places.keyOf(table, entity).map(([column, source]): [string, unknown] => {
    if (source !== undefined) return [column, valueAt(record, along(own, source)) ?? null];
    return [column, partOfKey(column, own)];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** A column of a key that no member of the record fills. */
function partOfKey(column: string, row: RecordPath): string | number | null {
  const lists = row.filter((step) => typeof step === 'string');
  if (column === 'report_type') return lists[0] === 'inspections' ? 'inspection' : 'history';
  if (column === 'media_type') return lists.at(-1) === 'files' ? 'file' : 'media';
  const list =
    column === 'position' ? row.length - 2 : row.indexOf(`${column.slice(0, -'_position'.length)}s`);
  const position = row[list + 1];
  return typeof position === 'number' ? position + 1 : null;
}

/** The path of a place of the contract in the same row of the record as another. */
function along(row: RecordPath, place: string): RecordPath {
  const positions = row.filter((step) => typeof step === 'number');
  let i = 0;
  return stepsOf(place).map((step) => (step === '[]' ? (positions[i++] ?? 0) : step));
}

/** Steps of a place of the contract: `lots`, `[]`, `prices` and `[]` of `lots[].prices[]`. */
const stepsOf = (place: string): string[] => place.split(/\.|(?=\[\])/).filter((step) => step !== '');

function* objectsAt(value: unknown, steps: readonly string[], at: RecordPath): Generator<RecordPath> {
  const [step, ...rest] = steps;
  if (typeof value !== 'object' || value === null) return;
  if (step === undefined) yield at;
  else if (step === '[]') {
    for (const [i, element] of (Array.isArray(value) ? value : []).entries())
      yield* objectsAt(element, rest, [...at, i]);
  } else yield* objectsAt(Reflect.get(value, step), rest, [...at, step]);
}

function valueAt(record: unknown, path: RecordPath): unknown {
  let value: unknown = record;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function setNull(record: unknown, path: RecordPath): void {
  const parent = valueAt(record, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === 'object' && parent !== null && last !== undefined) Reflect.set(parent, last, null);
}

function pathText(path: RecordPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** The place of the contract that a path leads to: without positions. */
const placeOf = (path: RecordPath): string => pathText(path).replaceAll(/\[\d+\]/g, '[]');

function expectation(node: ContractNode): string {
  const kinds = kindNames(node.accepts).join(', ');
  return node.required ? `${kinds} (required)` : kinds;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const text = JSON.stringify(value);
  const kind = Array.isArray(value) ? 'array' : typeof value === 'string' ? 'text' : typeof value;
  return `${kind} ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

function idOf(record: unknown, field: string): string | null {
  const value = valueAt(record, [field]);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : null;
}
