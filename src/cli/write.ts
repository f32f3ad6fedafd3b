import { redacted } from '../config/redact.js';
import { visible } from '../share/printable.js';
import type { Effects } from './effects.js';

/**
 * The streams of the process, for people: without the key, and without characters that act on a terminal. Data goes out
 * as it is where no terminal shows it. Nothing else writes to the streams.
 */
export const streams: Pick<Effects, 'out' | 'data' | 'err'> = {
  out: (text) => process.stdout.write(shown(text)),
  data: (given) => process.stdout.write(process.stdout.isTTY ? shown(given) : given),
  err: (text) => process.stderr.write(shown(text)),
};

function shown<T extends string | Uint8Array>(text: T): string | Uint8Array {
  return typeof text === 'string' ? visible(redacted(text)) : text;
}
