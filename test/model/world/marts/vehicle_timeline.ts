import type { ArchivedLotRecord } from '../../../served.js';
import type { OracleAttempt } from '../../oracle-attempts.js';
import { currencyOf } from '../../oracle-currency.js';
import { instantOf, type LotOfNight, type MartRow, type WorldNight } from '../night.js';
import { historiesOf, inspectionsOf, keyOr, type ReportOfNight } from '../reports.js';
import { groupBy } from '../statistics.js';
import { rows as claimHistory } from './claim_history.js';
import { attempts } from './sales.js';

const DAY = 86_400_000;

type Value = MartRow[string];

/** An event with its sort keys, its row and the reading that counts. */
interface Event {
  readonly vehicle: number;
  readonly at: number | null;
  readonly order: readonly (number | string | null)[];
  readonly row: MartRow;
  readonly reading?: { readonly km: number; readonly day: number } | undefined;
}

const text = (value: unknown): string => (typeof value === 'string' && value.trim()) || 'unknown';
const stamp = (raw: LotOfNight['raw'], name: string): number | null => instantOf(raw[name] as string | null);
const positive = (value: unknown): number | null => (typeof value === 'number' && value > 0 ? value : null);

/** A lot with its number. */
interface Numbered {
  readonly id: number;
  readonly vehicle: number;
  readonly domain: number;
  readonly country: string | null;
  readonly number: string | null;
}

/** Makes the events of a lot. An event without a date is left out. */
const eventsOf =
  (lot: Numbered) =>
  (
    [event, order]: readonly [string, number],
    at: number | null,
    [table, id]: readonly [string, string | null],
    rest: Readonly<Record<string, Value>>,
    km: number | null = null,
  ): Event[] => {
    if (at === null) return [];
    const amount = rest.amount ?? null;
    const currency = amount === null ? null : currencyOf(lot);
    const row = { ...NOTHING, event, occurred_at: at, date_precision_key: 'datetime', domain_id: lot.domain };
    const evidence = { lot_id: lot.id, lot: lot.number, evidence_table: table, evidence_id: id };
    const reading = km === null ? undefined : { km, day: Math.floor(at / DAY) };
    const place = [at, order, lot.id, null, id];
    return [
      { vehicle: lot.vehicle, at, order: place, row: { ...row, ...evidence, ...rest, currency }, reading },
    ];
  };

/** Attempts and archivings by lot. */
interface Ends {
  readonly attempts: ReadonlyMap<string, readonly OracleAttempt[]>;
  readonly archivings: ReadonlyMap<string, readonly ArchivedLotRecord[]>;
}

const endsOf = (lot: Numbered, { attempts: tried, archivings }: Ends): Event[] => [
  ...(tried.get(String(lot.id)) ?? []).flatMap(
    ({ attempt, outcome, saleDate, amount, outlier, basis, reason }) =>
      eventsOf(lot)([outcome, 50], saleDate, ['sales', String(attempt)], {
        ...{ amount, description: outlier ?? basis ?? reason },
      }),
  ),
  ...(archivings.get(String(lot.id)) ?? []).flatMap(({ archived_at, status }) =>
    eventsOf(lot)(['archived', 60], instantOf(archived_at), ['archived_lots', null], {
      description: text(status.name),
    }),
  ),
];

/** Events of the lots that only the archive feed reported. */
const archiveEvents = (night: WorldNight, ends: Ends): Event[] =>
  night.archivedLots
    .filter(({ lot_id }) => !night.lots.has(lot_id))
    .flatMap(({ lot_id, car_id, domain, lot }) =>
      endsOf({ id: lot_id, vehicle: car_id, domain: domain.id, country: null, number: lot ?? null }, ends),
    );

function lotEvents(night: WorldNight, left: ReadonlyMap<number, MartRow>, ends: Ends): Event[] {
  const deciding = new Set(attempts(night).map(({ priceId }) => priceId));
  return [...night.lots.values()].flatMap(({ lot, raw }) => {
    const numbered = { ...lot, number: raw.lot };
    const own = eventsOf(numbered);
    const stated = (kind: readonly [string, number], value: unknown, at: number | null): Event[] => {
      const amount = positive(value);
      if (amount === null) return [];
      const auction = kind[0] === 'bid' ? stamp(raw, 'sale_date') : null;
      const description = at === null ? 'when first seen' : 'as the lot says';
      return own(kind, at ?? Math.min(night.pass, auction ?? night.pass), ['lots', null], {
        amount,
        description,
      });
    };
    const reserve = raw.seller_reserve as { price: number; updated_at?: string | null } | null | undefined;
    const facts = `${text(raw.title?.name)}, ${text(raw.damage?.main?.name)}`;
    const asked = lot.domain === 12 ? 'asking_price' : 'buy_now';
    return [
      ...own(
        ['listed', 10],
        stamp(raw, 'created_at'),
        ['lots', null],
        { odometer_km: raw.odometer?.km ?? null, description: facts },
        lot.km,
      ),
      ...stated(['bid', 31], raw.bid, stamp(raw, 'bid_updated_at')),
      ...stated([asked, 32], raw.buy_now, stamp(raw, 'buy_now_updated_at')),
      ...stated(['reserve', 33], reserve?.price, instantOf(reserve?.updated_at)),
      ...(raw.prices ?? [])
        .filter(({ id }) => !deciding.has(id))
        .flatMap(({ id, sale_date, bid, status }) =>
          own(['price_entry', 40], instantOf(sale_date), ['prices', String(id)], {
            amount: positive(bid),
            description: text(status.name),
          }),
        ),
      ...endsOf(numbered, ends),
      ...(lot.archived && !ends.archivings.has(String(lot.id))
        ? own(['archived', 60], Number(left.get(lot.id)?.archived_at), ['lots', null], {
            description: String(left.get(lot.id)?.archived_by),
          })
        : []),
    ];
  });
}

const NOTHING = { occurred_local: null, amount: null, currency: null, odometer_km: null };

/** Precision by the number of characters of a local time. */
const PRECISIONS: Readonly<Record<number, string>> = { 4: 'year', 7: 'month', 10: 'day', 19: 'datetime' };

function reportEvents(night: WorldNight): Event[] {
  const listed = new Map(
    [...night.lots.values()].map(({ lot, raw }) => [`${lot.vehicle} ${lot.domain} ${raw.lot}`, lot.id]),
  );
  const own = (
    report: ReportOfNight,
    [event, order, table]: readonly [string, number, string],
    [at, local]: readonly [number | null, string | null],
    rest: Readonly<Record<string, Value>>,
    position: number | null,
    readAt: number | null,
  ): Event => {
    const lot = listed.get(`${report.vehicleId} ${report.domainId} ${report.listingId}`) ?? null;
    const id = [report.domainId, report.listingId, report.reportId, ...(position === null ? [] : [position])];
    const occurred = local === null ? null : at;
    const km = positive(rest.odometer_km);
    return {
      vehicle: report.vehicleId,
      at: occurred,
      order: [occurred, order + 19 - (local?.length ?? 0), lot, position, id.join('/')],
      row: {
        ...NOTHING,
        event,
        occurred_at: occurred,
        occurred_local: local,
        date_precision_key: PRECISIONS[local?.length ?? 0] ?? 'unknown',
        domain_id: report.domainId,
        lot_id: lot,
        lot: report.listingId,
        evidence_table: table,
        evidence_id: id.join('/'),
        ...rest,
      },
      reading: km === null || readAt === null ? undefined : { km, day: Math.floor(readAt / DAY) },
    };
  };
  const dated = (raw: unknown) => [instantOf(String(raw)), String(raw).slice(0, 19)] as const;
  const snapshotKm = ({ raw }: ReportOfNight): number =>
    Number((raw.vehicle_snapshot as { mileage_km: number }).mileage_km);
  const inspections = inspectionsOf(night).map((report) => {
    const { accident_status_key: accident, ...rest } = report.raw.conclusions ?? {};
    const overall = 'overall_result_key' in rest ? rest.overall_result_key : null;
    const found = {
      odometer_km: snapshotKm(report),
      description: `overall ${text(overall)}, accident ${text(accident)}`,
    };
    const kind = ['inspection', 1, 'inspections'] as const;
    return own(report, kind, dated(report.raw.inspected_at), found, null, instantOf(report.raw.created_at));
  });
  const claims = groupBy(claimHistory(night), keyOf);
  const histories = historiesOf(night).flatMap((report) => {
    const { raw } = report;
    const date = dated(raw.checked_at);
    const summary = raw.summary as Record<string, number>;
    const counted = `claims ${summary.insurance_claim_count}, owner changes ${summary.owner_change_count}`;
    const found = { odometer_km: snapshotKm(report), description: counted };
    const whole = own(
      report,
      ['history_report', 2, 'history_reports'],
      date,
      found,
      null,
      instantOf(raw.created_at),
    );
    const checks = (raw.checks ?? []).flatMap((check, place) =>
      keyOr(check.result_key, '') === 'present'
        ? [
            own(
              report,
              ['check_present', 3, 'checks'],
              date,
              { description: text(check.type_key) },
              place + 1,
              null,
            ),
          ]
        : [],
    );
    const key = keyOf({
      domain_id: report.domainId,
      listing_id: report.listingId,
      report_id: report.reportId,
    });
    const events = (claims.get(key) ?? []).map((event) => {
      const local = event.occurred_local as string | null;
      const at = event.occurred_at as number | null;
      return own(
        report,
        [String(event.type_key), 0, 'events'],
        [at, local],
        {
          amount: event.amount_total ?? null,
          currency: event.amount_total === null ? null : (event.currency ?? null),
          odometer_km: event.mileage_km ?? null,
          description: [event.type_key, event.subtype_key, event.status_key].filter(Boolean).join(', '),
        },
        Number(event.position),
        (local?.length ?? 0) >= 10 ? at : null,
      );
    });
    return [whole, ...checks, ...events];
  });
  return [...inspections, ...histories];
}

const keyOf = ({ domain_id, listing_id, report_id }: MartRow): string =>
  [domain_id, listing_id, report_id].join(' ');

/**
 * The highest trustworthy reading before each day; -1 if there is none, or if the reading of the day may have another
 * unit.
 */
function floorsOf(events: readonly Event[]): Map<number, number> {
  const highest = new Map<number, number>();
  for (const { reading } of events)
    if (reading !== undefined) highest.set(reading.day, Math.max(reading.km, highest.get(reading.day) ?? 0));
  const days = [...highest].sort(([a], [b]) => a - b);
  const isUnit = (before: number | undefined, after: number | undefined): boolean =>
    before !== undefined && after !== undefined && before / after >= 1.577 && before / after <= 1.642;
  const floors = new Map<number, number>();
  let floor = -1;
  days.forEach(([day, km], place) => {
    const [before, after] = [days[place - 1], days[place + 1]];
    const isOther = isUnit(before?.[1], km) || isUnit(km, after?.[1]);
    floors.set(day, isOther ? -1 : floor);
    const isLeap = before !== undefined && km - before[1] > 1000 * (1 + day - before[0]);
    if (!isOther && !isLeap) floor = Math.max(floor, km);
  });
  return floors;
}

const LAST = Number.MAX_VALUE;

function inOrder(a: Event, b: Event): number {
  for (const [place, value] of a.order.entries()) {
    const [one, other] = [value ?? LAST, b.order[place] ?? LAST];
    if (one !== other) return one === LAST ? 1 : other === LAST ? -1 : one < other ? -1 : 1;
  }
  return 0;
}

/** The events of each vehicle. */
async function eventsByVehicle(night: WorldNight): Promise<readonly Event[][]> {
  const left = new Map((await night.rows('lots')).map((row) => [Number(row.lot_id), row]));
  const ends: Ends = {
    attempts: groupBy(attempts(night), ({ lot }) => String(lot.id)),
    archivings: groupBy(night.archivedLots, ({ lot_id }) => String(lot_id)),
  };
  const events = [...lotEvents(night, left, ends), ...archiveEvents(night, ends), ...reportEvents(night)];
  return [...groupBy(events, ({ vehicle }) => String(vehicle)).values()];
}

/** Tells the floor of a reading that is rolled back; undefined for any other. */
function rollbacksOf(events: readonly Event[]): (reading: Event['reading']) => number | undefined {
  const floors = floorsOf(events);
  return (reading) => {
    const floor = reading === undefined ? -1 : (floors.get(reading.day) ?? -1);
    return reading !== undefined && reading.km < floor - 1000 ? floor : undefined;
  };
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  return (await eventsByVehicle(night)).flatMap((own) => {
    const floorOf = rollbacksOf(own);
    return own.sort(inOrder).map(
      ({ vehicle, row, reading }, place): MartRow => ({
        vehicle_id: vehicle,
        place: place + 1,
        ...row,
        odometer_rollback: reading === undefined ? null : floorOf(reading) !== undefined,
        odometer_highest_km: floorOf(reading) ?? null,
      }),
    );
  });
}

/** Rows of odometer_rollbacks. */
export async function rolledBack(night: WorldNight): Promise<MartRow[]> {
  const found = (await eventsByVehicle(night)).flatMap((own) => {
    const floorOf = rollbacksOf(own);
    return own.flatMap(({ vehicle, reading }): MartRow[] => {
      const floor = floorOf(reading);
      if (reading === undefined || floor === undefined) return [];
      const read_on = new Date(reading.day * 86_400_000).toISOString().slice(0, 10);
      return [{ vehicle_id: vehicle, read_on, odometer_km: reading.km, odometer_highest_km: floor }];
    });
  });
  return [...new Map(found.map((row) => [JSON.stringify(row), row])).values()];
}
