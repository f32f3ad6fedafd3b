import type { DuckDBConnection } from '@duckdb/node-api';
import { distance } from 'fastest-levenshtein';
import { rows } from '../../base/duck/session.js';
import { ask, failOlder } from '../query/ask.js';

/** Names of makes and models, and the choices of filters, each with the lots on offer that have it, the most first. */
export interface Names {
  readonly makes: readonly string[];
  /** Models by the name of their make in lower case. */
  readonly models: ReadonlyMap<string, readonly string[]>;
  /** Codes of states by their names in lower case. */
  readonly states: ReadonlyMap<string, string>;
  readonly choices: Readonly<
    Record<
      'state' | 'source' | 'damage' | 'title' | 'status' | 'inspection' | 'currency' | 'cost_currency',
      readonly string[]
    >
  >;
  /** The default destination of the tables of costs, and its currency; undefined without such tables. */
  readonly costs: { readonly destination: string; readonly currency: string } | undefined;
  /** What people type for a make, damage or title in lower case, with the name that it means (name_synonyms). */
  readonly synonyms: Readonly<Record<'make' | 'damage' | 'title', ReadonlyMap<string, string>>>;
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
  const pairs = await ask(connection, 'explore/models_of_makes');
  const models = new Map<string, string[]>();
  for (const { make, model } of pairs) {
    const key = String(make).toLowerCase();
    models.set(key, [...(models.get(key) ?? []), String(model)]);
  }
  const states = await ask(connection, 'explore/states');
  const costs = await readCosts(connection);
  return {
    costs,
    states: new Map(states.map(({ name, code }) => [String(name), String(code)])),
    makes: await texts('manufacturer_name'),
    models,
    choices: {
      state: (await texts('state_code')).sort(),
      source: await texts('domain_name'),
      damage: (await texts('damage_main_group')).sort(),
      title: (await texts('title_brand')).sort(),
      status: (await texts('status_name')).sort(),
      inspection: await texts('inspection'),
      currency: await texts('currency'),
      cost_currency: costs === undefined ? [] : [costs.currency],
    },
    synonyms: await readSynonyms(connection),
  };
}

/** Reads where the costs of the lots on offer are those of. */
async function readCosts(connection: DuckDBConnection): Promise<Names['costs']> {
  const [found] = await rows(
    connection,
    'select cost_destination, cost_currency from explore.lots_on_offer where cost_destination is not null limit 1',
  ).catch(failOlder);
  return found && { destination: String(found.cost_destination), currency: String(found.cost_currency) };
}

/** Reads what people type for names. */
async function readSynonyms(connection: DuckDBConnection): Promise<Names['synonyms']> {
  const found = await rows(connection, 'from name_synonyms');
  const of = (kind: string): ReadonlyMap<string, string> =>
    new Map(
      found.filter(({ what }) => what === kind).map(({ name, means }) => [String(name), String(means)]),
    );
  return { make: of('make'), damage: of('damage'), title: of('title') };
}

/** Edits that are a typing error in a word of so many letters: a short word with another letter is another word. */
const TYPOS = [0, 0, 0, 0, 1, 1, 1, 2] as const;

/** A name as people type it, without what they leave out: F-150 is f150. */
export const plain = (name: string): string => name.toLowerCase().replaceAll(/[\s._-]/g, '');

/**
 * The name that is meant: the same but for case, spaces and hyphens, else the nearest with the same first letter that a typing
 * error makes; undefined if there is none. A name with a digit is a code, of which another digit or letter makes another car, and
 * a typing error is no word more or less.
 */
export function meantName(given: string, names: readonly string[]): string | undefined {
  const text = plain(given);
  if (text === '') return undefined;
  const same =
    names.find((name) => name.toLowerCase() === given.trim().toLowerCase()) ??
    names.find((name) => plain(name) === text);
  if (same !== undefined) return same;
  if (/\d/.test(text)) return undefined;
  let most: number = TYPOS[Math.min(text.length, TYPOS.length - 1)] ?? 0;
  let found: string | undefined;
  for (const name of names) {
    const other = plain(name);
    const isLike =
      other.startsWith(text.charAt(0)) && !/\d/.test(other) && Math.abs(other.length - text.length) < 2;
    const edits = isLike ? distance(text, other) : Number.POSITIVE_INFINITY;
    if (edits > most || (found !== undefined && edits === most)) continue;
    [found, most] = [name, edits];
  }
  return found;
}

/** The make, damage or title that is meant, which people may call otherwise. */
export function meantChoice(
  what: 'make' | 'damage' | 'title',
  given: string,
  { makes, choices, synonyms }: Names,
): string | undefined {
  // A salvage title is salvage.
  const text = given.trim().toLowerCase();
  const short = text.endsWith(` ${what}`) ? text.slice(0, -what.length).trim() : text;
  const name = synonyms[what].get(short) ?? short;
  return meantName(name, what === 'make' ? makes : choices[what]);
}
