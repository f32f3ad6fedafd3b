import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type PipelineName, pipelines } from '../../../pipelines/index.js';
import { currentSnapshot, layoutOf } from '../../../src/core/lake/layout.js';
import { readManifest } from '../../../src/core/lake/manifest.js';
import { verifyFiles } from '../../../src/core/lake/verify-files.js';
import { startSandbox } from '../../../src/sandbox/index.js';
import { effectsIn, runCommand } from '../../cli/support.js';
import { contentOf, placeEnv } from '../../pipelines/lake-process.js';
import { configFor, silentReporter, WITHOUT_CATALOG } from '../../pipelines/support.js';
import { type ObjectService, startObjectService } from './object-service.js';
import { makeSmallLotlake, type SmallLotlake } from './small-lotlake.js';

const HOUR = 3_600_000;
const FIRST_NIGHT = Date.parse('2026-11-16T02:00:00Z');

/** Settings of all runs. A keyframe lasts a day, so that a nightly of the young lake lands a delta. */
const SETTINGS = {
  ...{ perPage: 30, keyframeDays: 1, allowShrink: true, referenceDays: 1000, closingBudget: 4 },
  // Seconds. The end of a process that cannot be seen is known after them.
  lease: 2,
  ...{ keepSnapshots: 1, keepDays: 0, keepPasses: 1 },
} as const;

/** The lakes before the operations: their nights in hours after the first one, and when an operation begins. */
const BASES = {
  young: { nights: [0], begins: 20 },
  /** Its first night is past retention. */
  old: { nights: [0, 40], begins: 60 },
} as const;

/** A lake before an operation. */
export type Base = keyof typeof BASES;

/** A run of a pipeline, in hours after the operation began. */
export type Step = readonly [pipeline: PipelineName, hours: number];

/** What all sites share. */
export interface Shared {
  readonly folder: string;
  readonly mirrors: ObjectService;
  readonly command: SmallLotlake;
  /** Contents of undisturbed lakes by their runs. */
  readonly contents: Map<string, Promise<Content>>;
}

/** The rows of a lake by table, see {@link contentOf}. */
export type Content = Awaited<ReturnType<typeof contentOf>>;

/** A lake of its own, with a service of its own, on which an operation is interrupted. */
export interface Site {
  readonly shared: Shared;
  readonly base: Base;
  /** Name of its folder, and of its mirror. */
  readonly name: string;
  /** Folder with the settings. */
  readonly cwd: string;
  /** Folder below it with all that an operation writes. */
  readonly place: string;
  readonly output: string;
  readonly url: string;
  /** Sets the service to some hours after the operation began, and returns the time of a run then. */
  readonly moveTo: (hours: number) => Date;
}

const inPlace = (cwd: string): string => join(cwd, 'place');

/** Copies a lake with its hard links. */
export function copyLake(from: string, to: string): void {
  expect(spawnSync('cp', ['-a', from, to]).status).toBe(0);
}

/** Makes what all sites share, with the lakes before the operations in folders of their names. */
export async function openShared(folder: string): Promise<Shared> {
  mkdirSync(join(folder, 'lotlake'));
  const command = makeSmallLotlake(join(folder, 'lotlake'));
  const shared = { folder, command, mirrors: await startObjectService(), contents: new Map() };
  for (const base of ['young', 'old'] as const)
    await withSite(shared, `of-${base}`, base, async (site) => {
      const { nights, begins } = BASES[base];
      for (const hours of nights) await run(site, ['nightly', hours - begins]);
      copyLake(site.output, join(folder, base));
    });
  return shared;
}

/** Works on a site without a lake. If the work succeeds, its folder is removed. */
export async function withSite<T>(
  shared: Shared,
  name: string,
  base: Base,
  work: (site: Site) => Promise<T>,
): Promise<T> {
  const cwd = join(shared.folder, name);
  const place = inPlace(cwd);
  mkdirSync(place, { recursive: true });
  // A run would push to a mirror that the settings name.
  const publish = { endpoint: shared.mirrors.endpoint, pathStyle: true };
  writeFileSync(join(cwd, 'lotlake.config.json'), JSON.stringify({ ...SETTINGS, publish }));
  const begins = FIRST_NIGHT + BASES[base].begins * HOUR;
  const clock = new Date(begins);
  const sandbox = await startSandbox({ vehicles: 40, seed: 13, clock, faults: WITHOUT_CATALOG });
  const moveTo = (hours: number): Date => {
    // What is repeated a minute later finds the same world.
    sandbox.setClock(new Date(begins + Math.floor(hours) * HOUR));
    return new Date(begins + hours * HOUR);
  };
  const { url } = sandbox;
  try {
    const made = await work({ shared, base, name, cwd, place, output: join(place, 'lake'), url, moveTo });
    rmSync(cwd, { recursive: true });
    return made;
  } finally {
    await sandbox.close();
  }
}

/** Runs a pipeline in this process. Returns its warnings. */
export async function run(site: Site, [pipeline, hours]: Step): Promise<readonly string[]> {
  const { url, output, shared, moveTo } = site;
  const now = moveTo(hours);
  const reporter = silentReporter();
  const { modelling } = shared.command;
  await pipelines[pipeline]({
    config: configFor(url, output, SETTINGS),
    reporter,
    now: () => now,
    modelling,
  });
  return reporter.warnings;
}

/** The environment of a command on a site. */
export function envOf({ url, output }: Site, now: Date): NodeJS.ProcessEnv {
  const env = {
    FIXED_CLOCK: now.toISOString(),
    LOTLAKE_PER_PAGE: String(SETTINGS.perPage),
  };
  return placeEnv({ url, output, env });
}

/** Runs a command in this process, an hour after the operation began. */
export async function lotlake(site: Site, ...args: readonly string[]): Promise<void> {
  const now = site.moveTo(1);
  const { effects } = effectsIn(site.cwd, envOf(site, now));
  await runCommand({ ...effects, now: () => now }, ...args);
}

/** The content of an undisturbed lake after some runs. */
export function contentAfter(shared: Shared, base: Base, steps: readonly Step[]): Promise<Content> {
  const key = JSON.stringify([base, steps]);
  const known = shared.contents.get(key);
  if (known !== undefined) return known;
  const made = withSite(shared, `undisturbed-${shared.contents.size}`, base, async (site) => {
    copyLake(join(shared.folder, base), site.output);
    for (const step of steps) await run(site, step);
    return contentOf(site.output);
  });
  shared.contents.set(key, made);
  return made;
}

/** Expects that a lake has the rows of another one. */
export function expectContent(found: Content, wanted: Content): void {
  expect([...found.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [table, rows] of wanted) expect(found.get(table), table).toEqual(rows);
}

/** Expects that the published snapshot of a lake is whole, if there is one. Returns its id. */
export async function expectSound(output: string): Promise<string | undefined> {
  const snapshot = currentSnapshot(layoutOf(output));
  if (snapshot === undefined) return undefined;
  const manifest = readManifest(snapshot);
  expect(await verifyFiles(snapshot, manifest, new AbortController().signal)).toEqual([]);
  return manifest.snapshot_id;
}
