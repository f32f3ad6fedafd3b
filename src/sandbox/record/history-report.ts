import { reportKeys } from '../../service/contract/enumerations.js';
import { DAY, type Instant, zoned } from '../world/instants.js';
import type { Claim, Past, Visit } from '../world/past.js';
import { chance, type Rng } from '../world/random.js';
import { listingSnapshot, type ReportPlace, reportHead, snapshot } from './report-head.js';

type CheckType = (typeof reportKeys.check_type)[number];

/** A vehicle-history report of a listing (reports.md); every child array is filled for some reports. */
export function historyReport(rng: Rng, report: ReportPlace, past: Past): object {
  return {
    ...reportHead(report, 'history'),
    checked_at: zoned(report.at, report.zone),
    vehicle_snapshot: { ...snapshot(report), ...listingSnapshot(report) },
    coverage: {
      completeness_key: past.uninsured === null ? 'complete' : 'partial',
      period_start: firstRegistered(report, past),
      period_end: zoned(report.at, report.zone),
      section_keys: ['ownership', 'insurance', ...(chance(rng, 0.5) ? ['maintenance'] : [])],
    },
    summary: summary(report, past),
    checks: reportKeys.check_type
      .filter(() => chance(rng, 0.75))
      .map((type, place) => check(type, place, past)),
    events: historyEvents(rng, past, report.zone),
    media: chance(rng, 0.25) ? [attachment(report, 'media-1', 'photo', 'jpg')] : [],
    files: chance(rng, 0.35) ? [attachment(report, 'file-1', 'report_document', 'pdf')] : [],
    limitations: chance(rng, 0.4)
      ? [
          {
            id: 'limit-1',
            type_key: 'insured_events_only',
            description: '보험 처리되지 않은 사고는 제외',
            source_label: '유의사항',
          },
        ]
      : [],
  };
}

/** The second report of a listing gives only the month. */
const firstRegistered = ({ place, zone }: ReportPlace, { registeredAt }: Past): string =>
  place === 0 ? zoned(registeredAt, zone) : zoned(registeredAt, zone).slice(0, 7);

function summary(report: ReportPlace, past: Past) {
  const own = past.claims.filter((claim) => claim.own);
  const other = past.claims.filter((claim) => !claim.own);
  const cost = (list: typeof own): number => list.reduce((sum, claim) => sum + claim.benefit, 0);
  return {
    first_registered_at: firstRegistered(report, past),
    owner_change_count: past.owners.length,
    registration_change_count: past.plates.length,
    insurance_claim_count: past.claims.length,
    vehicle_damage_claim_count: own.length,
    third_party_damage_claim_count: other.length,
    total_loss_count: past.totalLostAt === null ? 0 : 1,
    flood_total_loss_count: past.flooded ? 1 : 0,
    flood_partial_loss_count: 0,
    theft_count: past.stolen ? 1 : 0,
    vehicle_damage_claim_cost: cost(own),
    third_party_damage_claim_cost: cost(other),
    currency: report.life.domain === 12 ? 'krw' : 'usd',
  };
}

function found(type: CheckType, past: Past): number {
  if (type === 'accident_history') return past.claims.length;
  if (type === 'total_loss_history') return past.totalLostAt === null ? 0 : 1;
  if (type === 'flood_total_loss_history') return past.flooded ? 1 : 0;
  if (type === 'theft_history') return past.stolen ? 1 : 0;
  if (type === 'rental_use_history') return past.rental ? 1 : 0;
  return type === 'insurance_gap_history' && past.uninsured !== null ? 1 : 0;
}

function check(type: CheckType, place: number, past: Past): object {
  const count = found(type, past);
  const open = type === 'lien_history' || type === 'odometer_rollback';
  const result = open
    ? type === 'lien_history'
      ? 'unknown'
      : 'not_applicable'
    : count > 0
      ? 'present'
      : 'not_present';
  return {
    id: `check-${place + 1}`,
    type_key: type,
    result_key: result,
    count: open ? null : count,
    source_code: String(place),
    source_label: type.replaceAll('_', ' '),
    description: count > 0 ? `${count}회` : '없음',
    evidence_type_key: 'insurance_record',
    verification_key: open ? 'not_verified' : 'verified',
  };
}

const attachment = (report: ReportPlace, id: string, type: string, extension: string): object => ({
  id,
  type_key: type,
  external_url: `https://files.listing.example/histories/${report.vehicleId}.${extension}`,
  local_path: report.place === 0 ? null : `/histories/${report.vehicleId}.${extension}`,
  server_id: report.place === 0 ? null : '3',
  original_name: `history ${report.place + 1}.${extension}`,
  description: zoned(report.at - DAY, report.zone).slice(0, 10),
  sort_order: 1,
});

interface Draft {
  readonly type: string;
  readonly subtype?: string;
  readonly at: Instant;
  readonly until?: Instant | undefined;
  readonly km?: number;
  readonly precision?: 'datetime' | 'day' | 'month' | 'year' | 'unknown';
  /** Whether the source writes the day, the month or the year alone, without a time and an offset. */
  readonly bare?: boolean;
  readonly text: string;
  readonly organization?: string;
  readonly claim?: Claim;
  readonly details?: readonly object[];
}

/** A draft for each of some times. */
const on = (times: Instant | null | readonly Instant[], draft: Omit<Draft, 'at'>): Draft[] =>
  [times ?? []].flat().map((at) => ({ ...draft, at }));

/**
 * The events of a history report, oldest first, in all the forms in which sources write dates. `zone` is how many hours
 * local time is ahead of UTC.
 */
function historyEvents(rng: Rng, past: Past, zone: number): object[] {
  const { registeredAt } = past;
  const [uninsured = null, until] = past.uninsured ?? [];
  const drafts: Draft[] = [
    ...on(registeredAt, { type: 'initial_registration', text: '최초 등록', details: [useDetail] }),
    ...on(past.owners, { type: 'owner_change', precision: 'month', text: '소유자 변경' }),
    ...on(past.plates, { type: 'registration_change', subtype: 'plate', text: '번호 변경' }),
    ...past.claims.map(claimDraft),
    ...past.visits.filter(() => chance(rng, 0.7)).map((visit) => visitDraft(visit, zone)),
    ...on(past.insuredAt, { type: 'insurance_coverage_started', bare: true, text: '보험 가입' }),
    ...on(past.recalledAt, { type: 'recall', precision: 'month', bare: true, text: '리콜' }),
    ...on(past.quotedAt, { type: 'comparative_quote', precision: 'datetime', text: '견적' }),
    ...on(past.totalLostAt, { type: 'total_loss', text: '전손' }),
    ...on(past.usageChangedAt, { type: 'usage_change', precision: 'year', bare: true, text: '용도 변경' }),
    ...on(uninsured, { type: 'insurance_coverage_gap', until, precision: 'month', text: '미가입 기간' }),
    ...on(past.stolen ? registeredAt : null, { type: 'theft', precision: 'year', text: '도난' }),
    ...on(past.flooded ? registeredAt : null, { type: 'flood_damage', precision: 'unknown', text: '침수' }),
  ];
  return drafts.sort((a, b) => a.at - b.at).map((draft, place) => eventOf(draft, place, zone));
}

const useDetail = detail('use', { text: 'private "person"' }, null);

function detail(
  key: string,
  value: { readonly text?: string; readonly number?: number; readonly date?: string },
  unit: string | null,
): object {
  return {
    key,
    value_text: value.text ?? null,
    value_number: value.number ?? null,
    value_date: value.date ?? null,
    unit_key: unit,
    source_code: key.slice(0, 3).toUpperCase(),
    source_label: key.replaceAll('_', ' '),
  };
}

const claimDraft = (claim: Claim): Draft => ({
  type: 'insurance_claim',
  subtype: claim.own ? 'vehicle_damage' : 'third_party_damage',
  at: claim.at,
  text: claim.own ? '내차 피해' : '상대차 피해',
  organization: 'Hankook Insurance',
  claim,
  details: [detail('estimate', { number: claim.parts + claim.labor }, 'krw')],
});

const visitDraft = (visit: Visit, zone: number): Draft => ({
  type: visit.statutory ? 'statutory_inspection' : 'maintenance',
  at: visit.at,
  km: visit.km,
  precision: 'datetime',
  text: visit.statutory ? '정기 검사' : '정비',
  organization: visit.place,
  details: visit.statutory ? [detail('next_due', { date: zoned(visit.at, zone).slice(0, 10) }, null)] : [],
});

/** A date as a source writes it: the start of its day, month or year, or the bare day, month or year. */
function dateText(at: Instant, { precision = 'day', bare = false }: Draft, zone: number): string {
  const text = zoned(at, zone);
  if (precision === 'datetime' || precision === 'unknown') return text;
  const counted = text.slice(0, { day: 10, month: 7, year: 4 }[precision]);
  return bare ? counted : `${counted}${'-01-01'.slice(counted.length - 4)}T00:00:00${text.slice(19)}`;
}

function eventOf(draft: Draft, place: number, zone: number): object {
  const { claim } = draft;
  return {
    id: `event-${place + 1}`,
    type_key: draft.type,
    subtype_key: draft.subtype ?? null,
    occurred_at: dateText(draft.at, draft, zone),
    ended_at: draft.until === undefined ? null : dateText(draft.until, draft, zone),
    date_precision_key: draft.precision ?? 'day',
    status_key: 'completed',
    mileage_km: draft.km ?? null,
    source_code: String(place + 1),
    source_label: draft.type.replaceAll('_', ' '),
    description: draft.text,
    evidence_type_key: claim === undefined ? 'registration_record' : 'insurance_record',
    verification_key: 'verified',
    organization_name: draft.organization ?? null,
    organization_role_key:
      draft.organization === undefined ? null : claim === undefined ? 'workshop' : 'insurer',
    currency: claim === undefined ? null : 'krw',
    amount_total: claim === undefined ? null : claim.parts + claim.labor + claim.painting,
    amount_insurance_benefit: claim?.benefit ?? null,
    amount_parts: claim?.parts ?? null,
    amount_labor: claim?.labor ?? null,
    amount_painting: claim?.painting ?? null,
    details: draft.details ?? [],
  };
}
