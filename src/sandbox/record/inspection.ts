import document from '../data/inspection.json' with { type: 'json' };
import { DAY, zoned } from '../world/instants.js';
import type { Past } from '../world/past.js';
import { between, chance, hex, pick, type Rng, unit } from '../world/random.js';
import { type ReportPlace, reportHead, snapshot } from './report-head.js';
import templates from './templates.json' with { type: 'json' };

/** A check: block, part, place on the vehicle, the issue it may find, and what it measures. */
type CheckRow = (typeof document)['checks' | 'rareChecks'][number];

const CHECKED = 0.55;
const RARELY_CHECKED = 0.12;

/**
 * A technical inspection report of a listing (service.md#inspections); every child array is filled for some reports.
 */
export function inspectionReport(rng: Rng, rareRng: Rng, report: ReportPlace): object {
  const { past } = report;
  const chosen = document.checks.filter(() => chance(rng, CHECKED));
  const usual = inspected(rng, chosen.length > 0 ? chosen : document.checks.slice(0, 2), past.accident);
  const rareRows = document.rareChecks.filter(() => chance(rareRng, RARELY_CHECKED));
  const after = { blocks: usual.blocks.length, items: usual.items.length };
  const rare = inspected(rareRng, rareRows, past.accident, after);
  const items = [...usual.items, ...rare.items];
  const inspectedAt = report.at - between(rng, 1, 20) * DAY;
  const [isUpdated, hasUuid] = [chance(rng, 0.4), chance(rng, 0.7)];
  const validUntil = zoned(inspectedAt + 120 * DAY, report.zone);
  return {
    ...reportHead(report, 'inspection'),
    uuid: hasUuid ? hex(rng, 4).replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') : null,
    inspected_at: zoned(inspectedAt, report.zone),
    // The first report of a listing gives a time, the second one only a day.
    valid_until: report.place === 0 ? validUntil : validUntil.slice(0, 10),
    updated_at: isUpdated ? zoned(report.at + DAY, report.zone) : null,
    vehicle_snapshot: {
      ...snapshot(report),
      transmission: report.car.automatic ? 'automatic' : 'manual',
      engine_type: report.car.engine.name,
    },
    participants: participants(rng),
    conclusions: {
      overall_result_key: past.accident || items.some((item) => item.result_key === 'issue') ? 'issue' : 'ok',
      accident_status_key: past.accident ? 'issue' : 'ok',
      water_damage_status_key: past.flooded ? 'issue' : 'ok',
      fire_damage_status_key: 'ok',
      chemical_damage_status_key: 'not_checked',
      biohazard_status_key: 'unknown',
      notes: past.accident ? '단순 교환 및 판금 있음\n"무사고" 아님' : null,
    },
    source_claims: sourceClaims(rng, past),
    inspection_blocks: [...usual.blocks, ...rare.blocks],
    checked_items: items,
    diagnostic_errors: chance(rng, 0.3) ? errors(rng) : [],
    media: items.flatMap((item, place) => item.evidence_media_ids.map((id) => photo(id, place + 1, item))),
    files: chance(rng, 0.5) ? [sheet(report)] : [],
    limitations: chance(rng, 0.35) ? [templates.inspectionLimitation] : [],
  };
}

function participants(rng: Rng): object[] {
  const inspector = {
    role_key: 'inspector',
    name: pick(rng, ['김OO', '이OO', '박OO']),
    company_id: between(rng, 100, 180),
    user_id: between(rng, 1_000, 1_900),
    source_label: '점검자',
  };
  return chance(rng, 0.5) ? [inspector, templates.seller] : [inspector];
}

function sourceClaims(rng: Rng, past: Past): object[] {
  const claims: readonly (readonly [type: string, found: boolean, label: string])[] = [
    ['accident', past.accident, '사고이력'],
    ['simple_repair', past.claims.length > 0, '단순수리'],
    ['flood', past.flooded, '침수'],
    ['tuning', false, '튜닝'],
  ];
  const all = claims.map(([type, found, label], place) => ({
    id: `claim-${place + 1}`,
    type_key: type,
    result_key: found ? 'issue' : 'ok',
    source_code: found ? 'Y' : '-',
    source_label: label,
    description: found ? '있음' : '없음',
  }));
  return all.filter(() => chance(rng, 0.8));
}

function errors(rng: Rng): object[] {
  return Array.from({ length: between(rng, 1, 3) }, (_, place) => {
    const { code, system, text } = pick(rng, document.troubleCodes);
    return {
      id: `dtc-${place + 1}`,
      system_key: system,
      system_label: system.toUpperCase(),
      code,
      description: text,
      status_key: chance(rng, 0.5) ? 'stored' : 'active',
      severity_key: pick(rng, ['low', 'medium', 'high']),
      source_label: '자기진단',
    };
  });
}

const sheet = ({ vehicleId, place }: ReportPlace) => ({
  id: 'file-1',
  type_key: 'report_document',
  external_url: `https://files.listing.example/sheets/${vehicleId}.pdf`,
  local_path: place === 0 ? null : `/sheets/${vehicleId}.pdf`,
  server_id: '2',
  description: place === 0 ? null : '2차 점검',
  block_id: place === 0 ? null : 'block-1',
  checked_item_id: place === 0 ? null : 'item-1',
  sort_order: 1,
  original_name: `성능점검 ${place + 1}.pdf`,
  extension: 'pdf',
});

const results = ['ok', 'ok', 'ok', 'ok', 'not_checked', 'not_applicable', 'not_equipped', 'unknown'] as const;

/**
 * The blocks and checked items of some checks, which are grouped by block. Numbers continue after `before`. Items of an
 * accident car find issues more often.
 */
function inspected(rng: Rng, rows: readonly CheckRow[], accident: boolean, before = { blocks: 0, items: 0 }) {
  const keys = [...new Set(rows.map((row) => row.block))];
  const numberOf = (key: string): number => before.blocks + keys.indexOf(key) + 1;
  const blocks = keys.map((key) => blockOf(rng, key, numberOf(key)));
  const items = rows.map((row, place) => {
    const issue = chance(rng, accident ? 0.45 : 0.15);
    return itemOf(rng, row, `block-${numberOf(row.block)}`, before.items + place + 1, issue);
  });
  return { blocks, items };
}

const blockOf = (rng: Rng, key: string, number: number) => ({
  id: `block-${number}`,
  key,
  result_key: pick(rng, results),
  source_code: String(number),
  source_label: key.replaceAll('_', ' '),
  description: number === 1 ? '외관 상태' : null,
  sort_order: number,
});

function itemOf(rng: Rng, row: CheckRow, blockId: string, number: number, issue: boolean) {
  const pictured = issue && chance(rng, 0.7);
  return {
    ...templates.checkedItem,
    id: `item-${number}`,
    block_id: blockId,
    block_key: row.block,
    part_key: row.part,
    part_label: row.label,
    location_key: row.location,
    location_label: row.location?.replaceAll('_', ' ') ?? null,
    source_label: row.label,
    ...(issue ? finding(rng, row, number) : { result_key: pick(rng, results) }),
    evidence_media_ids: pictured ? [`media-${number}`] : [],
    measurements: measurements(rng, row, issue),
  };
}

/** Members of a checked item with an issue. An issue with a place on the vehicle is marked on a drawing. */
function finding(rng: Rng, row: CheckRow, number: number) {
  const marked = row.location !== null;
  const at = (): number => Math.round(unit(rng) * 1000) / 10;
  return {
    result_key: 'issue',
    issue_type_keys: chance(rng, 0.2) ? [row.issue, 'accident_trace'] : [row.issue],
    severity_key: pick(rng, ['low', 'medium', 'high']),
    damage_rank_key: marked ? pick(rng, ['rank_1', 'rank_2', 'rank_a']) : null,
    accident_relevance_key: pick(rng, ['cosmetic', 'structural']),
    recommendation_key: 'repair',
    source_code: 'X',
    description: '불량',
    clarification: chance(rng, 0.3) ? 'Seen at "idle" only\nnot under load' : null,
    ...(marked
      ? { ...templates.marker, visual_marker_id: `marker-${number}`, visual_x: at(), visual_y: at() }
      : {}),
  };
}

function measurements(rng: Rng, { measure }: CheckRow, issue: boolean): object[] {
  if (measure === null || chance(rng, 0.3)) return [];
  const first = {
    id: 'm-1',
    type_key: measure.type,
    value_number: between(rng, measure.low * 10, measure.high * 10) / 10,
    value_text: null,
    unit_key: measure.unit,
    result_key: issue ? 'issue' : 'ok',
    description: issue ? '기준 초과' : null,
  };
  if (chance(rng, 0.8)) return [first];
  return [first, { ...first, id: 'm-2', value_number: null, value_text: '측정 불가', result_key: 'unknown' }];
}

const photo = (id: string, number: number, item: ReturnType<typeof itemOf>): object => ({
  id,
  type_key: 'photo',
  external_url: `https://files.listing.example/inspections/${number}.jpg`,
  local_path: number % 2 ? `/reports/${number}.jpg` : null,
  server_id: number % 2 ? '2' : null,
  description: number % 3 ? null : '점검 사진',
  block_id: item.block_id,
  checked_item_id: item.id,
  sort_order: number,
});
