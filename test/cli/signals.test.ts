import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../pipelines/support.js';
import { CLI } from './support.js';

/** Whether a process has a handler of a signal, as Linux reports it. */
function catches(pid: number | undefined, signal: NodeJS.Signals): boolean {
  const [, caught = '0'] = /^SigCgt:\s*(\w+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return ((BigInt(`0x${caught}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

/** Sends a signal again and again, from a moment until the command ends. */
async function pelt(signal: NodeJS.Signals, after: 'loading' | 'done', ...args: readonly string[]) {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, [CLI, ...args], { cwd: folder.path });
  let err = '';
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  const ended = once(child, 'close');
  if (after === 'done') await once(child.stdout, 'data');
  else while (!catches(child.pid, signal)) await sleep(1);
  const timer = setInterval(() => child.kill(signal), 1);
  const [code, by] = await ended;
  clearInterval(timer);
  const files = readdirSync(folder.path);
  folder.remove();
  return { code, by, err, files };
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s after the work is done keeps the exit code',
    async (signal) => {
      for (let i = 0; i < 3; i++) {
        const { code, by, err } = await pelt(signal, 'done', 'docs', '--to', 'tables.md');
        expect({ code, by }, err).toEqual({ code: 0, by: null });
        expect(err).toBe('');
      }
    },
  );

  // Node itself handles the other signals from its start.
  it.runIf(process.platform === 'linux')('while modules load begins no command', async () => {
    const { code, by, err, files } = await pelt('SIGHUP', 'loading', 'init');
    expect({ code, by, files }, err).toEqual({ code: 130, by: null, files: [] });
    expect(err).not.toMatch(/^\s+at /m);
  });
});
