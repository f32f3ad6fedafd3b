import { reportKeys } from '../../service/contract/report-keys.js';
import { DAY, zoned } from '../world/instants.js';
import type { Past } from '../world/past.js';
import { chance, type Rng } from '../world/random.js';
import { historyEvents } from './history-events.js';
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

/** The second report of a listing knows the month alone. */
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
