import { decode, escapedParts, MOST_ESCAPED, merged } from './escapes.js';
import { findAny, type Span } from './find-any.js';

/** Replaces a key or a part of it. */
const HIDDEN = '…';

/** Characters of a key that give it away; shorter parts occur in other words, too. */
export const LEAST_PART = 8;

/** Bytes before a short key in which its name is looked for. */
const NAME = 64;

/** How to find a set of keys. */
interface Search {
  /** Finds whole keys in any of their forms, in bytes. */
  readonly whole: (bytes: Uint8Array) => Span[];
  /** Finds parts of them, `LEAST_PART` characters each. */
  readonly parts: (bytes: Uint8Array) => Span[];
  /** Characters of the keys, whose escapes are decoded. */
  readonly characters: ReadonlySet<number>;
  /** Bytes around an escape that may belong to the same key. */
  readonly reach: number;
  /** Bytes of the longest form of a key. */
  readonly longest: number;
  /** Keys that are too short to be told from other texts by themselves. */
  readonly short: { readonly token: RegExp; readonly named: RegExp } | undefined;
}

/** Secrets of all runs in this process: of services, catalogs and lineage. One run may meet the secret of another. */
const secrets = new Set<string>();
let search: Search | undefined;

/**
 * Makes `redacted` and `redactedBody` hide a key from now on: as it is, as JSON or an address escapes it, in base64 and in
 * hexadecimal digits. A key of less than 8 characters is hidden where it stands alone in a text, and in a body where its name
 * stands before it.
 */
export function hideKey(key: string): void {
  if (key === '' || secrets.has(key)) return;
  secrets.add(key);
  search = searchFor([...secrets]);
}

function searchFor(keys: readonly string[]): Search {
  const long = keys.filter((key) => key.length >= LEAST_PART);
  const short = keys.filter((key) => key.length < LEAST_PART);
  const forms = long.flatMap(formsOf);
  const either = short.map((key) => key.replaceAll(/[^\w]/g, '\\$&')).join('|');
  return {
    whole: findAny(forms),
    parts: findAny(forms.flatMap(partsOf)),
    characters: new Set(Buffer.from(long.join(''), 'latin1')),
    reach: Math.max(0, ...long.map(({ length }) => length * MOST_ESCAPED)),
    longest: Math.max(
      NAME * 2,
      ...forms.map(({ length }) => length),
      ...long.map(({ length }) => length * MOST_ESCAPED),
    ),
    short:
      either === ''
        ? undefined
        : {
            token: new RegExp(`(?<!\\w)(?:${either})(?!\\w)`, 'g'),
            named: new RegExp(
              `(?<=(?:key|token|secret|password|authorization)(?:"\\s{0,8}:\\s{0,8}"|=))(?:${either})(?=[^\\w%])`,
              'gi',
            ),
          },
  };
}

/** A key as it is, as JSON writes it, with escaped slashes, in base64 and in hexadecimal digits. */
function formsOf(key: string): string[] {
  const json = JSON.stringify(key).slice(1, -1);
  const hex = Buffer.from(key).toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => base64Of(key, before));
  const forms = [key, json, hex, hex.toUpperCase(), ...base64];
  return [...new Set(forms.flatMap((form) => [form, form.replaceAll('/', '\\/'), ...inAddress(form)]))];
}

/** Characters of a key of which some programs escape one in an address and others another. */
const MOST_CHOSEN = 4;

/** A form as parts of an address write it: with each choice of escaped characters, in upper and lower case. */
function inAddress(form: string): string[] {
  const chosen = [...new Set(form.match(/[^\w.~-]/g))].slice(0, MOST_CHOSEN);
  const all = encodeURIComponent(form);
  const choices = Array.from({ length: 2 ** chosen.length }, (_, choice) =>
    chosen
      .filter((_, place) => (choice >> place) % 2 === 1)
      .reduce((text, each) => text.replaceAll(each, hexEscape(each)), form.replaceAll('%', '%25')),
  );
  return [all, ...choices].flatMap((text) => [text, text.replaceAll(/%../g, (each) => each.toLowerCase())]);
}

const hexEscape = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/**
 * The characters of base64 that a key alone decides, if so many bytes stand before it, in the common alphabet and in that of
 * addresses. The first and the last may hold bits of its neighbours; they are left out.
 */
function base64Of(key: string, before: number): string[] {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
  const [first, end] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
  const text = bytes.toString('base64').slice(first, end);
  return [text, text.replaceAll('+', '-').replaceAll('/', '_')];
}

const partsOf = (form: string): string[] =>
  Array.from({ length: form.length - LEAST_PART + 1 }, (_, i) => form.slice(i, i + LEAST_PART));

/** Where a search finds something in bytes, as they are or without escapes. */
function spansIn(bytes: Buffer, find: Search['whole'], { characters, reach }: Search): Span[] {
  const decoded = escapedParts(bytes, characters, reach).flatMap((part) => {
    const { bytes: plain, places } = decode(bytes, part);
    return find(plain).map(({ begin, end }) => ({ begin: places[begin] ?? 0, end: places[end] ?? 0 }));
  });
  return merged([...find(bytes), ...decoded]);
}

/** A text without the keys and their parts of 8 characters and more. A part of one key may lie in another. */
export function redacted(text: string): string {
  if (search === undefined) return text;
  const { short } = search;
  // A character of two bytes becomes another one here, so that the places in the bytes are those in the text.
  const long = spansIn(Buffer.from(text, 'latin1'), search.parts, search);
  const alone = short === undefined ? [] : spansOf(text, short.token);
  let kept = '';
  let from = 0;
  for (const { begin, end } of merged([...long, ...alone])) {
    kept += text.slice(from, begin) + HIDDEN;
    from = end;
  }
  return kept + text.slice(from);
}

const spansOf = (text: string, pattern: RegExp): Span[] =>
  [...text.matchAll(pattern)].map(({ index, 0: found }) => ({ begin: index, end: index + found.length }));

/**
 * A body in which asterisks replace each whole key, so that no page, ledger or message holds one. The length stays; the
 * chunks are changed in place.
 */
export async function* redactedBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let held: Buffer = Buffer.alloc(0);
  for await (const chunk of body) {
    const bytes =
      held.length === 0
        ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
        : Buffer.concat([held, chunk]);
    if (search !== undefined) hideIn(bytes, search);
    // The key may have begun at the end of the chunk.
    const open = search?.longest ?? 0;
    held = bytes.subarray(Math.max(0, bytes.length - open));
    if (open < bytes.length) yield bytes.subarray(0, bytes.length - open);
  }
  if (held.length > 0) yield held;
}

function hideIn(bytes: Buffer, using: Search): void {
  const named = using.short === undefined ? [] : spansOf(bytes.toString('latin1'), using.short.named);
  for (const { begin, end } of [...spansIn(bytes, using.whole, using), ...named]) bytes.fill('*', begin, end);
}
