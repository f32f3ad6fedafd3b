import { identifier } from '../duck/session.js';
import type { Misfit } from '../land/shape.js';
import * as Kind from '../service/contract/kinds.js';
import { type ContractNode, walkContract } from '../service/contract/node.js';

/** Members that a run has met and the contract does not know, such as `lots[].location.region`. They end in `extra`. */
export type LearnedPaths = readonly string[];

/** Member of a mended record that names the columns which its row lacks because their values break the contract. */
export const REJECTED_MEMBER = '_lotlake_rejected';

/** Whether rows are cut from a place: the record itself, an object of a list, or the image set of a lot. */
export function isEntity({ path, duckdb }: ContractNode): boolean {
  return path === '' || (path.endsWith('[]') && duckdb === 'STRUCT') || path === 'lots[].images';
}

/** Every place of a contract that rows are cut from. */
export function entitiesOf(contract: ContractNode): ContractNode[] {
  return [...walkContract(contract)].filter(isEntity);
}

/** Whether a place is a row or a list of rows, which may not become null. A lot may lack its image set. */
export const isRowPlace = (node: ContractNode): boolean =>
  node.path !== 'lots[].images' && isEntity(node.element ?? node);

/** The place of the contract that a learned member hangs from, and its own name. */
function split(path: string): { readonly parent: string; readonly name: string } {
  const cut = path.lastIndexOf('.');
  // A dot at the start belongs to the name, which is not below anything.
  return cut <= 0 ? { parent: '', name: path } : { parent: path.slice(0, cut), name: path.slice(cut + 1) };
}

/** Whether a learned member can be a column beside the known ones: DuckDB names are blind to case. */
export function isLoadable(path: string, contract: ContractNode, others: LearnedPaths): boolean {
  const { parent, name } = split(path);
  const node = nodeAt(contract, parent);
  // A member of an object in place of a list or a plain value is part of a misfit.
  if (node?.members.size === 0) return false;
  // Names that would mean something in a path or an identifier are kept in landing alone.
  if (node === undefined || !LOADABLE_NAME.test(name)) return false;
  const siblings = others.map(split).filter((other) => other.parent === parent);
  const taken = [...node.members.keys(), ...siblings.map((other) => other.name)];
  return !taken.some((known) => known.toLowerCase() === name.toLowerCase() && known !== name);
}

const TEXTS = Kind.TEXT | Kind.INTEGER_TEXT | Kind.REAL_TEXT | Kind.TIMESTAMP_TEXT | Kind.YEAR_OR_MONTH_TEXT;

/** Which learned members came as texts, and which of these came as something else, too. */
export function textsOf(drift: readonly Misfit[]): Readonly<Record<'texts' | 'mixed', ReadonlySet<string>>> {
  const pathsOf = (kinds: number): Set<string> =>
    new Set(drift.filter((member) => (member.kinds & kinds) !== 0).map(({ path }) => path));
  const texts = pathsOf(TEXTS);
  const others = pathsOf(~(TEXTS | Kind.NULL));
  return { texts, mixed: new Set([...texts].filter((path) => others.has(path))) };
}

const LOADABLE_NAME = /^[^_.[\]*"\p{Cc}\p{Surrogate}][^.[\]*"\p{Cc}\p{Surrogate}]*$/u;

/** The node of a contract at a path. */
export function nodeAt(contract: ContractNode, path: string): ContractNode | undefined {
  if (path === '') return contract;
  let node: ContractNode | undefined = contract;
  for (const step of path.split(/\.|(?=\[\])/))
    node = step === '[]' ? node?.element : node?.members.get(step);
  return node;
}

/** A member and its type. */
type Member = readonly [name: string, type: string];

const DUCKDB_TYPES = {
  /** Type of a value, by the name of its type in DuckDB. */
  leaf: (duckdb: string) => duckdb,
  list: (element: string) => `${element}[]`,
  /** Type of an object with at least one member. */
  struct: (members: readonly Member[]) =>
    `STRUCT(${members.map(([name, type]) => `${identifier(name)} ${type}`).join(', ')})`,
};

/** How an engine writes the types of members. */
export type TypeNames = typeof DUCKDB_TYPES;

/**
 * Type of every member of a record, or of an object in it.
 * @param isMended whether records may have {@link REJECTED_MEMBER}
 * @param types how the engine writes types; by default DuckDB's
 */
export function columnTypes(
  contract: ContractNode,
  learned: LearnedPaths,
  isMended: boolean,
  types = DUCKDB_TYPES,
): Member[] {
  const typeOf = (node: ContractNode): string => {
    if (node.duckdb === 'LIST' && node.element !== undefined) return types.list(typeOf(node.element));
    if (node.duckdb !== 'STRUCT') return types.leaf(node.duckdb);
    const members = columnTypes(node, learned, isMended, types);
    return members.length === 0 ? types.leaf('JSON') : types.struct(members);
  };
  const known = [...contract.members.values()].map((member) => [member.name, typeOf(member)] as const);
  const extra = learned.map(split).filter(({ parent }) => parent === contract.path);
  const texts = types.list(types.leaf('VARCHAR'));
  const mark = isMended && isEntity(contract) ? [[REJECTED_MEMBER, texts] as const] : [];
  return [...known, ...extra.map(({ name }) => [name, types.leaf('JSON')] as const), ...mark];
}
