import type { DuckDBConnection } from '@duckdb/node-api';
import { nearest } from '../../base/config/nearest.js';
import { rows } from '../../base/duck/session.js';

/** Names of makes and models, and the choices of filters, each with the lots on offer that have it, the most first. */
export interface Names {
  readonly makes: readonly string[];
  /** Models by the name of their make in lower case. */
  readonly models: ReadonlyMap<string, readonly string[]>;
  /** Codes of states by their names in lower case. */
  readonly states: ReadonlyMap<string, string>;
  readonly choices: Readonly<Record<'state' | 'source' | 'damage' | 'title' | 'status', readonly string[]>>;
}

/** Reads the names of the lots on offer. */
export async function readNames(connection: DuckDBConnection): Promise<Names> {
  const texts = async (column: string): Promise<string[]> => {
    const found = await rows(
      connection,
      `select ${column} as name from explore.lots_on_offer where ${column} is not null group by all order by count(*) desc, name`,
    );
    return found.map(({ name }) => String(name));
  };
  const pairs = await rows(
    connection,
    `select manufacturer_name as make, model_name as model from explore.lots_on_offer
     where model_name is not null group by all order by count(*) desc, make, model`,
  );
  const models = new Map<string, string[]>();
  for (const { make, model } of pairs) {
    const key = String(make).toLowerCase();
    models.set(key, [...(models.get(key) ?? []), String(model)]);
  }
  const states = await rows(
    connection,
    `select lower(state_name) as name, state_code as code from regional_prices where level = 'state' and state_name is not null and state_code is not null`,
  );
  return {
    states: new Map(states.map(({ name, code }) => [String(name), String(code)])),
    makes: await texts('manufacturer_name'),
    models,
    choices: {
      state: (await texts('state_code')).sort(),
      source: await texts('domain_name'),
      damage: (await texts('damage_main_group')).sort(),
      title: (await texts('title_brand')).sort(),
      status: (await texts('status_name')).sort(),
    },
  };
}

/** The name that is meant: the same but for case, else the nearest; undefined if none is like it. */
export function meantName(given: string, names: readonly string[]): string | undefined {
  const same = names.find((name) => name.toLowerCase() === given.toLowerCase());
  if (same !== undefined) return same;
  const [first] = given.length < 3 ? [] : nearest(given, names);
  return first?.isLike === true ? first.name : undefined;
}
