/** Edits between two words: letters added, left out, replaced, or two neighbours swapped. */
function edits(a: string, b: string): number {
  let [before, last]: number[][] = [[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1];
      let least = Math.min(
        (row[j - 1] ?? 0) + 1,
        (last?.[j] ?? 0) + 1,
        (last?.[j - 1] ?? 0) + (isSame ? 0 : 1),
      );
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before?.[j - 2] ?? 0) + 1);
      row.push(least);
    }
    [before, last] = [last, row];
  }
  return last?.[b.length] ?? a.length;
}

/** The names that are most like one that does not exist, the most alike first; at most three. */
export function nearest(wrong: string, names: readonly string[]): string[] {
  const given = wrong.slice(0, 100).toLowerCase();
  return names
    .map((name) => ({
      name,
      contains: name.toLowerCase().includes(given),
      edits: edits(given, name.toLowerCase()),
    }))
    .sort(
      (a, b) => Number(b.contains) - Number(a.contains) || a.edits - b.edits || (a.name < b.name ? -1 : 1),
    )
    .slice(0, 3)
    .map(({ name }) => name);
}

/** `; did you mean lots?` for a name that is mistyped, and nothing for one that is like none of the names. */
export function didYouMean(wrong: string, names: readonly string[]): string {
  const [first] = nearest(wrong, names);
  if (first === undefined) return '';
  const given = wrong.slice(0, 100).toLowerCase();
  const isLike =
    edits(given, first.toLowerCase()) <= Math.max(2, Math.ceil(given.length / 3)) ||
    (given.length > 2 && first.toLowerCase().includes(given));
  return isLike ? `; did you mean ${first}?` : '';
}
