import { type ContractNode, idOf } from '../../contract/node.js';
import { type Drift, type Misfit, MOST_DRIFT } from '../shape.js';

/** Flags of a node. */
export const LEXICAL_NUMBER = 1;
export const LEXICAL_TIMESTAMP = 2;
export const OPAQUE = 4;
export const REQUIRED = 8;
export const ID = 16;

/** Longest key that is compared in place of being looked up. */
export const MOST_KEY_BYTES = 64;

/** One place in the records of a page, and what the walk has noted there. */
export interface ShapeNode {
  readonly name: string;
  readonly path: string;
  /** Undefined for a member that the contract does not know. */
  readonly contract: ContractNode | undefined;
  /** Members by name: those of the contract in its order, then others in the order in which they were first seen. */
  readonly members: Map<string, ShapeNode>;
  readonly element: ShapeNode | undefined;
  /** Length of its key: the name in its quotes and a colon. Zero if it is never compared, but looked up each time. */
  readonly keyLength: number;
  /** The key, four bytes in a number; the last number holds the last four bytes, so that the two last may overlap. */
  readonly key: readonly number[];
  /** The same for its first and last number. */
  readonly keyHead: number;
  readonly keyTail: number;
  flags: number;
  /** How many members the contract requires. */
  readonly requiredMembers: number;
  /** The next member of the same object in the contract; the last one leads to the first. */
  sibling: ShapeNode | undefined;
  readonly firstMember: ShapeNode | undefined;
  kinds: number;
  /** Position in the page of the first record that has this member. */
  firstRecord: number;
  /** Number of the object in which this member was last seen, to notice one that stands twice. */
  stamp: number;
  /** The member that came after this one last time, so that the next name is compared before it is looked up. */
  follower: ShapeNode | undefined;
  /** The first member of the object last time. */
  leader: ShapeNode | undefined;
}

const NO_MEMBERS = new Map<string, ShapeNode>();

/** The tree of shapes of one contract. The walk notes kinds in it. */
export class ShapeTree {
  readonly #known: ShapeNode[] = [];
  readonly root: ShapeNode;
  #added: { readonly parent: ShapeNode; readonly node: ShapeNode }[] = [];

  constructor(contract: ContractNode) {
    this.root = this.#build(contract);
    const id = this.root.members.get(idOf(contract)?.name ?? '');
    if (id !== undefined) id.flags |= ID;
  }

  /** Compares the shape of a page with the contract. Returns at most one unknown member more than are reported. */
  compare(): { drift: Drift[]; misfits: Misfit[] } {
    const drift: Drift[] = [];
    const misfits: Misfit[] = [];
    const visit = ({ path, contract, kinds, firstRecord, members, element }: ShapeNode): void => {
      if (kinds === 0) return;
      if (contract === undefined) {
        if (drift.length <= MOST_DRIFT) drift.push({ path, kinds, firstRecord });
        return;
      }
      if ((kinds & ~contract.accepts) !== 0) misfits.push({ path, kinds });
      // If no object belongs here, its members are part of the misfit and not of the record's shape.
      if (contract.members.size === 0 && element === undefined) return;
      for (const member of members.values()) visit(member);
      if (element !== undefined) visit(element);
    };
    visit(this.root);
    return { drift, misfits };
  }

  /** Finds a member of a node by its name, or adds one that the contract does not know. */
  member(parent: ShapeNode, name: string): ShapeNode {
    const found = parent.members.get(name);
    if (found !== undefined) return found;
    const path = parent.path === '' ? name : `${parent.path}.${name}`;
    const node = nodeOf({ name, path }, OPAQUE);
    parent.members.set(name, node);
    this.#added.push({ parent, node });
    return node;
  }

  /** Forgets what the last page noted, and its members that the contract does not know. */
  reset(): void {
    for (const { parent, node } of this.#added) parent.members.delete(node.name);
    this.#added = [];
    for (const node of this.#known) {
      node.kinds = 0;
      node.stamp = 0;
      node.firstRecord = -1;
      node.follower = undefined;
      node.leader = undefined;
    }
  }

  #build(contract: ContractNode): ShapeNode {
    const members = [...contract.members.values()].map((member) => this.#build(member));
    const element = contract.element === undefined ? undefined : this.#build(contract.element);
    const lexical = { none: 0, number: LEXICAL_NUMBER, timestamp: LEXICAL_TIMESTAMP }[contract.lexical];
    const flags = lexical | (contract.opaque ? OPAQUE : 0) | (contract.required ? REQUIRED : 0);
    for (const [place, member] of members.entries()) member.sibling = members[place + 1] ?? members[0];
    const node = nodeOf(contract, flags, { contract, members, element });
    this.#known.push(node);
    return node;
  }
}

/** A node as each page begins with it. */
function nodeOf(
  { name, path }: Pick<ContractNode, 'name' | 'path'>,
  flags: number,
  known?: { contract: ContractNode; members: readonly ShapeNode[]; element: ShapeNode | undefined },
): ShapeNode {
  const key = Buffer.from(`${JSON.stringify(name)}:`);
  const isCompared = key.length >= 4 && key.length <= MOST_KEY_BYTES;
  const words = isCompared ? wordsOf(key) : [];
  return {
    name,
    path,
    contract: known?.contract,
    // The number of unknown names has no limit, and nothing is noted about the members below them.
    members: known === undefined ? NO_MEMBERS : new Map(known.members.map((member) => [member.name, member])),
    element: known?.element,
    keyLength: isCompared ? key.length : 0,
    key: words,
    keyHead: words[0] ?? 0,
    keyTail: words.at(-1) ?? 0,
    flags,
    requiredMembers: known?.members.filter(({ contract }) => contract?.required === true).length ?? 0,
    sibling: undefined,
    firstMember: known?.members[0],
    kinds: 0,
    firstRecord: -1,
    stamp: 0,
    follower: undefined,
    leader: undefined,
  };
}

function wordsOf(key: Buffer): number[] {
  const words: number[] = [];
  for (let place = 0; place + 4 < key.length; place += 4) words.push(key.readInt32LE(place));
  return [...words, key.readInt32LE(key.length - 4)];
}
