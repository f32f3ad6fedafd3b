import { z } from 'zod';
import { isObject } from '../../base/config/json.js';
import { badRequest, Refusal } from './refusal.js';

const share = z.coerce.number().min(0).max(1).optional();
const whole = z.coerce.number().int().positive().optional();

const fault = <K extends string, M extends z.ZodRawShape>(kind: K, members: M) =>
  z.object({ kind: z.literal(kind), ...members });

/** Everything that the sandbox can do wrong on purpose; docs/change/sandbox.md says what each fault and its members do. */
const faultSchema = z.discriminatedUnion('kind', [
  fault('rate-limited', {
    retryAfter: z.enum(['seconds', 'date', 'none']).optional(),
    seconds: z.coerce.number().optional(),
  }),
  fault('not-found', {}),
  fault('server-error', {}),
  fault('error-member', { message: z.string().optional() }),
  fault('delay', { ms: z.coerce.number() }),
  fault('cut-body', { at: share, ending: z.enum(['socket', 'short-text', 'short-gzip']).optional() }),
  fault('stalled-body', { at: share }),
  fault('corrupt-gzip', {}),
  fault('repeat-page', { page: whole }),
  fault('extra-members', { in: z.enum(['record', 'lot', 'nested', 'all']).optional(), every: whole }),
  fault('renamed-members', { from: z.string().optional(), to: z.string().optional(), every: whole }),
  fault('retyped-members', { what: z.enum(['bid-object', 'id-text', 'bad-timestamp']), every: whole }),
  fault('expired-scroll', {}),
  fault('move-clock', { hours: z.coerce.number() }),
]);

/** One thing that goes wrong. `every`: one record of this many is affected, default all. */
export type Fault = z.infer<typeof faultSchema>;

/** A fault and the requests that it hits. A member that `match` lacks matches every request. */
export interface FaultRule {
  readonly match?: {
    /** Path below the base URL, such as `/cars`. */
    readonly path?: string | RegExp;
    readonly page?: number;
    /** How many matching requests are spared first. Default 0. */
    readonly after?: number;
    /** How many matching requests are hit after that. Default all. */
    readonly times?: number;
  };
  readonly fault: Fault;
}

export interface FaultRequest {
  /** Number of the request since the sandbox started, from 1. */
  readonly number: number;
  readonly path: string;
  readonly page: number;
  readonly query: URLSearchParams;
}

/** Faults of a sandbox: rules, or a function that is called for every request. */
export type Faults = readonly FaultRule[] | ((request: FaultRequest) => Fault | readonly Fault[] | undefined);

/** Header with the faults of one request: `kind` or `kind?member=value&…`, several joined by a comma. */
export const FAULT_HEADER = 'x-sandbox-fault';

/** Turns the configured faults into a function that is called once for each request. */
export function faultSource(faults: Faults): (request: FaultRequest) => readonly Fault[] {
  if (typeof faults === 'function') return (request) => [faults(request) ?? []].flat();
  const seen = new Map<FaultRule, number>();
  return (request) =>
    faults.filter((rule) => matches(rule, request) && isDue(rule, seen)).map((rule) => rule.fault);
}

function matches({ match = {} }: FaultRule, request: FaultRequest): boolean {
  const { path, page } = match;
  const here = typeof path === 'string' ? path === request.path : (path?.test(request.path) ?? true);
  return here && (page === undefined || page === request.page);
}

function isDue(rule: FaultRule, seen: Map<FaultRule, number>): boolean {
  const count = (seen.get(rule) ?? 0) + 1;
  seen.set(rule, count);
  const { after = 0, times = Number.POSITIVE_INFINITY } = rule.match ?? {};
  return count > after && count <= after + times;
}

/** The faults that a header names. Throws a 400 for an unknown one. */
export const headerFaults = (header: string): readonly Fault[] =>
  header
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => {
      const [kind, members] = part.split('?', 2);
      const fault = faultSchema.safeParse({ kind, ...Object.fromEntries(new URLSearchParams(members)) });
      if (!fault.success) throw badRequest(FAULT_HEADER, z.prettifyError(fault.error));
      return fault.data;
    });

type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;

/** The first fault of a kind, if there is one. */
export const faultOf = <K extends Fault['kind']>(faults: readonly Fault[], kind: K): FaultOf<K> | undefined =>
  faults.find((fault): fault is FaultOf<K> => fault.kind === kind);

/** Throws the refusal of the first fault that has one. */
export function refuse(faults: readonly Fault[]): void {
  const limited = faultOf(faults, 'rate-limited');
  if (limited !== undefined) throw new Refusal(429, { message: 'Too Many Attempts.' }, retryAfter(limited));
  if (faultOf(faults, 'not-found')) throw new Refusal(404, { message: 'Not Found' });
  if (faultOf(faults, 'server-error')) throw new Refusal(500, { message: 'Server Error' });
  const member = faultOf(faults, 'error-member');
  if (member !== undefined) throw new Refusal(200, { error: member.message ?? 'search backend unavailable' });
}

function retryAfter({ retryAfter: form = 'seconds', seconds = 1 }: FaultOf<'rate-limited'>) {
  if (form === 'none') return {};
  const date = new Date(Date.now() + seconds * 1000).toUTCString();
  return { 'retry-after': form === 'date' ? date : String(seconds) };
}

type Json = Record<string, unknown>;

const lotsOf = (record: Json): Json[] => (Array.isArray(record.lots) ? record.lots.filter(isObject) : []);

/** Applies the faults that change records to the text of an answer. */
export function alterRecords(text: string, faults: readonly Fault[]): string {
  const altering = faults.filter((fault) => fault.kind.endsWith('-members'));
  if (altering.length === 0) return text;
  const body: unknown = JSON.parse(text);
  const records = isObject(body) ? [body.data].flat() : [body].flat();
  records.filter(isObject).forEach((record, place) => {
    for (const fault of altering) alter(record, place, fault);
  });
  return JSON.stringify(body);
}

function alter(record: Json, place: number, fault: Fault): void {
  if ('every' in fault && place % (fault.every ?? 1) !== 0) return;
  if (fault.kind === 'extra-members') extend(record, fault.in ?? 'all');
  if (fault.kind === 'renamed-members') rename(record, fault.from ?? 'vin', fault.to ?? 'vin_number');
  if (fault.kind === 'retyped-members') retype(record, fault.what);
}

function extend(record: Json, where: 'record' | 'lot' | 'nested' | 'all'): void {
  const all = where === 'all';
  if (all || where === 'record') {
    record.market_score = 0.87;
    record.sale_channels = [{ key: 'online', open: true }];
  }
  for (const lot of lotsOf(record)) {
    if (all || where === 'lot') lot.seller_rating = 'A+';
    if ((all || where === 'nested') && isObject(lot.odometer)) lot.odometer.reading_source = 'dashboard';
  }
}

function rename(record: Json, from: string, to: string): void {
  const [head = '', rest] = from.split('.', 2);
  const targets = rest === undefined ? [record] : lotsOf(record);
  const name = rest ?? head;
  for (const target of targets) {
    if (!(name in target)) continue;
    target[to] = target[name];
    delete target[name];
  }
}

function retype(record: Json, what: FaultOf<'retyped-members'>['what']): void {
  const id = 'lot_id' in record ? 'lot_id' : 'id';
  const lots = lotsOf(record);
  if (what === 'id-text') record[id] = `no-${String(record[id])}`;
  if (what === 'bid-object') {
    for (const lot of lots) lot.bid = { amount: lot.bid ?? 0, currency: 'usd', history: [1, 2] };
    if (lots.length === 0) record.bid = [record.bid];
  }
  if (what === 'bad-timestamp') {
    for (const lot of lots) lot.updated_at = 'yesterday at noon';
    if (lots.length === 0)
      record['archived_at' in record ? 'archived_at' : 'calculated_at'] = '2026-13-45T00:00:00Z';
  }
}
