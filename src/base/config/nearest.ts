import { distance } from 'fastest-levenshtein';
import { insteadOf } from './gone.js';
import { type Code, LotlakeError } from './lotlake-error.js';

/** The names that are most like an unknown one, the most alike first; at most three. */
function nearest(unknown: string, names: readonly string[]) {
  // A mistyped name may have any length.
  const given = unknown.slice(0, 100).toLowerCase();
  return names
    .map((name) => {
      const edits = distance(given, name.toLowerCase());
      const contains = name.toLowerCase().includes(given);
      const isTypo = edits <= Math.max(2, Math.ceil(given.length / 3));
      return { name, edits, contains, isLike: isTypo || (given.length > 2 && contains) };
    })
    .sort(
      (a, b) => Number(b.contains) - Number(a.contains) || a.edits - b.edits || (a.name < b.name ? -1 : 1),
    )
    .slice(0, 3);
}

/** `; did you mean lots?` for a mistyped name, and nothing if no name is like it. */
export function didYouMean(unknown: string, names: readonly string[]): string {
  const [first] = nearest(unknown, names);
  return first?.isLike === true ? `; did you mean ${first.name}?` : '';
}

/**
 * The error of an unknown name: `message` with the name, and with the known one that is most like it.
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
  const near = nearest(name, names).map((each) => each.name);
  const list =
    command === undefined
      ? `there are: ${names.join(', ')}`
      : `the nearest names are ${near.join(', ')}; ${command} lists all`;
  const hint = insteadOf(name) ?? list;
  return new LotlakeError(code, `${message} ${name}${didYouMean(name, names)}`, { outcome: 'usage', hint });
}
