import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession } from '../../src/base/duck/session.js';
import { diskFullError } from '../../src/core/lake/lake-error.js';
import { ServiceError } from '../../src/core/service/errors.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import type { KillPoint } from './kill-points.js';
import { contentOf, placeEnv, startLotlake } from './lake-process.js';
import { temporaryFolder } from './support.js';

/** Long before the real clock, which the runs use, so that no lot is sold while two lakes are compared. */
const CLOCK = new Date('2026-08-18T02:00:00Z');
const folder = temporaryFolder();
const inFolder = (...names: readonly string[]): string => join(folder.path, ...names);
const env = { LOTLAKE_PER_PAGE: '20' };
let sandbox: Sandbox;
let after: Awaited<ReturnType<typeof contentOf>>;

async function night(output: string): Promise<void> {
  const ended = await startLotlake(['run', 'nightly', '--allow-shrink'], { url: sandbox.url, output, env })
    .ended;
  expect(ended.code, ended.err).toBe(0);
}

/** Runs a shell script without blocking the sandbox, which is in this process. */
function shell(
  script: string,
  more: NodeJS.ProcessEnv,
  command: readonly string[] = [],
): Promise<{ readonly code: number | null; readonly err: string }> {
  const [program = 'sh', ...args] = [...command, 'sh', '-c', script];
  const child = spawn(program, args, { env: { ...more, CLI, NODE: process.execPath } });
  let err = '';
  child.stderr.on('data', (data) => {
    err += data;
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, err })));
}

/** Commands that give us a file system of our own. They need no privileges if users may create namespaces. */
const UNSHARE = ['unshare', '-rm'];
const isMountable =
  spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt'], { timeout: 5000 }).status === 0;

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 100, seed: 13, clock: CLOCK });
  await night(inFolder('first'));
  sandbox.setClock(new Date(CLOCK.getTime() + 60 * 3_600_000));
  spawnSync('cp', ['-a', inFolder('first'), inFolder('undisturbed')]);
  await night(inFolder('undisturbed'));
  after = await contentOf(inFolder('undisturbed'));
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** Points at which the disk gets full. `TOO_LATE` comes too late to stop the run. */
const POINTS: readonly KillPoint[] = [
  'land.page-begun',
  'load.batch-begun',
  'reconcile.own-tables-written',
  'publish.described',
];
const TOO_LATE: KillPoint = 'publish.sealed';

/** Fills the disk at each point while the run waits there, and frees the space when the run has ended. */
const FILL = `
  mount -t tmpfs -o size=96m tmpfs "$LOTLAKE_OUTPUT" && cp -a "$FIRST/." "$LOTLAKE_OUTPUT/" || exit 1
  for point in $POINTS; do
    mkfifo "$RESULTS/$point.in"
    LOTLAKE_PAUSE_AT=$point "$NODE" "$CLI" run nightly --allow-shrink < "$RESULTS/$point.in" > /dev/null 2> "$RESULTS/$point.err" &
    exec 3> "$RESULTS/$point.in"
    until grep -q 'paused at' "$RESULTS/$point.err" || ! kill -0 $!; do sleep 0.02; done
    dd if=/dev/zero of="$LOTLAKE_OUTPUT/ballast" bs=64k 2> /dev/null
    echo >&3
    wait $!
    echo $? > "$RESULTS/$point.code"
    rm "$LOTLAKE_OUTPUT/ballast"
    (cd "$LOTLAKE_OUTPUT" && find . && readlink lake/current) > "$RESULTS/$point.left"
  done
  cp -a "$LOTLAKE_OUTPUT/." "$LAST/"`;

describe.skipIf(!isMountable)('a run whose disk is full (skipped if users cannot mount)', () => {
  const resultOf = (name: string): string => readFileSync(inFolder('results', name), 'utf8');

  beforeAll(async () => {
    for (const name of ['disk', 'results', 'last']) mkdirSync(inFolder(name));
    const { code, err } = await shell(
      FILL,
      {
        ...placeEnv({ url: sandbox.url, output: inFolder('disk'), env }),
        FIRST: inFolder('first'),
        RESULTS: inFolder('results'),
        LAST: inFolder('last'),
        POINTS: [...POINTS, TOO_LATE].join(' '),
      },
      UNSHARE,
    );
    expect(code, err).toBe(0);
  });

  it.for(POINTS)('at %s reports it and cleans up', (point) => {
    const [snapshot = ''] = readdirSync(inFolder('first', 'lake', 'snapshots'));
    const err = resultOf(`${point}.err`);
    expect(resultOf(`${point}.code`), err).toBe('1\n');
    expect(err).toMatch(
      /^lake: there is no room to write below .*No space left|no space left.* \[LAKE_DISK_FULL\]$/m,
    );
    expect(err).toContain(
      'what is published stays as it is and landing keeps every page that was whole; free space',
    );
    const left = resultOf(`${point}.left`).trim().split('\n');
    expect(left.at(-1)).toBe(`snapshots/${snapshot}`);
    expect(left.filter((path) => /\.tmp$|^\.\/(work|lotlake)/.test(path))).toEqual([]);
    expect(left.filter((path) => /^\.\/lake\/snapshots\/[^/]+$/.test(path))).toEqual([
      `./lake/snapshots/${snapshot}`,
    ]);
  });

  it('publishes if everything needed was written, and reports what it could not write', () => {
    expect(resultOf(`${TOO_LATE}.code`), resultOf(`${TOO_LATE}.err`)).toBe('0\n');
    expect(resultOf(`${TOO_LATE}.err`)).toMatch(
      /warning +the snapshot is published, but landing could not be told/,
    );
    expect(resultOf(`${TOO_LATE}.left`)).not.toMatch(/\.tmp$/m);
  });

  it('is repaired by the next run', async () => {
    expect(await contentOf(inFolder('last'))).toEqual(after);
  });
});

/** Leaves no byte free, and then vacuums. Half a page that is left over would be enough for a lock. */
const FULL = `
  mount -t tmpfs -o size=96m tmpfs "$LOTLAKE_OUTPUT" && cp -a "$FIRST/." "$LOTLAKE_OUTPUT/" || exit 1
  cat /dev/zero > "$LOTLAKE_OUTPUT/ballast" 2> /dev/null
  free() { df -B1 --output=avail "$LOTLAKE_OUTPUT" | tail -1 >> "$RESULTS/free"; }
  run() { "$NODE" "$CLI" "$@" > "$RESULTS/$1.out" 2> "$RESULTS/$1.err"; echo $? > "$RESULTS/$1.code"; }
  free
  run status
  run run nightly
  run vacuum
  free
  ls -A "$LOTLAKE_OUTPUT" "$LOTLAKE_OUTPUT/lake" > "$RESULTS/left"`;

describe.skipIf(!isMountable)('a disk without a free byte (skipped if users cannot mount)', () => {
  const resultOf = (name: string): string => readFileSync(inFolder('full', name), 'utf8');

  beforeAll(async () => {
    for (const name of ['full', 'full-disk']) mkdirSync(inFolder(name));
    const retention = { LOTLAKE_KEEP_SNAPSHOTS: '1', LOTLAKE_KEEP_DAYS: '0' };
    const place = { url: sandbox.url, output: inFolder('full-disk'), env: { ...env, ...retention } };
    const given = { ...placeEnv(place), FIRST: inFolder('undisturbed'), RESULTS: inFolder('full') };
    const { code, err } = await shell(FULL, given, UNSHARE);
    expect(code, err).toBe(0);
  });

  it('is an alarm', () => {
    expect(resultOf('status.code'), resultOf('status.err')).toBe('0\n');
    expect(resultOf('status.out')).toMatch(/, disk: the disk of the lake has 0\.0 MB left/);
  });

  it('ends a run with the name of the folder, and without the text of its lock', () => {
    expect(resultOf('run.code')).toBe('1\n');
    expect(resultOf('run.err')).toContain(`no room to write below ${inFolder('full-disk')}`);
    expect(resultOf('run.err')).toContain('[LAKE_DISK_FULL]');
    expect(resultOf('run.err')).not.toContain('{"');
  });

  it('is mended by a vacuum', () => {
    expect(resultOf('vacuum.code'), resultOf('vacuum.err')).toBe('0\n');
    const [before, after] = resultOf('free').trim().split('\n').map(Number);
    expect(before).toBe(0);
    expect(after).toBeGreaterThan(100_000);
    expect(resultOf('left')).not.toMatch(/lotlake\.lock|\.trash/);
  });
});

describe('a run with a limit on file sizes', () => {
  const output = inFolder('limited');
  beforeAll(() => {
    spawnSync('cp', ['-a', inFolder('first'), output]);
  });

  it.for([
    { name: 'what it lands', blocks: 20, message: /EFBIG: file too large/ },
    { name: 'the database', blocks: 200, message: /warehouse\.duckdb.*File too large/ },
  ])('fails on $name with the error of a full disk', async ({ blocks, message }) => {
    const place = placeEnv({ url: sandbox.url, output, env });
    const script = `trap '' XFSZ; ulimit -f ${blocks}; exec "$NODE" "$CLI" run nightly --allow-shrink`;
    const { code, err } = await shell(script, place);
    expect(code, err).toBe(1);
    expect(err).toMatch(message);
    expect(err).toContain('[LAKE_DISK_FULL]');
    expect(readlinkSync(join(output, 'lake', 'current'))).toBe(
      readlinkSync(inFolder('first', 'lake', 'current')),
    );
    expect(readdirSync(output).sort()).toEqual(readdirSync(inFolder('first')).sort());
    expect(readdirSync(join(output, 'lake', 'snapshots'))).toHaveLength(1);
  });

  it('is repaired by the next run', async () => {
    await night(output);
    expect(await contentOf(output)).toEqual(after);
  });
});

describe.skipIf(!existsSync('/dev/full'))(
  'a result that cannot be written (skipped without /dev/full)',
  () => {
    it('is reported as a failure', async () => {
      const place = placeEnv({ url: sandbox.url, output: inFolder('first') });
      const { code, err } = await shell('"$NODE" "$CLI" describe lots > /dev/full', place);
      expect(code, err).toBe(1);
      expect(err).toMatch(/^system: the result cannot be written to stdout: ENOSPC: .* \[SYSTEM_OUTPUT\]\n/);
    });
  },
);

describe('the error of a full disk', () => {
  it('is recognized in any of its causes', () => {
    const cause = Object.assign(new Error('EDQUOT: quota exceeded, write'), { code: 'EDQUOT' });
    const error = new TypeError('outer', { cause: new Error('inner', { cause }) });
    expect(diskFullError(error, '/data')).toMatchObject({ code: 'LAKE_DISK_FULL', cause: error });
  });

  it('is recognized if DuckDB finds no room to spill', async () => {
    const session = await openSession({ memory: '40MB', threads: 1, temp: inFolder('spill') });
    await session.connection.run("set max_temp_directory_size = '1MB'");
    const sql =
      'create temp table t as select hash(i)::varchar || i as a from range(2000000) as r(i) order by a';
    const error: unknown = await session.connection.run(sql).catch((thrown: unknown) => thrown);
    session.close();
    expect(diskFullError(error, '/data')?.message).toMatch(/room to write below \/data: .*failed to offload/);
  });

  it('is not confused with a message of the service about its own disk', () => {
    const facts = { url: 'https://service.example/api/cars' };
    const error = new ServiceError('SERVICE_UNREACHABLE', {
      ...facts,
      detail: 'IO Error: No space left on device',
      cause: new Error('ECONNRESET'),
    });
    expect(diskFullError(error, '/data')).toBeUndefined();
    expect(diskFullError(new Error('Constraint Error: twice'), '/data')).toBeUndefined();
  });
});
