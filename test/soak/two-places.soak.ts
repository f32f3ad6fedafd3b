import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { placeEnv } from '../pipelines/lake-process.js';
import { type PlainRow, readLake, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';

const LEASE = 4;
const ROUNDS = 20;

const folder = temporaryFolder();
const output = join(folder.path, 'output');
let sandbox: Sandbox;
beforeAll(async () => {
  writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify({ lease: LEASE }));
  sandbox = await startSandbox({ vehicles: 80, seed: 6, faults: WITHOUT_CATALOG });
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

interface Run {
  readonly child: ChildProcess;
  readonly ended: Promise<{ readonly code: number | null; readonly printed: string; readonly at: number }>;
}

/** Starts a nightly run in its own process namespace, as in another container with the same volume. */
function start(): Run {
  const args = [
    '-pf',
    '--kill-child',
    '--mount-proc',
    process.execPath,
    CLI,
    'run',
    'nightly',
    '--allow-shrink',
  ];
  const env = placeEnv({ url: sandbox.url, output });
  const child = spawn('unshare', args, { cwd: folder.path, env });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (printed += String(data)));
  const ended: Run['ended'] = new Promise((resolve) =>
    child.on('close', (code) => resolve({ code, printed, at: Date.now() })),
  );
  return { child, ended };
}

async function publishedRuns(): Promise<readonly PlainRow[]> {
  if (!existsSync(join(output, 'lake', 'current'))) return [];
  const lake = await readLake(join(output, 'lake', 'current'));
  // The table has all runs, also those that were killed or refused.
  const published = (lake.get('runs') ?? []).filter(({ outcome }) => outcome === 'published');
  return published.sort((a, b) => (String(a.started_at) < String(b.started_at) ? -1 : 1));
}

const canUnshare = spawnSync('unshare', ['-pf', '--mount-proc', 'true']).status === 0;

/** About 4 minutes. The offsets are random; a failure names its round. */
it.runIf(canUnshare)(
  'two runs in two process namespaces never work at once, and no publication is lost',
  async () => {
    let published = 0;
    const counts = { refused: 0, taken: 0, both: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const isKilled = round % 2 === 1;
      const first = start();
      await wait(300 + Math.random() * 3000);
      const killedAt = Date.now();
      if (isKilled) first.child.kill('SIGKILL');
      const second = start();
      const [a, b] = await Promise.all([first.ended, second.ended]);
      const what = `round ${round}, ${isKilled ? 'killed' : 'alive'}: ${a.code} and ${b.code}\n${a.printed}\n${b.printed}`;
      if (isKilled) expect(b.code, what).toBe(0);
      for (const { code, printed } of [a, b])
        if (code === 6) expect(printed, what).toContain('[LAKE_LOCKED]');
      // A run that is not killed publishes or is refused.
      for (const { code } of isKilled ? [b] : [a, b]) expect([0, 6], what).toContain(code);
      const done = [a, b].filter(({ code }) => code === 0).length;
      expect(done, what).toBeGreaterThan(0);
      const runs = await publishedRuns();
      // A killed run may have published right before.
      const isOver = isKilled && runs.length === published + done + 1;
      expect(runs.length, what).toBe(published + done + (isOver ? 1 : 0));
      published = runs.length;
      if (isKilled && b.printed.includes('cannot be seen from here')) {
        counts.taken++;
        expect(b.at - killedAt, what).toBeGreaterThan(LEASE * 1000 * 0.8);
      }
      if (a.code === 6 || b.code === 6) counts.refused++;
      if (!isKilled && done === 2) counts.both++;
      for (const [i, run] of runs.entries())
        if (i > 0) expect(String(run.started_at) >= String(runs[i - 1]?.ended_at), what).toBe(true);
    }
    process.stdout.write(`${JSON.stringify(counts)}\n`);
    expect(counts.taken).toBeGreaterThan(0);
    expect(counts.refused).toBeGreaterThan(0);
    expect(readFileSync(join(output, 'lake', 'current', 'manifest.json'), 'utf8')).toContain(
      '"origin": "test"',
    );
  },
  1_800_000,
);
