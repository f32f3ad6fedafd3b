import { distance } from 'fastest-levenshtein';
import { type Code, LotlakeError } from './lotlake-error.js';

/** A name as it is compared; a mistyped one may have any length. */
const comparable = (name: string): string => name.slice(0, 100).toLowerCase();

/** The names that are most like one that does not exist, the most alike first; at most three. */
function nearest(wrong: string, names: readonly string[]): string[] {
  const given = comparable(wrong);
  return names
    .map((name) => ({
      name,
      contains: name.toLowerCase().includes(given),
      edits: distance(given, name.toLowerCase()),
    }))
    .sort(
      (a, b) => Number(b.contains) - Number(a.contains) || a.edits - b.edits || (a.name < b.name ? -1 : 1),
    )
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `; did you mean lots?` for a mistyped name, and nothing for a name that is like none. */
export function didYouMean(wrong: string, names: readonly string[]): string {
  const [first] = nearest(wrong, names);
  if (first === undefined) return '';
  const given = comparable(wrong);
  const isLike =
    distance(given, first.toLowerCase()) <= Math.max(2, Math.ceil(given.length / 3)) ||
    (given.length > 2 && first.toLowerCase().includes(given));
  return isLike ? `; did you mean ${first}?` : '';
}

/**
 * The error of a name that none of the known ones is: `message` with the name, and with the one that is most like it.
 * @param command lists the known names, if they are too many for the hint
 */
export function unknownName(
  code: Code,
  message: string,
  name: string,
  known: readonly { readonly name: string }[],
  command?: string,
): LotlakeError {
  const names = known.map((each) => each.name);
  const hint =
    command === undefined
      ? `there are: ${names.join(', ')}`
      : `the nearest names are ${nearest(name, names).join(', ')}; ${command} lists all`;
  return new LotlakeError(code, `${message} ${name}${didYouMean(name, names)}`, { outcome: 'usage', hint });
}
