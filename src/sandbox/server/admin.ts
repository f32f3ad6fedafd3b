import { z } from 'zod';
import { messageOf } from '../../config/lotlake-error.js';
import { SandboxError } from '../error.js';
import type { World } from '../world.js';
import { ADMIN_PATH } from './base-path.js';
import { badKey, badRequest, notFound, Refusal } from './refusal.js';
import { highestRate, type LoggedRequest } from './request-log.js';

/** What the calls that only the sandbox has need of it. */
export interface AdminState {
  readonly apiKey: string;
  /** The world as it is now. */
  world(): World;
  setClock(clock: Date): void;
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
  if (call === 'POST /clock') moveTo(state, await bodyOf(request));
  if (call === 'POST /clock' || call === 'GET /clock') return { clock: state.world().clock.toISOString() };
  if (call === 'GET /requests') return { highest_rate: highestRate(state.log), requests: state.log };
  throw notFound('route');
}

async function bodyOf(request: Request): Promise<unknown> {
  try {
    return await request.json();
  } catch {
    return undefined;
  }
}

function moveTo(state: AdminState, body: unknown): void {
  const wanted = clockBody.safeParse(body);
  if (!wanted.success) throw badRequest('clock', 'The clock must be an ISO 8601 timestamp with a zone.');
  try {
    state.setClock(new Date(wanted.data.clock));
  } catch (error) {
    if (error instanceof SandboxError) throw badRequest('clock', messageOf(error));
    throw error;
  }
}
