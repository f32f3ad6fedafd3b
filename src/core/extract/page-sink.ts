import type { ServiceRequest } from '../service/requests.js';
import type { Answer, Client } from './client.js';
import type { PageFacts } from './plan.js';

/** Where pages go; landing implements it. */
export interface PageSink<P extends PageFacts> {
  /** Pages that an earlier start of the same pass has landed. */
  readonly landed: readonly P[];
  /** Reads the whole answer and keeps it as the page of this number. */
  land(page: number, answer: Answer, requestedAt: string): Promise<P>;
  /** Reads the whole answer and keeps nothing of it. */
  readonly read: (answer: Answer) => Promise<PageRecords>;
}

/** The records of a page as JSON, with its paging. */
export interface PageRecords extends Pick<PageFacts, 'total' | 'next'> {
  readonly records: readonly Uint8Array[];
}

/** Options of the walks by page number and along a scroll: a request without its page, and where its pages go. */
export interface Source<P extends PageFacts> extends ServiceRequest {
  readonly client: Client;
  readonly sink: PageSink<P>;
  readonly signal?: AbortSignal | undefined;
  /** Requests for smaller pages that the walk has left; without it, no page is asked for in pieces. */
  readonly pieces?: { left: number };
}

/** Microseconds. */
let last = 0;

/**
 * The present instant as ISO 8601 with microseconds, later than every one before. The microseconds count the calls
 * within a millisecond, so that requests and answers can be put in order.
 */
export function instant(): string {
  last = Math.max(Date.now() * 1000, last + 1);
  const milliseconds = new Date(Math.floor(last / 1000)).toISOString().slice(0, -1);
  return `${milliseconds}${String(last % 1000).padStart(3, '0')}Z`;
}

/** How a walk ended. */
export interface WalkResult {
  /** Whether missing records are proven absent, except in `unproven`: the walk reached the end, and the numbers agree. */
  readonly complete: boolean;
  /** What the walk does not prove, and why; null if it proves all. */
  readonly reason: string | null;
  readonly total: number | null;
  /** Ranges of ids, ends left out, that the walk proves nothing about. It may have missed a record in them. */
  readonly unproven: readonly (readonly [number, number])[];
}
