import { createHash } from 'node:crypto';
import pLimit from 'p-limit';

/** An object in a listing. */
export interface Listed {
  readonly bytes: number;
  readonly modified: Date;
  /** ETag, in most services the MD5 of the content. */
  readonly tag: string;
}

/** The content of an object. */
export interface Versioned {
  readonly body: Buffer;
  /** ETag of this version of the object. */
  readonly tag: string;
}

/** Size and SHA-256 (hex) of a file. */
export interface Content {
  readonly bytes: number;
  readonly sha256: string;
}

/** Requests that were sent, with those that were repeated, by the classes that services charge for. */
export interface Requests {
  /** Writes, also of a part of an object. */
  put: number;
  get: number;
  /** Pages of listings. */
  list: number;
  /** Removals, which cost nothing on S3. */
  remove: number;
  /** Bytes of the bodies of writes. */
  bytes: number;
}

export const noRequests = (): Requests => ({ put: 0, get: 0, list: 0, remove: 0, bytes: 0 });

/**
 * Objects below one prefix of a bucket. Names are relative to the prefix. Every method throws MIRROR_*, and the error of the
 * system if a local file cannot be read or written.
 */
export interface ObjectStore {
  /** Such as `s3://bucket/prefix`, for messages. */
  readonly place: string;
  /** Number of requests at the same time. */
  readonly concurrency: number;
  /** Ends every request once it is aborted. */
  readonly signal: AbortSignal;
  /** What was sent so far. */
  readonly requests: Readonly<Requests>;
  /** Objects whose names have a prefix, by name. */
  list(below: string): Promise<Map<string, Listed>>;
  /** Undefined if there is no such object. */
  read(name: string): Promise<Versioned | undefined>;
  /** Writes an object into a file and returns its SHA-256 (hex); undefined if there is no such object. */
  fetch(name: string, path: string): Promise<string | undefined>;
  /** Sends a file. The service compares it with the checksum. */
  sendFile(name: string, path: string, content: Content): Promise<void>;
  send(name: string, body: string | Uint8Array): Promise<void>;
  /**
   * Writes a text if the object still has the tag or, without a tag, if there is no object. Returns the new tag; undefined
   * if it did not write.
   */
  replace(name: string, text: string, tag: string | undefined): Promise<string | undefined>;
  /**
   * Removes up to {@link MOST_REMOVED} objects.
   * @param end ends this request, as `signal` does
   */
  remove(names: readonly string[], end?: AbortSignal): Promise<void>;
}

/** Most objects that one request can remove. */
export const MOST_REMOVED = 1000;

/** ETag of a content that was written in one request, unless the service encrypts it with a key of its own. */
export const tagOf = (body: string | Uint8Array): string =>
  `"${createHash('md5').update(body).digest('hex')}"`;

/** Does work for each item, `concurrency` at once, and returns the results. After a failure or an abort no work begins. */
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
