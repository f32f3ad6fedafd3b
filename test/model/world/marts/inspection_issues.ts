import type { CheckedItem } from '../../../served.js';
import type { MartRow, WorldNight } from '../night.js';
import { inspectionsOf, keyOr } from '../reports.js';
import { groupBy } from '../statistics.js';

interface Item {
  readonly report: string;
  readonly block: string;
  readonly part: string;
  readonly result: string;
  readonly severity: string;
  readonly types: readonly string[];
}

const NAMED = ['ok', 'issue', 'unknown', 'not_checked', 'not_applicable', 'not_equipped'];

export function rows(night: WorldNight): MartRow[] {
  const items = inspectionsOf(night).flatMap(({ domainId, listingId, reportId, raw }) =>
    (raw.checked_items ?? []).map((item) => readItem(item, `${domainId} ${listingId} ${reportId}`)),
  );
  const parts = groupBy<Item>(items, ({ block, part }) => JSON.stringify([block, part]));
  return [...parts.values()].flatMap((part) => rowsOfPart(part, night.minimumGroup));
}

function readItem(raw: CheckedItem, report: string): Item {
  const types = (raw.issue_type_keys ?? []).map((key) => keyOr(key, '')).filter(Boolean);
  return {
    report,
    block: keyOr(raw.block_key, 'unknown'),
    part: keyOr(raw.part_key, 'unknown'),
    result: keyOr(raw.result_key, 'unknown'),
    severity: keyOr(raw.severity_key, 'unspecified'),
    types: types.length > 0 ? [...new Set(types)] : ['unspecified'],
  };
}

function rowsOfPart(items: readonly Item[], least: number): MartRow[] {
  const having = (result: string): number => items.filter((item) => item.result === result).length;
  const issues = items.filter((item) => item.result === 'issue');
  const looked = items.filter((item) => item.result === 'ok' || item.result === 'issue');
  const row = (level: string, type: string | null, severity: string | null, found: number): MartRow => ({
    level,
    block_key: items[0]?.block ?? null,
    part_key: items[0]?.part ?? null,
    issue_type_key: type,
    severity_key: severity,
    items: items.length,
    looked_at: looked.length,
    ...Object.fromEntries(NAMED.map((result) => [`${result}_items`, having(result)])),
    other_items: items.filter((item) => !NAMED.includes(item.result)).length,
    found_items: found,
    found_share: looked.length >= least ? found / looked.length : null,
    reports: new Set(looked.map((item) => item.report)).size,
  });
  const found = groupBy(
    issues.flatMap((item) => item.types.map((type) => [type, item.severity] as const)),
    (pair) => JSON.stringify(pair),
  );
  return [
    row('part', null, null, issues.length),
    ...[...found].map(([key, { length }]) => {
      const [type, severity] = JSON.parse(key);
      return row('issue', type, severity, length);
    }),
  ];
}
