import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { LotlakeError } from '../../../../base/config/lotlake-error.js';
import { packageRoot } from '../../../../base/config/package-root.js';
import { isTimestamp, isYearOrMonth } from '../../contract/field.js';
import * as Kind from '../../contract/kinds.js';
import type { ContractNode } from '../../contract/node.js';
import * as at from './layout.js';
import { type LinearMemory, ScanMemory } from './memory.js';
import { ShapeTree } from './shape-tree.js';

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

const REASONS: Readonly<Record<number, string>> = {
  [at.MEMBER_NAME]: 'expected a member name',
  [at.COLON]: 'expected a colon',
  [at.COMMA_OR_BRACE]: 'expected a comma or a closing brace',
  [at.COMMA_OR_BRACKET]: 'expected a comma or a closing bracket',
  [at.NO_CONTROL]: 'expected no control character inside a text',
  [at.HEX_DIGIT]: 'expected a hex digit',
  [at.ESCAPE]: 'expected an escape',
  [at.DIGIT]: 'expected a digit',
  [at.VALUE]: 'expected a value',
  [at.LEADING_ZERO]: 'a number with a leading zero',
};

/** The compiled `wasm/walk.ts`. Offsets are addresses in its memory; a negative result is one of `layout.ts`. */
interface Walker extends Record<'space' | 'name' | 'skip', (p: number) => number> {
  readonly memory: LinearMemory;
  value(p: number, node: number): number;
}

/** The part of the global that is used here; the types of Node leave it out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { walk: object }) => { readonly exports: unknown };
};

const FILE = join(packageRoot, 'dist', 'src', 'core', 'service', 'scan', 'walk.wasm');
/** Compiled once in a process. */
let compiled: object | undefined;

function readCode(): Uint8Array {
  try {
    return readFileSync(FILE);
  } catch (cause) {
    throw new LotlakeError('LAND_FAILED', `${FILE} cannot be read`, {
      cause,
      hint: 'run npm run build, which makes it',
    });
  }
}

/**
 * Walks the JSON values of one page at a time, checks their grammar and notes which kinds stand at which place of the
 * contract. The walking itself is `wasm/walk.ts`; the steps take and return addresses in `memory`.
 */
export class ValueScanner {
  readonly #walker: Walker;
  readonly memory: ScanMemory;
  readonly tree: ShapeTree;
  /** First address at or after `p` that holds no white space. */
  readonly space: (p: number) => number;

  /** Throws LAND_FAILED if the code of the walk is missing. */
  constructor(readonly contract: ContractNode) {
    // Functions that the walk calls.
    const walk = {
      member: (parent: number, from: number, to: number): number =>
        this.tree.member(parent, JSON.parse(this.memory.bytes.toString('utf8', from, to))),
      timestampKind: (from: number, to: number): number => {
        const text = this.memory.bytes.toString('latin1', from, to);
        return isTimestamp(text)
          ? Kind.TIMESTAMP_TEXT
          : isYearOrMonth(text)
            ? Kind.YEAR_OR_MONTH_TEXT
            : Kind.TEXT;
      },
    };
    compiled ??= new WebAssembly.Module(readCode());
    this.#walker = new WebAssembly.Instance(compiled, { walk }).exports as Walker;
    this.space = this.#walker.space;
    this.memory = new ScanMemory(this.#walker.memory);
    this.tree = new ShapeTree(this.memory, contract);
    this.memory.settle();
  }

  /** Whether white space stood between tokens since the record began. */
  get spaced(): boolean {
    return this.memory.words[at.SPACED >> 2] !== 0;
  }

  /** Whether the page has JSON that DuckDB does not take: half of a surrogate pair, or a member twice in one object. */
  get irregular(): boolean {
    return this.memory.words[at.IRREGULAR >> 2] !== 0;
  }

  /** The id of the record under way; NaN if it is not a whole number from 0, or the bytes end before it. */
  get id(): number {
    const { bytes, words } = this.memory;
    const start = words[at.ID_START >> 2] ?? -1;
    const text = start < 0 ? '' : bytes.toString('latin1', start, words[at.ID_END >> 2]);
    return /^(?:\d+|-0)$/.test(text) ? Number(text) : Number.NaN;
  }

  /**
   * Scans the record at `p`, which has this position in its page. Returns the address behind it or NEED_MORE. Throws
   * SyntaxFault or DepthFault.
   */
  record(p: number, position: number): number {
    const { words } = this.memory;
    words[at.RECORD >> 2] = position;
    words[at.SPACED >> 2] = 0;
    words[at.ID_START >> 2] = -1;
    return this.#checked(this.#walker.value(p, this.tree.root.address));
  }

  /** Scans one value at `p` without noting anything. Returns and throws as `record` does. */
  skip(p: number): number {
    return this.#checked(this.#walker.skip(p));
  }

  /** Scans a member name with its colon and the space behind it at `p`. Returns and throws as `record` does. */
  name(p: number): number {
    return this.#checked(this.#walker.name(p));
  }

  #checked(p: number): number {
    if (p === at.TOO_DEEP) throw new DepthFault();
    if (p !== at.BROKEN) return p;
    const { words } = this.memory;
    throw new SyntaxFault(words[at.FAULT_AT >> 2] as number, REASONS[words[at.FAULT >> 2] as number] ?? '');
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
