import type { DuckDBConnection } from '@duckdb/node-api';
import { LotlakeError } from '../config/lotlake-error.js';
import { didYouMean } from '../config/nearest.js';
import { literal, type Row, row, rows } from '../duck/session.js';
import { sumOf } from './printable.js';
import { ENDS, endsOf, evidenceOf, type Kind, nameOf, type Value } from './value.js';

/** A car that no lot need be. What is not given is what lots are on average. */
export interface AskedCar {
  readonly make: string;
  readonly model: string;
  readonly year: number;
  readonly km?: number | undefined;
  readonly damage?: string | undefined;
  readonly title?: string | undefined;
}

/** The value of a car at auction. Throws SHARE_NOTHING_FOUND for a make, model, damage or title that the lake does not know. */
export async function valueOfCar(connection: DuckDBConnection, car: AskedCar): Promise<Value> {
  const factors = await rows(
    connection,
    `select * from price_factors where market = 'auction' and currency = (
      select currency from price_factors where market = 'auction' and factor = 'base' order by prices desc limit 1)`,
  );
  const [base] = factors.filter(({ factor }) => factor === 'base');
  if (base === undefined)
    throw new LotlakeError('SHARE_NOTHING_FOUND', 'the lake has too few auction prices for estimates');
  const make = await idOf(connection, 'manufacturer', car.make, 'true');
  const model = await idOf(connection, 'model', car.model, `manufacturer_id = ${make}`);
  const clock = await row(
    connection,
    'select year(as_of) + (month(as_of) - 0.5) / 12 as now from dim_settings',
  );
  if (car.year > Number(clock.now) + 1)
    throw new LotlakeError('SHARE_NOTHING_FOUND', `no car has the model year ${car.year} yet`);
  const { year, km = null } = car;
  const damage = await groupOf(connection, factors, 'damage_main_group', 'damage', car.damage);
  const title = await groupOf(connection, factors, 'title_brand', 'title', car.title);
  const kind = { market: 'auction', currency: String(base.currency), make, model, year, km, damage, title };
  const age = Math.max(0, Number(clock.now) - year);
  const effects = effectsOf(factors, {
    age,
    mileage: km === null ? null : km - Number(base.usual_km_a_year) * age,
    odometer: km === null ? null : 'usable',
    damage_main_group: damage,
    title_brand: title,
  });
  const node = await nodeEffect(connection, factors, kind);
  const log = sumOf(effects, ({ effect }) => effect) + Math.log(Number(base.effect)) + node;
  const widths = await widthsOf(connection, kind);
  const noise = ((Number(widths.high_80) - Number(widths.low_80)) / 2.563) ** 2 || 1;
  // What is not said of the car moves its price as well.
  const wider = Math.sqrt(1 + sumOf(effects, ({ variance }) => variance) / noise);
  const at = (width: unknown): number => Math.round(Math.exp(log + wider * Number(width)));
  const estimate = at(0);
  return {
    of: nameOf(`${year} ${car.make} ${car.model}`, kind),
    currency: kind.currency,
    estimate,
    note: null,
    ...endsOf((end) => at(widths[end])),
    price: null,
    ...(await evidenceOf(connection, kind)),
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
function effectsOf(factors: readonly Row[], asked: Readonly<Record<string, string | number | null>>) {
  const names = [...new Set(factors.map(({ factor }) => String(factor)))];
  return names
    .filter((name) => !['base', 'manufacturer', 'model', 'generation'].includes(name))
    .map((name) => {
      const levels = factors.filter(({ factor }) => factor === name);
      const weight = sumOf(levels, ({ prices }) => Number(prices));
      const mean = sumOf(levels, (level) => Number(level.prices) * logOf(level)) / weight;
      const squares = sumOf(levels, (level) => Number(level.prices) * (logOf(level) - mean) ** 2);
      const last = levels.map(({ level }) => String(level)).sort();
      const level = name === 'month' ? (last.at(-1) ?? '') : (asked[name] ?? null);
      const effect = level === null ? mean : effectAt(levels, level);
      return {
        factor: typeof level === 'string' ? `${name}: ${level}` : name,
        effect,
        change: effect - mean,
        variance: level === null ? squares / weight : 0,
      };
    });
}

const logOf = ({ effect }: Row): number => Math.log(Number(effect));

/** The effect of a level, 0 for one without prices; or that at a number on a line. */
function effectAt(levels: readonly Row[], wanted: string | number): number {
  if (typeof wanted === 'number') return onLine(levels, wanted);
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
  { make, model, year }: Kind,
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
  throw new LotlakeError('SHARE_NOTHING_FOUND', 'the lake has no auction price of this make');
}

/** How far the ends of the intervals lie from the estimate in lots of the model, as logarithms; of all where it has few. */
function widthsOf(connection: DuckDBConnection, { market, currency, model }: Kind): Promise<Row> {
  const widths = ENDS.map((end) => `avg(ln(e.${end} / e.estimate)) as ${end}`);
  return row(
    connection,
    `with alike as (select e.*, p.model_id is not distinct from ${model} as is_model
      from price_estimates e join price_inputs p using (lot_id)
      where e.market = ${literal(market)} and e.currency = ${literal(currency)} and e.estimate > 0 and e.low_80 > 0)
    select ${widths.join(', ')} from alike e
    where is_model or (select count(*) from alike where is_model) < 20`,
  );
}

/** The id of a make or model by its name. Throws SHARE_NOTHING_FOUND with the names that are most like it. */
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
  throw new LotlakeError('SHARE_NOTHING_FOUND', `the lake has no ${what} ${name}${didYouMean(name, names)}`);
}

/**
 * The group of a damage or title, given by its own name or as the feed writes it; null for none. Throws SHARE_NOTHING_FOUND with
 * those there are.
 */
async function groupOf(
  connection: DuckDBConnection,
  factors: readonly Row[],
  factor: string,
  what: 'damage' | 'title',
  name: string | undefined,
): Promise<string | null> {
  if (name === undefined) return null;
  const groups = factors.filter((each) => each.factor === factor).map(({ level }) => String(level));
  const wanted = name.trim().toLowerCase();
  const named = await rows(
    connection,
    `select ${what === 'damage' ? 'damage_group' : 'title_brand'} as found from dim_${what}s
    where lower(${what}_name) = ${literal(wanted)} limit 1`,
  );
  const found = [wanted.replaceAll(/[\s-]+/g, '_'), ...named.map((each) => String(each.found))].find(
    (group) => groups.includes(group),
  );
  if (found !== undefined) return found;
  throw new LotlakeError(
    'SHARE_NOTHING_FOUND',
    `no price has the ${what} ${name}${didYouMean(name, groups)}`,
    {
      hint: `there are ${groups.join(', ')}`,
    },
  );
}
