import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { executeVacuum, planVacuum } from '../../src/beyond/keep/vacuum-lake.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { createWorld } from '../../src/sandbox/index.js';
import { configFor, lastPage, serve, silentReporter, temporaryFolder, WITHOUT_MARTS } from './support.js';

const READER = join(packageRoot, 'test', 'pipelines', 'read-lake.mjs');
const START = Date.parse('2026-11-02T02:00:00Z');
const NIGHT = 86_400_000;

/** One read of a reader: the rows of some tables of one snapshot. */
type Look = Readonly<Record<string, unknown>> & { readonly snapshot: string };

interface Reader {
  /** How often it has read. */
  looked(): number;
  stop(): Promise<readonly Look[]>;
}

function startReader(current: string): Reader {
  const child = spawn(process.execPath, [READER, current], { stdio: ['pipe', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data) => {
    output += data;
  });
  const ended = once(child, 'close');
  return {
    looked: () => output.split('\n').length - 1,
    async stop() {
      child.stdin.end();
      await ended;
      return output
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    },
  };
}

/**
 * Publishes lakes with different rows, with a vacuum before the last and after each eighth, while processes read.
 * Checks that they saw only whole snapshots and no error.
 */
export async function readWhilePublishing(readers: number, publishes: number): Promise<void> {
  const folder = temporaryFolder();
  const layout = layoutOf(folder.path);
  const world = createWorld({ vehicles: 12 + publishes, seed: 9 });
  const vehicles = world.activeIds().map((id) => JSON.parse(world.vehicleJson(id) ?? ''));
  let night = 0;
  const service = await serve(({ pathname, searchParams }) => {
    if (pathname !== '/api/cars') return { status: 404, body: { message: 'not here' } };
    return { body: lastPage(searchParams.get('page') === '1' ? vehicles.slice(0, 10 + night) : []) };
  });
  const published = new Map<string, object>();
  const publish = async (): Promise<void> => {
    const { manifest } = await nightly({
      config: configFor(service.url, folder.path, { referenceDays: 1000 }),
      ...WITHOUT_MARTS,
      reporter: silentReporter(),
      now: () => new Date(START + night * NIGHT),
    });
    const { vehicles, lots, prices, runs } = manifest.tables;
    const rows = { vehicles: vehicles?.rows, lots: lots?.rows, prices: prices?.rows, runs: runs?.rows };
    published.set(manifest.snapshot_id, { snapshot: manifest.snapshot_id, ...rows });
    night++;
  };
  const vacuum = async (): Promise<void> => {
    const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
    const retention = { keepSnapshots: 3, keepDays: 0, keepPasses: 2 };
    const plan = await planVacuum(opened.session.connection, layout, retention).finally(opened.close);
    expect(plan.removals.filter(({ kind }) => kind === 'snapshot')).not.toEqual([]);
    await executeVacuum(layout, plan, new AbortController().signal);
  };

  await publish();
  const started = Array.from({ length: readers }, () => startReader(layout.current));
  while (started.some((reader) => reader.looked() < 1)) await new Promise(setImmediate);
  while (night <= publishes) {
    await publish();
    if (night === publishes || night % 8 === 0) await vacuum();
  }
  const looks = (await Promise.all(started.map((reader) => reader.stop()))).flat();
  await service.close();
  folder.remove();

  for (const look of looks) expect(look).toEqual(published.get(look.snapshot));
  const seen = new Set(looks.map(({ snapshot }) => snapshot));
  expect(seen.size).toBeGreaterThan(publishes / 2);
  expect(new Set([...published.values()].map((rows) => JSON.stringify({ ...rows, snapshot: '' }))).size).toBe(
    published.size,
  );
}
