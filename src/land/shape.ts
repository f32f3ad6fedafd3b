import type { ContractNode } from '../service/contract/node.js';

/** Marks that the scanner sets beside the kinds of `contract/field.ts`: no contract accepts them. */
export const Mark = {
  /** A number with an exponent: it may not fit a double. */
  exponent: 1 << 12,
  /** An object without a member that the contract requires. */
  missing: 1 << 13,
} as const;

/** What was seen at one place of the records of one page. */
export class ShapeNode {
  kinds = 0;
  /** Position, in the page, of the first record that has this member. */
  firstRecord = -1;
  /** Members in the order in which they were first seen. */
  readonly members = new Map<string, ShapeNode>();
  readonly element: ShapeNode | undefined;
  /** Number of the object in which this member was last seen, to notice one that stands twice. */
  stamp = 0;
  /** The member that came after this one last time, so that the next key is compared before it is looked up. */
  follower: ShapeNode | undefined;
  /** The first member of the object last time. */
  leader: ShapeNode | undefined;
  readonly key: Uint8Array;
  readonly opaque: boolean;
  readonly lexical: 0 | 1 | 2;
  readonly required: boolean;
  readonly requiredMembers: number;

  constructor(
    readonly name: string,
    readonly path: string,
    readonly contract: ContractNode | undefined,
  ) {
    this.key = Buffer.from(JSON.stringify(name).slice(1, -1));
    this.opaque = contract?.opaque ?? true;
    this.lexical = contract?.lexical === 'number' ? 1 : contract?.lexical === 'timestamp' ? 2 : 0;
    this.required = contract?.required ?? false;
    const known = contract === undefined ? [] : [...contract.members.values()];
    this.requiredMembers = known.filter((member) => member.required).length;
    for (const member of known)
      this.members.set(member.name, new ShapeNode(member.name, member.path, member));
    this.element =
      contract?.element === undefined
        ? undefined
        : new ShapeNode('', contract.element.path, contract.element);
  }

  /** Finds a member by its name, or adds one that the contract does not know. */
  member(name: string): ShapeNode {
    const found = this.members.get(name);
    if (found !== undefined) return found;
    const path = this.path === '' ? name : `${this.path}.${name}`;
    const added = new ShapeNode(name, path, undefined);
    this.members.set(name, added);
    return added;
  }
}

/** A member that the contract does not know. */
export interface Drift {
  readonly path: string;
  readonly kinds: number;
  /** Position in the page of the first record that has it. */
  readonly firstRecord: number;
}

/** A place whose values do not all fit the contract. */
export interface Misfit {
  readonly path: string;
  readonly kinds: number;
}

/** Compares what was seen in a page with the contract. */
export function compareShape(root: ShapeNode): { drift: Drift[]; misfits: Misfit[] } {
  const drift: Drift[] = [];
  const misfits: Misfit[] = [];
  const visit = (node: ShapeNode): void => {
    if (node.kinds === 0) return;
    if (node.contract === undefined) {
      drift.push({ path: node.path, kinds: node.kinds, firstRecord: node.firstRecord });
      return;
    }
    if ((node.kinds & ~node.contract.accepts) !== 0) misfits.push({ path: node.path, kinds: node.kinds });
    // Where no object belongs, its members are part of the misfit and not of the record's shape.
    if (node.contract.members.size === 0 && node.element === undefined) return;
    for (const member of node.members.values()) visit(member);
    if (node.element !== undefined) visit(node.element);
  };
  visit(root);
  return { drift, misfits };
}
