import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { startSandbox } from '../../src/sandbox/index.js';
import { contentOf, startLotlake } from '../pipelines/lake-process.js';
import { temporaryFolder } from '../pipelines/support.js';

const NIGHT = ['run', 'nightly', '--allow-shrink'];
const INTERRUPTS = 25;

/** About 2 minutes. */
it('a night over 4,000 vehicles that is interrupted at any moment ends within 5 seconds, and the next run repairs it', async () => {
  const clock = new Date('2026-11-18T02:00:00Z');
  const folder = temporaryFolder();
  const [disturbed, undisturbed] = [join(folder.path, 'disturbed'), join(folder.path, 'undisturbed')];
  const sandbox = await startSandbox({ vehicles: 4000, seed: 13, clock, cache: true });
  const start = (output: string) => startLotlake(NIGHT, { url: sandbox.url, output });
  await start(disturbed).ended;
  cpSync(disturbed, undisturbed, { recursive: true, verbatimSymlinks: true });
  sandbox.setClock(new Date(clock.getTime() + 60 * 3_600_000));
  const began = performance.now();
  await start(undisturbed).ended;
  const whole = performance.now() - began;
  let slowest = 0;
  for (let i = 0; i < INTERRUPTS; i++) {
    const run = start(disturbed);
    // A landed pass is not walked again, so later starts get further in less time.
    await Promise.race([run.ended, sleep(300 + Math.random() * (whole - 300))]);
    const sent = performance.now();
    run.child.kill('SIGINT');
    const { code, signal, out, err } = await run.ended;
    if (code !== 0) slowest = Math.max(slowest, performance.now() - sent);
    expect([0, 130], `${signal} ${err}`).toContain(code);
    if (code === 0) expect(out).toMatch(/^Report: /m);
  }
  process.stdout.write(`an interrupted run took ${Math.round(slowest)} ms at most to end\n`);
  expect(slowest).toBeLessThan(5000);
  expect((await start(disturbed).ended).code).toBe(0);
  expect(await contentOf(disturbed)).toEqual(await contentOf(undisturbed));
  await sandbox.close();
  folder.remove();
});
