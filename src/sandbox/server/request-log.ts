/** A request as the sandbox saw it. */
export interface LoggedRequest {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  /** Path below the base URL, such as `/cars`. */
  readonly path: string;
  /** The query without its question mark. */
  readonly query: string;
  /** When it came, by the machine's clock. */
  readonly at: Date;
  /** 0 until it is answered. */
  status: number;
  /** Bytes of the body as encoded. */
  bytes: number;
  /** How long the answer took, milliseconds. */
  ms: number;
  /** Kinds of the faults that were applied. */
  faults: readonly string[];
}
