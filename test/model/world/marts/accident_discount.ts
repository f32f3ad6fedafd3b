import { need, type ReportRecord } from '../../../served.js';
import { currencyOf, leastAmounts } from '../../oracle-currency.js';
import type { LotOfNight, MartRow, WorldNight } from '../night.js';
import { asked, historiesOf, inspectionsOf, keyOr, type ReportOfNight } from '../reports.js';
import { cents, groupBy, median } from '../statistics.js';
import { attempts } from './sales.js';

interface Fact {
  readonly kind: 'asking' | 'sale';
  readonly band: number | null;
  readonly accident: 'yes' | 'no' | 'unknown';
  readonly evidence: 'inspection' | 'history_check' | 'none';
  readonly price: number | null;
  readonly currency: string | null;
  /** Source, manufacturer, model, year and currency; null if any of them is unknown. */
  readonly peers: string | null;
}

export function rows(night: WorldNight): MartRow[] {
  const facts = factsOf(night);
  const isClean = ({ band, accident, price }: Fact): boolean =>
    band === 0 && accident === 'no' && price !== null;
  const clean = groupBy(facts.filter(isClean), ({ peers }) => peers ?? 'unknown');
  const least = night.minimumGroup;
  const ratioOf = ({ price, peers }: Fact): number[] => {
    const usual = peers === null ? null : median(pricesOf(clean.get(peers) ?? []), least);
    return price === null || usual === null ? [] : [price / usual];
  };
  return [
    ...groupBy(facts, ({ kind, band, accident, evidence, currency }) =>
      [kind, band, accident, evidence, currency].join(' '),
    ).values(),
  ].map((group): MartRow => {
    const ratios = group.flatMap(ratioOf);
    const currency = group[0]?.currency ?? null;
    return {
      price_kind: group[0]?.kind ?? null,
      claims_band: group[0]?.band ?? null,
      accident: group[0]?.accident ?? null,
      accident_evidence: group[0]?.evidence ?? null,
      lots: group.length,
      priced_lots: pricesOf(group).length,
      currency,
      price_median: cents(median(pricesOf(group), leastAmounts(least, currency))),
      compared_lots: ratios.length,
      price_ratio_median: median(ratios, least),
    };
  });
}

const pricesOf = (facts: readonly Fact[]): number[] =>
  facts.flatMap(({ price }) => (price === null ? [] : [price]));

function factsOf(night: WorldNight): Fact[] {
  const listingOf = listingsOfLots(night);
  const inspections = groupBy(inspectionsOf(night), listingOf);
  const histories = groupBy(historiesOf(night), listingOf);
  const sold = new Map(
    attempts(night).flatMap(({ lot, price }) => (price === null ? [] : [[lot.id, price]])),
  );
  return [...night.lots.values()].flatMap((served) => {
    const listing = numberOf(served);
    const [inspected = [], ownHistories = []] = [inspections.get(listing), histories.get(listing)];
    if (inspected.length + ownHistories.length === 0) return [];
    const isAsking = served.raw.domain.id === 12;
    return {
      kind: isAsking ? 'asking' : 'sale',
      band: bandOf(ownHistories),
      ...accidentOf(inspected, ownHistories),
      price: isAsking ? asked(served) : (sold.get(served.raw.id) ?? null),
      currency: currencyOf(served.lot),
      peers: peersOf(served),
    };
  });
}

/** What the inspections of each lot say of accidents; null if none says. */
export function inspectedLots(night: WorldNight): (lot: LotOfNight) => 'accident' | 'no accident' | null {
  const inspections = groupBy(inspectionsOf(night), listingsOfLots(night));
  return (lot) => {
    const { accident } = accidentOf(inspections.get(numberOf(lot)) ?? [], []);
    return accident === 'yes' ? 'accident' : accident === 'no' ? 'no accident' : null;
  };
}

const numberOf = ({ raw }: LotOfNight): string => `${raw.domain.id} ${raw.lot.trim()}`;

/**
 * Names the lot of a report by source and number. This is the listing of the report. If no lot has that number, it is
 * the only lot of the vehicle at the source, provided that all its reports there are of one listing.
 */
function listingsOfLots(night: WorldNight): (report: ReportOfNight) => string {
  const listingOf = ({ domainId, listingId }: ReportOfNight): string => `${domainId} ${listingId.trim()}`;
  const placeOf = ({ domainId, vehicleId }: ReportOfNight): string => `${domainId} ${vehicleId}`;
  const lots = groupBy(night.lots.values(), ({ raw, vehicle }) => `${raw.domain.id} ${vehicle.id}`);
  const numbers = new Set([...night.lots.values()].map(numberOf));
  const reports = groupBy([...inspectionsOf(night), ...historiesOf(night)], placeOf);
  return (report) => {
    const own = listingOf(report);
    const [lot, ...others] = lots.get(placeOf(report)) ?? [];
    const isAlone = others.length === 0 && new Set(reports.get(placeOf(report))?.map(listingOf)).size === 1;
    return numbers.has(own) || lot === undefined || !isAlone ? own : numberOf(lot);
  };
}

function peersOf({ raw, vehicle, lot }: LotOfNight): string | null {
  const ids = [raw.domain.id, vehicle.manufacturer?.id, vehicle.model?.id, vehicle.year, currencyOf(lot)];
  return ids.every((id) => id != null) ? ids.join(' ') : null;
}

const updatedAt = (report: ReportRecord): number =>
  Date.parse(need(report.system_updated_at, 'a time of change'));

function bandOf(histories: readonly ReportOfNight[]): number | null {
  const [newest] = histories
    .map(({ raw }) => raw)
    .sort(
      (a, b) =>
        updatedAt(b) - updatedAt(a) ||
        Date.parse(b.created_at) - Date.parse(a.created_at) ||
        (a.report_id < b.report_id ? -1 : 1),
    );
  const claimCount = newest?.summary?.insurance_claim_count ?? -1;
  if (claimCount >= 0) return Math.min(3, claimCount);
  const events = newest?.events ?? [];
  const claims = events.filter((event) => keyOr(event.type_key, '') === 'insurance_claim');
  return events.length === 0 ? null : Math.min(3, claims.length);
}

/** An inspection outweighs the checks, and an accident outweighs none. */
function accidentOf(
  inspections: readonly ReportOfNight[],
  histories: readonly ReportOfNight[],
): Pick<Fact, 'accident' | 'evidence'> {
  const concluded = inspections.map(({ raw }) => keyOr(raw.conclusions?.accident_status_key, ''));
  if (concluded.includes('issue')) return { accident: 'yes', evidence: 'inspection' };
  if (concluded.includes('ok')) return { accident: 'no', evidence: 'inspection' };
  const checked = histories
    .flatMap(({ raw }) => raw.checks ?? [])
    .filter((check) => keyOr(check.type_key, '') === 'accident_history')
    .map((check) => keyOr(check.result_key, ''));
  if (checked.includes('present')) return { accident: 'yes', evidence: 'history_check' };
  if (checked.includes('not_present')) return { accident: 'no', evidence: 'history_check' };
  return { accident: 'unknown', evidence: 'none' };
}
