import type { IncomingMessage, ServerResponse } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { z } from 'zod';
import { messageOf } from '../../base/config/lotlake-error.js';
import { HOUR } from '../world/instants.js';
import { SandboxError, type World } from '../world.js';
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
import { ADMIN_PATH, BASE_PATH } from './list-page.js';
import type { Question } from './question.js';
import { badRequest, notFound, Refusal, tooMany } from './refusal.js';

const compress = promisify(gzip);

/** An answer before it is sent. */
interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in the encoding that the headers name. */
  readonly bytes: Buffer;
}

export interface AppState {
  readonly apiKey: string;
  world: World;
  readonly log: LoggedRequest[];
  readonly access: Question['access'];
  readonly scrolls: Question['scrolls'];
  faultsFor: (request: FaultRequest) => readonly Fault[];
  /** Whether the rate budget allows another request now. */
  readonly admits: () => boolean;
  /** Counts a request of the day. Null if it is within the budget, otherwise the seconds until the next day. */
  readonly admitsToday: () => number | null;
  readonly cache: Map<string, Answer> | null;
}

/** A request as the sandbox saw it. */
export type LoggedRequest = ReturnType<typeof logEntry>;

const logEntry = (number: number, method: string, path: string, query: string) => ({
  /** From 1, in order of arrival. */
  number,
  method,
  path,
  query,
  /** When it arrived, by the machine's clock. */
  at: new Date(),
  /** 0 until it is answered. */
  status: 0,
  bytes: 0,
  /** How long the answer took, milliseconds. */
  ms: 0,
  /** Kinds of the faults that were applied. */
  faults: [] as readonly string[],
});

/** A request while it is answered. */
interface Call {
  readonly request: IncomingMessage;
  readonly url: URL;
  /** Path below the base URL; empty for a path outside of it. */
  readonly path: string;
  /** Whether the client accepts gzip. */
  readonly zipped: boolean;
  /** Faults of the rules that match; those that its header names are added. */
  readonly faults: Fault[];
}

/** Answers a request. Rejects for a failure of the sandbox itself. */
export async function respond(state: AppState, request: IncomingMessage, response: ServerResponse) {
  const started = performance.now();
  // Two slashes would begin the name of a host.
  const url = new URL((request.url ?? '/').replace(/^\/+/, '/'), 'http://localhost');
  const path = url.pathname.startsWith(`${BASE_PATH}/`) ? url.pathname.slice(BASE_PATH.length) : '';
  const zipped = /\bgzip\b/.test(header(request, 'accept-encoding'));
  const call: Call = { request, url, path, zipped, faults: [] };
  if (`${url.pathname}/`.startsWith(`${ADMIN_PATH}/`))
    return await send(response, await answerOf(state, call, adminAnswer), []);
  const { length } = state.log;
  const entry = logEntry(length + 1, request.method ?? '', path || url.pathname, url.search.slice(1));
  state.log.push(entry);
  const page = Number(url.searchParams.get('page') ?? 1);
  call.faults.push(...state.faultsFor({ number: entry.number, path, page, query: url.searchParams }));
  const answer = await answerOf(state, call, serviceAnswer);
  entry.faults = call.faults.map((fault) => fault.kind);
  entry.status = answer.status;
  entry.bytes = answer.bytes.length;
  await send(response, answer, call.faults);
  entry.ms = performance.now() - started;
}

const header = ({ headers }: IncomingMessage, name: string): string => String(headers[name] ?? '');

async function answerOf(state: AppState, call: Call, handler: typeof serviceAnswer): Promise<Answer> {
  try {
    return await handler(state, call);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return await encode(error.status, JSON.stringify(error.body), error.headers, call.zipped);
  }
}

async function serviceAnswer(state: AppState, call: Call): Promise<Answer> {
  const { request, faults } = call;
  faults.push(...headerFaults(header(request, FAULT_HEADER)));
  await disturbBefore(state, faults);
  checkKey(state, request);
  if (request.method !== 'GET') throw new Refusal(405, { message: 'method not allowed' }, { allow: 'GET' });
  if (!state.admits()) throw tooMany(1);
  const wait = state.admitsToday();
  if (wait !== null) throw tooMany(wait, 'Daily request limit reached.');
  refuse(faults);
  return await listAnswer(state, call);
}

async function disturbBefore(state: AppState, faults: readonly Fault[]): Promise<void> {
  const delay = faultOf(faults, 'delay');
  if (delay !== undefined) await sleep(delay.ms);
  const moved = faultOf(faults, 'move-clock');
  if (moved === undefined) return;
  state.world = state.world.at(new Date(state.world.now + moved.hours * HOUR));
}

function checkKey({ apiKey }: AppState, request: IncomingMessage): void {
  if (request.headers['x-api-key'] === apiKey) return;
  throw new Refusal(403, { message: 'invalid or inactive api key' });
}

async function listAnswer(state: AppState, { path, url, faults, zipped }: Call): Promise<Answer> {
  const { world, access, scrolls } = state;
  // The answers of a scroll are not cached: its requests are counted, and it expires.
  const kept = faults.length === 0 && !/[?&](limit|scroll_\w+)=/.test(url.search) ? state.cache : null;
  const key = `${world.now} ${zipped} ${path}${url.search}`;
  const cached = kept?.get(key);
  if (cached !== undefined) return cached;
  const text = answerTo({ world, path, query: url.searchParams, access, faults, scrolls });
  const answer = await encode(200, shortened(alterRecords(text, faults), faults), {}, zipped);
  kept?.set(key, answer);
  return answer;
}

/** The text, cut short if the fault `cut-body` cuts the text of a complete message. */
function shortened(text: string, faults: readonly Fault[]): string {
  const cut = faultOf(faults, 'cut-body');
  return cut?.ending === 'short-text' ? text.slice(0, Math.floor(text.length * (cut.at ?? 0.5))) : text;
}

/** Answers a call below `/sandbox`, which is not a request to the service and is not logged. */
async function adminAnswer(state: AppState, { request, url, zipped }: Call): Promise<Answer> {
  checkKey(state, request);
  const call = `${request.method} ${url.pathname.slice(ADMIN_PATH.length)}`;
  const answer = (body: object) => encode(200, JSON.stringify(body), {}, zipped);
  if (call === 'POST /clock') moveTo(state, await json(request).catch(() => undefined));
  if (call === 'POST /clock' || call === 'GET /clock') return answer({ clock: state.world.clock });
  if (call === 'GET /requests') return answer({ highest_rate: highestRate(state.log), requests: state.log });
  throw notFound('route');
}

const clockBody = z.object({ clock: z.iso.datetime({ offset: true }) });

function moveTo(state: AppState, body: unknown): void {
  const parsed = clockBody.safeParse(body);
  if (!parsed.success) throw badRequest('clock', 'The clock must be an ISO 8601 timestamp with a zone.');
  try {
    state.world = state.world.at(new Date(parsed.data.clock));
  } catch (error) {
    if (error instanceof SandboxError) throw badRequest('clock', messageOf(error));
    throw error;
  }
}

/** Characters of the shortest answer that is gzipped, as servers do: a shorter one would hardly become smaller. */
const LEAST_ZIPPED = 1_000;

/** Encodes a JSON text, gzipped at level 1 if `zipped` and it is not short. */
async function encode(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
  zipped: boolean,
): Promise<Answer> {
  const plain = Buffer.from(text, 'utf8');
  const isZipped = zipped && text.length >= LEAST_ZIPPED;
  const bytes = isZipped ? await compress(plain, { level: 1 }) : plain;
  const encoding = isZipped ? { 'content-encoding': 'gzip' } : {};
  return {
    status,
    bytes,
    headers: { 'content-type': 'application/json', vary: 'accept-encoding', ...encoding, ...headers },
  };
}

/** Sends an answer with the faults of the wire. Resolves when everything that will be sent is sent. */
async function send(response: ServerResponse, answer: Answer, faults: readonly Fault[]): Promise<void> {
  const cut = faultOf(faults, 'cut-body');
  const stalled = faultOf(faults, 'stalled-body');
  const torn = cut !== undefined && (cut.ending ?? 'socket') === 'socket';
  const bytes = faultOf(faults, 'corrupt-gzip') ? corrupted(answer.bytes) : answer.bytes;
  const short = cut?.ending === 'short-gzip' ? bytes.subarray(0, share(bytes, cut.at)) : bytes;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(short.length) });
  if (!torn && stalled === undefined) return await until(response, () => response.end(short));
  const part = bytes.subarray(0, share(bytes, (cut ?? stalled)?.at));
  await until(response, (done) => response.write(part, () => done()));
  // The first part has to leave before the connection does.
  if (torn) setTimeout(() => response.destroy(), 20);
}

const share = (bytes: Buffer, at = 0.5): number => Math.floor(bytes.length * at);

/** Resolves when `done` is called or the connection is closed. */
const until = (response: ServerResponse, act: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve);
    act(resolve);
  });

/** A copy whose middle is overwritten; the header of a gzip stream stays whole. */
function corrupted(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = Math.max(20, Math.floor(copy.length / 2));
  copy.fill(0xa5, Math.min(middle, copy.length), Math.min(middle + 64, copy.length));
  return copy;
}

/** The highest number of requests within any period of less than a second. */
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
