import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
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
async function pelt(signal: NodeJS.Signals, after: 'loading' | 'done') {
  const folder = temporaryFolder();
  const child = spawn(process.execPath, [CLI, 'docs', '--to', `${folder.path}/tables.md`], {
    cwd: folder.path,
  });
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
  const isWritten = existsSync(`${folder.path}/tables.md`);
  folder.remove();
  return { code, by, err, isWritten };
}

describe('a signal', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    '%s after the work is done keeps the exit code',
    async (signal) => {
      for (let i = 0; i < 3; i++) {
        const { code, by, err } = await pelt(signal, 'done');
        expect({ code, by }, err).toEqual({ code: 0, by: null });
        expect(err).toBe('');
      }
    },
  );

  // Node itself handles the other signals from its start.
  it.runIf(process.platform === 'linux')('while modules load begins no command', async () => {
    const { code, by, err, isWritten } = await pelt('SIGHUP', 'loading');
    expect({ code, by, isWritten }, err).toEqual({ code: 130, by: null, isWritten: false });
    expect(err).not.toMatch(/^\s+at /m);
  });
});
