import { z } from 'zod';
import { enumerations } from '../contract/enumerations.js';
import { oneOf } from './kinds.js';
import type { Kind, Value } from './parameter.js';

const names = Object.values(enumerations.domain);

/** A source by its id. */
export const sourceId = oneOf(
  enumerations.domain,
  'give one source; for several send a request for each, or leave it out for all sources of the key',
);

/** A source by its name or its id; it stands in the path by its name (service.md, enumerations). */
export const source = {
  schema: z
    .union([z.enum(names), sourceId.schema])
    .transform((given) => (typeof given === 'string' ? given : nameOf(given))),
  form: `${names.join(', ')}, or its id`,
  hint: sourceId.hint,
} as const satisfies Kind<z.ZodType<Value>>;

/** Empty for an id that the schema does not let pass. */
const nameOf = (id: number): string =>
  Object.entries(enumerations.domain).find(([known]) => Number(known) === id)?.[1] ?? '';
