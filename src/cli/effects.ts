import { once } from 'node:events';
import { LotlakeError, messageOf } from '../base/config/lotlake-error.js';
import { escapeControls } from '../base/config/printable.js';
import { redacted } from '../base/config/redact.js';

/** What commands do to the world around them; tests replace it. */
export interface Effects extends Omit<ReturnType<typeof openStreams>, 'finish' | 'failed'> {
  readonly now: () => Date;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Columns of stderr at this moment; undefined if it is not a terminal that can replace a line. */
  readonly columns: () => number | undefined;
  /** Most characters of a line of stdout; undefined if there is no limit. */
  readonly width: number | undefined;
  /** All of standard input. */
  readonly input: () => Promise<Uint8Array>;
  /** Aborted when the user wants the command to end. */
  readonly signal: AbortSignal;
}

/** The streams of a process. */
interface Streams {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream;
}

/**
 * Opens stdout and stderr for a command. If a reader closes one of them, nothing more is written to it and the work goes
 * on. The key is redacted, and characters that act on a terminal are escaped. Nothing else writes to the streams.
 */
export function openStreams({ stdout, stderr }: Streams) {
  let lost: Error | undefined;
  const gone = new AbortController();
  stdout.on('error', (error) => {
    lost ??= error;
    gone.abort();
  });
  // There is no other stream to report it on.
  stderr.on('error', () => undefined);
  const write = (text: string | Uint8Array): boolean => lost !== undefined || stdout.write(text);
  let liveLine = '';
  let onFailure: FailureLog = () => false;
  return {
    /** Writes results to stdout, for people or as JSON. */
    out: (text: string): void => void write(safe(text)),
    /** Writes whole lines to stderr, above the live line. */
    err: (text: string): void =>
      void stderr.write(liveLine === '' ? safe(text) : `\r${CLEAR_RIGHT}${safe(text)}${liveLine}`),
    /**
     * Replaces the live line at the end of stderr; an empty one removes it. Only for a terminal, and for lines shorter
     * than its width. Each line is one write and the cursor stays visible: nothing flickers, and nothing has to be
     * restored, however the process ends.
     */
    live(line: string): void {
      const next = safe(line);
      if (next !== liveLine) stderr.write(`\r${next}${CLEAR_RIGHT}`);
      liveLine = next;
    },
    /** Sets the log for the error that ends the command. */
    logFailure(log: FailureLog): void {
      onFailure = log;
    },
    /** Logs the error that ends the command. Returns whether the log also wrote it to stderr. */
    failed: (message: string, facts: object): boolean => onFailure(message, facts),
    /**
     * Writes pieces of a result, such as CSV, to stdout; only a terminal gets them escaped. Waits for a slow reader, and
     * stops when the reader is gone. Throws if the signal is aborted.
     */
    async pipe(pieces: AsyncIterable<string | Uint8Array>, signal: AbortSignal): Promise<void> {
      const ended = AbortSignal.any([gone.signal, signal]);
      for await (const piece of pieces) {
        const isFull = !write(stdout.isTTY && typeof piece === 'string' ? safe(piece) : piece);
        if (isFull) await once(stdout, 'drain', { signal: ended }).catch(() => undefined);
        signal.throwIfAborted();
        if (lost !== undefined) return;
      }
    },
    /** Waits until stdout took everything. Throws SYSTEM_OUTPUT, unless a reader such as `head` closed it. */
    async finish(): Promise<void> {
      if (lost === undefined) await new Promise((resolve) => stdout.write('', resolve));
      if (lost === undefined || Reflect.get(lost, 'code') === 'EPIPE') return;
      throw new LotlakeError('SYSTEM_OUTPUT', `the result cannot be written to stdout: ${messageOf(lost)}`, {
        cause: lost,
        hint: 'what the command did besides is done; make room, or name another place for its output',
      });
    },
  };
}

/** A text without keys and without characters that act on a terminal. */
export const safe = (text: string): string => escapeControls(redacted(text));

/** Clears the line from the cursor to its end. */
const CLEAR_RIGHT = '\u001b[K';

/** Logs the error that ends a command. Returns whether it wrote the error to stderr. */
type FailureLog = (message: string, facts: object) => boolean;
