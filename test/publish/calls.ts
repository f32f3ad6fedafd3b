import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/config/package-root.js';

/** A call on a file or folder, noted when it was done. */
export interface Call {
  readonly call: 'sync' | 'rename';
  /** The synced path, or the new name. */
  readonly path: string;
  /** The old name. */
  readonly from?: string | undefined;
}

/**
 * A way to record the calls of a process: a prefix of its command, variables for its environment, and a function that
 * reads the record.
 */
export interface Watch {
  readonly name: string;
  command(file: string): readonly string[];
  env(file: string): NodeJS.ProcessEnv;
  read(file: string): Call[];
}

const PRELOAD = join(packageRoot, 'test', 'publish', 'watch-calls.mjs');

/** Records the calls of lotlake to node:fs. It works everywhere. */
const byNode: Watch = {
  name: 'as calls to node:fs',
  command: () => [],
  env: (file) => ({ NODE_OPTIONS: `--import ${PRELOAD}`, LOTLAKE_TEST_CALLS: file }),
  read: (file) =>
    linesOf(file).map((line) => {
      const [call, path, from] = JSON.parse(line);
      return { call, path, from };
    }),
};

const TRACED = 'trace=fsync,fdatasync,rename,renameat,renameat2';

/** Records system calls, including those of DuckDB. */
const byStrace: Watch = {
  name: 'as system calls',
  command: (file) => ['strace', '-f', '-y', '-s', '4096', '-o', file, '-e', TRACED],
  env: () => ({}),
  read: (file) => callsIn(linesOf(file)),
};

/** The ways that work on this machine. strace must be installed and permitted. */
export const watches: readonly Watch[] =
  spawnSync('strace', ['-e', TRACED, 'true']).status === 0 ? [byNode, byStrace] : [byNode];

const linesOf = (file: string): string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

/** If another thread interrupts a call, it takes two lines. It counts at the second. */
function callsIn(lines: readonly string[]): Call[] {
  const begun = new Map<string, string>();
  const calls: Call[] = [];
  for (const line of lines) {
    const [, thread = '', text = ''] = /^(\d+)\s+(.*)$/.exec(line) ?? [];
    if (text.endsWith('<unfinished ...>')) {
      begun.set(thread, text);
      continue;
    }
    const whole = text.startsWith('<...') ? `${begun.get(thread)}${text}` : text;
    if (!/= 0$/.test(whole)) continue;
    const synced = /^f(?:data)?sync\(\d+<(.*?)>/.exec(whole);
    if (synced?.[1] !== undefined) calls.push({ call: 'sync', path: synced[1] });
    const [from, to] = /^rename/.test(whole) ? [...whole.matchAll(/"(.*?)"/g)].map(([, path]) => path) : [];
    if (to !== undefined) calls.push({ call: 'rename', path: to, from });
  }
  return calls;
}
