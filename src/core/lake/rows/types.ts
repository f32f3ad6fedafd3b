import { identifier } from '../../../base/duck/session.js';
import { type ContractNode, walkContract } from '../../service/contract/node.js';

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

/**
 * Type of every member of a record, or of an object in it.
 * @param isMended whether records may have {@link REJECTED_MEMBER}
 */
export function columnTypes(contract: ContractNode, learned: LearnedPaths, isMended: boolean): Member[] {
  const typeOf = (node: ContractNode): string => {
    if (node.duckdb === 'LIST' && node.element !== undefined) return `${typeOf(node.element)}[]`;
    if (node.duckdb !== 'STRUCT') return node.duckdb;
    const members = columnTypes(node, learned, isMended).map(([name, type]) => `${identifier(name)} ${type}`);
    return members.length === 0 ? 'JSON' : `STRUCT(${members.join(', ')})`;
  };
  const known = [...contract.members.values()].map((member) => [member.name, typeOf(member)] as const);
  const extra = learned.map(split).filter(({ parent }) => parent === contract.path);
  const mark = isMended && isEntity(contract) ? [[REJECTED_MEMBER, 'VARCHAR[]'] as const] : [];
  return [...known, ...extra.map(({ name }) => [name, 'JSON'] as const), ...mark];
}
