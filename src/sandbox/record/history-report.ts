import { enumerations, reportKeys } from '../../service/contract/enumerations.js';
import { named } from '../data/wording.js';
import { DAY, type Instant, zoned } from '../world/instants.js';
import { type Claim, claimTotals, type Past, type Visit } from '../world/past.js';
import { lotNumber } from '../world/population.js';
import { chance, type Rng } from '../world/random.js';
import { type ReportPlace, reportHead, snapshot } from './report-head.js';
import templates from './templates.json' with { type: 'json' };

/** A vehicle-history report of a listing (reports.md); every child array is filled for some reports. */
export function historyReport(rng: Rng, report: ReportPlace, past: Past): object {
  const { life, place, zone } = report;
  const registered = zoned(past.registeredAt, zone);
  // The second report of a listing gives only the month.
  const firstRegistered = place === 0 ? registered : registered.slice(0, 7);
  const totals = claimTotals(past);
  return {
    ...reportHead(report, 'history'),
    checked_at: zoned(report.at, zone),
    vehicle_snapshot: {
      ...snapshot(report),
      listing_id: lotNumber(life),
      source_domain: named(enumerations.domain, life.domain).name,
    },
    coverage: {
      completeness_key: past.uninsured === null ? 'complete' : 'partial',
      period_start: firstRegistered,
      period_end: zoned(report.at, zone),
      section_keys: ['ownership', 'insurance', ...(chance(rng, 0.5) ? ['maintenance'] : [])],
    },
    summary: {
      first_registered_at: firstRegistered,
      owner_change_count: past.owners.length,
      registration_change_count: past.plates.length,
      insurance_claim_count: past.claims.length,
      vehicle_damage_claim_count: totals.own,
      third_party_damage_claim_count: totals.other,
      total_loss_count: past.totalLostAt === null ? 0 : 1,
      flood_total_loss_count: past.flooded ? 1 : 0,
      flood_partial_loss_count: 0,
      theft_count: past.stolen ? 1 : 0,
      vehicle_damage_claim_cost: totals.ownCost,
      third_party_damage_claim_cost: totals.otherCost,
      currency: life.domain === 12 ? 'krw' : 'usd',
    },
    checks: reportKeys.check_type
      .filter(() => chance(rng, 0.75))
      .map((type, number) => check(type, number, past)),
    events: historyEvents(rng, past, zone),
    media: chance(rng, 0.25) ? [attachment(report, 'media-1', 'photo', 'jpg')] : [],
    files: chance(rng, 0.35) ? [attachment(report, 'file-1', 'report_document', 'pdf')] : [],
    limitations: chance(rng, 0.4) ? [templates.historyLimitation] : [],
  };
}

/** Results of the checks that the source did not make. */
const unchecked = new Map([
  ['lien_history', 'unknown'],
  ['odometer_rollback', 'not_applicable'],
]);

function check(type: string, place: number, past: Past): object {
  const found: Readonly<Record<string, number | boolean>> = {
    accident_history: past.claims.length,
    total_loss_history: past.totalLostAt !== null,
    flood_total_loss_history: past.flooded,
    theft_history: past.stolen,
    rental_use_history: past.rental,
    insurance_gap_history: past.uninsured !== null,
  };
  const count = Number(found[type] ?? 0);
  const open = unchecked.get(type);
  return {
    id: `check-${place + 1}`,
    type_key: type,
    result_key: open ?? (count > 0 ? 'present' : 'not_present'),
    count: open === undefined ? count : null,
    source_code: String(place),
    source_label: type.replaceAll('_', ' '),
    description: count > 0 ? `${count}회` : '없음',
    evidence_type_key: 'insurance_record',
    verification_key: open === undefined ? 'verified' : 'not_verified',
  };
}

const attachment = (
  { vehicleId, place, at, zone }: ReportPlace,
  id: string,
  type: string,
  extension: string,
) => ({
  id,
  type_key: type,
  external_url: `https://files.listing.example/histories/${vehicleId}.${extension}`,
  local_path: place === 0 ? null : `/histories/${vehicleId}.${extension}`,
  server_id: place === 0 ? null : '3',
  original_name: `history ${place + 1}.${extension}`,
  description: zoned(at - DAY, zone).slice(0, 10),
  sort_order: 1,
});

/** Precisions of the dates of events (reports.md). */
type Precision = 'datetime' | 'day' | 'month' | 'year' | 'unknown';

/** An event before it has its place in the report. */
interface Draft {
  readonly type: string;
  readonly at: Instant;
  readonly until?: Instant | undefined;
  readonly precision?: Precision;
  /** Whether the source writes the day, the month or the year alone, without a time and an offset. */
  readonly bare?: boolean;
  readonly description: string;
  /** Members that other events have as in the template. */
  readonly members?: object;
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
  const use = { details: [detail('use', { value_text: 'private "person"' })] };
  const plate = { subtype_key: 'plate' };
  const drafts: Draft[] = [
    ...on(registeredAt, { type: 'initial_registration', description: '최초 등록', members: use }),
    ...on(past.owners, { type: 'owner_change', precision: 'month', description: '소유자 변경' }),
    ...on(past.plates, { type: 'registration_change', description: '번호 변경', members: plate }),
    ...past.claims.map(claimDraft),
    ...past.visits.filter(() => chance(rng, 0.7)).map((visit) => visitDraft(visit, zone)),
    ...on(past.insuredAt, { type: 'insurance_coverage_started', bare: true, description: '보험 가입' }),
    ...on(past.recalledAt, { type: 'recall', precision: 'month', bare: true, description: '리콜' }),
    ...on(past.quotedAt, { type: 'comparative_quote', precision: 'datetime', description: '견적' }),
    ...on(past.totalLostAt, { type: 'total_loss', description: '전손' }),
    ...on(past.usageChangedAt, {
      type: 'usage_change',
      precision: 'year',
      bare: true,
      description: '용도 변경',
    }),
    ...on(uninsured, {
      type: 'insurance_coverage_gap',
      until,
      precision: 'month',
      description: '미가입 기간',
    }),
    ...on(past.stolen ? registeredAt : null, { type: 'theft', precision: 'year', description: '도난' }),
    ...on(past.flooded ? registeredAt : null, {
      type: 'flood_damage',
      precision: 'unknown',
      description: '침수',
    }),
  ];
  return drafts.sort((a, b) => a.at - b.at).map((draft, place) => eventOf(draft, place, zone));
}

const detail = (key: string, members: object) => ({
  ...templates.eventDetail,
  key,
  source_code: key.slice(0, 3).toUpperCase(),
  source_label: key.replaceAll('_', ' '),
  ...members,
});

const claimDraft = ({ at, own, parts, labor, painting, benefit }: Claim): Draft => ({
  type: 'insurance_claim',
  at,
  description: own ? '내차 피해' : '상대차 피해',
  members: {
    subtype_key: own ? 'vehicle_damage' : 'third_party_damage',
    evidence_type_key: 'insurance_record',
    organization_name: 'Hankook Insurance',
    organization_role_key: 'insurer',
    currency: 'krw',
    amount_total: parts + labor + painting,
    amount_insurance_benefit: benefit,
    amount_parts: parts,
    amount_labor: labor,
    amount_painting: painting,
    details: [detail('estimate', { value_number: parts + labor, unit_key: 'krw' })],
  },
});

const visitDraft = ({ at, km, place, statutory }: Visit, zone: number): Draft => ({
  type: statutory ? 'statutory_inspection' : 'maintenance',
  at,
  precision: 'datetime',
  description: statutory ? '정기 검사' : '정비',
  members: {
    mileage_km: km,
    organization_name: place,
    organization_role_key: 'workshop',
    details: statutory ? [detail('next_due', { value_date: zoned(at, zone).slice(0, 10) })] : [],
  },
});

/** A date as a source writes it: the start of its day, month or year, or the bare day, month or year. */
function dateText(at: Instant, { precision = 'day', bare = false }: Draft, zone: number): string {
  const text = zoned(at, zone);
  if (precision === 'datetime' || precision === 'unknown') return text;
  const counted = text.slice(0, { day: 10, month: 7, year: 4 }[precision]);
  return bare ? counted : `${counted}${'-01-01'.slice(counted.length - 4)}T00:00:00${text.slice(19)}`;
}

const eventOf = (draft: Draft, place: number, zone: number): object => ({
  ...templates.event,
  id: `event-${place + 1}`,
  type_key: draft.type,
  occurred_at: dateText(draft.at, draft, zone),
  ended_at: draft.until === undefined ? null : dateText(draft.until, draft, zone),
  date_precision_key: draft.precision ?? 'day',
  source_code: String(place + 1),
  source_label: draft.type.replaceAll('_', ' '),
  description: draft.description,
  ...draft.members,
});
