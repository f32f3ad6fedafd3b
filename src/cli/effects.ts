/** What commands do to the world around them; tests replace it. */
export interface Effects {
  /** Results, for people or as JSON. */
  readonly out: (text: string) => void;
  /** Results whose every byte counts, such as CSV. */
  readonly data: (data: string | Uint8Array) => void;
  /** Everything else. */
  readonly err: (text: string) => void;
  readonly now: () => Date;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Whether stderr is a terminal. */
  readonly isTerminal: boolean;
  /** Aborted when the user wants the command to end. */
  readonly signal: AbortSignal;
}
