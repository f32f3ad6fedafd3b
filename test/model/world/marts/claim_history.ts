import { instantOf, type Json, type MartRow, type WorldNight } from '../night.js';
import { historiesOf, keyOr, type ServedReport } from '../reports.js';

interface Event {
  readonly raw: Json;
  /** Place in the report as served, from 1. */
  readonly position: number;
  readonly type: string;
  readonly precision: string;
  readonly currency: string | null;
  /** First instant that the date stands for and the one after the last, milliseconds. */
  readonly from: number | null;
  readonly before: number | null;
}

const AMOUNTS = ['total', 'insurance_benefit', 'parts', 'labor', 'painting'].map((name) => `amount_${name}`);

export function rows(night: WorldNight): MartRow[] {
  return historiesOf(night).flatMap((report) => {
    const events = (report.raw.events ?? []).map(readEvent).sort(inTime) as Event[];
    return events.map((event, place) => rowOf(report, event, events, place + 1));
  });
}

function readEvent(raw: Json, place: number): Event {
  const at = instantOf(raw.occurred_at);
  const precision = keyOr(raw.date_precision_key, 'unknown');
  const [from, before] = at === null ? [null, null] : intervalOf(at, precision);
  const hasAmount = AMOUNTS.some((name) => raw[name] !== null && raw[name] !== undefined);
  return {
    raw,
    position: place + 1,
    type: keyOr(raw.type_key, 'unknown'),
    precision,
    currency: (hasAmount && keyOr(raw.currency, '').toUpperCase()) || null,
    from,
    before,
  };
}

function intervalOf(at: number, precision: string): [number | null, number | null] {
  const date = new Date(at);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (precision === 'datetime') return [at, at];
  if (precision === 'day') return [Date.UTC(year, month, day), Date.UTC(year, month, day + 1)];
  if (precision === 'month') return [Date.UTC(year, month), Date.UTC(year, month + 1)];
  if (precision === 'year') return [Date.UTC(year, 0), Date.UTC(year + 1, 0)];
  return [null, null];
}

const late = (at: number | null): number => at ?? Number.MAX_VALUE;

const inTime = (a: Event, b: Event): number =>
  late(a.from) - late(b.from) || late(a.before) - late(b.before) || a.position - b.position;

/** Whether two dates may be the same instant. */
function overlap(a: Event, b: Event): boolean {
  if (a.from === null || b.from === null || a.before === null || b.before === null) return false;
  return a.from === b.from || (a.from < b.before && b.from < a.before);
}

function rowOf(report: ServedReport, event: Event, all: readonly Event[], number: number): MartRow {
  const { raw } = event;
  const ofType = all.filter(({ type }) => type === event.type);
  const totals = ofType
    .filter(({ currency, raw }) => currency === event.currency && raw.amount_total != null)
    .map((other) => other.raw.amount_total as number);
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
    date_precision_key: event.precision,
    occurred_from: event.from,
    occurred_before: event.before,
    is_order_certain: event.from !== null && !all.some((other) => other !== event && overlap(event, other)),
    mileage_km: raw.mileage_km ?? null,
    currency: event.currency,
    ...Object.fromEntries(AMOUNTS.map((name) => [name, raw[name] ?? null])),
    report_type_events: ofType.length,
    report_type_amount: totals.length === 0 ? null : totals.reduce((sum, amount) => sum + amount, 0),
  };
}
