import type { DuckDBConnection } from '@duckdb/node-api';
import { didYouMean } from '../config/nearest.js';
import { literal, type Row, row, rows } from '../duck/session.js';
import { ShareError } from './share-error.js';

/** Tables and marts that an estimate is read from. */
export const VALUE_READS =
  'price_estimates price_factors price_accuracy price_inputs lots vehicles dim_manufacturers dim_models dim_damages dim_titles dim_settings';

/** A car that no lot need be. What is not given is what lots are on average. */
export interface AskedCar {
  readonly make: string;
  readonly model: string;
  readonly year: number;
  readonly km?: number | undefined;
  readonly damage?: string | undefined;
  readonly title?: string | undefined;
}

/** What a car or lot is worth, and what that rests on. Amounts are in `currency`, errors are shares. */
export interface Value {
  readonly of: string;
  readonly currency: string;
  readonly estimate: number | null;
  /** Why there is no estimate, or what to mind about it. */
  readonly note: string | null;
  readonly low_80: number | null;
  readonly low_50: number | null;
  readonly high_50: number | null;
  readonly high_80: number | null;
  /** Trusted or asking price, if the lot has one. */
  readonly price: number | null;
  /** The back-test of the prices that the car is judged with. */
  readonly accuracy: {
    readonly of: string;
    readonly prices: number;
    readonly error_median: number;
    readonly bias: number;
  } | null;
  /** What moves the estimate most against the average lot. */
  readonly drivers: readonly { readonly factor: string; readonly amount: number }[];
  readonly comparable_sales: readonly Row[];
}

/** By what lots are compared. */
interface Kind {
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

/** The lots of a VIN, a lot number or a lot id with their estimates, the newest first. Throws ShareError if there are none. */
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
    throw new ShareError('SHARE_NOTHING_FOUND', `the lake has no price or offer of ${id}`, {
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
    ...{ low_80: numberOf(lot.low_80), low_50: numberOf(lot.low_50) },
    ...{ high_50: numberOf(lot.high_50), high_80: numberOf(lot.high_80) },
    price: numberOf(lot.price),
    ...(await evidenceOf(connection, kind)),
    drivers,
  };
}

const nameOf = (car: string, { km, damage, title }: Pick<Kind, 'km' | 'damage' | 'title'>): string =>
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

/** The value of a car at auction. Throws ShareError for a make, model, damage or title that the lake does not know. */
export async function valueOfCar(connection: DuckDBConnection, car: AskedCar): Promise<Value> {
  const factors = await rows(
    connection,
    `select * from price_factors where market = 'auction' and currency = (
      select currency from price_factors where market = 'auction' and factor = 'base' order by prices desc limit 1)`,
  );
  const [base] = factors.filter(({ factor }) => factor === 'base');
  if (base === undefined)
    throw new ShareError('SHARE_NOTHING_FOUND', 'the lake has too few auction prices for estimates');
  const make = await idOf(connection, 'manufacturer', car.make, 'true');
  const model = await idOf(connection, 'model', car.model, `manufacturer_id = ${make}`);
  const clock = await row(
    connection,
    'select year(as_of) + (month(as_of) - 0.5) / 12 as now from dim_settings',
  );
  const age = Math.max(0, Number(clock.now) - car.year);
  const damage = await groupOf(connection, factors, 'damage_main_group', car.damage, 'dim_damages', 'damage');
  const title = await groupOf(connection, factors, 'title_brand', car.title, 'dim_titles', 'title');
  const mileage = car.km === undefined ? undefined : car.km - Number(base.usual_km_a_year) * age;
  const effects = effectsOf(factors, { age, mileage, damage_main_group: damage, title_brand: title });
  const node = await nodeEffect(connection, factors, { make, model, year: car.year });
  const log = effects.reduce((sum, { effect }) => sum + effect, Math.log(Number(base.effect)) + node);
  const kind = {
    market: 'auction',
    currency: String(base.currency),
    make,
    model,
    year: car.year,
    km: car.km ?? null,
  };
  const widths = await widthsOf(connection, kind);
  const noise = ((Number(widths.high_80) - Number(widths.low_80)) / 2.563) ** 2 || 1;
  // What is not said of the car moves its price as well.
  const wider = Math.sqrt(1 + effects.reduce((sum, { variance }) => sum + variance, 0) / noise);
  const at = (width: unknown): number => Math.round(Math.exp(log + wider * Number(width)));
  const estimate = at(0);
  return {
    of: nameOf(`${car.year} ${car.make} ${car.model}`, {
      km: kind.km,
      damage: damage ?? null,
      title: title ?? null,
    }),
    currency: kind.currency,
    estimate,
    note: null,
    ...{
      low_80: at(widths.low_80),
      low_50: at(widths.low_50),
      high_50: at(widths.high_50),
      high_80: at(widths.high_80),
    },
    price: null,
    ...(await evidenceOf(connection, { ...kind, damage: damage ?? null, title: title ?? null })),
    drivers: effects
      .filter(({ change }) => change !== 0)
      .sort((a, b) => Math.abs(b.change) - Math.abs(a.change))
      .slice(0, 5)
      .map(({ factor, change }) => ({ factor, amount: Math.round(estimate * (1 - Math.exp(-change))) })),
  };
}

/**
 * Effects of the factors that do not belong to the model, as logarithms; `change` is against the average lot, `variance` how
 * far lots lie apart by a factor that is not said.
 */
function effectsOf(factors: readonly Row[], asked: Readonly<Record<string, string | number | undefined>>) {
  const names = [...new Set(factors.map(({ factor }) => String(factor)))];
  return names
    .filter((name) => !['base', 'manufacturer', 'model', 'generation'].includes(name))
    .map((name) => {
      const levels = factors.filter(({ factor }) => factor === name);
      const weight = levels.reduce((sum, { prices }) => sum + Number(prices), 0);
      const mean = levels.reduce((sum, level) => sum + Number(level.prices) * logOf(level), 0) / weight;
      const level = name === 'month' ? lastOf(levels) : asked[name];
      const effect =
        level === undefined
          ? mean
          : typeof level === 'number'
            ? onLine(levels, level)
            : effectAt(levels, level);
      const squares = levels.reduce((sum, each) => sum + Number(each.prices) * (logOf(each) - mean) ** 2, 0);
      return {
        factor: typeof level === 'string' ? `${name}: ${level}` : name,
        effect,
        change: effect - mean,
        variance: level === undefined ? squares / weight : 0,
      };
    });
}

const logOf = ({ effect }: Row): number => Math.log(Number(effect));
const lastOf = (levels: readonly Row[]): string =>
  levels
    .map(({ level }) => String(level))
    .sort()
    .at(-1) ?? '';
const effectAt = (levels: readonly Row[], wanted: string): number =>
  levels.filter(({ level }) => level === wanted).reduce((_, level) => logOf(level), 0);

/** The effect at a value between two points; beyond the ends it stays what it is there. */
function onLine(levels: readonly Row[], value: number): number {
  const points = levels
    .map((level) => [Number(level.level), logOf(level)] as const)
    .sort(([a], [b]) => a - b);
  const above = points.findIndex(([at]) => at > value);
  const [low, high] = [
    points[above < 0 ? points.length - 1 : Math.max(0, above - 1)],
    points[Math.max(0, above)],
  ];
  if (low === undefined || high === undefined || above <= 0) return (above === 0 ? high : low)?.[1] ?? 0;
  return low[1] + ((value - low[0]) / (high[0] - low[0])) * (high[1] - low[1]);
}

/** The effect of the generation that most such cars have, of the model where it has no price, or of the make. */
async function nodeEffect(
  connection: DuckDBConnection,
  factors: readonly Row[],
  { make, model, year }: { make: number; model: number; year: number },
): Promise<number> {
  const generations = await rows(
    connection,
    `select coalesce(generation_id, -1) as id from price_inputs
    where manufacturer_id = ${make} and model_id = ${model} and year = ${year} group by 1 order by count(*) desc, 1 limit 1`,
  );
  const nodes = [...generations.map(({ id }) => `${make}/${model}/${id}`), `${make}/${model}`, String(make)];
  const known = nodes.flatMap((node) =>
    factors.filter(
      ({ factor, level }) => level === node && /^(generation|model|manufacturer)$/.test(String(factor)),
    ),
  );
  const [found] = known;
  if (found !== undefined) return logOf(found);
  throw new ShareError('SHARE_NOTHING_FOUND', 'the lake has no auction price of this make');
}

/** How far the ends of the intervals lie from the estimate in lots of the model, as logarithms; of all where it has few. */
function widthsOf(
  connection: DuckDBConnection,
  { market, currency, model }: Pick<Kind, 'market' | 'currency' | 'model'>,
): Promise<Row> {
  const widths = ['low_80', 'low_50', 'high_50', 'high_80'].map(
    (end) => `avg(ln(e.${end} / e.estimate)) as ${end}`,
  );
  return row(
    connection,
    `with alike as (select e.*, p.model_id is not distinct from ${model} as is_model
      from price_estimates e join price_inputs p using (lot_id)
      where e.market = ${literal(market)} and e.currency = ${literal(currency)} and e.estimate > 0 and e.low_80 > 0)
    select ${widths.join(', ')} from alike e
    where is_model or (select count(*) from alike where is_model) < 20`,
  );
}

/** The accuracy of estimates of such lots, and the sales that are most alike. */
async function evidenceOf(
  connection: DuckDBConnection,
  kind: Kind,
): Promise<Pick<Value, 'accuracy' | 'comparable_sales'>> {
  const [accuracy] = await rows(
    connection,
    `select name, prices, error_median, bias from price_accuracy
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
  return {
    accuracy:
      accuracy === undefined
        ? null
        : {
            of: accuracy.name === 'all' ? 'all prices' : String(accuracy.name),
            prices: Number(accuracy.prices),
            error_median: Number(accuracy.error_median),
            bias: Number(accuracy.bias),
          },
    comparable_sales: sales,
  };
}

const textOf = (value: string | null): string => (value === null ? 'null' : literal(value));
const numberOf = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);

/** The id of a make or model by its name. Throws ShareError with the names that are most like it. */
async function idOf(
  connection: DuckDBConnection,
  what: 'manufacturer' | 'model',
  name: string,
  where: string,
): Promise<number> {
  const known = await rows(
    connection,
    `select distinct ${what}_id as id, ${what}_name as name
    from (select distinct manufacturer_id, model_id from price_inputs where ${where}) join dim_${what}s using (${what}_id)
    order by id`,
  );
  const found = known.find((each) => String(each.name).toLowerCase() === name.trim().toLowerCase());
  if (found !== undefined) return Number(found.id);
  const names = known.map((each) => String(each.name));
  throw new ShareError('SHARE_NOTHING_FOUND', `the lake has no ${what} ${name}${didYouMean(name, names)}`);
}

/** The group of a damage or title, given by its own name or as the feed writes it. Throws ShareError with those there are. */
async function groupOf(
  connection: DuckDBConnection,
  factors: readonly Row[],
  factor: string,
  name: string | undefined,
  names: string,
  what: string,
): Promise<string | undefined> {
  if (name === undefined) return undefined;
  const groups = factors.filter((each) => each.factor === factor).map(({ level }) => String(level));
  const wanted = name.trim().toLowerCase();
  const own = groups.find((group) => group === wanted.replaceAll(/[\s-]+/g, '_'));
  if (own !== undefined) return own;
  const group = what === 'damage' ? 'damage_group' : 'title_brand';
  const [named] = await rows(
    connection,
    `select ${group} as found from ${names} where lower(${what}_name) = ${literal(wanted)} limit 1`,
  );
  if (named !== undefined && groups.includes(String(named.found))) return String(named.found);
  throw new ShareError('SHARE_NOTHING_FOUND', `no price has the ${what} ${name}${didYouMean(name, groups)}`, {
    hint: `there are ${groups.join(', ')}`,
  });
}
