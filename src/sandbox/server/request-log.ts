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

/** The highest number of requests within any second, both ends of which count. */
export function highestRate(log: readonly Pick<LoggedRequest, 'at'>[]): number {
  const times = log.map((entry) => entry.at.getTime()).sort((a, b) => a - b);
  let first = 0;
  let highest = 0;
  times.forEach((at, place) => {
    while (at - (times[first] ?? at) >= 1000) first += 1;
    highest = Math.max(highest, place - first + 1);
  });
  return highest;
}
