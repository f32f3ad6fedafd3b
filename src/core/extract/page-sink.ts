import type { PageFacts } from '../lake/passes/landed-page.js';
import type { PageSink } from '../land/step.js';
import type { Client } from '../service/client.js';
import type { ServiceRequest } from '../service/requests.js';

/** Options of the walks by page number and along a scroll: a request without its page, and where its pages go. */
export interface Source<P extends PageFacts> extends ServiceRequest {
  readonly client: Client;
  readonly sink: PageSink<P>;
  readonly signal?: AbortSignal | undefined;
  /** Requests for smaller pages that the walk has left; without it, no page is asked for in pieces. */
  readonly pieces?: { left: number };
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
