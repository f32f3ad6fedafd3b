import { type Edit, edited, locate, type RecordPath } from '../land/locate.js';
import * as Kind from '../service/contract/kinds.js';
import type { ContractNode } from '../service/contract/node.js';

/** A record as it was meant: its bytes, its parsed value, and how many values came in another form. */
interface Meant {
  readonly line: Buffer;
  readonly record: unknown;
  readonly meant: number;
}

/**
 * Reads the arrays of PHP in a record as they are meant: an empty list in place of an object is null, an empty object in
 * place of a list is an empty list, and an object with numbers as names in place of a list is the list of its values. All
 * other bytes stay. Throws SyntaxError for a line that is no JSON.
 */
export function asMeant(line: Buffer, contract: ContractNode): Meant {
  const record: unknown = JSON.parse(line.toString('utf8'));
  const misfits = [...misfitsIn(record, contract)];
  if (misfits.length === 0) return { line, record, meant: 0 };
  const paths = misfits.flatMap(({ path, names }) => [path, ...names.map((name) => [...path, name])]);
  const spans = locate(line, paths, contract);
  const texts = spans.map((span) => (span === undefined ? '' : line.toString('utf8', ...span)));
  let place = 0;
  const edits = misfits.flatMap(({ names, isList }): Edit[] => {
    const span = spans[place];
    const elements = texts.slice(place + 1, place + 1 + names.length);
    place += 1 + names.length;
    return span === undefined ? [] : [{ span, text: isList ? `[${elements.join(',')}]` : 'null' }];
  });
  // What stands inside a list that was written anew comes next.
  const inside = asMeant(edited(line, edits), contract);
  return { ...inside, meant: misfits.length + inside.meant };
}

/** A place where a list or an object stands instead of the other. */
interface Misfit {
  readonly path: RecordPath;
  /** Names of the members that are the elements of the list. */
  readonly names: readonly string[];
  readonly isList: boolean;
}

/** The outermost misfits of a value. */
function* misfitsIn(
  value: unknown,
  node: ContractNode | undefined,
  path: RecordPath = [],
): Generator<Misfit> {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  const takes = (kind: number): boolean => (node.accepts & kind) !== 0;
  if (Array.isArray(value)) {
    const isNull = value.length === 0 && takes(Kind.OBJECT) && takes(Kind.NULL) && !takes(Kind.ARRAY);
    if (isNull) yield { path, names: [], isList: false };
    else for (const [i, element] of value.entries()) yield* misfitsIn(element, node.element, [...path, i]);
    return;
  }
  const names = Object.keys(value);
  const isList = takes(Kind.ARRAY) && !takes(Kind.OBJECT) && names.every((name) => /^\d+$/.test(name));
  if (isList) yield { path, names, isList };
  else
    for (const [name, inner] of Object.entries(value))
      yield* misfitsIn(inner, node.members.get(name), [...path, name]);
}
