/** A JSON text, or a word that some writers put in place of a number and that is no JSON: NaN, Infinity, with a sign or not. */
const TEXT_OR_WORD = /"[^"\\]*(?:\\.[^"\\]*)*"|-?(?:NaN|Infinity)/gs;

const WORD = /NaN|Infinity/;

/** Half of a surrogate pair, which no text in UTF-8 has. A value that holds one is rejected. */
const MARK = '\udfff';

/** JSON in which each such word is a text that is rejected wherever it stands. */
export function withoutWords(json: string): string {
  if (!WORD.test(json)) return json;
  return json.replace(TEXT_OR_WORD, (found) =>
    found.startsWith('"') ? found : JSON.stringify(MARK + found),
  );
}

/** The word that a value of such JSON stands for; undefined for every other value. */
export function wordOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined;
}
