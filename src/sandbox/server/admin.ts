import { z } from 'zod';
import { messageOf } from '../../config/lotlake-error.js';
import { SandboxError, type World } from '../world.js';
import { badKey, badRequest, notFound, Refusal } from './refusal.js';

/** Path prefix of what only the sandbox has. */
export const ADMIN_PATH = '/sandbox';

/** A request as the sandbox saw it. */
export interface LoggedRequest {
  /** From 1, in order of arrival. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly query: string;
  /** When it came, by the machine's clock. */
  readonly at: Date;
  /** 0 until it is answered. */
  status: number;
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

/** What the calls that only the sandbox has need of it. */
export interface AdminState {
  readonly apiKey: string;
  world: World;
  readonly log: LoggedRequest[];
}

const clockBody = z.object({ clock: z.iso.datetime({ offset: true }) });

/** Answers a call below `/sandbox`; it is no request of the service and stands in no log. */
export async function adminAnswer(state: AdminState, request: Request): Promise<Response> {
  try {
    if (request.headers.get('x-api-key') !== state.apiKey) throw badKey();
    return Response.json(await answerOf(state, request));
  } catch (error) {
    if (error instanceof Refusal) return Response.json(error.body, { status: error.status });
    throw error;
  }
}

async function answerOf(state: AdminState, request: Request): Promise<object> {
  const call = `${request.method} ${new URL(request.url).pathname.slice(ADMIN_PATH.length)}`;
  if (call === 'POST /clock') moveTo(state, await request.json().catch(() => undefined));
  if (call === 'POST /clock' || call === 'GET /clock') return { clock: state.world.clock.toISOString() };
  if (call === 'GET /requests') return { highest_rate: highestRate(state.log), requests: state.log };
  throw notFound('route');
}

function moveTo(state: AdminState, body: unknown): void {
  const wanted = clockBody.safeParse(body);
  if (!wanted.success) throw badRequest('clock', 'The clock must be an ISO 8601 timestamp with a zone.');
  try {
    state.world = state.world.at(new Date(wanted.data.clock));
  } catch (error) {
    if (error instanceof SandboxError) throw badRequest('clock', messageOf(error));
    throw error;
  }
}
