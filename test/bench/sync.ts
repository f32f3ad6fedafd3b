import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/config/package-root.js';
import type { Measured } from './child.js';
import { type BenchData, benchData } from './data.js';
import { serve } from './service.js';

/** `npm run bench:sync [vehicles] [pairs]`: what it costs a night to sync files and folders, by turns. */

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const [size = '20000', count = '5'] = process.argv.slice(2);
const cache = join(packageRoot, '.bench');

type Night = 'first' | 'changed';

/** Seconds of a first night and of one in which 1 % changed. */
async function nights(data: BenchData, isSynced: boolean): Promise<Record<Night, number>> {
  const output = join(cache, 'synced');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const preload = isSynced ? [] : ['--import', pathOf('./unsynced.js')];
  const seconds: number[] = [];
  for (const night of ['gzipped', 'changed'] as const) {
    // What other work left to be written is not counted.
    await run('sync');
    const service = await serve(data, night);
    const args = [...preload, pathOf('./child.js'), 'nightly', data.folder, output, service.url];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 1 << 26 });
    service.close();
    const measured: Measured = JSON.parse(stdout);
    seconds.push(measured.seconds);
  }
  const [first = 0, changed = 0] = seconds;
  rmSync(output, { recursive: true });
  return { first, changed };
}

const middle = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const data = await benchData(cache, { vehicles: Number(size) });
const ratios: Record<Night, number[]> = { first: [], changed: [] };
for (let pair = 0; pair < Number(count); pair++) {
  const order = pair % 2 === 0 ? [true, false] : [false, true];
  const taken = new Map<boolean, Record<Night, number>>();
  for (const isSynced of order) taken.set(isSynced, await nights(data, isSynced));
  for (const night of ['first', 'changed'] as const) {
    const [on = 0, off = 0] = [taken.get(true)?.[night], taken.get(false)?.[night]];
    ratios[night].push(on / off);
    console.log(`${night}: ${on.toFixed(2)} s synced, ${off.toFixed(2)} s not`);
  }
}
for (const [night, found] of Object.entries(ratios))
  console.log(
    `${night} night, synced × not synced: ${middle(found).toFixed(3)} (${found.map((r) => r.toFixed(3)).join(', ')})`,
  );
