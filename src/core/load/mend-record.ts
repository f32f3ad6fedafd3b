import { z } from 'zod';
import { isObject } from '../../base/config/json.js';
import { isRowPlace, nodeAt, REJECTED_MEMBER } from '../lake/rows/types.js';
import type { ContractNode } from '../service/contract/node.js';
import {
  type Edit,
  edited,
  HALF_PAIR,
  hasHalfPair,
  locate,
  type RecordPath,
} from '../service/scan/locate.js';
import type { Stream } from '../service/streams.js';
import { asMeant } from './as-meant.js';
import {
  type BadValue,
  type Checked,
  entityOf,
  type Fault,
  type Found,
  faultOf,
  type LostRow,
  pathText,
  placeOf,
  type RecordRules,
  recordId,
  stepsOf,
  valueAt,
  valuesOf,
} from './rejected-values.js';

/**
 * Makes a record loadable: each value that breaks the contract becomes null, and each row that loses a value gets the
 * member {@link REJECTED_MEMBER}, which lists the columns. A row of a list whose key cannot be read, or that is no object,
 * becomes null as a whole, and the object whose delivery shows which rows are gone names the list. All other
 * bytes stay. A record whose own key cannot be read is a fault.
 * @returns the record, its rejected values, which can be iterated once, and the number of values that were read as they
 * were meant; or the fault of the whole record
 */
export function mendRecord(
  given: Buffer,
  rules: RecordRules,
): { readonly record: Buffer; readonly values: Iterable<BadValue>; readonly meant: number } | Fault {
  const { stream } = rules;
  const { contract } = stream;
  const { line, record, meant } = asMeant(given, contract);
  // The id is required, so it is never set to null.
  const checked = { ...rules, line, record, record_id: recordId(record, line, contract) };
  const bad: Found[] = [];
  const lost = new LostRows();
  // Zod would be busy for seconds with a list of a million elements that are not objects.
  if (line.length > LARGE)
    for (const placed of leaves(record, contract)) {
      if (isNoRow(placed)) lost.add(placed.path, placed);
      if (lost.rows.length + lost.nulls > MOST_BAD_VALUES) return tooManyOf(checked);
    }
  for (const paths of badPaths(checked)) {
    if (paths === undefined) return tooManyOf(checked);
    const here = new Map(paths.filter((path) => !lost.holds(path)).map((path) => [pathText(path), path]));
    if (here.size === 0) break;
    for (const path of here.values()) {
      const value = valueAt(record, path);
      if (value !== null && isMendable(path, rules)) {
        bad.push({ path, value });
        setNull(record, path);
      } else if (!lost.holds(path)) {
        const row = rowAround(path);
        if (row === undefined) return faultOf(checked, { path, value }, locate(line, [path], contract)[0]);
        lost.add(row, { path, value });
      }
    }
    if (bad.length + lost.rows.length > MOST_BAD_VALUES) return tooManyOf(checked);
  }
  const kept = bad.filter(({ path }) => !lost.holds(path));
  const isWhole = kept.length + lost.rows.length === 0;
  const mended = isWhole ? { record: line, values: [] } : withoutValues(checked, kept, lost.rows);
  return { ...mended, meant: meant + lost.nulls };
}

/**
 * The paths of the values that break the contract, in rounds: the caller makes them null, which may break it in another place.
 * Undefined if they are too many to tell.
 */
function* badPaths({ stream, line, record }: Checked): Generator<readonly RecordPath[] | undefined> {
  const halves: RecordPath[] = [];
  // One after the other: a record may have a million values.
  if (HALF_PAIR.test(line.toString('utf8')))
    for (const { path, value } of leaves(record, stream.contract)) if (hasHalfPair(value)) halves.push(path);
  const first = issuesOf(stream, record);
  yield first && [...halves, ...first.flatMap(pathsOf)];
  for (;;) yield issuesOf(stream, record)?.flatMap(pathsOf);
}

/** The rows that a record loses. A null among the rows of a list is no row, so that nothing is lost. */
class LostRows {
  readonly rows: LostRow[] = [];
  nulls = 0;
  readonly #paths = new Set<string>();

  add(row: RecordPath, why: Found): void {
    this.#paths.add(pathText(row));
    if (why.value === null && why.path.length === row.length) this.nulls++;
    else this.rows.push({ row, why });
  }

  /** Whether a path leads into one of these rows. */
  holds(path: RecordPath): boolean {
    if (this.#paths.size === 0) return false;
    return path.some((_, i) => this.#paths.has(pathText(path.slice(0, i + 1))));
  }
}

/** The innermost element of a list that a path leads into or to; undefined if there is none. */
function rowAround(path: RecordPath): RecordPath | undefined {
  const last = path.findLastIndex((step) => typeof step === 'number');
  return last < 0 ? undefined : path.slice(0, last + 1);
}

function tooManyOf({ record_id }: Checked): Fault {
  const expected = `a record with at most ${MOST_BAD_VALUES} values that break the contract`;
  return { record_id, path: '', expected, found: 'more' };
}

/** Size of a record, in bytes, above which its check takes a noticeable time. */
export const LARGE = 1 << 16;

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

/** Whether a value may become null: it is a list, or it is not required, no row, and not part of a key. */
function isMendable(path: RecordPath, { stream, places }: RecordRules): boolean {
  const place = placeOf(path);
  const node = nodeAt(stream.contract, place);
  if (node === undefined || node.element !== undefined) return true;
  return !node.required && !isRowPlace(node) && !places.holdsKey(place);
}

function withoutValues(checked: Checked, bad: readonly Found[], lost: readonly LostRow[]) {
  const { line, stream } = checked;
  const marks = marksOf(checked, bad, lost);
  const nulls = [...bad.map(({ path }) => path), ...lost.map(({ row }) => row)];
  const spans = locate(line, [...nulls, ...marks.map(({ path }) => path)], stream.contract);
  const edits = spans.flatMap((span, i): Edit[] => {
    if (span === undefined) return [];
    const [start, end] = span;
    const columns = marks[i - nulls.length]?.columns;
    if (columns === undefined) return [{ span, text: 'null' }];
    const isEmpty = /^\{\s*\}/.test(line.toString('latin1', start, Math.min(end, start + 16)));
    const text = `"${REJECTED_MEMBER}":${JSON.stringify([...columns].sort())}${isEmpty ? '' : ','}`;
    return [{ span: [start + 1, start + 1], text }];
  });
  return { record: edited(line, edits), values: valuesOf(checked, bad, lost, spans) };
}

function marksOf({ record, places }: Checked, bad: readonly Found[], lost: readonly LostRow[]) {
  const marks = new Map<string, { readonly path: RecordPath; readonly columns: Set<string> }>();
  const mark = (at: RecordPath, columns: readonly string[]): void => {
    const found = marks.get(pathText(at)) ?? { path: at, columns: new Set() };
    for (const column of columns) found.columns.add(column);
    marks.set(pathText(at), found);
  };
  for (const { path } of bad) {
    const own = entityOf(path, places);
    const start = placeOf(own);
    for (const { entity, columns } of places.filledBy(placeOf(path))) {
      const steps = entity === start ? [] : stepsOf(entity.slice(start.length));
      for (const at of objectsAt(valueAt(record, own), steps, own)) mark(at, columns);
    }
  }
  for (const { row } of lost) mark(...ownerOf(row));
  return [...marks.values()];
}

/** The object whose delivery shows which rows of a list are gone, a lot or the record, and the name of the list. */
function ownerOf(row: RecordPath): [at: RecordPath, lists: readonly string[]] {
  const [first, position] = row;
  const list = [String(row.findLast((step) => typeof step === 'string'))];
  return first === 'lots' && position !== undefined && row.length > 2
    ? [[first, position], list]
    : [[], list];
}

function* objectsAt(value: unknown, steps: readonly string[], at: RecordPath): Generator<RecordPath> {
  const [step, ...rest] = steps;
  if (typeof value !== 'object' || value === null) return;
  if (step === undefined) yield at;
  else if (step === '[]') {
    for (const [i, element] of (Array.isArray(value) ? value : []).entries())
      yield* objectsAt(element, rest, [...at, i]);
  } else yield* objectsAt(Reflect.get(value, step), rest, [...at, step]);
}

function setNull(record: unknown, path: RecordPath): void {
  const parent = valueAt(record, path.slice(0, -1));
  const last = path.at(-1);
  if (typeof parent === 'object' && parent !== null && last !== undefined) Reflect.set(parent, last, null);
}
