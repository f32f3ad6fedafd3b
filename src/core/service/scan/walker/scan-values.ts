import type { ContractNode } from '../../contract/node.js';
import { ScanMemory } from './memory.js';
import { ShapeTree } from './shape-tree.js';
import { BROKEN, name, skip, space, TOO_DEEP } from './tokens.js';
import { value } from './walk.js';

/** Malformed JSON, at an address of the scanned memory. */
export class SyntaxFault extends Error {
  constructor(
    readonly offset: number,
    readonly reason: string,
  ) {
    super(reason);
  }
}

/** A value whose brackets are nested deeper than the walker keeps count of. */
export class DepthFault extends Error {}

/**
 * Walks the JSON values of one page at a time, checks their grammar and notes which kinds stand at which place of the
 * contract. The steps take and return offsets in `memory`.
 */
export class ValueScanner {
  readonly memory: ScanMemory = new ScanMemory();
  readonly tree: ShapeTree;

  constructor(readonly contract: ContractNode) {
    this.tree = new ShapeTree(contract);
  }

  /** Whether white space stood between tokens since the record began. */
  get spaced(): boolean {
    return this.memory.spaced;
  }

  /** Whether the page has JSON that DuckDB does not take: half of a surrogate pair, or a member twice in one object. */
  get irregular(): boolean {
    return this.memory.irregular;
  }

  /** The id of the record under way; NaN if it is not a whole number from 0, or the bytes end before it. */
  get id(): number {
    const { bytes, idStart, idEnd } = this.memory;
    const text = idStart < 0 ? '' : bytes.toString('latin1', idStart, idEnd);
    return /^(?:\d+|-0)$/.test(text) ? Number(text) : Number.NaN;
  }

  /** First offset at or after `p` that holds no white space. */
  space(p: number): number {
    return space(this.memory, p);
  }

  /**
   * Scans the record at `p`, which has this position in its page. Returns the offset behind it or NEED_MORE. Throws
   * SyntaxFault or DepthFault.
   */
  record(p: number, position: number): number {
    const { memory, tree } = this;
    memory.record = position;
    memory.spaced = false;
    memory.idStart = -1;
    return this.#checked(value(memory, p, tree.root, tree));
  }

  /** Scans one value at `p` without noting anything. Returns and throws as `record` does. */
  skip(p: number): number {
    return this.#checked(skip(this.memory, p));
  }

  /** Scans a member name with its colon and the space behind it at `p`. Returns and throws as `record` does. */
  name(p: number): number {
    return this.#checked(name(this.memory, p));
  }

  #checked(p: number): number {
    if (p === TOO_DEEP) throw new DepthFault();
    if (p === BROKEN) throw new SyntaxFault(this.memory.faultAt, this.memory.fault);
    return p;
  }
}

/** Scanners between two pages, so that a page costs no set-up. */
const idle = new WeakMap<ContractNode, ValueScanner[]>();
const MOST_IDLE = 4;
const MOST_IDLE_BYTES = 4 << 20;

/** A scanner for one page of a contract; nobody else has it until it is given back. */
export function takeScanner(contract: ContractNode): ValueScanner {
  const scanner = idle.get(contract)?.pop() ?? new ValueScanner(contract);
  scanner.memory.rewind();
  scanner.tree.reset();
  return scanner;
}

/** Takes back a scanner that its page no longer uses. One that grew large is left to the garbage collector. */
export function giveBack(scanner: ValueScanner): void {
  const others = idle.get(scanner.contract) ?? [];
  idle.set(scanner.contract, others);
  if (others.length < MOST_IDLE && scanner.memory.bytes.length <= MOST_IDLE_BYTES) others.push(scanner);
}
