import { type CheckRow, checks, rareChecks } from '../data/inspection-items.js';
import type { Past } from '../world/past.js';
import { between, chance, pick, type Rng, unit } from '../world/random.js';

/** A block of an inspection with the checks that fall into it. */
export interface Block {
  readonly record: { readonly id: string; readonly key: string; readonly sort_order: number };
  readonly checks: readonly CheckRow[];
}

/** A checked item, whether it found an issue, and the photographs of it. */
export interface Item {
  readonly record: object;
  readonly media: readonly object[];
  readonly issue: boolean;
}

const CHECKED = 0.55;
const RARELY_CHECKED = 0.12;
const results = ['ok', 'ok', 'ok', 'ok', 'not_checked', 'not_applicable', 'not_equipped', 'unknown'] as const;

/** The blocks of an inspection, each with at least one check. */
export function blocksOf(rng: Rng): Block[] {
  const chosen = checks.filter(() => chance(rng, CHECKED));
  return inBlocks(rng, chosen.length > 0 ? chosen : checks.slice(0, 2), 0);
}

/** Further blocks, of checks that few inspections have; `before` is how many blocks stand before them. */
export const rareBlocksOf = (rng: Rng, before: number): Block[] =>
  inBlocks(
    rng,
    rareChecks.filter(() => chance(rng, RARELY_CHECKED)),
    before,
  );

function inBlocks(rng: Rng, rows: readonly CheckRow[], before: number): Block[] {
  const keys = [...new Set(rows.map((row) => row.block))];
  return keys.map((key, i) => {
    const place = before + i;
    return {
      record: {
        id: `block-${place + 1}`,
        key,
        result_key: pick(rng, results),
        source_code: String(place + 1),
        source_label: key.replaceAll('_', ' '),
        description: place === 0 ? '외관 상태' : null,
        sort_order: place + 1,
      },
      checks: rows.filter((row) => row.block === key),
    };
  });
}

/**
 * The checked items of some blocks, numbered after `before` others; items of an accident car find issues more often.
 */
export function itemsOf(rng: Rng, blocks: readonly Block[], past: Past, before = 0): Item[] {
  let number = before;
  return blocks.flatMap((block) =>
    block.checks.map((row) => {
      number += 1;
      return itemOf(rng, block, row, number, chance(rng, past.accident ? 0.45 : 0.15));
    }),
  );
}

function itemOf(rng: Rng, block: Block, row: CheckRow, number: number, issue: boolean): Item {
  const id = `item-${number}`;
  const pictured = issue && chance(rng, 0.7);
  const marked = issue && row.location !== null;
  const at = (): number => Math.round(unit(rng) * 1000) / 10;
  const record = {
    id,
    block_id: block.record.id,
    block_key: block.record.key,
    part_key: row.part,
    part_label: row.label,
    location_key: row.location,
    location_label: row.location === null ? null : row.location.replaceAll('_', ' '),
    result_key: issue ? 'issue' : pick(rng, results),
    issue_type_keys: issue ? (chance(rng, 0.2) ? [row.issue, 'accident_trace'] : [row.issue]) : [],
    severity_key: issue ? pick(rng, ['low', 'medium', 'high']) : null,
    damage_rank_key: marked ? pick(rng, ['rank_1', 'rank_2', 'rank_a']) : null,
    accident_relevance_key: issue ? pick(rng, ['cosmetic', 'structural']) : null,
    recommendation_key: issue ? 'repair' : null,
    source_code: issue ? 'X' : '○',
    source_label: row.label,
    description: issue ? '불량' : '양호',
    clarification: issue && chance(rng, 0.3) ? 'Seen at "idle" only\nnot under load' : null,
    evidence_media_ids: pictured ? [`media-${number}`] : [],
    visual_map_id: marked ? 'map-top' : null,
    visual_marker_id: marked ? `marker-${number}` : null,
    visual_marker_label: marked ? 'X' : null,
    visual_x: marked ? at() : null,
    visual_y: marked ? at() : null,
    visual_width: marked ? 4 : null,
    visual_height: marked ? 4.5 : null,
    visual_shape_key: marked ? 'circle' : null,
    measurements: measurements(rng, row, issue),
  };
  return { record, issue, media: pictured ? [photo(number, block.record.id, id)] : [] };
}

function measurements(rng: Rng, row: CheckRow, issue: boolean): object[] {
  if (row.measure === null || chance(rng, 0.3)) return [];
  const [type, unitKey, low, high] = row.measure;
  const value = {
    id: 'm-1',
    type_key: type,
    value_number: between(rng, low * 10, high * 10) / 10,
    value_text: null,
  };
  const first = {
    ...value,
    unit_key: unitKey,
    result_key: issue ? 'issue' : 'ok',
    description: issue ? '기준 초과' : null,
  };
  if (chance(rng, 0.8)) return [first];
  return [first, { ...first, id: 'm-2', value_number: null, value_text: '측정 불가', result_key: 'unknown' }];
}

const photo = (number: number, block: string, item: string): object => ({
  id: `media-${number}`,
  type_key: 'photo',
  external_url: `https://files.listing.example/inspections/${number}.jpg`,
  local_path: number % 2 ? `/reports/${number}.jpg` : null,
  server_id: number % 2 ? '2' : null,
  description: number % 3 ? null : '점검 사진',
  block_id: block,
  checked_item_id: item,
  sort_order: number,
});
