import { type LotRecord, need, type PriceRecord, type VehicleRecord } from '../../../served.js';
import type { OracleAttempt } from '../../oracle-attempts.js';
import type { LotOfNight, MartRow, WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { attempts, names } from './sales.js';
import { rows as vinFacts } from './vin_facts.js';

const HOUR = 3_600_000;

type Columns<Served> = Readonly<Record<string, (record: Served) => unknown>>;

/** Columns that the marts need, as the records have them. */
const OF_LOTS: Columns<LotRecord> = {
  sale_date: (lot) => lot.sale_date,
  final_bid: (lot) => lot.final_bid,
  odometer_km: (lot) => lot.odometer?.km,
  damage_main_name: (lot) => lot.damage?.main?.name,
  title_name: (lot) => lot.title?.name,
  location_state_code: (lot) => lot.location?.state?.code,
  created_at: (lot) => lot.created_at,
};
const OF_VEHICLES: Columns<VehicleRecord> = {
  vin: ({ vin }) => vin,
  year: ({ year }) => year,
  manufacturer_id: ({ manufacturer }) => manufacturer?.id,
  model_id: ({ model }) => model?.id,
};
const OF_PRICES: Columns<PriceRecord> = {
  bid: ({ bid }) => bid,
  sale_date: ({ sale_date }) => sale_date,
};

const isMissing = (value: unknown): boolean =>
  value === null || value === undefined || (typeof value === 'string' && value.trim() === '');

type Figure = readonly [subject: string, metric: string, value: number, unit: string, isAlarm: boolean];

function emptiness<Served>(table: string, records: readonly Served[], columns: Columns<Served>): Figure[] {
  return Object.entries(columns).map(([name, read]) => {
    const share = records.filter((record) => isMissing(read(record))).length / records.length;
    return [`${table}.${name}`, 'null_share', share, 'share, 0 to 1', share > 0.98];
  });
}

const DAY = 24 * HOUR;
const dayOf = (at: number): number => Math.floor(at / DAY);

/** A share of things: its metric, what it is a share of, and its part. */
type Kind<T> = readonly [metric: string, isWhole: (of: T) => boolean, isPart: (of: T) => boolean];

const all = (): boolean => true;

/** Shares of attempts, sales, prices and listed lots by source. */
function sharesOf(night: WorldNight): Figure[] {
  const attempted = attempts(night).filter(({ outcome }) => outcome !== 'upcoming');
  const ofAttempts: readonly Kind<OracleAttempt>[] = [
    ['no_result_share', all, ({ outcome }) => outcome === 'unresolved'],
    ['no_amount_share', ({ outcome }) => outcome === 'sold', ({ reason }) => reason === 'no_price'],
    ['outlier_share', ({ isTrusted }) => isTrusted, ({ outlier }) => outlier !== null],
  ];
  const listed = [...night.lots.values()].filter(({ raw }) => !isMissing(raw.created_at));
  const ofLots: readonly Kind<LotOfNight>[] = [
    ['doubted_year_share', all, ({ vehicle }) => vehicle.origin === 'doubted'],
    ['year_from_vin_share', all, ({ vehicle }) => vehicle.origin === 'vin'],
  ];
  return [
    ...weeksOf(night, attempted, ({ lot, saleDate }) => [lot.domain, saleDate], ofAttempts),
    ...weeksOf(night, listed, ({ raw }) => [raw.domain.id, Date.parse(raw.created_at)], ofLots),
  ];
}

/** Shares of dated things by source: of 13 weeks that end three days before the run, and of each of them. */
function weeksOf<T>(
  night: WorldNight,
  things: readonly T[],
  of: (thing: T) => readonly [source: number, at: number],
  kinds: readonly Kind<T>[],
): Figure[] {
  const age = (thing: T): number => dayOf(night.now) - dayOf(of(thing)[1]);
  const past = things.filter((thing) => night.now - of(thing)[1] >= 3 * DAY && age(thing) <= 93);
  const { domain } = names(night);
  return [...groupBy(past, (thing) => String(of(thing)[0]))].flatMap(([id, own]) => {
    const source = `${domain.get(Number(id)) ?? 'source'} (${id})`;
    return kinds.flatMap(([metric, isWhole, isPart]): Figure[] => {
      const counts = (group: readonly T[]) => {
        const whole = group.filter(isWhole);
        return { whole: whole.length, part: whole.filter(isPart).length };
      };
      const weeks = Array.from({ length: 13 }, (_, ago) =>
        counts(own.filter((thing) => Math.floor((age(thing) - 3) / 7) === ago)),
      );
      const sum = counts(own);
      const before = { whole: sum.whole - (weeks[0]?.whole ?? 0), part: sum.part - (weeks[0]?.part ?? 0) };
      const figures = weeks.flatMap((week, ago): Figure[] => {
        const first = new Date((dayOf(night.now) - 9 - 7 * ago) * DAY).toISOString().slice(0, 10);
        const isHigh =
          ago === 0 &&
          week.whole >= 20 &&
          before.whole > 0 &&
          week.part / week.whole >= before.part / before.whole + 0.05 &&
          bounds(week)[0] > bounds(before)[1];
        if (week.whole === 0) return [];
        return [[`${source}, week of ${first}`, metric, week.part / week.whole, 'share, 0 to 1', isHigh]];
      });
      if (sum.whole === 0) return [];
      const isWrong = bounds(sum)[0] > (metric === 'outlier_share' ? 0.03 : 0.5);
      return [...figures, [source, metric, sum.part / sum.whole, 'share, 0 to 1', isWrong]];
    });
  });
}

/** The shares that are three standard deviations away from an observed one: roots of (p - share)² = 9 p (1 - p) / whole. */
function bounds({ part, whole }: { part: number; whole: number }): [number, number] {
  const [a, b, c] = [1 + 9 / whole, -2 * (part / whole) - 9 / whole, (part / whole) ** 2];
  const root = Math.sqrt(b ** 2 - 4 * a * c);
  return [(-b - root) / (2 * a), (-b + root) / (2 * a)];
}

/** Figures of the run come from its own tables. Records of the four lists of a night are counted in the answers. */
export async function rows(night: WorldNight): Promise<MartRow[]> {
  const run = need((await night.rows('runs'))[0], 'a run');
  const passes = (await night.rows('passes')).filter(({ state }) => state === 'sealed');
  const rejects = await night.rows('rejects');
  const served: Readonly<Record<string, number>> = {
    cars: night.cars.length,
    archived_lots: night.archivedLots.length,
    statistics: night.statistics.length,
    duplicates: night.duplicates.length,
  };
  const streams = [...groupBy(passes, ({ stream }) => String(stream))].flatMap(([stream, own]): Figure[] => {
    const records = served[stream] ?? own.reduce((sum, pass) => sum + Number(pass.records), 0);
    const rejected = rejects.filter(
      (reject) => reject.stream === stream && reject.table_name === null,
    ).length;
    const lacking = new Set(
      rejects
        .filter((reject) => reject.stream === stream && reject.table_name !== null)
        .map(({ pass_id, list, page, position }) => [pass_id, list, page, position].join(' ')),
    ).size;
    const drifted = Math.max(...own.map(({ drift }) => JSON.parse(String(drift)).length));
    const incomplete = own.filter(({ complete }) => !complete).length;
    const whole = own.filter(({ complete }) => complete).map((pass) => Number(pass.started_at));
    const age = Math.max(0, night.now - Math.max(...whole)) / HOUR;
    return [
      ...(whole.length === 0 ? [] : [[stream, 'age_hours', age, 'hours', false] as const]),
      [stream, 'records', records, 'records', false],
      [stream, 'rejected', rejected, 'records', false],
      ...(records === 0
        ? []
        : [
            [stream, 'reject_share', rejected / records, 'share, 0 to 1', rejected > records / 100] as const,
            [
              stream,
              'rejected_value_share',
              lacking / records,
              'share, 0 to 1',
              lacking > records / 100,
            ] as const,
          ]),
      [stream, 'drifted_members', drifted, 'members', false],
      [stream, 'incomplete_passes', incomplete, 'passes', incomplete > 0],
    ];
  });
  const { warnings } = run;
  if (!Array.isArray(warnings)) throw new Error('the run has no list of warnings');
  const lots = [...night.lots.values()].map(({ raw }) => raw);
  const vins = await vinFacts(night);
  const faulty = groupBy(
    vins.filter(({ reason }) => reason !== null),
    ({ reason }) => String(reason),
  );
  const figures: readonly Figure[] = [
    ['run', 'minutes', (Number(run.ended_at) - Number(run.started_at)) / 60_000, 'minutes', false],
    ['run', 'warnings', warnings.length, 'warnings', false],
    ['run', 'guard_held', 0, 'runs', false],
    ['run', 'failing_runs', 0, 'runs', false],
    ...streams,
    ...sharesOf(night),
    ...emptiness('lots', lots, OF_LOTS),
    ...emptiness('vehicles', night.cars, OF_VEHICLES),
    ...emptiness(
      'prices',
      lots.flatMap(({ prices }) => prices ?? []),
      OF_PRICES,
    ),
    ...[...faulty].map(
      ([reason, own]): Figure => [
        'vehicles.vin',
        `vin_${reason}_share`,
        own.length / vins.length,
        'share, 0 to 1',
        false,
      ],
    ),
    ...(['doubted', 'vin'] as const).map((origin): Figure => {
      const metric = origin === 'vin' ? 'year_from_vin_share' : 'doubted_year_share';
      const own = night.cars.filter(({ id }) => night.vehicles.get(id)?.origin === origin);
      return ['vehicles.year', metric, own.length / night.cars.length, 'share, 0 to 1', false];
    }),
  ];
  return figures.map(([subject, metric, value, unit, isAlarm]) => ({
    run_id: run.run_id ?? null,
    started_at: night.now,
    pipeline: 'nightly',
    subject,
    metric,
    value,
    unit,
    is_alarm: isAlarm,
    is_current: true,
  }));
}
