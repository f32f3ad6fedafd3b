import { type Instant, zoned } from '../world/instants.js';
import type { Claim, Past, Visit } from '../world/past.js';
import { chance, type Rng } from '../world/random.js';

interface Draft {
  readonly type: string;
  readonly subtype?: string;
  readonly at: Instant;
  readonly until?: Instant;
  readonly km?: number;
  readonly precision?: 'datetime' | 'day' | 'month' | 'year' | 'unknown';
  /** Whether the source writes the day, the month or the year alone, without a time and an offset. */
  readonly bare?: boolean;
  readonly text: string;
  readonly organization?: string;
  readonly claim?: Claim;
  readonly details?: readonly object[];
}

/** The events of a history report, oldest first; `zone` is how many hours local time is ahead of UTC. */
export function historyEvents(rng: Rng, past: Past, zone: number): object[] {
  const drafts: Draft[] = [
    {
      type: 'initial_registration',
      at: past.registeredAt,
      text: '최초 등록',
      details: [useDetail],
    },
    ...past.owners.map((at) => ({
      type: 'owner_change',
      at,
      precision: 'month' as const,
      text: '소유자 변경',
    })),
    ...past.plates.map((at) => ({ type: 'registration_change', subtype: 'plate', at, text: '번호 변경' })),
    ...past.claims.map(claimDraft),
    ...past.visits.filter(() => chance(rng, 0.7)).map((visit) => visitDraft(visit, zone)),
    ...rareDrafts(past),
  ];
  if (past.uninsured !== null) {
    const [at, until] = past.uninsured;
    drafts.push({ type: 'insurance_coverage_gap', at, until, precision: 'month', text: '미가입 기간' });
  }
  if (past.stolen) drafts.push({ type: 'theft', at: past.registeredAt, precision: 'year', text: '도난' });
  if (past.flooded)
    drafts.push({ type: 'flood_damage', at: past.registeredAt, precision: 'unknown', text: '침수' });
  return drafts.sort((a, b) => a.at - b.at).map((draft, place) => eventOf(draft, place, zone));
}

/** Events that few vehicles have, in the forms in which sources write dates that are not exact. */
function rareDrafts(past: Past): Draft[] {
  const once = (at: Instant | null, draft: Omit<Draft, 'at'>): Draft[] =>
    at === null ? [] : [{ ...draft, at }];
  return [
    ...once(past.insuredAt, { type: 'insurance_coverage_started', bare: true, text: '보험 가입' }),
    ...once(past.recalledAt, { type: 'recall', precision: 'month', bare: true, text: '리콜' }),
    ...once(past.quotedAt, { type: 'comparative_quote', precision: 'datetime', text: '견적' }),
    ...once(past.totalLostAt, { type: 'total_loss', text: '전손' }),
    ...once(past.usageChangedAt, { type: 'usage_change', precision: 'year', bare: true, text: '용도 변경' }),
  ];
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

/** A date as a source gives one of this precision: where its day, month or year begins, or that alone. */
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
