import { type ContractNode, idOf } from '../../contract/node.js';
import { type Drift, type Misfit, MOST_DRIFT } from '../shape.js';
import * as at from './layout.js';
import type { ScanMemory } from './memory.js';

/** One place in the records of a page. The kinds that the walker saw there are in its memory. */
interface ShapeNode {
  readonly address: number;
  readonly name: string;
  readonly path: string;
  /** Undefined for a member that the contract does not know. */
  readonly contract: ContractNode | undefined;
  /** Members by name: those of the contract in its order, then others in the order in which they were first seen. */
  readonly members: Map<string, ShapeNode>;
  readonly element: ShapeNode | undefined;
}

const NO_MEMBERS = new Map<string, ShapeNode>();

/** The tree of shapes of one contract, laid out in the memory of a walker. */
export class ShapeTree {
  readonly #memory: ScanMemory;
  readonly #nodes = new Map<number, ShapeNode>();
  readonly root: ShapeNode;
  #added: { readonly parent: ShapeNode; readonly node: ShapeNode }[] = [];

  constructor(memory: ScanMemory, contract: ContractNode) {
    this.#memory = memory;
    this.root = this.#build(contract);
    const id = this.root.members.get(idOf(contract)?.name ?? '');
    if (id !== undefined) this.#set(id.address, at.FLAGS, this.#word(id, at.FLAGS) | at.ID);
  }

  /** Compares the shape of a page with the contract. Returns at most one unknown member more than are reported. */
  compare(): { drift: Drift[]; misfits: Misfit[] } {
    const drift: Drift[] = [];
    const misfits: Misfit[] = [];
    const visit = (node: ShapeNode): void => {
      const { path, contract, members, element } = node;
      const kinds = this.#word(node, at.KINDS);
      if (kinds === 0) return;
      if (contract === undefined) {
        if (drift.length <= MOST_DRIFT)
          drift.push({ path, kinds, firstRecord: this.#word(node, at.FIRST_RECORD) });
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

  /** Finds a member of the node at `parent` by its name, or adds one that the contract does not know. */
  member(parent: number, name: string): number {
    const node = this.#nodes.get(parent);
    if (node === undefined) throw new RangeError(`no shape stands at ${parent}`);
    const found = node.members.get(name);
    if (found !== undefined) return found.address;
    const path = node.path === '' ? name : `${node.path}.${name}`;
    const added = this.#place({ name, path }, at.OPAQUE);
    node.members.set(name, added);
    this.#added.push({ parent: node, node: added });
    return added.address;
  }

  /** Forgets the members of the last page that the contract does not know. */
  reset(): void {
    for (const { parent, node } of this.#added) {
      parent.members.delete(node.name);
      this.#nodes.delete(node.address);
    }
    this.#added = [];
  }

  #build(contract: ContractNode): ShapeNode {
    const members = [...contract.members.values()].map((member) => this.#build(member));
    const element = contract.element === undefined ? undefined : this.#build(contract.element);
    const lexical = { none: 0, number: at.LEXICAL_NUMBER, timestamp: at.LEXICAL_TIMESTAMP }[contract.lexical];
    const flags = lexical | (contract.opaque ? at.OPAQUE : 0) | (contract.required ? at.REQUIRED : 0);
    const node = this.#place(contract, flags, contract, element);
    for (const [place, member] of members.entries()) {
      node.members.set(member.name, member);
      this.#set(member.address, at.SIBLING, (members[place + 1] ?? members[0] ?? node).address);
    }
    this.#set(node.address, at.FIRST_MEMBER, members[0]?.address ?? 0);
    const required = members.filter((member) => member.contract?.required === true);
    this.#set(node.address, at.REQUIRED_MEMBERS, required.length);
    return node;
  }

  #place(
    { name, path }: Pick<ContractNode, 'name' | 'path'>,
    flags: number,
    contract?: ContractNode,
    element?: ShapeNode,
  ): ShapeNode {
    const address = this.#memory.allocate(at.NODE_BYTES);
    this.#memory.words.fill(0, address >> 2, (address + at.NODE_BYTES) >> 2);
    this.#setKey(address, Buffer.from(JSON.stringify(name)));
    this.#set(address, at.FIRST_RECORD, -1);
    this.#set(address, at.FLAGS, flags);
    this.#set(address, at.ELEMENT, element?.address ?? 0);
    // The number of unknown names has no limit, and nothing is noted about the members below them.
    const members = contract === undefined ? NO_MEMBERS : new Map<string, ShapeNode>();
    const node = { address, name, path, contract, members, element };
    this.#nodes.set(address, node);
    return node;
  }

  /** A key that is too long for the comparison stays empty: no name is equal to it, and it is looked up each time. */
  #setKey(address: number, key: Buffer): void {
    const fits = key.length <= at.KEY_BYTES;
    if (fits) this.#memory.bytes.set(key, address + at.KEY);
    this.#set(address, at.KEY_MASK, fits ? 2 ** key.length - 1 : -1);
    this.#set(address, at.KEY_LENGTH, key.length);
  }

  #word(node: ShapeNode, field: number): number {
    return this.#memory.words[(node.address + field) >> 2] ?? 0;
  }

  #set(address: number, field: number, word: number): void {
    this.#memory.words[(address + field) >> 2] = word;
  }
}
