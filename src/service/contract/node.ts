import { z } from 'zod';
import { type FieldMeta, factsOf, Kind, type Wire } from './field.js';

/**
 * One place in a record as the contract sees it. Derived from the zod schemas, so that the scanner, the DuckDB types
 * and the dictionary cannot disagree with the validation. `duckdb` is the type of a leaf; `STRUCT` and `LIST` are built
 * from members and element.
 */
export interface ContractNode extends Required<Omit<Wire, 'object'>> {
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

const NO_MEMBERS: ReadonlyMap<string, ContractNode> = new Map();

/** Builds the contract tree of a record from its zod schema. */
export function contractOf(schema: z.core.$ZodType): ContractNode {
  return build(schema, '', '');
}

function build(outer: z.core.$ZodType, name: string, path: string): ContractNode {
  const schema = unwrap(outer);
  const { wire, description = '', unit, values, keys } = factsOf(outer) ?? {};
  const base = { name, path, description, unit, values, keys, members: NO_MEMBERS, element: undefined };
  if (wire !== undefined) {
    const { object, opaque = false, ...form } = wire;
    return { ...base, ...form, opaque, members: object === undefined ? NO_MEMBERS : membersOf(object, path) };
  }
  const structure = { ...base, lexical: 'none' as const, required: false, opaque: false };
  if (schema instanceof z.ZodArray) {
    const element = build(schema.element, '', `${path}[]`);
    return { ...structure, accepts: Kind.null | Kind.array, duckdb: 'LIST', element };
  }
  const isRecord = path === '' || path.endsWith('[]');
  const accepts = Kind.object | (isRecord ? 0 : Kind.null);
  return { ...structure, accepts, duckdb: 'STRUCT', members: membersOf(schema, path) };
}

function membersOf(schema: z.core.$ZodType, path: string): ReadonlyMap<string, ContractNode> {
  if (!(schema instanceof z.ZodObject)) throw new TypeError(`the contract at ${path} is no object`);
  const shape: Record<string, z.core.$ZodType> = schema.shape;
  return new Map(
    Object.entries(shape).map(([name, member]) => [
      name,
      build(member, name, path === '' ? name : `${path}.${name}`),
    ]),
  );
}

function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  let inner = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable) inner = inner.unwrap();
  return inner;
}

/** Every node below a node, itself first, depth first. */
export function* walkContract(node: ContractNode): Generator<ContractNode> {
  yield node;
  for (const member of node.members.values()) yield* walkContract(member);
  if (node.element !== undefined) yield* walkContract(node.element);
}
