import * as Kind from '../service/contract/kinds.js';
import type { ContractNode } from '../service/contract/node.js';
import { type Edit, edited, locate, type RecordPath } from '../service/scan/locate.js';

/** A record as it was meant: its bytes, its parsed value, and how many values came in another form. */
interface Meant {
  readonly line: Buffer;
  readonly record: unknown;
  readonly meant: number;
}

/**
 * Reads values of a record as they are meant. An empty list in place of an object is null, an empty object in place of a list
 * is an empty list, and an object with numbers as names in place of a list is the list of its values: so PHP writes them. A
 * whole number that is written as `10004.0` in place of a key or a text is 10004: so table tools write columns with gaps. All
 * other bytes stay. Throws SyntaxError for a line that is no JSON.
 */
export function asMeant(line: Buffer, contract: ContractNode): Meant {
  const json = line.toString('utf8');
  const record: unknown = JSON.parse(json);
  const misfits = [...misfitsIn(record, contract, WHOLE_REAL.test(json))];
  if (misfits.length === 0) return { line, record, meant: 0 };
  const paths = misfits.flatMap(({ path, names }) => [path, ...names.map((name) => [...path, name])]);
  const spans = locate(line, paths, contract);
  const texts = spans.map((span) => (span === undefined ? '' : line.toString('utf8', ...span)));
  let place = 0;
  const edits = misfits.flatMap(({ names, form }): Edit[] => {
    const span = spans[place];
    const token = texts[place] ?? '';
    const elements = texts.slice(place + 1, place + 1 + names.length);
    place += 1 + names.length;
    if (span === undefined) return [];
    if (form === 'list') return [{ span, text: `[${elements.join(',')}]` }];
    if (form === 'null') return [{ span, text: 'null' }];
    return WHOLE_TOKEN.test(token) ? [{ span, text: String(Number(token.replaceAll('"', ''))) }] : [];
  });
  if (edits.length === 0) return { line, record, meant: 0 };
  // What stands inside a list that was written anew comes next.
  const inside = asMeant(edited(line, edits), contract);
  return { ...inside, meant: edits.length + inside.meant };
}

/** A whole number with a fraction of zeros or an exponent, somewhere in a record. */
const WHOLE_REAL = /\d(?:\.0+|(?:\.\d+)?[eE]\+?\d+)"?\s*[,\]}]/;

/** The same as the token of a value, with or without quotes. */
const WHOLE_TOKEN = /^"?-?\d+(?:\.0+|(?:\.\d+)?[eE]\+?\d+)"?$/;

/** A place where a value stands in another form than it is meant. */
interface Misfit {
  readonly path: RecordPath;
  /** Names of the members that are the elements of the list. */
  readonly names: readonly string[];
  /** What it is meant to be. */
  readonly form: 'list' | 'null' | 'digits';
}

/**
 * The outermost misfits of a value, and whole numbers that may be written as reals.
 * @param hasReals whether some number of the record is
 */
function* misfitsIn(
  value: unknown,
  node: ContractNode | undefined,
  hasReals: boolean,
  path: RecordPath = [],
): Generator<Misfit> {
  if (node === undefined) return;
  if (hasReals && mayBeReal(value, node)) yield { path, names: [], form: 'digits' };
  if (typeof value !== 'object' || value === null) return;
  const takes = (kind: number): boolean => (node.accepts & kind) !== 0;
  if (Array.isArray(value)) {
    const isNull = value.length === 0 && takes(Kind.OBJECT) && takes(Kind.NULL) && !takes(Kind.ARRAY);
    if (isNull) yield { path, names: [], form: 'null' };
    else
      for (const [i, element] of value.entries())
        yield* misfitsIn(element, node.element, hasReals, [...path, i]);
    return;
  }
  const names = Object.keys(value);
  const isList = takes(Kind.ARRAY) && !takes(Kind.OBJECT) && names.every((name) => /^\d+$/.test(name));
  if (isList) yield { path, names, form: 'list' };
  else
    for (const [name, inner] of Object.entries(value))
      yield* misfitsIn(inner, node.members.get(name), hasReals, [...path, name]);
}

/** Whether a value is a whole number where a key or a text is meant, or in a key its text. Its token decides. */
function mayBeReal(value: unknown, { duckdb, required }: ContractNode): boolean {
  if (duckdb !== 'VARCHAR' && !required) return false;
  if (typeof value === 'number') return Number.isSafeInteger(value);
  return required && typeof value === 'string' && /^-?\d{1,15}\.0+$/.test(value);
}
