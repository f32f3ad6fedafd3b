import type { Fault } from './fault.js';
import { Refusal } from './refusal.js';

type FaultOf<K extends Fault['kind']> = Extract<Fault, { kind: K }>;

/** The fault of a kind among several, if there is one. */
export const faultOf = <K extends Fault['kind']>(faults: readonly Fault[], kind: K): FaultOf<K> | undefined =>
  faults.find((fault): fault is FaultOf<K> => fault.kind === kind);

/** Throws the refusal that a fault asks for, if one does. */
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

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const lotsOf = (record: Json): Json[] => (Array.isArray(record.lots) ? record.lots.filter(isObject) : []);

/** Changes the records of an answer's text as the faults ask; gives the text back as it was without such a fault. */
export function alterRecords(text: string, faults: readonly Fault[]): string {
  const changes = faults.flatMap((fault) => changeOf(fault) ?? []);
  if (changes.length === 0) return text;
  const body: unknown = JSON.parse(text);
  const records = isObject(body) ? [body.data].flat() : [body].flat();
  records.filter(isObject).forEach((record, place) => {
    for (const { every, change } of changes) if (place % every === 0) change(record);
  });
  return JSON.stringify(body);
}

interface Change {
  readonly every: number;
  readonly change: (record: Json) => void;
}

function changeOf(fault: Fault): Change | undefined {
  switch (fault.kind) {
    case 'extra-members':
      return { every: fault.every ?? 1, change: (record) => extend(record, fault.in ?? 'all') };
    case 'renamed-members':
      return {
        every: fault.every ?? 1,
        change: (record) => rename(record, fault.from ?? 'vin', fault.to ?? 'vin_number'),
      };
    case 'retyped-members':
      return { every: fault.every ?? 1, change: (record) => retype(record, fault.what) };
    default:
      return undefined;
  }
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
