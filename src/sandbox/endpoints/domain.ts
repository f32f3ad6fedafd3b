import { domainNames } from '../data/wording.js';
import { badRequest, noAccess } from '../server/refusal.js';
import type { Access } from './endpoint.js';
import { integerIn, single, word } from './parameter.js';

/** The sources that exist (service.md, enumerations). */
export const allDomains: readonly number[] = [...domainNames.keys()];

/** A source by its id; one that does not exist is refused by `domainOf`. */
export const domainId = (what: string) => single('1, 3 or 12', what, (text) => integerIn(text));

/** A source by its name. */
export const domainName = word('source to look on', [...domainNames.values()]);

/** Checks a source; throws a 400 for one that does not exist and a 401 for one that the key is not enabled for. */
export function domainOf(id: number, access: Access): number {
  if (!allDomains.includes(id)) throw badRequest('domain_id', 'Unsupported domain_id.');
  if (!access.domains.includes(id)) throw noAccess(id);
  return id;
}

/** The source of a name; throws a 401 for one that the key is not enabled for. */
export function domainNamed(name: string, access: Access): number {
  const id = allDomains.find((domain) => domainNames.get(domain) === name) ?? 0;
  return domainOf(id, access);
}
