import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { literal, type Row, rows } from '../duck/session.js';

/** Tables and marts that an estimate is read from. */
export const VALUE_READS =
  'price_estimates price_factors price_accuracy price_inputs lots vehicles dim_manufacturers dim_models dim_damages dim_titles dim_settings';

/** The ends of the intervals in which 80 % and 50 % of such prices lie. */
export const ENDS = ['low_80', 'low_50', 'high_50', 'high_80'] as const;

type Ends = Readonly<Record<(typeof ENDS)[number], number | null>>;

/** Something of each end, by its name. */
export const endsOf = (amount: (end: (typeof ENDS)[number]) => number | null): Ends =>
  Object.fromEntries(ENDS.map((end) => [end, amount(end)])) as Ends;

/** What a car or lot is worth, and what that rests on. Amounts are in `currency`, errors are shares. */
export interface Value extends Ends {
  readonly of: string;
  readonly currency: string;
  readonly estimate: number | null;
  /** Why there is no estimate, or what to mind about it. */
  readonly note: string | null;
  /** Trusted or asking price, if the lot has one. */
  readonly price: number | null;
  /** The back-test of the prices that the car is judged with: `of` whom, `prices`, `error_median` and `bias`. */
  readonly accuracy: Row | null;
  /** What moves the estimate most against the average lot. */
  readonly drivers: readonly { readonly factor: string; readonly amount: number }[];
  readonly comparable_sales: readonly Row[];
}

/** By what lots are compared. */
export interface Kind {
  readonly market: string;
  readonly currency: string;
  readonly make: number | null;
  readonly model: number | null;
  readonly year: number | null;
  readonly km: number | null;
  readonly damage: string | null;
  readonly title: string | null;
  /** Left out of the comparable sales. */
  readonly lot?: number;
}

/** The lots of a VIN, a lot number or a lot id with their estimates, the newest first. Throws SHARE_NOTHING_FOUND if there are none. */
export async function valuesOfLots(connection: DuckDBConnection, id: string): Promise<Value[]> {
  const wanted = literal(id.trim().toUpperCase());
  const found = await rows(
    connection,
    `select e.*, p.manufacturer_id, p.model_id, p.year, p.odometer_km, p.damage_main_group, p.title_brand,
      concat_ws(' ', v.year, manufacturer_names.manufacturer_name, model_names.model_name) as car, l.lot, l.domain_name
    from price_estimates e join price_inputs p using (lot_id) join lots l using (lot_id)
      left join vehicles v on v.vehicle_id = l.vehicle_id
      left join dim_manufacturers manufacturer_names on manufacturer_names.manufacturer_id = v.manufacturer_id
      left join dim_models model_names on model_names.model_id = v.model_id
    where ${wanted} <> '' and ${wanted} in (upper(trim(v.vin)), upper(trim(l.lot)), cast(l.lot_id as varchar))
    order by e.priced_at desc, e.lot_id limit 20`,
  );
  if (found.length === 0)
    throw new LotlakeError('SHARE_NOTHING_FOUND', `the lake has no price or offer of ${id}`, {
      hint: 'give a VIN, a lot number or a lot id of the lake; --make, --model and --year estimate any car',
    });
  return Promise.all(found.map((lot) => valueOfLot(connection, lot)));
}

async function valueOfLot(connection: DuckDBConnection, lot: Row): Promise<Value> {
  const kind: Kind = {
    market: String(lot.market),
    currency: String(lot.currency),
    make: numberOf(lot.manufacturer_id),
    model: numberOf(lot.model_id),
    year: numberOf(lot.year),
    km: numberOf(lot.odometer_km),
    damage: String(lot.damage_main_group),
    title: String(lot.title_brand),
    lot: Number(lot.lot_id),
  };
  const drivers = [1, 2, 3, 4, 5].flatMap((place) => {
    const factor = lot[`driver_${place}`];
    return factor === null ? [] : [{ factor: String(factor), amount: Number(lot[`driver_${place}_amount`]) }];
  });
  return {
    of: `${nameOf(String(lot.car), kind)}, lot ${lot.lot} of ${lot.domain_name}`,
    currency: kind.currency,
    estimate: numberOf(lot.estimate),
    note: noteOf(lot),
    ...endsOf((end) => numberOf(lot[end])),
    price: numberOf(lot.price),
    ...(await evidenceOf(connection, kind)),
    drivers,
  };
}

export const nameOf = (car: string, { km, damage, title }: Pick<Kind, 'km' | 'damage' | 'title'>): string =>
  [car, km === null ? null : `${Math.round(km)} km`, damage, title]
    .filter((part) => part !== null && part !== 'unknown')
    .join(', ');

function noteOf(lot: Row): string | null {
  if (lot.reason !== null) return `no estimate: ${String(lot.reason).replaceAll('_', ' ')}`;
  if (lot.is_unreliable === true) return 'unreliable: such estimates were far off in the back-test';
  if (lot.is_currency_known === false)
    return 'what it would bring in this currency; that of the lot is not known';
  return lot.market === 'asking' ? 'an asking price, not a sale' : null;
}

/** The accuracy of estimates of such lots, and the sales that are most alike. */
export async function evidenceOf(
  connection: DuckDBConnection,
  kind: Kind,
): Promise<Pick<Value, 'accuracy' | 'comparable_sales'>> {
  const [accuracy = null] = await rows(
    connection,
    `select case name when 'all' then 'all prices' else name end as "of", prices, error_median, bias from price_accuracy
    where market = ${literal(kind.market)} and currency = ${literal(kind.currency)} and error_median is not null
      and (segment = 'all' or (segment = 'manufacturer' and level = ${literal(String(kind.make))}))
    order by segment desc limit 1`,
  );
  const sales = await rows(
    connection,
    `select p.year, p.odometer_km as km, p.damage_main_group as damage, p.title_brand as title, p.price,
      cast(p.priced_at as date)::varchar as sold_on, l.domain_name as source, l.lot,
      case l.domain_id
        when 1 then 'https://www.iaai.com/VehicleDetail/' || l.external_id
        when 3 then 'https://www.copart.com/lot/' || l.lot
        when 12 then 'https://fem.encar.com/cars/detail/' || l.lot
      end as link
    from price_inputs p join lots l using (lot_id)
    where p.market = ${literal(kind.market)} and p.currency = ${literal(kind.currency)} and p.price is not null
      and p.manufacturer_id = ${kind.make} and p.model_id = ${kind.model} and p.lot_id is distinct from ${kind.lot ?? null}
    order by
      coalesce(abs(p.year - ${kind.year}) / 2.0, 1) + coalesce(abs(p.odometer_km - ${kind.km}) / 50000, 0.5)
      + case when p.damage_main_group = coalesce(${textOf(kind.damage)}, p.damage_main_group) then 0 else 2 end
      + case when p.title_brand = coalesce(${textOf(kind.title)}, p.title_brand) then 0 else 2 end,
      p.priced_at desc, p.lot_id
    limit 10`,
  );
  return { accuracy, comparable_sales: sales };
}

const textOf = (value: string | null): string => (value === null ? 'null' : literal(value));
const numberOf = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
