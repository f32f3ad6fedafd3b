import type { HistoryEvent } from '../../../served.js';
import { instantOf, type MartRow, type WorldNight } from '../night.js';
import { historiesOf, keyOr, type ReportOfNight } from '../reports.js';

interface Event {
  readonly raw: HistoryEvent;
  /** Position in the report as served, from 1. */
  readonly position: number;
  readonly type: string;
  readonly precision: string;
  /** The local time as served, cut to its precision. */
  readonly local: string | null;
  readonly currency: string | null;
  /** The first instant that the date may mean, and the end of that period (excluded), in milliseconds. */
  readonly from: number | null;
  readonly before: number | null;
}

const AMOUNTS = [
  'amount_total',
  'amount_insurance_benefit',
  'amount_parts',
  'amount_labor',
  'amount_painting',
] as const;

export function rows(night: WorldNight): MartRow[] {
  return historiesOf(night).flatMap((report) => {
    const zone = offsetOf(report.raw.created_at) ?? 0;
    const events = (report.raw.events ?? []).map((raw, place) => readEvent(raw, place, zone));
    return events.sort(inTime).map((event, place) => rowOf(report, event, events, place + 1));
  });
}

/** Precisions from the finest, with the number of characters that each keeps of a local time. */
const PRECISIONS: readonly (readonly [precision: string, characters: number])[] = [
  ['datetime', 19],
  ['day', 10],
  ['month', 7],
  ['year', 4],
];

function readEvent(raw: HistoryEvent, place: number, zone: number): Event {
  const given: string | null = raw.occurred_at ?? null;
  const precisionKey = keyOr(raw.date_precision_key, 'unknown');
  // A date is never more precise than its text. A year or a month alone has its own precision.
  const written = PRECISIONS.find(([, characters]) => characters === Math.min(given?.length ?? 0, 19));
  const stated = PRECISIONS.find(([name]) => name === precisionKey);
  const isAlone = written !== undefined && written[1] < 10;
  const counted = [written, stated ?? (isAlone ? written : undefined)];
  const isDated = counted.every((entry) => entry !== undefined);
  const characters = Math.min(...counted.map((entry) => entry?.[1] ?? 0));
  const local = given === null || !isDated ? null : given.slice(0, characters).replace(' ', 'T');
  const precision = PRECISIONS.find(([, length]) => length === local?.length)?.[0] ?? precisionKey;
  const [from, before] = intervalOf(given, local, zone);
  const hasAmount = AMOUNTS.some((name) => raw[name] !== null && raw[name] !== undefined);
  return {
    raw,
    position: place + 1,
    type: keyOr(raw.type_key, 'unknown'),
    precision,
    local,
    currency: (hasAmount && keyOr(raw.currency, '').toUpperCase()) || null,
    from,
    before,
  };
}

/** Minutes that the local time of a date is ahead of UTC; null if the date has no offset. */
function offsetOf(given: string | null): number | null {
  const [, zone, sign, hours, minutes] = /T.*?(Z|([+-])(\d\d):?(\d\d))$/.exec(given ?? '') ?? [];
  if (zone === undefined) return null;
  return zone === 'Z' ? 0 : (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
}

/**
 * Start of the first local day that a local time may mean, and end of the last (excluded), in milliseconds as if in
 * UTC.
 */
function daysOf(local: string): [number, number] {
  const [year = 0, month, day] = local.slice(0, 10).split('-').map(Number);
  if (month === undefined) return [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  if (day === undefined) return [Date.UTC(year, month - 1), Date.UTC(year, month)];
  return [Date.UTC(year, month - 1, day), Date.UTC(year, month - 1, day + 1)];
}

/** A date without an offset is in the zone of its report. */
function intervalOf(
  given: string | null,
  local: string | null,
  zone: number,
): [number | null, number | null] {
  if (local === null) return [null, null];
  const at = instantOf(given);
  if (local.length === 19) return [at, at];
  const ahead = (offsetOf(given) ?? zone) * 60_000;
  const [from, before] = daysOf(local);
  return [from - ahead, before - ahead];
}

const dayText = (day: number): string => new Date(day).toISOString().slice(0, 10);

const late = (at: number | null): number => at ?? Number.MAX_VALUE;

const inTime = (a: Event, b: Event): number =>
  late(a.from) - late(b.from) || late(a.before) - late(b.before) || a.position - b.position;

/** Whether two dates may mean the same instant. */
function overlap(a: Event, b: Event): boolean {
  if (a.from === null || b.from === null || a.before === null || b.before === null) return false;
  return a.from === b.from || (a.from < b.before && b.from < a.before);
}

function rowOf(report: ReportOfNight, event: Event, all: readonly Event[], number: number): MartRow {
  const { raw, local } = event;
  const [first, after] = local === null ? [null, null] : daysOf(local).map(dayText);
  const ofType = all.filter(({ type }) => type === event.type);
  const totals = ofType
    .filter(({ currency }) => currency === event.currency)
    .flatMap((other) => other.raw.amount_total ?? []);
  return {
    domain_id: report.domainId,
    listing_id: report.listingId,
    report_id: report.reportId,
    position: event.position,
    vehicle_id: report.vehicleId,
    event_number: number,
    type_key: event.type,
    subtype_key: keyOr(raw.subtype_key, '') || null,
    status_key: keyOr(raw.status_key, '') || null,
    occurred_at: instantOf(raw.occurred_at),
    occurred_local: local,
    date_precision_key: event.precision,
    occurred_from: first ?? null,
    occurred_before: after ?? null,
    is_order_certain: event.from !== null && !all.some((other) => other !== event && overlap(event, other)),
    mileage_km: raw.mileage_km ?? null,
    currency: event.currency,
    ...Object.fromEntries(AMOUNTS.map((name) => [name, raw[name] ?? null])),
    report_type_events: ofType.length,
    report_type_amount: totals.length === 0 ? null : totals.reduce((sum, amount) => sum + amount, 0),
  };
}
