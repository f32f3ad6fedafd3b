import type { DuckDBConnection } from '@duckdb/node-api';
import { literal, rows } from '../../duck/session.js';
import type { Coding } from './code-rows.js';
import { type Factor, REFERENCES } from './design.js';
import { effectVariance } from './fit.js';
import type { Numbers } from './numbers.js';
import type { State } from './passes.js';

/** Stands for the price of a lot that has the reference of every factor. */
const BASE = -1;

/** Writes what each level of each factor does to a price, and what make, model and generation do. */
export async function writeEffects(
  connection: DuckDBConnection,
  coding: Coding,
  { fit, sums: { counts } }: State,
  effects: Numbers,
  nodes: Numbers,
  market: number,
): Promise<void> {
  if (fit === undefined) return;
  const { coefficients, covariance } = fit;
  let base = coefficients[0] ?? 0;
  for (const factor of coding.factors) {
    const levels = await levelsOf(connection, factor, coding.firstMonth);
    const reference = referenceOf(factor, levels, counts);
    base += coefficients[reference] ?? 0;
    const named = levels.map((level, i) => [market, factor.offset + i, literal(factor.name), literal(level)]);
    await connection.run(
      `insert into fit.terms values ${named.map((term) => `(${term.join(', ')})`).join(', ')}`,
    );
    for (let at = factor.offset; at < factor.offset + factor.size; at += 1) {
      const effect = (coefficients[at] ?? 0) - (coefficients[reference] ?? 0);
      const [own, other] = [covariance[at], covariance[reference]];
      const variance = (own?.[at] ?? 0) + (other?.[reference] ?? 0) - 2 * (own?.[reference] ?? 0);
      effects.append([market, at, reference, effect, Math.sqrt(Math.max(0, variance)), counts[at] ?? 0]);
    }
  }
  effects.append([market, BASE, BASE, base, Number.NaN, counts[0] ?? 0]);
  await connection.run(`insert into fit.terms values (${market}, ${BASE}, 'base', 'all')`);
  for (const [place, node] of fit.nodes.entries())
    if (node.weight > 0) nodes.append([market, place, node.effect, Math.sqrt(effectVariance(fit, node))]);
  await connection.run(`insert into fit.node_names
    select ${market}, leaf, 0, make, model, generation from fit.leaves
    union all
    select distinct ${market}, (select count(*) from fit.leaves) + model_place, 1, make, model, null from fit.leaves
    union all
    select distinct ${market}, (select count(*) + max(model_place) + 1 from fit.leaves) + make_place, 2, make, null, null
    from fit.leaves`);
}

async function levelsOf(
  connection: DuckDBConnection,
  { name, knots }: Factor,
  firstMonth: string,
): Promise<readonly string[]> {
  if (knots === undefined) {
    const levels = await rows(
      connection,
      `select level from fit.levels where factor = ${literal(name)} order by code`,
    );
    return levels.map(({ level }) => String(level));
  }
  if (name === 'mileage') return knots.map((knot) => String(knot * 10_000));
  if (name === 'age') return knots.map(String);
  const [year = 0, month = 1] = firstMonth.split('-').map(Number);
  return knots.map((knot) => new Date(Date.UTC(year, month - 1 + knot)).toISOString().slice(0, 7));
}

/** The coefficient with which those of a factor are compared: the named one, or that of the most prices. */
function referenceOf(
  { name, offset, size }: Factor,
  levels: readonly string[],
  counts: Float64Array,
): number {
  const named = levels.indexOf(REFERENCES[name] ?? '');
  if (named >= 0) return offset + named;
  const own = counts.subarray(offset, offset + size);
  return offset + own.indexOf(Math.max(...own));
}
