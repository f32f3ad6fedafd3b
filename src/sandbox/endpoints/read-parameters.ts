import { badRequest } from '../server/refusal.js';
import type { Parameters, Values } from './parameter.js';

/**
 * The values of an endpoint's parameters. Throws a 400 that names the parameter for a value that is invalid, for one
 * that is given several times, and for the array or object form of one that has none. What the endpoint does not know
 * is ignored.
 */
export function readParameters<P extends Parameters>(
  parameters: P,
  query: URLSearchParams,
  path: ReadonlyMap<string, string>,
): Values<P> {
  for (const sent of query.keys()) refuseBrackets(parameters, sent);
  const values = Object.entries(parameters).map(([name, parameter]) => {
    const inPath = path.get(name);
    const texts = inPath === undefined ? query.getAll(name) : [inPath];
    if (texts.length === 0) return [name, parameter.absent] as const;
    const value = parameter.read(texts);
    if (value === null) throw badRequest(name, `The ${name} must be ${parameter.form}${onlyOnce(texts)}.`);
    return [name, value] as const;
  });
  return valuesOf<P>(values);
}

const onlyOnce = (texts: readonly string[]): string => (texts.length > 1 ? ', given once' : '');

function refuseBrackets(parameters: Parameters, sent: string): void {
  const cut = sent.indexOf('[');
  const name = sent.slice(0, cut);
  if (cut > 0 && !(sent in parameters) && name in parameters) {
    throw badRequest(name, `The ${name} must be given once, not as an array or object.`);
  }
}

/** The entries are made from `P` name by name, which the compiler cannot see. */
const valuesOf = <P extends Parameters>(entries: readonly (readonly [string, unknown])[]): Values<P> =>
  Object.fromEntries(entries) as Values<P>;
