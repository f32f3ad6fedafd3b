const ASCII_ONLY = /^[\0-\x7f]*$/;
const FOREIGN = /[^\0-\x7f]+/g;
/** Escaped words; the texts of the world repeat a small vocabulary. */
const words = new Map<string, string>();

const unicodeEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

function escaped(word: string): string {
  let text = words.get(word);
  if (text === undefined) {
    text = Array.from({ length: word.length }, (_, place) => unicodeEscape(word.charCodeAt(place))).join('');
    words.set(word, text);
  }
  return text;
}

/** JSON with slashes and everything outside ASCII escaped, as captured records of source 12 are written. */
function escapedJson(value: unknown): string {
  const text = JSON.stringify(value).replaceAll('/', '\\/');
  return ASCII_ONLY.test(text) ? text : text.replace(FOREIGN, escaped);
}

/** The text of a record: of source 12 with escapes, of the others without; both are JSON (samples). */
export const recordJson = (domain: number, record: object): string =>
  domain === 12 ? escapedJson(record) : JSON.stringify(record);
