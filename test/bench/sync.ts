import { execFile } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/base/config/package-root.js';
import type { Measured } from './child.js';
import { type BenchData, benchData } from './data.js';
import { serve } from './service.js';

/**
 * `npm run bench:sync [vehicles] [pairs] [requests a second]` measures what a night pays to sync files and folders.
 * Nights with and without syncs alternate.
 */

const run = promisify(execFile);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const [size = '20000', count = '5', rate = '1e6'] = process.argv.slice(2);
const cache = join(packageRoot, '.bench');

type Night = 'first' | 'changed';

/** Figures of one night. */
interface Taken {
  readonly seconds: number;
  /** Seconds in which the night waited for at least one sync. */
  readonly syncing: number;
  readonly calls: number;
}

/** A first night, and a night in which 1 % changed. */
async function nights(data: BenchData, isSynced: boolean): Promise<Record<Night, Taken>> {
  const output = join(cache, 'synced');
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const taken: Taken[] = [];
  for (const night of ['gzipped', 'changed'] as const) {
    // Flushes what other work left unwritten, so that it does not count.
    await run('sync');
    const service = await serve(data, night);
    const preload = ['--import', pathOf('./sync-calls.js')];
    const args = [...preload, pathOf('./child.js'), 'nightly', data.folder, output, service.url];
    const env = { ...process.env, LOTLAKE_BENCH_SYNC: isSynced ? 'on' : 'off', LOTLAKE_BENCH_RATE: rate };
    const { stdout, stderr } = await run(process.execPath, args, { maxBuffer: 1 << 26, env });
    service.close();
    const { seconds }: Measured = JSON.parse(stdout);
    const { seconds: syncing, calls } = JSON.parse(stderr.trim().split('\n').at(-1) ?? '');
    taken.push({ seconds, syncing, calls });
  }
  rmSync(output, { recursive: true });
  const [first, changed] = taken;
  if (first === undefined || changed === undefined) throw new TypeError('a night is missing');
  return { first, changed };
}

const middle = (values: readonly number[]): string => {
  const sorted = values.toSorted((a, b) => a - b);
  const quantile = (share: number): string =>
    (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(3);
  return `${quantile(0.5)} (${quantile(0)} to ${quantile(1)})`;
};

const data = await benchData(cache, { vehicles: Number(size) });
const ratios: Record<Night, number[]> = { first: [], changed: [] };
const shares: Record<Night, number[]> = { first: [], changed: [] };
for (let pair = 0; pair < Number(count); pair++) {
  const isFirst = pair % 2 === 0;
  const a = await nights(data, isFirst);
  const b = await nights(data, !isFirst);
  const [on, off] = isFirst ? [a, b] : [b, a];
  for (const night of ['first', 'changed'] as const) {
    const { seconds, syncing, calls } = on[night];
    ratios[night].push(seconds / off[night].seconds);
    shares[night].push(syncing / seconds);
    console.log(
      `${night}: ${seconds.toFixed(2)} s with ${calls} syncs, waited for ${syncing.toFixed(3)} s; ${off[night].seconds.toFixed(2)} s without`,
    );
  }
}
for (const night of ['first', 'changed'] as const) {
  console.log(`${night} night, with × without: ${middle(ratios[night])}`);
  console.log(`${night} night, share of it that waits for syncs, at most: ${middle(shares[night])}`);
}
