import type { Streams } from './streams.js';

/** What commands do to the world around them; tests replace it. */
export interface Effects extends Pick<Streams, 'out' | 'err' | 'pipe'> {
  readonly now: () => Date;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Characters of a line of stdout; undefined where nothing limits it. */
  readonly width: number | undefined;
  /** All of standard input. */
  readonly input: () => Promise<Uint8Array>;
  /** Aborted when the user wants the command to end. */
  readonly signal: AbortSignal;
}
