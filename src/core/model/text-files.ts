import { readFileSync, statSync } from 'node:fs';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { counted, megabytes } from '../../base/config/printable.js';

/** Most bytes of a file that defines a model or a check. */
const MOST_BYTES = 1 << 20;

/** Most values of a description. Aliases of YAML let a small file stand for billions. */
const MOST_VALUES = 100_000;

/**
 * The text of a file that defines a model or a check, without a byte order mark. Throws MODEL_DEFINITION, which names the file,
 * if it is no file of text: a folder, a pipe that would never end, too large, or not in UTF-8.
 */
export function textIn(path: string): string {
  const fail = (problem: string, cause?: unknown): LotlakeError =>
    new LotlakeError('MODEL_DEFINITION', `${path} cannot be read: ${problem}`, { cause });
  let bytes: Buffer;
  try {
    const found = statSync(path);
    if (!found.isFile()) throw fail('it is not a file');
    if (found.size > MOST_BYTES) throw fail(`it has ${megabytes(found.size)}, and a model at most 1 MB`);
    bytes = readFileSync(path);
  } catch (cause) {
    throw cause instanceof LotlakeError ? cause : fail(messageOf(cause), cause);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw fail('it is not in UTF-8', cause);
  }
  if (text.includes('\0')) throw fail('it holds a NUL character');
  return text;
}

/** Throws TypeError if a value has too many parts, or a text in it holds a NUL character, at which DuckDB ends a statement. */
export function assertSize(value: unknown): void {
  let left = MOST_VALUES;
  const visit = (part: unknown): void => {
    if (--left < 0) throw new TypeError(`it has more than ${counted(MOST_VALUES, 'value')}`);
    if (typeof part === 'string' && part.includes('\0')) throw new TypeError('it holds a NUL character');
    if (typeof part !== 'object' || part === null) return;
    for (const [name, inner] of Object.entries(part)) {
      visit(name);
      visit(inner);
    }
  };
  visit(value);
}
