import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { nightly } from '../../pipelines/nightly.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import type { Manifest } from '../../src/core/lake/manifest.js';
import { listSnapshots } from '../../src/core/lake/snapshots.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, temporaryFolder } from '../pipelines/support.js';
import { runLotlake } from './support.js';

const START = Date.parse('2026-11-17T02:00:00Z');
const NIGHT = 36 * 3_600_000;

/**
 * Sets up a lake of three nights for the tests of one file. The closing job runs before the last night. Returns the
 * lake and its snapshots.
 */
export function threeNights() {
  const folder = temporaryFolder();
  const layout = layoutOf(folder.path);
  const snapshots: { id: string; folder: string; manifest: Manifest }[] = [];
  let sandbox: Sandbox;
  const jobAt = (time: number) => {
    sandbox.setClock(new Date(time));
    // Each night is a keyframe, so that a vacuum can remove the first alone.
    const settings = { referenceDays: 1000, closingBudget: 5, keyframeDays: 1 };
    const config = configFor(sandbox.url, folder.path, settings);
    return { config, reporter: silentReporter(), now: () => new Date(time) };
  };
  beforeAll(async () => {
    sandbox = await startSandbox({ vehicles: 60, seed: 1, clock: new Date(START) });
    await nightly(jobAt(START));
    await nightly(jobAt(START + NIGHT));
    await closing(jobAt(START + 1.2 * NIGHT));
    await nightly(jobAt(START + 2 * NIGHT));
    for (const { manifest, ...rest } of listSnapshots(layout)) {
      if (manifest === undefined) throw new Error(`${rest.folder} has no manifest`);
      snapshots.push({ ...rest, manifest });
    }
  });
  afterAll(async () => {
    await sandbox.close();
    folder.remove();
  });
  return {
    ...{ folder, layout, snapshots, start: new Date(START) },
    /** Options of a job of the last night. */
    lastNight: () => jobAt(START + 2 * NIGHT),
    lotlake: (...args: readonly string[]) => runLotlake(folder.path, ...args),
  };
}

/** The first file of a table. */
export const fileOf = (snapshot: string, table: string): string =>
  readdirSync(join(snapshot, table), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .map((file) => join(table, file))
    .sort()[0] ?? '';
