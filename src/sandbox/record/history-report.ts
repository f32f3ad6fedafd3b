import { reportKeys } from '../../core/service/contract/enumerations.js';
import { named } from '../data/wording.js';
import { DAY, type Instant, zoned } from '../world/instants.js';
import { type Claim, claimTotals, type Past, type Visit } from '../world/past.js';
import { lotNumber } from '../world/population.js';
import { chance, type Rng } from '../world/random.js';
import { type ReportPlace, reportHead, snapshot } from './report-head.js';
import templates from './templates.json' with { type: 'json' };

/** A vehicle-history report of a listing (service.md#histories); every child array is filled for some reports. */
export function historyReport(rng: Rng, report: ReportPlace): object {
  const { life, place, zone, past } = report;
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
      source_domain: named('domain', life.domain).name,
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

/** Results of the checks that the source does not make. */
const unchecked: Readonly<Record<string, string>> = {
  lien_history: 'unknown',
  odometer_rollback: 'not_applicable',
};

function check(type: string, place: number, past: Past): object {
  const findings: Readonly<Record<string, number | boolean>> = {
    accident_history: past.claims.length,
    total_loss_history: past.totalLostAt !== null,
    flood_total_loss_history: past.flooded,
    theft_history: past.stolen,
    rental_use_history: past.rental,
    insurance_gap_history: past.uninsured !== null,
  };
  const count = Number(findings[type] ?? 0);
  const uncheckedResult = unchecked[type];
  return {
    id: `check-${place + 1}`,
    type_key: type,
    result_key: uncheckedResult ?? (count > 0 ? 'present' : 'not_present'),
    count: uncheckedResult === undefined ? count : null,
    source_code: String(place),
    source_label: type.replaceAll('_', ' '),
    description: count > 0 ? `${count}회` : '없음',
    evidence_type_key: 'insurance_record',
    verification_key: uncheckedResult === undefined ? 'verified' : 'not_verified',
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

/** An event before it has a place in the report: its time and the members that differ from the template. */
interface Draft {
  readonly at: Instant;
  readonly until?: Instant;
  readonly [member: string]: unknown;
}

/**
 * The events of a history report, oldest first, with dates in all forms of the sources. `zone` is how many hours local
 * time is ahead of UTC.
 */
function historyEvents(rng: Rng, past: Past, zone: number): object[] {
  const draftsAt = (times: Instant | null | readonly Instant[]): Draft[] =>
    [times ?? []].flat().map((at) => ({ at }));
  const drafts: Readonly<Record<keyof typeof templates.events, readonly Draft[]>> = {
    registered: draftsAt(past.registeredAt),
    owners: draftsAt(past.owners),
    plates: draftsAt(past.plates),
    claims: past.claims.map(claimDraft),
    visits: past.visits.filter(() => chance(rng, 0.7)).map((visit) => visitDraft(visit, zone)),
    insured: draftsAt(past.insuredAt),
    recalled: draftsAt(past.recalledAt),
    quoted: draftsAt(past.quotedAt),
    totalLost: draftsAt(past.totalLostAt),
    usageChanged: draftsAt(past.usageChangedAt),
    uninsured: past.uninsured === null ? [] : [{ at: past.uninsured[0], until: past.uninsured[1] }],
    stolen: draftsAt(past.stolen ? past.registeredAt : null),
    flooded: draftsAt(past.flooded ? past.registeredAt : null),
  };
  return Object.entries(templates.events)
    .flatMap(([kind, members]) =>
      drafts[kind as keyof typeof drafts].map((draft) => ({ ...members, ...draft })),
    )
    .sort((a, b) => a.at - b.at)
    .map((draft, place) => eventOf(draft, place, zone));
}

const detail = (key: string, members: object) => ({
  ...templates.eventDetail,
  key,
  source_code: key.slice(0, 3).toUpperCase(),
  source_label: key.replaceAll('_', ' '),
  ...members,
});

const claimDraft = ({ at, own, parts, labor, painting, benefit }: Claim): Draft => ({
  at,
  description: own ? '내차 피해' : '상대차 피해',
  subtype_key: own ? 'vehicle_damage' : 'third_party_damage',
  amount_total: parts + labor + painting,
  amount_insurance_benefit: benefit,
  amount_parts: parts,
  amount_labor: labor,
  amount_painting: painting,
  details: [detail('estimate', { value_number: parts + labor, unit_key: 'krw' })],
});

const visitDraft = ({ at, km, place, statutory }: Visit, zone: number): Draft => ({
  at,
  type_key: statutory ? 'statutory_inspection' : 'maintenance',
  description: statutory ? '정기 검사' : '정비',
  mileage_km: km,
  organization_name: place,
  details: statutory ? [detail('next_due', { value_date: zoned(at, zone).slice(0, 10) })] : [],
});

/** Number of characters of a date by its precision; the other precisions have a time of day (service.md#histories). */
const LENGTHS: Readonly<Record<string, number>> = { day: 10, month: 7, year: 4 };

/** A timestamp in the precision of the source: the bare day, month or year, or the timestamp of its start. */
function dateText(timestamp: string, precision: string, bare: boolean): string {
  const date = timestamp.slice(0, LENGTHS[precision]);
  if (date === timestamp || bare) return date;
  return `${date}${'-01-01'.slice(date.length - 4)}T00:00:00${timestamp.slice(19)}`;
}

function eventOf({ at, until, isBare, ...members }: Draft, place: number, zone: number): object {
  const { type_key: type, date_precision_key: precision } = { ...templates.event, ...members };
  const dated = (at: Instant): string => dateText(zoned(at, zone), precision, isBare === true);
  return {
    ...templates.event,
    ...members,
    id: `event-${place + 1}`,
    occurred_at: dated(at),
    ended_at: until === undefined ? null : dated(until),
    source_code: String(place + 1),
    source_label: String(type).replaceAll('_', ' '),
  };
}
