import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/config/package-root.js';

/** What a run did to a file or folder, when it was done. */
export interface Call {
  readonly call: 'sync' | 'rename';
  /** What was synced, or the new name. */
  readonly path: string;
  /** The old name. */
  readonly from?: string | undefined;
}

/** A way to see the calls of a process: what is put before its command and into its environment, and how to read it. */
export interface Watch {
  readonly name: string;
  command(file: string): readonly string[];
  env(file: string): NodeJS.ProcessEnv;
  read(file: string): Call[];
}

const PRELOAD = join(packageRoot, 'test', 'publish', 'watch-calls.mjs');

/** Watches what lotlake asks of node:fs; works everywhere. */
const byNode: Watch = {
  name: 'as node:fs is asked for them',
  command: () => [],
  env: (file) => ({ NODE_OPTIONS: `--import ${PRELOAD}`, LOTLAKE_TEST_CALLS: file }),
  read: (file) =>
    linesOf(file).map((line) => {
      const [call, path, from] = JSON.parse(line);
      return { call, path, from };
    }),
};

const TRACED = 'trace=fsync,fdatasync,rename,renameat,renameat2';

/** Watches system calls, those of DuckDB too. */
const byStrace: Watch = {
  name: 'as the system gets them',
  command: (file) => ['strace', '-f', '-y', '-s', '4096', '-o', file, '-e', TRACED],
  env: () => ({}),
  read: (file) => callsIn(linesOf(file)),
};

/** The ways that this machine has: strace needs to be there and to be allowed. */
export const watches: readonly Watch[] =
  spawnSync('strace', ['-e', TRACED, 'true']).status === 0 ? [byNode, byStrace] : [byNode];

const linesOf = (file: string): string[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : [];

/** A call that another thread interrupts stands in two lines; it counts where it ends. */
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
