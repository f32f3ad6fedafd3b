import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/config/package-root.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { bareDuckDb, type PlainRow, temporaryFolder } from './support.js';

const CLI = join(packageRoot, 'dist', 'src', 'cli', 'main.js');
const NIGHT = ['run', 'nightly'];

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

function start(
  args: readonly string[],
  url: string,
  output: string,
): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [CLI, ...args], {
    env: {
      ...process.env,
      LOTLAKE_BASE_URL: url,
      LOTLAKE_API_KEY: 'sandbox-key',
      LOTLAKE_OUTPUT: output,
      LOTLAKE_RATE: '1000',
      LOTLAKE_PER_PAGE: '100',
      LOTLAKE_CONCURRENCY: '2',
    },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (data) => {
    out += data;
  });
  child.stderr.on('data', (data) => {
    err += data;
  });
  const ended = new Promise<Ended>((resolve) =>
    child.on('close', (code, signal) => resolve({ code, signal, out, err })),
  );
  return { child, ended };
}

/** Pages that the ledger of the open pass over `/cars` holds. */
function landedPages(output: string): number[] {
  const folder = join(output, 'landing', 'cars');
  const [pass] = existsSync(folder) ? readdirSync(folder) : [];
  const ledger = join(folder, pass ?? '', 'pages.ndjson');
  if (pass === undefined || !existsSync(ledger)) return [];
  return readFileSync(ledger, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).page);
}

/** Rows of every table but those about the run itself, without the columns that name a run or its time. */
async function contentOf(output: string): Promise<Map<string, string[]>> {
  const duck = await bareDuckDb();
  const current = join(output, 'lake', 'current');
  const content = new Map<string, string[]>();
  for (const entry of readdirSync(current, { withFileTypes: true }).filter((e) => e.isDirectory())) {
    if (entry.name === 'runs' || entry.name === 'passes') continue;
    const rows = await duck.query(`select * from '${join(current, entry.name, '**', '*.parquet')}'`);
    const plain = ({ run_id, first_seen_at, changed_at, last_seen_at, ...rest }: PlainRow) =>
      JSON.stringify(rest);
    content.set(entry.name, rows.map(plain).sort());
  }
  duck.close();
  return content;
}

describe('a nightly run that is killed half way through extraction', () => {
  const killed = temporaryFolder();
  const undisturbed = temporaryFolder();
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox({
      vehicles: 1200,
      seed: 3,
      clock: new Date('2026-11-20T00:00:00Z'),
      faults: [{ match: { path: '/cars' }, fault: { kind: 'delay', ms: 120 } }],
    });
  });
  afterAll(async () => {
    await sandbox.close();
    killed.remove();
    undisturbed.remove();
  });

  it('goes on without asking again for pages that it has, and ends with the lake of an undisturbed run', async () => {
    const first = start(NIGHT, sandbox.url, killed.path);
    while (landedPages(killed.path).length < 6) await sleep(20);
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const landed = new Set(landedPages(killed.path));
    expect(landed.size).toBeLessThan(12);

    const asked = sandbox.requests.length;
    const second = await start(NIGHT, sandbox.url, killed.path).ended;
    expect(second.code, second.err).toBe(0);
    expect(second.err).toContain('resume');
    const again = sandbox.requests
      .slice(asked)
      .filter((request) => request.path === '/cars')
      .map((request) => Number(new URLSearchParams(request.query).get('page')));
    expect(again.filter((page) => landed.has(page))).toEqual([]);
    expect(new Set([...again, ...landed]).size).toBe(12);

    const whole = await start(NIGHT, sandbox.url, undisturbed.path).ended;
    expect(whole.code, whole.err).toBe(0);
    const content = await contentOf(killed.path);
    expect(content.get('vehicles')?.length).toBe(sandbox.world.activeIds().length);
    const expected = await contentOf(undisturbed.path);
    expect([...content.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [table, rows] of expected) expect(content.get(table), table).toEqual(rows);
  }, 60_000);
});
