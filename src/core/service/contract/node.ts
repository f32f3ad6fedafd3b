import { z } from 'zod';
import { type FieldMeta, fields, type Wire } from './field.js';
import * as Kind from './kinds.js';

/**
 * One place in a record as the contract sees it. Derived from the zod schemas, so that the scanner, the DuckDB types
 * and the dictionary cannot disagree with the validation. `duckdb` is the type of a leaf; `STRUCT` and `LIST` are built
 * from members and element.
 */
export interface ContractNode extends Required<Omit<Wire, 'object' | 'element'>> {
  readonly name: string;
  /** Path from the record, such as `lots[].odometer.km`; empty for the record itself. */
  readonly path: string;
  readonly description: string;
  readonly unit: string | undefined;
  readonly values: FieldMeta['values'];
  readonly keys: FieldMeta['keys'];
  readonly members: ReadonlyMap<string, ContractNode>;
  readonly element: ContractNode | undefined;
}

/** Builds the contract tree of a record from its zod schema. */
export function contractOf(schema: z.core.$ZodType): ContractNode {
  return build(schema, '', '');
}

function build(schema: z.core.$ZodType, name: string, path: string): ContractNode {
  const { wire, description, unit, values, keys } = fields.get(schema) ?? recordAt(schema, path);
  const { accepts, duckdb, lexical = 'none', required = false, opaque = false, object, element } = wire;
  const members = Object.entries(object?.shape ?? {}).map(
    ([member, inner]) => [member, build(inner, member, path === '' ? member : `${path}.${member}`)] as const,
  );
  return {
    name,
    path,
    description,
    unit,
    values,
    keys,
    accepts,
    duckdb,
    lexical,
    required,
    opaque,
    members: new Map(members),
    element: element && build(element, '', `${path}[]`),
  };
}

/** A record and an object of a list have no description, and are never null. */
function recordAt(schema: z.core.$ZodType, path: string): FieldMeta {
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`the contract at ${path} is no object`);
  return { description: '', wire: { accepts: Kind.OBJECT, duckdb: 'STRUCT', object: schema } };
}

/** The member whose value is the id of a record: the last one of its key. */
export const idOf = (record: ContractNode): ContractNode | undefined =>
  [...record.members.values()].findLast(({ required }) => required);

/** Every node below a node, itself first, depth first. */
export function* walkContract(node: ContractNode): Generator<ContractNode> {
  yield node;
  for (const member of node.members.values()) yield* walkContract(member);
  if (node.element !== undefined) yield* walkContract(node.element);
}
