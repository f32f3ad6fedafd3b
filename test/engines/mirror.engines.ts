import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { GetObjectCommand, paginateListObjectsV2 } from '@aws-sdk/client-s3';
import pLimit from 'p-limit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openStore } from '../../src/beyond/mirror/s3.js';
import { vacuumMirror } from '../../src/beyond/mirror/vacuum-mirror.js';
import { filesBelow } from '../../src/core/lake/files.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { type Ended, startLotlake } from '../pipelines/lake-process.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith } from './support/engines.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type Nights, startNights, VEHICLES } from './support/worlds.js';

/** Metadata does not shrink with the world, so only a large world shows what a night costs. */
const MOST_BYTES = VEHICLES >= 20_000 ? 1.2 : 6;

const ended: Ended[] = [];
const folder = temporaryFolder();
let world: Nights;
const results: RunResult[] = [];
/** Copies of the lake after the first night and after the third. */
const [afterOne, afterThree] = [join(folder.path, 'one'), join(folder.path, 'three')];

beforeAll(async () => {
  // On a busy machine, requests of a large world may break off.
  world = await startNights({ retryBudget: 900 });
  for (let night = 0; night < 3; night++) {
    results.push(await world.night());
    if (night === 0) cpSync(world.output, afterOne, { recursive: true, verbatimSymlinks: true });
  }
  cpSync(world.output, afterThree, { recursive: true, verbatimSymlinks: true });
});
afterAll(async () => {
  await world.close();
  folder.remove();
});

/** Starts `lotlake` over a lake, with a mirror at a prefix of a server. */
function start(server: S3Server, prefix: string, output: string, args: readonly string[], env: object = {}) {
  const cwd = join(folder.path, 'work');
  mkdirSync(cwd, { recursive: true });
  const publish = { endpoint: server.endpoint, pathStyle: true };
  writeFileSync(join(cwd, 'lotlake.config.json'), JSON.stringify({ publish, keepSnapshots: 1, keepDays: 0 }));
  const to = { LOTLAKE_PUBLISH_TO: `s3://${server.bucket}/${prefix}` };
  return startLotlake(args, { url: world.url, output, cwd, env: { ...server.env, ...to, ...env } });
}

async function lotlake(...given: Parameters<typeof start>): Promise<Ended> {
  const result = await start(...given).ended;
  ended.push(result);
  return result;
}

async function succeed(...given: Parameters<typeof start>) {
  const result = await lotlake(...given);
  expect(result.code, result.err).toBe(0);
  return JSON.parse(result.out);
}

/** Objects below a prefix: their sizes and tags by name. */
async function listOf({ client, bucket }: S3Server, prefix: string) {
  const found = new Map<string, { readonly bytes: number; readonly tag: string }>();
  for await (const { Contents = [] } of paginateListObjectsV2(
    { client },
    { Bucket: bucket, Prefix: `${prefix}/` },
  ))
    for (const { Key = '', Size = 0, ETag = '' } of Contents)
      found.set(Key.slice(prefix.length + 1), { bytes: Size, tag: ETag });
  return found;
}

async function get({ client, bucket }: S3Server, name: string): Promise<Buffer> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket: bucket, Key: name }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

/**
 * Reads the current snapshot whole, as any reader would, and compares every file. Returns its id, or null before the
 * first push.
 */
async function readWhole(server: S3Server, prefix: string): Promise<string | null> {
  const text = await get(server, `${prefix}/current.json`).catch(() => undefined);
  if (text === undefined) return null;
  const { snapshot_id } = JSON.parse(String(text));
  const record = await get(server, `${prefix}/snapshots/${snapshot_id}.json`);
  const { files } = JSON.parse(gunzipSync(record).toString());
  const limit = pLimit(4);
  const read = async ({ object, sha256 }: { object: string; sha256: string }): Promise<void> => {
    const body = await get(server, `${prefix}/${object}`);
    expect(createHash('sha256').update(body).digest('hex'), object).toBe(sha256);
  };
  await Promise.all(files.map((file: { object: string; sha256: string }) => limit(read, file)));
  return snapshot_id;
}

/** Reads whole snapshots again and again during other work. Returns the ids that it read, in order. */
async function whileReading(server: S3Server, prefix: string, work: () => Promise<void>): Promise<string[]> {
  const seen: string[] = [];
  let isDone = false;
  const look = async (): Promise<void> => {
    const id = await readWhole(server, prefix);
    if (id !== null && seen.at(-1) !== id) seen.push(id);
  };
  const reading = (async () => {
    while (!isDone) await look();
    // A read that began before the end may have found the earlier snapshot.
    await look();
  })();
  await work().finally(() => {
    isDone = true;
  });
  await reading;
  return seen;
}

/** Copies the snapshot of a night into a lake and makes it current, as the run of that night did. */
function publish(output: string, id: string): void {
  const snapshot = join('lake', 'snapshots', id);
  cpSync(join(afterThree, snapshot), join(output, snapshot), { recursive: true });
  rmSync(join(output, 'lake', 'current'));
  symlinkSync(join('snapshots', id), join(output, 'lake', 'current'));
}

const copyOf = (lake: string, name: string): string => {
  const output = join(folder.path, name);
  cpSync(lake, output, { recursive: true, verbatimSymlinks: true });
  return output;
};

/** Pushes each night. Returns the bytes that each push wrote to any object. */
async function pushNights(server: S3Server, output: string): Promise<number[]> {
  const sizes: number[] = [];
  let before = await listOf(server, 'nights');
  for (const { runId } of results) {
    publish(output, runId);
    const { pushed } = await succeed(server, 'nights', output, ['push', '--json']);
    expect(pushed).toEqual([runId]);
    const after = await listOf(server, 'nights');
    const changed = [...after].filter(([object, { tag }]) => before.get(object)?.tag !== tag);
    sizes.push(changed.reduce((sum, [, { bytes }]) => sum + bytes, 0));
    before = after;
  }
  return sizes;
}

describeWith(['servers'], 'a mirror', () => {
  it.each(['minio', 'versitygw'] as const)(
    'on %s takes three nights, sends little more than what changed, and gives the lake back',
    async (name) => {
      const server = await startS3(name);
      const output = copyOf(afterOne, name);
      const sizes: number[] = [];
      const seen = await whileReading(server, 'nights', async () => {
        sizes.push(...(await pushNights(server, output)));
      });
      const ids = results.map(({ runId }) => runId);
      expect(seen.at(-1)).toBe(ids.at(-1));
      expect(ids).toEqual(expect.arrayContaining(seen));
      for (const night of [1, 2]) {
        const ratio = (sizes[night] ?? 0) / (results[night]?.files.writtenBytes ?? 1);
        console.log(
          `${name}: night ${night + 1} sent ${sizes[night]} bytes, ${ratio.toFixed(3)} of what changed`,
        );
        expect(ratio).toBeLessThan(MOST_BYTES);
      }
      rmSync(output, { recursive: true });
      const pulled = await succeed(server, 'nights', output, ['pull', '--json']);
      expect(pulled.snapshot_id).toBe(ids.at(-1));
      const verified = await lotlake(server, 'nights', output, ['verify']);
      expect(verified.out, verified.err).toContain('sound');
      await server.close();
    },
  );
});

/** Points at which a push of three snapshots is killed. */
const KILLS = [
  'mirror.current-read',
  ...[1, 2, 10, 60, 150].map((time) => `mirror.file-sent#${time}`),
  ...[1, 2, 3].map((time) => `mirror.files-sent#${time}`),
  ...[1, 100, 300].map((time) => `mirror.table-described#${time}`),
  ...[1, 3].map((time) => `mirror.snapshot-described#${time}`),
  ...[1, 2, 3].map((time) => `mirror.switched#${time}`),
  ...[1, 2].map((time) => `mirror.metadata-switched#${time}`),
  'mirror.metadata-written#100',
  ...[1, 100].map((time) => `mirror.hint-written#${time}`),
  'mirror.heads-written#2',
];

describeWith(['servers'], 'a mirror through faults', () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3();
  });
  afterAll(() => server.close());

  it(`is whole whenever a push is killed, at ${KILLS.length} points, and the next push ends the work`, async () => {
    const whole = await listOf(server, 'whole');
    await succeed(server, 'whole', afterThree, ['push', '--json']);
    for (const [name, object] of await listOf(server, 'whole')) whole.set(name, object);
    for (const [i, point] of KILLS.entries()) {
      const prefix = `killed-${i}`;
      await whileReading(server, prefix, async () => {
        const killed = await lotlake(server, prefix, afterThree, ['push'], { LOTLAKE_KILL_AT: point });
        expect(killed.signal, point).toBe('SIGKILL');
        await succeed(server, prefix, afterThree, ['push', '--json']);
      });
      const found = await listOf(server, prefix);
      // Metadata contains its prefix, and the switch its time.
      const data = (all: typeof found) => [...all].filter(([name]) => name.endsWith('.parquet'));
      expect(data(found), point).toEqual(data(whole));
      expect(found.size, point).toBe(whole.size);
      expect(await readWhole(server, prefix), point).toBe(results[2]?.runId);
    }
  });

  it('is switched by one of two pushes, and the other one reports it', async () => {
    const [left, right] = [copyOf(afterOne, 'left'), copyOf(afterThree, 'right')];
    await succeed(server, 'two', left, ['push', '--json']);
    publish(left, results[1]?.runId ?? '');
    const held = start(server, 'two', left, ['push'], { LOTLAKE_PAUSE_AT: 'mirror.snapshot-described' });
    await held.printed('paused at mirror.snapshot-described');
    await succeed(server, 'two', right, ['push', '--json']);
    const won = await listOf(server, 'two');
    held.child.stdin?.write('\n');
    const lost = await held.ended;
    ended.push(lost);
    expect([lost.code, lost.err]).toEqual([6, expect.stringContaining('MIRROR_OVERTAKEN')]);
    expect(won.size).toBeLessThanOrEqual((await listOf(server, 'two')).size);
    expect(await readWhole(server, 'two')).toBe(results[2]?.runId);

    const both = await Promise.all([left, right].map((lake) => lotlake(server, 'race', lake, ['push'])));
    for (const { code } of both) expect([0, 2, 6]).toContain(code);
    expect(both.map(({ code }) => code)).toContain(0);
    await readWhole(server, 'race');
  });

  it('keeps what retention says, and loses the rest a day later', async () => {
    await succeed(server, 'old', afterThree, ['push', '--json']);
    const args = ['vacuum', '--remote', '--json'];
    const plan = await succeed(server, 'old', afterThree, [...args, '--dry-run']);
    const before = await listOf(server, 'old');
    expect(await succeed(server, 'old', afterThree, args)).toMatchObject({
      snapshots: plan.snapshots,
      objects: 0,
    });
    expect(plan.snapshots).toHaveLength(2);
    Object.assign(process.env, server.env);
    const place = { to: `s3://${server.bucket}/old`, endpoint: server.endpoint, pathStyle: true };
    const { signal } = new AbortController();
    const store = await openStore({ ...place, concurrency: 4, landing: false }, signal);
    const now = (): Date => new Date(Date.now() + 2 * 86_400_000);
    const keep = { keepSnapshots: 1, keepDays: 0 };
    await vacuumMirror({ store, keep, now, warn: () => undefined, isDryRun: false });
    expect((await listOf(server, 'old')).size).toBeLessThan(before.size);
    expect(await readWhole(server, 'old')).toBe(results[2]?.runId);
    const pulled = join(folder.path, 'pulled');
    await succeed(server, 'old', pulled, ['pull', '--json']);
    expect((await lotlake(server, 'old', pulled, ['verify'])).out).toContain('sound');
  });

  it('restores a lost lake with its landing, and the next night continues from it and is pushed', async () => {
    await succeed(server, 'lost', world.output, ['push', '--landing', '--json']);
    rmSync(world.output, { recursive: true });
    await succeed(server, 'lost', world.output, ['pull', '--landing', '--json']);
    expect((await lotlake(server, 'lost', world.output, ['verify'])).out).toContain('sound');
    const next = await world.night();
    const cars = next.balance.streams.find(({ stream }) => stream === 'cars');
    expect(cars?.unchanged).toBeGreaterThan((cars?.loaded ?? 0) / 2);
    const { pushed } = await succeed(server, 'lost', world.output, ['push', '--json']);
    expect(pushed).toEqual([next.runId]);
    expect(await readWhole(server, 'lost')).toBe(next.runId);
  });

  it('is pushed to after a run; if the push fails, the run stays published and its exit code shows the failure', async () => {
    const output = copyOf(world.output, 'after-run');
    const run = await lotlake(server, 'after-run', output, ['run', 'nightly', '--json']);
    expect(run.code, run.err).toBe(0);
    const { mirror, snapshot_id } = JSON.parse(run.out);
    expect(mirror.snapshot_id).toBe(snapshot_id);
    const gone = { ...server, endpoint: 'http://127.0.0.1:9' };
    const failed = await lotlake(gone, 'after-run', output, ['run', 'nightly']);
    expect([failed.code, failed.err]).toEqual([4, expect.stringContaining('MIRROR_UNREACHABLE')]);
    expect(failed.out).toContain('mirror: the push to');
    const caughtUp = await succeed(server, 'after-run', output, ['push', '--json']);
    expect(caughtUp.pushed).toHaveLength(1);
  });

  it('writes credentials nowhere', async () => {
    const planted = {
      AWS_ACCESS_KEY_ID: 'AKIAPLANTEDKEY000000',
      AWS_SECRET_ACCESS_KEY: 'planted/secret+0123456789',
    };
    const wrong = await lotlake(server, 'wrong', afterThree, ['push'], { ...planted, LOTLAKE_LOG: 'debug' });
    expect([wrong.code, wrong.err]).toEqual([3, expect.stringContaining('MIRROR_REFUSED')]);
    const without = { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_EC2_METADATA_DISABLED: 'true' };
    expect((await lotlake(server, 'wrong', afterThree, ['push'], without)).code).toBe(3);
    const secrets = [...Object.values(planted), server.env.AWS_SECRET_ACCESS_KEY ?? ''];
    for (const { out, err } of ended) for (const secret of secrets) expect(out + err).not.toContain(secret);
    const files = filesBelow(folder.path).filter((path) => /\.(json|ndjson|log|html)$/.test(path));
    for (const path of files)
      for (const secret of secrets) expect(readFileSync(path, 'utf8'), path).not.toContain(secret);
  });
});
