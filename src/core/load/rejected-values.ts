import { isObject } from '../../base/config/json.js';
import type { ColumnPlaces, FilledColumns } from '../lake/rows/column-places.js';
import { nodeAt } from '../lake/rows/types.js';
import { type ContractNode, idOf } from '../service/contract/node.js';
import { wordOf } from '../service/scan/bare-words.js';
import { hasHalfPair, locate, type RecordPath, type Span } from '../service/scan/locate.js';
import { kindNames } from '../service/scan/shape.js';
import type { Stream } from '../service/streams.js';

/** Why a record cannot be loaded. */
export interface Fault {
  readonly record_id: string | null;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
}

/** A value that breaks the contract, and the row and column that lack it; or a whole row that a bad value costs. */
export interface BadValue extends Fault {
  readonly table_name: string;
  /** JSON of the key of its row, by column. */
  readonly row_key: string;
  /** The column that it would have filled; for an object that fills several, all of them; {@link WHOLE_ROW} for a row. */
  readonly column_name: string;
  /** The value, or the whole row, as it came. */
  readonly raw: string;
}

/** In place of a column in a reject that cost a row of its own. */
export const WHOLE_ROW = '*';

/** The stream of a record, and the columns that its places fill. */
export interface RecordRules {
  readonly stream: Stream;
  readonly places: ColumnPlaces;
}

/** A record under check: its bytes and its parsed value, in which values that break the contract become null. */
export interface Checked extends RecordRules {
  /** Bytes that are no UTF-8 stand in it as {@link NO_UTF8}. */
  readonly line: Buffer;
  readonly record: unknown;
  readonly record_id: string | null;
}

/**
 * Stands in a record for bytes that are no UTF-8: half of a surrogate pair, as JSON escapes it, so that it costs the value that
 * holds it.
 */
export const NO_UTF8 = '\\udffe';

/** The text of some bytes of a record, with U+FFFD for bytes that were no UTF-8. */
const textOf = (line: Buffer, [start, end]: Span): string =>
  line.toString('utf8', start, end).replaceAll(NO_UTF8, '\ufffd');

/** A row of a list that cannot be loaded: its path, and the value that costs it. */
export interface LostRow {
  readonly row: RecordPath;
  readonly why: Found;
}

/** A value of a record with its path. */
export interface Found {
  readonly path: RecordPath;
  readonly value: unknown;
}

/** The rejects of a record: its bad values, then the rows that it loses. */
export function* valuesOf(
  checked: Checked,
  bad: readonly Found[],
  lost: readonly LostRow[],
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
      raw: wordOf(found.value) ?? textOf(line, span),
      table_name: row?.table.name ?? '',
      row_key: rowKey(checked, found.path, row?.key ?? []),
      column_name: columns?.join(', ') ?? '',
    };
  }
  for (const [i, { row, why }] of lost.entries()) {
    const [cut] = places.filledBy(placeOf(row));
    const span = spans[bad.length + i] ?? [0, 0];
    yield {
      ...faultOf(checked, why, locate(line, [why.path], stream.contract)[0]),
      raw: textOf(line, span),
      table_name: cut?.table.name ?? '',
      // The key of the row itself, as far as it can be read.
      row_key: rowKey(checked, [...row, ''], cut?.key ?? []),
      column_name: WHOLE_ROW,
    };
  }
}

/** The longest prefix of a path that leads to a row of some table. */
export function entityOf(path: RecordPath, { entities }: ColumnPlaces): RecordPath {
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
    return [column, typeof last === 'number' ? positionAt(record, at) : plainKey(valueAt(record, at))];
  });
  return JSON.stringify(Object.fromEntries(entries));
}

/** The position of an element among the objects of its list, from 1. */
function positionAt(record: unknown, path: RecordPath): number {
  const list = valueAt(record, path.slice(0, -1));
  const before = Array.isArray(list) ? list.slice(0, Number(path.at(-1))) : [];
  return before.filter(isObject).length + 1;
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
export const stepsOf = (place: string): string[] => place.split(/\.|(?=\[\])/).filter((step) => step !== '');

/** The value at a path of a record; undefined if there is none. */
export function valueAt(record: unknown, path: RecordPath): unknown {
  let value: unknown = record;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

/** A path as people read it, such as `lots[0].bid`. */
export function pathText(path: RecordPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`;
    return text === '' ? step : `${text}.${step}`;
  }, '');
}

/** The place in the contract that a path leads to: the path without positions. */
export const placeOf = (path: RecordPath): string => pathText(path).replaceAll(/\[\d+\]/g, '[]');

/** What a value that breaks the contract costs if nothing else can be done: why, and what was found. */
export function faultOf({ line, stream, record_id }: Checked, { path, value }: Found, span?: Span): Fault {
  const node = nodeAt(stream.contract, placeOf(path));
  const kinds = node === undefined ? 'a value' : kindNames(node.accepts).join(', ');
  const expected = `${kinds}${wantedOf(value)}${node?.required === true ? ' (required)' : ''}`;
  return { record_id, path: pathText(path), expected, found: describe(value, line, span) };
}

/** What a text lacks that no text in UTF-8 could be. */
function wantedOf(value: unknown): string {
  if (!hasHalfPair(value) || wordOf(value) !== undefined) return '';
  const isBroken = hasHalfPair(value, (text) => text.includes(JSON.parse(`"${NO_UTF8}"`)));
  return isBroken ? ' in UTF-8' : ' without half of a surrogate pair';
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
      ? textOf(line, [start, Math.min(end, start + 4 * MOST_FOUND + 4)])
      : JSON.stringify(value).replaceAll(NO_UTF8, '\ufffd');
  return `${kind} ${clipped(text)}`;
}

/** A text cut to a length, but not within a surrogate pair. */
function clipped(text: string): string {
  return text.length > MOST_FOUND ? `${text.slice(0, MOST_FOUND).replace(/[\ud800-\udbff]$/, '')}…` : text;
}

/** The id of a record as its line has it: a number may not be exact once it is parsed. */
export function recordId(record: unknown, line: Buffer, contract: ContractNode): string | null {
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
