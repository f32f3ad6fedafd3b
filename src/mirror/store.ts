import pLimit from 'p-limit';

/** An object as a listing tells of it. */
export interface Listed {
  readonly bytes: number;
  readonly modified: Date;
}

/** What an object holds, and the tag of this version of it. */
export interface Versioned {
  readonly body: Buffer;
  readonly tag: string;
}

/** Size and SHA-256 (hex) of a file. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * Objects below one prefix of a bucket. Names are below the prefix. Every method throws MIRROR_*, and the error of the
 * system where a local file cannot be read or written.
 */
export interface ObjectStore {
  /** Such as `s3://bucket/prefix`, for messages. */
  readonly place: string;
  /** Requests that are made at once. */
  readonly concurrency: number;
  /** Ends every request once it is aborted. */
  readonly signal: AbortSignal;
  /** Objects whose names begin like this, by name. */
  list(below: string): Promise<Map<string, Listed>>;
  /** Undefined where there is no such object. */
  read(name: string): Promise<Versioned | undefined>;
  /** Writes an object into a file and returns its SHA-256 (hex); undefined where there is no such object. */
  fetch(name: string, path: string): Promise<string | undefined>;
  /** Sends a file. The service compares it with the checksum. */
  sendFile(name: string, path: string, content: Content): Promise<void>;
  send(name: string, body: string | Uint8Array): Promise<void>;
  /** Writes a text if the object still has the tag, or is still not there. Returns the new tag; undefined if it has not. */
  replace(name: string, text: string, tag: string | undefined): Promise<string | undefined>;
  /**
   * Removes up to {@link MOST_REMOVED} objects.
   * @param end stops it, beside what ends every request
   */
  remove(names: readonly string[], end?: AbortSignal): Promise<void>;
}

/** Most objects that one request removes. */
export const MOST_REMOVED = 1000;

/** Does work for each item, some at once. After the first failure or an abort nothing more begins. Returns the results. */
export async function forEach<T, R>(
  { concurrency, signal }: Pick<ObjectStore, 'concurrency' | 'signal'>,
  items: readonly T[],
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const limit = pLimit(concurrency);
  const begin = (item: T): Promise<R> => {
    signal.throwIfAborted();
    return work(item);
  };
  try {
    return await Promise.all(items.map((item) => limit(begin, item)));
  } finally {
    limit.clearQueue();
  }
}
