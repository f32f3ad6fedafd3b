import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../config/package-root.js';
import { LandError } from '../land-error.js';

/** Linear memory: it grows by pages of 64 KiB, and what was taken of it before is detached then. */
export interface LinearMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

/** The compiled `wasm/walk.ts`. Offsets are addresses in its memory; a negative result is one of `layout.ts`. */
export interface Walker {
  readonly memory: LinearMemory;
  space(p: number): number;
  text(p: number): number;
  skip(p: number): number;
  value(p: number, node: number): number;
}

/** What the walker asks back, see `wasm/walk.ts`. */
export interface WalkerHost {
  member(parent: number, from: number, to: number): number;
  timestampKind(from: number, to: number): number;
}

/** The part of the global that is used here; the types of Node leave it out. */
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object, imports: { walk: WalkerHost }) => { readonly exports: unknown };
};

const FILE = join(packageRoot, 'dist', 'src', 'land', 'walk.wasm');
let compiled: object | undefined;

/** Makes a walker with a memory of its own. The code is compiled once a process. Throws LandError where it is missing. */
export function createWalker(host: WalkerHost): Walker {
  compiled ??= new WebAssembly.Module(read());
  return new WebAssembly.Instance(compiled, { walk: host }).exports as Walker;
}

function read(): Uint8Array {
  try {
    return readFileSync(FILE);
  } catch (cause) {
    throw new LandError(`${FILE} cannot be read`, { cause, hint: 'run npm run build, which makes it' });
  }
}
