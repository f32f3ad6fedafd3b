import { isUtf8 } from 'node:buffer';
import { z } from 'zod';
import { isObject } from '../../base/config/json.js';
import { withoutWords, wordOf } from '../land/bare-words.js';
import {
  type Edit,
  edited,
  HALF_PAIR,
  hasHalfPair,
  locate,
  type RecordPath,
  type Span,
} from '../land/locate.js';
import { kindNames } from '../land/shape.js';
import { type ContractNode, idOf } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { asMeant } from './as-meant.js';
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
  /** The column that it would have filled; for an object that fills several, all of them. */
  readonly column_name: string;
  /** The value as it came. */
  readonly raw: string;
}

/** The stream of a record, and the columns that its places fill. */
export interface RecordRules {
  readonly stream: Stream;
  readonly places: ColumnPlaces;
}

/** A record under check: its bytes and its parsed value, in which values that break the contract become null. */
interface Checked extends RecordRules {
  readonly line: Buffer;
  readonly record: unknown;
  readonly record_id: string | null;
}

/**
 * Makes a record loadable: each value that breaks the contract becomes null, and each row that loses a value gets the
 * member {@link REJECTED_MEMBER}, which lists the columns. All other bytes stay. A record whose keys or rows cannot be
 * read is a fault.
 * @returns the record, its rejected values, which can be iterated once, and the number of values that were read as they
 * were meant; or the fault of the whole record
 */
export function mendRecord(
  given: Buffer,
  rules: RecordRules,
): { readonly record: Buffer; readonly values: Iterable<BadValue>; readonly meant: number } | Fault {
  const { stream } = rules;
  const { contract } = stream;
  if (!isUtf8(given)) {
    const record_id = recordId(JSON.parse(withoutWords(given.toString('latin1'))), given, contract);
    return { record_id, path: '', expected: 'JSON in UTF-8', found: 'bytes that are no UTF-8' };
  }
  const { line, record, meant } = asMeant(given, contract);
  const text = line.toString('utf8');
  // The id is required, so it is never set to null.
  const checked = { ...rules, line, record, record_id: recordId(record, line, contract) };
  const faultAt = (path: RecordPath): Fault =>
    faultOf(checked, { path, value: valueAt(record, path) }, locate(line, [path], contract)[0]);
  // A list with a million elements that are not objects would keep zod busy for seconds.
  if (line.length > LARGE)
    for (const placed of leaves(record, contract)) if (isNoRow(placed)) return faultAt(placed.path);
  const bad: Found[] = [];
  const halves: RecordPath[] = [];
  // One after the other: a record may have a million values.
  if (HALF_PAIR.test(text))
    for (const { path, value } of leaves(record, contract)) if (hasHalfPair(value)) halves.push(path);
  for (;;) {
    const issues = issuesOf(stream, record);
    const paths = [...(bad.length === 0 ? halves : []), ...(issues ?? []).flatMap(pathsOf)];
    if (issues !== undefined && paths.length === 0) break;
    const unmendable = paths.find((path) => !isMendable(path, rules) || valueAt(record, path) === null);
    if (unmendable !== undefined) return faultAt(unmendable);
    if (issues === undefined || paths.length + bad.length > MOST_BAD_VALUES) {
      const expected = `a record with at most ${MOST_BAD_VALUES} values that break the contract`;
      return { record_id: checked.record_id, path: '', expected, found: 'more' };
    }
    for (const path of paths) {
      const value = valueAt(record, path);
      if (value === null) continue;
      bad.push({ path, value });
      setNull(record, path);
    }
  }
  return { ...(bad.length === 0 ? { record: line, values: [] } : withoutValues(checked, bad)), meant };
}

/** Size of a record, in bytes, above which its check takes a noticeable time. */
export const LARGE = 1 << 16;

interface Found {
  readonly path: RecordPath;
  readonly value: unknown;
}

/** With its place in the contract; undefined if the contract does not know it. */
type Placed = Found & { readonly node: ContractNode | undefined };

/** The values of a record whose members or elements the contract does not describe. */
function* leaves(value: unknown, node: ContractNode | undefined, path: RecordPath = []): Generator<Placed> {
  if (node?.element !== undefined && Array.isArray(value)) {
    for (const [i, element] of value.entries()) yield* leaves(element, node.element, [...path, i]);
  } else if (node !== undefined && node.members.size > 0 && isObject(value)) {
    for (const [name, inner] of Object.entries(value))
      yield* leaves(inner, node.members.get(name), [...path, name]);
  } else yield { path, value, node };
}

/** Whether a value stands where a row is cut, but is not an object. */
const isNoRow = ({ value, node }: Placed): boolean =>
  node?.path.endsWith('[]') === true && isRowPlace(node) && (typeof value !== 'object' || value === null);

/** A record with more values that break the contract is rejected whole; the largest known record has fewer in all. */
const MOST_BAD_VALUES = 10_000;

/** The issues of a record; undefined if they are too many for zod, which passes issues as the arguments of a call. */
function issuesOf(stream: Stream, record: unknown): readonly z.core.$ZodIssue[] | undefined {
  try {
    return z.safeParse(stream.schema, record).error?.issues ?? [];
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Paths of the values with an issue. For a value with several forms, these are inside the form that the value has. */
function pathsOf(issue: z.core.$ZodIssue): RecordPath[] {
  const path = issue.path.filter((step) => typeof step !== 'symbol');
  if (issue.code !== 'invalid_union') return [path];
  const inside = issue.errors
    .map((issues) => issues.flatMap(pathsOf))
    .find((paths) => paths.length > 0 && paths.every((inner) => inner.length > 0));
  return inside === undefined ? [path] : inside.map((inner) => [...path, ...inner]);
}

/** Whether a value may become null: it is not required, not a row or list of rows, and not part of a key. */
function isMendable(path: RecordPath, { stream, places }: RecordRules): boolean {
  const place = placeOf(path);
  const node = nodeAt(stream.contract, place);
  return node === undefined || (!node.required && !isRowPlace(node) && !places.holdsKey(place));
}

function withoutValues(checked: Checked, bad: readonly Found[]) {
  const { line, stream } = checked;
  const marks = marksOf(checked, bad);
  const paths = [...bad, ...marks].map(({ path }) => path);
  const spans = locate(line, paths, stream.contract);
  const edits = spans.flatMap((span, i): Edit[] => {
    if (span === undefined) return [];
    const [start, end] = span;
    const columns = marks[i - bad.length]?.columns;
    if (columns === undefined) return [{ span, text: 'null' }];
    const isEmpty = /^\{\s*\}/.test(line.toString('latin1', start, Math.min(end, start + 16)));
    const text = `"${REJECTED_MEMBER}":${JSON.stringify([...columns].sort())}${isEmpty ? '' : ','}`;
    return [{ span: [start + 1, start + 1], text }];
  });
  return { record: edited(line, edits), values: valuesOf(checked, bad, spans) };
}

function marksOf({ record, places }: Checked, bad: readonly Found[]) {
  const marks = new Map<string, { readonly path: RecordPath; readonly columns: Set<string> }>();
  for (const { path } of bad) {
    const own = entityOf(path, places);
    const start = placeOf(own);
    for (const { entity, columns } of places.filledBy(placeOf(path))) {
      const steps = entity === start ? [] : stepsOf(entity.slice(start.length));
      for (const at of objectsAt(valueAt(record, own), steps, own)) {
        const mark = marks.get(pathText(at)) ?? { path: at, columns: new Set() };
        for (const column of columns) mark.columns.add(column);
        marks.set(pathText(at), mark);
      }
    }
  }
  return [...marks.values()];
}

function* valuesOf(
  checked: Checked,
  bad: readonly Found[],
  spans: readonly (Span | undefined)[],
): Generator<BadValue> {
  const { line, stream, places } = checked;
  for (const [i, found] of bad.entries()) {
    const place = placeOf(found.path);
    const [row] = places.filledBy(place);
    const span = spans[i] ?? [0, 0];
    // The column of the value itself comes first, then the columns that are derived from it.
    const columns =
      nodeAt(stream.contract, place)?.members.size === 0 ? row?.columns.slice(0, 1) : row?.columns;
    yield {
      ...faultOf(checked, found, span),
      raw: wordOf(found.value) ?? line.toString('utf8', ...span),
      table_name: row?.table.name ?? '',
      row_key: rowKey(checked, found.path, row?.key ?? []),
      column_name: columns?.join(', ') ?? '',
    };
  }
}

/** The longest prefix of a path that leads to a row of some table. */
function entityOf(path: RecordPath, { entities }: ColumnPlaces): RecordPath {
  let length = path.length - 1;
  while (length > 0 && !entities.has(placeOf(path.slice(0, length)))) length--;
  return path.slice(0, length);
}

function rowKey({ record, places }: Checked, path: RecordPath, key: FilledColumns['key']): string {
  const own = entityOf(path, places);
  const entries = key.map(({ column, path: source, text }): [string, unknown] => {
    if (source === undefined) return [column, text ?? null];
    const at = pathInRow(own, source);
    const last = at.at(-1);
    return [column, typeof last === 'number' ? last + 1 : plainKey(valueAt(record, at))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** A value of a key; null if it is missing or nested too deeply for JSON.stringify. */
function plainKey(value: unknown): unknown {
  try {
    JSON.stringify(value);
    return value ?? null;
  } catch {
    return null;
  }
}

/** Path to a place of the contract in a record, with the list positions of a row. */
function pathInRow(row: RecordPath, place: string): RecordPath {
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

/** The place in the contract that a path leads to: the path without positions. */
const placeOf = (path: RecordPath): string => pathText(path).replaceAll(/\[\d+\]/g, '[]');

function faultOf({ line, stream, record_id }: Checked, { path, value }: Found, span?: Span): Fault {
  const node = nodeAt(stream.contract, placeOf(path));
  const kinds = node === undefined ? 'a value' : kindNames(node.accepts).join(', ');
  const form =
    hasHalfPair(value) && wordOf(value) === undefined ? `${kinds} without half of a surrogate pair` : kinds;
  const expected = node?.required === true ? `${form} (required)` : form;
  return { record_id, path: pathText(path), expected, found: describe(value, line, span) };
}

const MOST_FOUND = 200;

/** Describes a value in a few words: its kind, and its JSON text or the beginning of it. */
function describe(value: unknown, line: Buffer, [start, end]: Span = [0, line.length]): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const word = wordOf(value);
  if (word !== undefined) return `the word ${word}`;
  const kind = Array.isArray(value) ? 'array' : typeof value === 'string' ? 'text' : typeof value;
  if (typeof value === 'number' && !isExact(value)) return `${kind} ${tokenAt(line, [start, end])}`;
  // The whole of an object may be nested deeper than JSON.stringify can follow.
  const text =
    typeof value === 'object'
      ? line.toString('utf8', start, Math.min(end, start + 4 * MOST_FOUND + 4))
      : JSON.stringify(value);
  return `${kind} ${clipped(text)}`;
}

/** A text cut to a length, but not within a surrogate pair. */
function clipped(text: string): string {
  return text.length > MOST_FOUND ? `${text.slice(0, MOST_FOUND).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** The id of a record as its line has it: a number may not be exact once it is parsed. */
function recordId(record: unknown, line: Buffer, contract: ContractNode): string | null {
  const path = [idOf(contract)?.name ?? ''];
  const value = valueAt(record, path);
  if (typeof value === 'string') return value;
  if (typeof value !== 'number') return null;
  return isExact(value) ? String(value) : tokenAt(line, locate(line, [path], contract)[0]);
}

/** Whether a number was parsed as it was written. */
const isExact = (value: number): boolean => Number.isSafeInteger(value) || !Number.isInteger(value);

const tokenAt = (line: Buffer, [start, end]: Span = [0, 0]): string =>
  clipped(line.toString('latin1', start, end));
