import { distance } from 'fastest-levenshtein';

/** The names that are most like an unknown one, the most alike first; at most three. */
export function nearest(unknown: string, names: readonly string[]) {
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
