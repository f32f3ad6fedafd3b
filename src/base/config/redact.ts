/** Replaces a key or a part of it. */
const HIDDEN = '…';

/** Characters of a key that give it away; shorter parts occur in other words, too. */
const LEAST_PART = 8;

interface Secret {
  /** Finds where parts of the key begin, in any of its escaped forms. */
  readonly parts: RegExp;
  /** The whole key in each form that a body may hold. */
  readonly whole: readonly Buffer[];
}

/** Secrets of all runs in this process: of services, catalogs and lineage. One run may meet the secret of another. */
const secrets = new Map<string, Secret>();

/** Makes `redacted` and `redactedBody` hide a key from now on. A key of less than 8 characters is not hidden. */
export function hideKey(key: string): void {
  if (key.length < LEAST_PART || secrets.has(key)) return;
  const json = JSON.stringify(key).slice(1, -1);
  const forms = new Set([key, json, json.replaceAll('/', '\\/'), encodeURIComponent(key)]);
  const parts = new Set([...forms].flatMap(partsOf));
  secrets.set(key, {
    parts: new RegExp(`(?=${[...parts].map((part) => part.replaceAll(/[^\w]/g, '\\$&')).join('|')})`, 'g'),
    whole: [...forms].map((form) => Buffer.from(form)),
  });
}

const partsOf = (form: string): string[] =>
  Array.from({ length: form.length - LEAST_PART + 1 }, (_, i) => form.slice(i, i + LEAST_PART));

/** A text without the keys and their parts of 8 characters and more. A part of one key may lie in another. */
export function redacted(text: string): string {
  const begins = [...secrets.values()].flatMap(({ parts }) =>
    [...text.matchAll(parts)].map(({ index }) => index),
  );
  let kept = '';
  let from = 0;
  for (const index of begins.sort((a, b) => a - b)) {
    if (kept === '' || index > from) kept += text.slice(from, index) + HIDDEN;
    from = index + LEAST_PART;
  }
  return kept + text.slice(from);
}

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
    const whole = [...secrets.values()].flatMap((secret) => secret.whole);
    for (const form of whole)
      for (let at = bytes.indexOf(form); at >= 0; at = bytes.indexOf(form, at + form.length))
        bytes.fill('*', at, at + form.length);
    // The key may have begun at the end of the chunk.
    const open = Math.max(0, ...whole.map(({ length }) => length - 1));
    held = bytes.subarray(Math.max(0, bytes.length - open));
    if (open < bytes.length) yield bytes.subarray(0, bytes.length - open);
  }
  if (held.length > 0) yield held;
}
