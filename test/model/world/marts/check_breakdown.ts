import type { MartRow, WorldNight } from '../night.js';
import { historiesOf, keyOr, type ReportOfNight } from '../reports.js';
import { groupBy } from '../statistics.js';
import { names } from './sales.js';

interface Check {
  readonly report: ReportOfNight;
  readonly type: string;
  readonly result: string;
  readonly count: number | null;
}

export function rows(night: WorldNight): MartRow[] {
  const { domain } = names(night);
  const checks = historiesOf(night).flatMap((report) =>
    (report.raw.checks ?? []).map(
      (raw): Check => ({
        report,
        type: keyOr(raw.type_key, 'unknown'),
        result: keyOr(raw.result_key, 'unknown'),
        count: raw.count ?? null,
      }),
    ),
  );
  const types = groupBy<Check>(checks, ({ report, type }) => `${report.domainId} ${type}`);
  return [...types.values()].flatMap((ofType) => {
    const known = ofType.filter(({ result }) => result === 'present' || result === 'not_present');
    const present = known.filter(({ result }) => result === 'present');
    return [...groupBy(ofType, ({ result }) => result)].map(([result, found]): MartRow => {
      const counts = found.flatMap(({ count }) => (count === null ? [] : [count]));
      const domainId = found[0]?.report.domainId ?? null;
      return {
        domain_id: domainId,
        domain_name: domain.get(domainId ?? 0) ?? null,
        type_key: found[0]?.type ?? null,
        result_key: result,
        checks: found.length,
        share: found.length / ofType.length,
        reports: new Set(found.map(({ report }) => report)).size,
        known_checks: known.length,
        present_share: known.length >= night.minimumGroup ? present.length / known.length : null,
        count_sum: counts.length === 0 ? null : counts.reduce((sum, count) => sum + count, 0),
      };
    });
  });
}
