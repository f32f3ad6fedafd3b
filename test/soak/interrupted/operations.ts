import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { expect } from 'vitest';
import type { PipelineName } from '../../../pipelines/index.js';
import type { KillPoint } from '../../pipelines/kill-points.js';
import { contentOf } from '../../pipelines/lake-process.js';
import {
  type Base,
  contentAfter,
  copyLake,
  expectContent,
  expectSound,
  lotlake,
  run,
  type Shared,
  type Site,
  type Step,
  withSite,
} from './site.js';

/** What an interrupted operation left. */
interface Left {
  /** Whether the operation published a snapshot before its end. */
  readonly isPublished: boolean;
  /** Whether the operation is repeated although its work could be left undone. */
  readonly isRepeated: boolean;
}

/** An operation that is interrupted. */
export interface Operation {
  readonly name: string;
  readonly base: Base;
  readonly args: (site: Site) => readonly string[];
  /** Points that it passes, with `#` and the most times that one is drawn. */
  readonly points: readonly (KillPoint | `${KillPoint}#${number}`)[];
  /** Folders that become read-only, below the place of the site. */
  readonly parts: readonly string[];
  /** Changes the copy of the lake before the operation. */
  readonly prepare?: (site: Site) => Promise<void>;
  /**
   * Does what a user would do after the interruption, and expects what has to come of it. Returns the runs of the
   * undisturbed lake: those of a pipeline before the last night.
   */
  readonly complete: (site: Site, left: Left) => Promise<readonly Step[]>;
  /** The night after the interruption: by default a day later, when what was left open is too old to be resumed. */
  readonly night?: Step;
}

/** The mirror of a site. */
const mirrorOf = ({ name }: Pick<Site, 'name'>): string => `s3://bucket/${name}`;
const push = (site: Site): string[] => ['push', '--to', mirrorOf(site), '--landing'];
const pull = (site: Site): string[] => ['pull', '--to', mirrorOf(site), '--landing'];

const PARTS = ['lake', 'lake/lake', 'lake/lake/snapshots', 'lake/landing', 'lake/runs'];
const LANDING = [
  ...(['job.locked', 'extract.pass-opened#2', 'extract.page-asked#2', 'land.page-written#2'] as const),
  ...(['land.page-renamed#2', 'land.page-recorded#2', 'land.pass-sealed#2', 'load.batch-staged#2'] as const),
] as const;
const MAKING = [
  ...(['reconcile.begun', 'reconcile.table-compared#20', 'reconcile.table-merged#20'] as const),
  ...(['reconcile.own-tables-written', 'model.begun', 'model.mart-written', 'publish.described'] as const),
  ...(['publish.sealed', 'publish.link-made', 'publish.switched', 'job.published'] as const),
] as const;
const SENDING = [
  ...(['mirror.current-read', 'mirror.file-sent#30', 'mirror.table-described#20'] as const),
  ...(['mirror.snapshot-described', 'mirror.switched', 'mirror.metadata-written#20'] as const),
  ...(['mirror.hint-written#20', 'mirror.heads-written', 'mirror.page-sent#4'] as const),
] as const;

/**
 * A pipeline that changes the content. If it published nothing, it is repeated in half of the cases; in the others the night
 * comes at once.
 */
const changing = (pipeline: PipelineName, base: Base = 'young'): Operation => ({
  ...{ name: pipeline, base, points: [...LANDING, ...MAKING], parts: PARTS },
  args: () => ['run', pipeline],
  complete: async (site, { isPublished, isRepeated }) => {
    // A second closing looks up other vehicles.
    if (isRepeated && !isPublished) await run(site, [pipeline, 1 / 60]);
    return isRepeated || isPublished ? [[pipeline, 0]] : [];
  },
});

/** The operations. A lake is restored from its mirror or from its landing. */
export const OPERATIONS: readonly (readonly [Operation, ...Operation[]])[] = [
  [
    {
      ...changing('nightly'),
      points: [...LANDING, ...MAKING, 'publish.pass-marked#2'],
      complete: async () => [],
      night: ['nightly', 1 / 60],
    },
  ],
  [changing('incremental')],
  [changing('closing')],
  [
    {
      ...changing('rebuild'),
      points: ['job.locked', 'load.batch-staged#2', ...MAKING],
      complete: async () => [],
    },
  ],
  [
    {
      ...{ name: 'vacuum', base: 'old', args: () => ['vacuum'], parts: PARTS },
      points: ['vacuum.planned', 'vacuum.moved#3', 'vacuum.folder-deleted#3', 'vacuum.done'],
      complete: completeVacuum,
    },
  ],
  [
    {
      ...{ name: 'backup', base: 'young', parts: ['', 'lake', 'lake/lake'] },
      args: (site) => ['backup', '--to', copyOf(site)],
      points: ['backup.file-copied#60', 'backup.copied', 'backup.checked'],
      complete: completeBackup,
    },
  ],
  [
    {
      ...{ name: 'restore', base: 'young', parts: ['lake', 'lake/landing', 'lake/lake'] },
      args: pull,
      points: ['mirror.file-pulled#30', 'mirror.pulled'],
      prepare: async (site) => {
        await lotlake(site, ...push(site));
        rmSync(site.output, { recursive: true });
      },
      complete: async (site, { isPublished }) => {
        if (!isPublished)
          await expect(lotlake(site, 'verify')).rejects.toMatchObject({
            // The snapshot may be there before the link to it.
            code: expect.stringMatching(/^(QUERY_NO_SNAPSHOT|LAKE_UNSOUND)$/),
          });
        await lotlake(site, ...pull(site));
        expectContent(await contentOf(site.output), await contentAfter(site.shared, 'young', []));
        return [];
      },
    },
    {
      ...{ name: 'restore', base: 'young', parts: PARTS },
      args: () => ['run', 'rebuild'],
      points: ['job.locked', 'load.batch-staged#2', ...MAKING],
      prepare: async ({ output }) => {
        for (const name of readdirSync(output).filter((each) => each !== 'landing'))
          rmSync(join(output, name), { recursive: true });
      },
      complete: async (site, { isPublished }) => {
        if (!isPublished) await run(site, ['rebuild', 1 / 60]);
        return [];
      },
    },
  ],
  [
    {
      ...{ name: 'push', base: 'young', args: push, points: SENDING },
      parts: ['lake', 'lake/lake'],
      complete: completePush,
    },
  ],
];

async function completeVacuum(site: Site, { isRepeated }: Left): Promise<readonly Step[]> {
  if (isRepeated) {
    await lotlake(site, 'vacuum');
    const { output } = site;
    expect(readdirSync(join(output, 'lake', 'snapshots'))).toHaveLength(1);
    expect(readdirSync(join(output, 'landing', 'cars'))).toHaveLength(1);
    for (const name of ['lake', 'landing']) expect(readdirSync(join(output, name))).not.toContain('.trash');
  }
  return [];
}

const copyOf = ({ place }: Pick<Site, 'place'>): string => join(place, 'copy');

/** A backup that has its name is whole. Otherwise there is none, and the next one removes what was left. */
async function completeBackup(site: Site): Promise<readonly Step[]> {
  const to = copyOf(site);
  if (!existsSync(to)) await lotlake(site, 'backup', '--to', to);
  expect(existsSync(join(to, 'backup.json'))).toBe(true);
  await expectSound(to);
  expectContent(await contentOf(to), await contentAfter(site.shared, 'young', []));
  expect(filesIn(join(to, 'landing'))).toEqual(filesIn(join(site.output, 'landing')));
  return [];
}

/** Sizes of the files below a folder, without the notes of whose it is. */
function filesIn(folder: string): ReadonlyMap<string, number> {
  const found = readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => !name.endsWith('.lake.json'))
    .map((name) => [name, lstatSync(join(folder, name))] as const)
    .filter(([, stat]) => stat.isFile());
  return new Map(found.map(([name, { size }]) => [name, size] as const).sort());
}

/** What a reader finds in the mirror is whole at every moment, and the next push sends the rest. */
async function completePush(site: Site): Promise<readonly Step[]> {
  if (!expectWhole(site)) {
    const early = lotlake(site, ...pull(site), '--output', join(site.place, 'pulled'));
    await expect(early).rejects.toMatchObject({ code: 'MIRROR_NOT_FOUND' });
  }
  await lotlake(site, ...push(site));
  expect(expectWhole(site)).toBe(true);
  const { shared } = site;
  const [found, wanted] = [site.name, await undisturbedMirror(shared)].map((name) =>
    [...objectsIn(shared, name).keys()].filter((each) => !LEFT.test(each)).sort(),
  );
  expect(found).toEqual(wanted);
  return [];
}

/** Objects that no reader comes upon, and that an interrupted push may leave for a vacuum; manifests name their mirror. */
const LEFT = /^files\/|\.avro$/;

const pushed = new WeakMap<Shared, Promise<string>>();

/** Name of a mirror to which the lake was pushed without an interruption. */
function undisturbedMirror(shared: Shared): Promise<string> {
  const made =
    pushed.get(shared) ??
    withSite(shared, 'undisturbed-mirror', 'young', async (site) => {
      copyLake(join(shared.folder, 'young'), site.output);
      await lotlake(site, ...push(site));
      return site.name;
    });
  pushed.set(shared, made);
  return made;
}

/** The objects of a mirror by name. */
function objectsIn({ mirrors }: Shared, name: string): Map<string, Buffer> {
  const prefix = `${mirrorOf({ name }).replace('s3://', '')}/`;
  const own = [...mirrors.objects].filter(([key]) => key.startsWith(prefix));
  return new Map(own.map(([key, body]) => [key.slice(prefix.length), body]));
}

/** Expects that every file of the current snapshot of a mirror has its checksum. Returns false if there is none. */
function expectWhole({ shared, name }: Site): boolean {
  const objects = objectsIn(shared, name);
  const current = objects.get('current.json');
  if (current === undefined) return false;
  const { snapshot_id } = JSON.parse(String(current));
  const record = objects.get(`snapshots/${snapshot_id}.json`) ?? Buffer.alloc(0);
  const { files, metadata } = JSON.parse(String(gunzipSync(record)));
  for (const name of metadata) expect(objects.has(name), name).toBe(true);
  for (const { object, sha256 } of files) {
    const body = objects.get(object) ?? Buffer.alloc(0);
    expect(createHash('sha256').update(body).digest('hex'), object).toBe(sha256);
  }
  return true;
}
