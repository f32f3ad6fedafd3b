import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { alterRecords, faultOf, refuse } from './disturb.js';
import { FAULT_HEADER, type Fault, type FaultRequest, headerFaults } from './fault.js';
import { badKey, notFound, Refusal, tooMany } from './refusal.js';
import type { LoggedRequest } from './request-log.js';
import { type Question, routes } from './routes.js';
import { type Answer, encode, send } from './send.js';

/** What the app asks of the sandbox around it. */
export interface AppState {
  readonly apiKey: string;
  readonly access: Question['access'];
  /** The world as it is now. */
  world(): Question['world'];
  moveClock(hours: number): void;
  faultsFor(request: FaultRequest): readonly Fault[];
  /** Whether the rate budget allows another request now. */
  admits(): boolean;
  readonly cache: Map<string, Answer> | null;
  readonly log: LoggedRequest[];
}

type SandboxContext = Context<{ Bindings: HttpBindings }>;

/** Path prefix of all endpoints. */
export const BASE_PATH = '/api';

/** The HTTP application of the sandbox. */
export function createApp(state: AppState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.get('*', (context) => handle(state, context));
  return app;
}

async function handle(state: AppState, context: SandboxContext): Promise<Response> {
  const started = performance.now();
  const url = new URL(context.req.url);
  const path = url.pathname.startsWith(`${BASE_PATH}/`) ? url.pathname.slice(BASE_PATH.length) : url.pathname;
  const entry: LoggedRequest = {
    number: state.log.length + 1,
    method: context.req.method,
    path,
    query: url.search.slice(1),
    at: new Date(),
    status: 0,
    bytes: 0,
    ms: 0,
    faults: [],
  };
  state.log.push(entry);
  const page = Number(url.searchParams.get('page') ?? 1);
  const faults = [...state.faultsFor({ number: entry.number, path, page, query: url.searchParams })];
  const answer = await answerOf(state, context, path, url, faults);
  entry.faults = faults.map((fault) => fault.kind);
  entry.status = answer.status;
  entry.bytes = answer.bytes.length;
  await send(context.env.outgoing, answer, faults);
  entry.ms = performance.now() - started;
  return RESPONSE_ALREADY_SENT;
}

async function answerOf(
  state: AppState,
  context: SandboxContext,
  path: string,
  url: URL,
  faults: Fault[],
): Promise<Answer> {
  const zipped = /\bgzip\b/.test(context.req.header('accept-encoding') ?? '');
  try {
    faults.push(...headerFaults(context.req.header(FAULT_HEADER)));
    await disturbBefore(state, faults);
    if (context.req.header('x-api-key') !== state.apiKey) throw badKey();
    if (!state.admits()) throw tooMany(1);
    refuse(faults);
    return await listAnswer(state, path, url, faults, zipped);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return await encode(error.status, JSON.stringify(error.body), error.headers, zipped);
  }
}

async function disturbBefore(state: AppState, faults: readonly Fault[]): Promise<void> {
  const delay = faultOf(faults, 'delay');
  if (delay !== undefined) await new Promise((resolve) => setTimeout(resolve, delay.ms));
  const moved = faultOf(faults, 'move-clock');
  if (moved !== undefined) state.moveClock(moved.hours);
}

async function listAnswer(
  state: AppState,
  path: string,
  url: URL,
  faults: readonly Fault[],
  zipped: boolean,
): Promise<Answer> {
  const world = state.world();
  const key = `${world.clock.getTime()} ${zipped} ${path}${url.search}`;
  const cached = faults.length === 0 ? state.cache?.get(key) : undefined;
  if (cached !== undefined) return cached;
  const route = routes.get(path);
  if (route === undefined) throw notFound('route');
  const text = route({ world, path, query: url.searchParams, access: state.access, faults });
  const answer = await encode(200, shortened(alterRecords(text, faults), faults), {}, zipped);
  if (faults.length === 0) state.cache?.set(key, answer);
  return answer;
}

/** The text cut short for `cut-body` with a complete message; otherwise as it is. */
function shortened(text: string, faults: readonly Fault[]): string {
  const cut = faultOf(faults, 'cut-body');
  return cut?.ending === 'short-text' ? text.slice(0, Math.floor(text.length * (cut.at ?? 0.5))) : text;
}
