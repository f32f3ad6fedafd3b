import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { type Context, Hono } from 'hono';
import { HOUR } from '../world/instants.js';
import { ADMIN_PATH, type AdminState, adminAnswer } from './admin.js';
import { answerTo } from './answers.js';
import {
  alterRecords,
  FAULT_HEADER,
  type Fault,
  type FaultRequest,
  faultOf,
  headerFaults,
  refuse,
} from './faults.js';
import { BASE_PATH } from './page.js';
import type { Question } from './question.js';
import { badKey, Refusal, tooMany, wrongMethod } from './refusal.js';
import { type Answer, encode, send } from './send.js';

export interface AppState extends AdminState {
  readonly access: Question['access'];
  readonly scrolls: Question['scrolls'];
  faultsFor: (request: FaultRequest) => readonly Fault[];
  /** Whether the rate budget allows another request now. */
  readonly admits: () => boolean;
  /** Counts a request of the day: null, or the seconds until there is a budget again. */
  readonly admitsToday: () => number | null;
  readonly cache: Map<string, Answer> | null;
}

type SandboxContext = Context<{ Bindings: HttpBindings }>;

export function createApp(state: AppState): Hono<{ Bindings: HttpBindings }> {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.all(`${ADMIN_PATH}/*`, (context) => adminAnswer(state, context.req.raw));
  app.all('*', (context) => handle(state, context));
  return app;
}

async function handle(state: AppState, context: SandboxContext): Promise<Response> {
  const started = performance.now();
  const url = new URL(context.req.url);
  const path = url.pathname.startsWith(`${BASE_PATH}/`) ? url.pathname.slice(BASE_PATH.length) : '';
  const entry: AdminState['log'][number] = {
    number: state.log.length + 1,
    method: context.req.method,
    path: path === '' ? url.pathname : path,
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
    if (context.req.method !== 'GET') throw wrongMethod();
    if (!state.admits()) throw tooMany(1);
    const wait = state.admitsToday();
    if (wait !== null) throw tooMany(wait, 'Daily request limit reached.');
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
  if (moved === undefined) return;
  state.world = state.world.at(new Date(state.world.clock.getTime() + moved.hours * HOUR));
}

async function listAnswer(
  state: AppState,
  path: string,
  url: URL,
  faults: readonly Fault[],
  zipped: boolean,
): Promise<Answer> {
  const { world, access, scrolls } = state;
  // A scroll is more than its text: its requests are counted, and it ends.
  const kept = faults.length === 0 && !/[?&](limit|scroll_\w+)=/.test(url.search) ? state.cache : null;
  const key = `${world.clock.getTime()} ${zipped} ${path}${url.search}`;
  const cached = kept?.get(key);
  if (cached !== undefined) return cached;
  const text = answerTo({ world, path, query: url.searchParams, access, faults, scrolls });
  const answer = await encode(200, shortened(alterRecords(text, faults), faults), {}, zipped);
  kept?.set(key, answer);
  return answer;
}

/** The text cut short for `cut-body` with a complete message; otherwise as it is. */
function shortened(text: string, faults: readonly Fault[]): string {
  const cut = faultOf(faults, 'cut-body');
  return cut?.ending === 'short-text' ? text.slice(0, Math.floor(text.length * (cut.at ?? 0.5))) : text;
}
