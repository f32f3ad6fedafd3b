import { identifier } from '../lake/session.js';
import type { ContractNode } from '../service/contract/node.js';

/**
 * Members that the contract does not know but a run has met, as paths such as `lots[].location.region`. They are read
 * as JSON and end in the `extra` column.
 */
export type LearnedPaths = readonly string[];

/** One learned member: the place of the contract it hangs from, and its own name. */
interface Learned {
  readonly parent: string;
  readonly name: string;
}

function split(path: string): Learned {
  const cut = path.lastIndexOf('.');
  return cut < 0 ? { parent: '', name: path } : { parent: path.slice(0, cut), name: path.slice(cut + 1) };
}

/**
 * Whether a learned member can be a column beside the known ones: DuckDB names are blind to case, so that a member
 * whose name differs from another only by case cannot.
 */
export function isLoadable(path: string, contract: ContractNode, others: LearnedPaths): boolean {
  const { parent, name } = split(path);
  const node = nodeAt(contract, parent);
  // Names that would mean something in a path or an identifier are kept in landing alone.
  if (node === undefined || !/^[^_.[\]*"\u0000-\u001f][^.[\]*"\u0000-\u001f]*$/.test(name)) return false;
  const taken = [
    ...node.members.keys(),
    ...others.filter((other) => split(other).parent === parent).map((o) => split(o).name),
  ];
  return !taken.some((known) => known.toLowerCase() === name.toLowerCase() && known !== name);
}

/** The node of a contract at a path. */
export function nodeAt(contract: ContractNode, path: string): ContractNode | undefined {
  if (path === '') return contract;
  let node: ContractNode | undefined = contract;
  for (const step of path.split('.')) {
    const lists = step.split('[]').length - 1;
    node = node?.members.get(lists === 0 ? step : step.slice(0, -2 * lists));
    for (let i = 0; i < lists; i++) node = node?.element;
  }
  return node;
}

/** DuckDB type of every member of a record, as the `columns` argument of `read_json`. */
export function columnTypes(contract: ContractNode, learned: LearnedPaths): Record<string, string> {
  return Object.fromEntries(memberTypes(contract, learned));
}

function memberTypes(node: ContractNode, learned: LearnedPaths): [string, string][] {
  const known = [...node.members.values()].map((member): [string, string] => [
    member.name,
    typeOf(member, learned),
  ]);
  const extra = learned
    .map(split)
    .filter((entry) => entry.parent === node.path)
    .map((entry): [string, string] => [entry.name, 'JSON']);
  return [...known, ...extra];
}

function typeOf(node: ContractNode, learned: LearnedPaths): string {
  if (node.duckdb === 'LIST' && node.element !== undefined) return `${typeOf(node.element, learned)}[]`;
  if (node.duckdb !== 'STRUCT') return node.duckdb;
  const members = memberTypes(node, learned).map(([name, type]) => `${identifier(name)} ${type}`);
  return members.length === 0 ? 'JSON' : `STRUCT(${members.join(', ')})`;
}
