import type { DuckDBConnection } from '@duckdb/node-api';
import { didYouMean } from '../config/nearest.js';
import { literal, type Row, row, rows } from '../duck/session.js';
import { ShareError } from './share-error.js';
import { evidenceOf, type Kind, nameOf, type Value } from './value.js';

/** A car that no lot need be. What is not given is what lots are on average. */
export interface AskedCar {
  readonly make: string;
  readonly model: string;
  readonly year: number;
  readonly km?: number | undefined;
  readonly damage?: string | undefined;
  readonly title?: string | undefined;
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
  if (car.year > Number(clock.now) + 1)
    throw new ShareError('SHARE_NOTHING_FOUND', `no car has the model year ${car.year} yet`);
  const age = Math.max(0, Number(clock.now) - car.year);
  const damage = await groupOf(connection, factors, 'damage_main_group', car.damage, 'dim_damages', 'damage');
  const title = await groupOf(connection, factors, 'title_brand', car.title, 'dim_titles', 'title');
  const mileage = car.km === undefined ? undefined : car.km - Number(base.usual_km_a_year) * age;
  const odometer = car.km === undefined ? undefined : 'usable';
  const asked = { age, mileage, odometer, damage_main_group: damage, title_brand: title };
  const effects = effectsOf(factors, asked);
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

function effectAt(levels: readonly Row[], wanted: string): number {
  const found = levels.find(({ level }) => level === wanted);
  return found === undefined ? 0 : logOf(found);
}

/** The effect at a value between two points; beyond the ends it stays what it is there. */
function onLine(levels: readonly Row[], value: number): number {
  const points = levels.map((level) => ({ at: Number(level.level), effect: logOf(level) }));
  points.sort((a, b) => a.at - b.at);
  const high = points.find(({ at }) => at > value);
  const low = points.findLast(({ at }) => at <= value);
  if (low === undefined || high === undefined) return (low ?? high)?.effect ?? 0;
  return low.effect + ((value - low.at) / (high.at - low.at)) * (high.effect - low.effect);
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
  const nodes = factors.filter(({ factor }) => /^(generation|model|manufacturer)$/.test(String(factor)));
  const places = [...generations.map(({ id }) => `${make}/${model}/${id}`), `${make}/${model}`, String(make)];
  const [found] = places.flatMap((place) => nodes.filter(({ level }) => level === place));
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
