import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { contentOf, startLotlake } from './lake-process.js';
import { temporaryFolder, WITHOUT_CATALOG } from './support.js';

const NIGHT = ['run', 'nightly'];

/** Pages in the ledger of the open pass over `/cars`. */
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

describe('a nightly run that is killed halfway through extraction', () => {
  const killed = temporaryFolder();
  const undisturbed = temporaryFolder();
  const env = { LOTLAKE_PER_PAGE: '20' };
  let sandbox: Sandbox;

  beforeAll(async () => {
    sandbox = await startSandbox({
      vehicles: 240,
      seed: 3,
      clock: new Date('2026-08-20T00:00:00Z'),
      faults: [{ match: { path: '/cars' }, fault: { kind: 'delay', ms: 120 } }, ...WITHOUT_CATALOG],
    });
  });
  afterAll(async () => {
    await sandbox.close();
    killed.remove();
    undisturbed.remove();
  });

  it('resumes without requesting landed pages again, and ends with the lake of an undisturbed run', async () => {
    const first = startLotlake(NIGHT, { url: sandbox.url, output: killed.path, env });
    while (landedPages(killed.path).length < 6) await sleep(20);
    first.child.kill('SIGKILL');
    expect((await first.ended).signal).toBe('SIGKILL');
    const landed = new Set(landedPages(killed.path));
    expect(landed.size).toBeLessThan(12);

    const earlier = sandbox.requests.length;
    const second = await startLotlake(NIGHT, { url: sandbox.url, output: killed.path, env }).ended;
    expect(second.code, second.err).toBe(0);
    expect(second.err).toContain('resume');
    const again = sandbox.requests
      .slice(earlier)
      .filter((request) => request.path === '/cars')
      .map((request) => Number(new URLSearchParams(request.query).get('page')));
    expect(again.filter((page) => landed.has(page))).toEqual([]);
    expect(new Set([...again, ...landed]).size).toBe(12);

    const whole = await startLotlake(NIGHT, { url: sandbox.url, output: undisturbed.path, env }).ended;
    expect(whole.code, whole.err).toBe(0);
    const content = await contentOf(killed.path);
    expect(content.get('vehicles')?.length).toBe(sandbox.world.activeIds().length);
    const expected = await contentOf(undisturbed.path);
    expect([...content.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [table, rows] of expected) expect(content.get(table), table).toEqual(rows);
  }, 60_000);
});
