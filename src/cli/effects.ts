import { once } from 'node:events';
import { messageOf } from '../config/lotlake-error.js';
import { redacted } from '../config/redact.js';
import { visible } from '../query/printable.js';
import { ShareError } from '../query/share-error.js';

/**
 * Stdout and stderr of a command. If a reader closes one of them, writing to it ends and the work goes on. The key is
 * redacted, and characters that act on a terminal are escaped. Nothing else writes to the streams.
 */
export interface Streams {
  /** Writes results to stdout, for people or as JSON. */
  readonly out: (text: string) => void;
  /** Writes everything else to stderr. */
  readonly err: (text: string) => void;
  /**
   * Writes pieces of a result, such as CSV, to stdout without changing a byte. Waits for a slow reader, and stops when
   * the reader is gone. Throws if the signal is aborted.
   */
  readonly pipe: (pieces: AsyncIterable<string | Uint8Array>, signal: AbortSignal) => Promise<void>;
  /**
   * Waits until stdout has taken all. Throws ShareError SHARE_OUTPUT if it could not, but not if its reader wanted no
   * more, as `head` does.
   */
  readonly finish: () => Promise<void>;
}

/** What commands do to the world around them; tests replace it. */
export interface Effects extends Pick<Streams, 'out' | 'err' | 'pipe'> {
  readonly now: () => Date;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Characters of a line of stdout; undefined if nothing limits it. */
  readonly width: number | undefined;
  /** All of standard input. */
  readonly input: () => Promise<Uint8Array>;
  /** Aborted when the user wants the command to end. */
  readonly signal: AbortSignal;
}

/** Opens the streams of a process. */
export function openStreams({ stdout, stderr }: Pick<NodeJS.Process, 'stdout' | 'stderr'>): Streams {
  let lost: Error | undefined;
  const gone = new AbortController();
  stdout.on('error', (error) => {
    lost ??= error;
    gone.abort();
  });
  // No stream is left to report it on.
  stderr.on('error', () => undefined);
  const write = (text: string | Uint8Array): boolean => lost !== undefined || stdout.write(text);
  return {
    out: (text) => void write(shown(text)),
    err: (text) => void stderr.write(shown(text)),
    async pipe(pieces, signal) {
      const ended = AbortSignal.any([gone.signal, signal]);
      for await (const piece of pieces) {
        const isFull = !write(stdout.isTTY && typeof piece === 'string' ? shown(piece) : piece);
        if (isFull) await once(stdout, 'drain', { signal: ended }).catch(() => undefined);
        signal.throwIfAborted();
        if (lost !== undefined) return;
      }
    },
    async finish() {
      if (lost === undefined) await new Promise((resolve) => stdout.write('', resolve));
      if (lost === undefined || Reflect.get(lost, 'code') === 'EPIPE') return;
      throw new ShareError('SHARE_OUTPUT', `the result cannot be written to stdout: ${messageOf(lost)}`, {
        cause: lost,
        hint: 'what the command did besides is done; make room, or name another place for its output',
      });
    },
  };
}

const shown = (text: string): string => visible(redacted(text));

/** Characters of a line of stdout, from the terminal or `COLUMNS`; undefined if neither is known. */
export function widthOf(stdout: NodeJS.WriteStream, env: NodeJS.ProcessEnv): number | undefined {
  const told = Number(env.COLUMNS);
  return stdout.columns ?? (Number.isInteger(told) && told > 0 ? told : undefined);
}
