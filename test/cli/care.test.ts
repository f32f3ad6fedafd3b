import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { closing } from '../../pipelines/closing.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { packageRoot } from '../../src/config/package-root.js';
import { layoutOf } from '../../src/lake/layout.js';
import { takeLock } from '../../src/lake/lock.js';
import type { Manifest } from '../../src/lake/manifest.js';
import { listSnapshots } from '../../src/lake/snapshots.js';
import { ruleOf } from '../../src/reconcile/rules.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  expectSameLake,
  inOrder,
  type PlainRow,
  readLake,
  silentReporter,
  temporaryFolder,
} from '../pipelines/support.js';
import { runLotlake } from './support.js';

const START = Date.parse('2026-11-17T02:00:00Z');
const NIGHT = 36 * 3_600_000;

const folder = temporaryFolder();
const layout = layoutOf(folder.path);
let sandbox: Sandbox;
let snapshots: { id: string; folder: string; manifest: Manifest }[];

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Bytes of all files below a folder, each counted once whatever its names. */
function diskUse(path: string): number {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const sizes = new Map(
    files.map((entry) => {
      const { ino, size } = statSync(join(entry.parentPath, entry.name));
      return [ino, size];
    }),
  );
  return sum([...sizes.values()]);
}

const lotlake = (...args: string[]) => runLotlake(folder.path, ...args);
const jobAt = (time: number) => {
  sandbox.setClock(new Date(time));
  const config = configFor(sandbox.url, folder.path, { referenceDays: 1000, closingBudget: 5 });
  return { config, reporter: silentReporter(), now: () => new Date(time) };
};

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 60, seed: 1, clock: new Date(START) });
  await nightly(jobAt(START));
  await nightly(jobAt(START + NIGHT));
  await closing(jobAt(START + 1.2 * NIGHT));
  await nightly(jobAt(START + 2 * NIGHT));
  snapshots = listSnapshots(layout).map(({ manifest, ...rest }) => {
    if (manifest === undefined) throw new Error(`${rest.folder} has no manifest`);
    return { ...rest, manifest };
  });
});
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

/** Overwrites a file with zeros. */
const zero = (file: string): void => writeFileSync(file, Buffer.alloc(statSync(file).size));

/** The first file of a table. */
const fileOf = (snapshot: string, table: string): string =>
  readdirSync(join(snapshot, table), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.parquet'))
    .map((file) => join(table, file))
    .sort()[0] ?? '';

describe('lotlake runs', () => {
  it('lists what each run did, newest first', () => {
    const listed = JSON.parse(lotlake('runs', '--json').out);
    expect(listed.map((run: { pipeline: string }) => run.pipeline)).toEqual([
      'nightly',
      'closing',
      'nightly',
      'nightly',
    ]);
    expect(listed.at(-1)).toMatchObject({
      started_at: new Date(START).toISOString(),
      rejected: 0,
      warnings: [],
    });
    expect(listed.at(-1).changed).toBeGreaterThan(1000);
    expect(listed[0].records).toBe(listed[0].loaded);
    const { out } = lotlake('runs', '--limit', '1');
    expect(out).toContain(snapshots.at(-1)?.id);
    expect(out).not.toContain('closing');
  });
});

describe('lotlake query --as-of', () => {
  const runs = (...args: string[]) => {
    const { code, out, err } = lotlake('query', ...args, '--json', 'select count(*) as runs from runs');
    expect(code, err).toBe(0);
    return JSON.parse(out)[0].runs;
  };

  it('queries the newest snapshot at or before a moment, or one by its id', () => {
    const second = snapshots[1];
    expect(runs('--as-of', second?.manifest.created_at ?? '')).toBe(2);
    expect(runs('--as-of', '2026-11-17')).toBe(1);
    expect(runs('--as-of', '2026-11-18 16:30:00+02:00')).toBe(2);
    expect(runs('--snapshot', second?.id ?? '')).toBe(2);
  });

  it('lists the kept snapshots where none is old enough', () => {
    for (const args of [
      ['--as-of', '2026-11-16'],
      ['--snapshot', '../current'],
    ]) {
      const { code, err } = lotlake('query', 'select 1', ...args);
      expect(code).toBe(2);
      expect(err).toContain('LAKE_NO_SNAPSHOT');
      for (const { id, manifest } of snapshots) expect(err).toContain(`${id} (${manifest.created_at})`);
    }
    expect(lotlake('query', 'select 1', '--as-of', 'yesterday').err).toContain('CONFIG_INVALID');
  });
});

describe('docs/history.md', () => {
  it('rebuilds the tracked fields of every lot as each kept snapshot has them', async () => {
    const page = readFileSync(join(packageRoot, 'docs', 'history.md'), 'utf8');
    const sql = /```sql\n([\s\S]+?)```/.exec(page)?.[1] ?? '';
    const duck = await bareDuckDb();
    const lake = (name: string, snapshot: string) =>
      `create or replace view ${name} as select * from '${join(snapshot, name, '**', '*.parquet')}'`;
    let differing = 0;
    const today = inOrder(await duck.query(`select * from '${layout.current}/lot_changes/**/*.parquet'`));
    expect(today.length).toBeGreaterThan(20);
    for (const snapshot of snapshots) {
      await duck.query(lake('lots', layout.current));
      await duck.query(lake('lot_changes', layout.current));
      const asked = sql.replace('2026-11-19 12:00:00+00', snapshot.manifest.created_at);
      expect(asked).not.toBe(sql);
      const rebuilt = await duck.query(asked);
      const tracked = [...ruleOf('lot_changes').sql.matchAll(/'(\w+)' as field/g)].map(([, name]) => name);
      expect(tracked).toHaveLength(16);
      const fields = ['lot_id', ...tracked].join(', ');
      const kept = join(snapshot.folder, 'lots', '**', '*.parquet');
      expect(inOrder(rebuilt), snapshot.id).toEqual(
        inOrder(await duck.query(`select ${fields} from '${kept}'`)),
      );
      const now = await duck.query(`select ${fields} from lots`);
      if (inOrder(now).join() !== inOrder(rebuilt).join()) differing++;
    }
    duck.close();
    expect(differing).toBeGreaterThanOrEqual(2);
  });
});

describe('lotlake verify', () => {
  const copies: ReturnType<typeof temporaryFolder>[] = [];
  afterAll(() => {
    for (const copy of copies) copy.remove();
  });

  /** A copy of the lake, the file of a table in it, and what verify finds once it is damaged. */
  function damaged(damage: (snapshot: string) => void) {
    const copy = temporaryFolder();
    copies.push(copy);
    cpSync(join(folder.path, 'lake'), join(copy.path, 'lake'), { recursive: true, verbatimSymlinks: true });
    const snapshot = join(copy.path, 'lake', 'snapshots', snapshots.at(-1)?.id ?? '');
    damage(snapshot);
    const { code, out, err } = runLotlake(copy.path, 'verify', '--json');
    const {
      problems,
    }: {
      problems: {
        table: string;
        check: string;
        file: string;
        found: string;
        expected: string;
        torn?: true;
      }[];
    } = JSON.parse(out);
    return { code, err, problems };
  }
  it('finds the snapshots of a lake sound, with a checksum for every file', () => {
    for (const { id } of snapshots.slice(1, 3)) {
      const { code, out, err } = lotlake('verify', '--snapshot', id, '--json');
      expect(code, out + err).toBe(0);
      expect(JSON.parse(out)).toMatchObject({
        snapshot_id: id,
        sound: true,
        without_checksum: 0,
        problems: [],
      });
    }
    expect(lotlake('verify').out).toMatch(/\nsound\n$/);
    expect(lotlake('verify', '--snapshot', 'none').code).toBe(2);
  });

  it('names what is wrong with the files', () => {
    let names: string[] = [];
    const { code, err, problems } = damaged((snapshot) => {
      names = ['lots', 'vehicles', 'prices', 'titles'].map((table) => fileOf(snapshot, table));
      const [lots = '', vehicles = '', prices = '', titles = ''] = names.map((file) => join(snapshot, file));
      rmSync(lots);
      const bytes = readFileSync(vehicles);
      bytes[200] = (bytes[200] ?? 0) ^ 1;
      writeFileSync(vehicles, bytes);
      truncateSync(prices, 100);
      cpSync(titles, join(dirname(titles), 'copy.parquet'));
      writeFileSync(join(snapshot, 'notes.txt'), '');
    });
    expect(code).toBe(5);
    expect(err).toContain('LAKE_UNSOUND');
    const found = problems.map(({ table, check, file }) => `${table} ${check} ${file}`);
    const [lots, vehicles, prices] = names;
    expect(found).toEqual(
      expect.arrayContaining([
        `lots presence ${lots}`,
        `vehicles checksum ${vehicles}`,
        `prices size ${prices}`,
        `prices readable ${prices}`,
        'titles presence titles/copy.parquet',
        'snapshot presence notes.txt',
        'children_have_lots test null',
      ]),
    );
  });

  it('names what is wrong with the rows', async () => {
    const duck = await bareDuckDb();
    const temp = temporaryFolder();
    copies.push(temp);
    const rewrite = (table: string, select: string) => {
      const file = `'${join(layout.current, fileOf(layout.current, table))}'`;
      return duck.query(
        `copy (${select.replaceAll('$', file)}) to '${join(temp.path, table)}' (format parquet)`,
      );
    };
    await rewrite('titles', 'from $ union all (from $ limit 1)');
    await rewrite('states', 'select * replace (cast(state_id as varchar) as state_id) from $');
    await rewrite('vehicles', 'from $ limit 0');
    duck.close();
    const { code, problems } = damaged((snapshot) => {
      for (const table of ['titles', 'states', 'vehicles'])
        cpSync(join(temp.path, table), join(snapshot, fileOf(snapshot, table)));
    });
    expect(code).toBe(5);
    const of = (table: string, check: string) => problems.find((p) => p.table === table && p.check === check);
    expect(of('titles', 'key')?.found).toMatch(/^1 keys more than once; title_id \S+: 2 rows in titles\//);
    expect(of('states', 'schema')).toMatchObject({ expected: 'state_id BIGINT', found: 'state_id VARCHAR' });
    expect(of('vehicles', 'rows')?.found).toBe('0');
  });

  it('names a database that is gone and a manifest that is broken', () => {
    const gone = damaged((snapshot) => rmSync(join(snapshot, 'warehouse.duckdb')));
    expect(gone).toMatchObject({ code: 5, problems: [{ check: 'warehouse', found: 'no file' }] });
    const broken = damaged((snapshot) => writeFileSync(join(snapshot, 'manifest.json'), '{}'));
    expect(broken).toMatchObject({ code: 5, problems: [{ file: 'manifest.json', check: 'readable' }] });
    expect(broken.problems[0]).not.toHaveProperty('torn');
    expect(broken.err).not.toContain('torn');
  });

  it.each([
    ['an empty manifest', 'an empty file', (file: string) => truncateSync(file)],
    ['a manifest that is cut', /^text that ends or breaks off/, (file: string) => truncateSync(file, 5000)],
    ['a manifest of zeros', 'zeros from byte 0 on', (file: string) => zero(file)],
    ['no manifest', 'no file', (file: string) => rmSync(file)],
  ])('says that %s is torn, and what to do', (_, found, tear) => {
    const torn = damaged((snapshot) => tear(join(snapshot, 'manifest.json')));
    expect(torn.code).toBe(5);
    expect(torn.problems).toHaveLength(1);
    expect(torn.problems[0]?.found).toMatch(found);
    expect(torn.problems[0]).toMatchObject({ file: 'manifest.json', torn: true });
    expect(torn.err).toMatch(
      /it is torn, 1 file is as a power cut leaves it \(manifest\.json\).*run rebuild/,
    );
  });

  it('tells truncated and zeroed files from files that are wrong otherwise', () => {
    let files: string[] = [];
    const { problems, err } = damaged((snapshot) => {
      files = ['lots', 'vehicles', 'prices', 'titles', 'states'].map((table) => fileOf(snapshot, table));
      const [lots = '', vehicles = '', prices = '', titles = '', states = ''] = files.map((file) =>
        join(snapshot, file),
      );
      zero(lots);
      truncateSync(vehicles, 100);
      truncateSync(prices);
      rmSync(titles);
      const bytes = readFileSync(states);
      bytes[20] = (bytes[20] ?? 0) ^ 1;
      writeFileSync(states, bytes);
      zero(join(snapshot, 'warehouse.duckdb'));
    });
    const torn = problems.filter((problem) => problem.torn).map(({ file }) => file);
    expect([...new Set(torn)].sort()).toEqual([...files.slice(0, 3), 'warehouse.duckdb'].sort());
    expect(problems.map(({ file }) => file)).toEqual(expect.arrayContaining(files));
    expect(err).toContain('it is torn, 4 files are as a power cut leaves them');
  });

  it('does not crash on a manifest without runs and tables', () => {
    const { code, err } = damaged((snapshot) => {
      const manifest = JSON.parse(readFileSync(join(snapshot, 'manifest.json'), 'utf8'));
      const empty = { ...manifest, run_id: 'none', pass_ids: [], tables: {}, marts: {} };
      writeFileSync(join(snapshot, 'manifest.json'), JSON.stringify(empty));
    });
    expect(code).toBe(5);
    expect(err).toContain('LAKE_UNSOUND');
    expect(err).not.toContain('unexpected');
  });
});

describe('lotlake vacuum', () => {
  let before: Map<string, PlainRow[]>;

  it('is refused while a run is at work, and names the run', async () => {
    const { release } = await takeLock(layout.lock, { pipeline: 'nightly', now: new Date() });
    const { code, err } = lotlake('vacuum', '--dry-run');
    release();
    expect(code).toBe(6);
    expect(err).toMatch(
      new RegExp(`held by process ${process.pid}, which runs nightly since .* \\[LAKE_LOCKED\\]`),
    );
  });

  it('is refused, with nothing removed, where the current snapshot lacks a file', () => {
    const file = join(layout.current, fileOf(layout.current, 'titles'));
    renameSync(file, `${file}.away`);
    const { code, err } = lotlake('vacuum');
    renameSync(`${file}.away`, file);
    expect(code).toBe(5);
    expect(err).toMatch(/titles.*no file instead of .*\[LAKE_UNSOUND\]/);
    expect(listSnapshots(layout).length).toBe(4);
  });

  it('removes what its dry run lists, and frees as much as it says', async () => {
    before = await readLake(layout.current);
    writeFileSync(
      join(folder.path, 'lotlake.config.json'),
      '{"keepSnapshots": 2, "keepDays": 0, "keepPasses": {"cars": 2}}',
    );
    writeFileSync(join(layout.lake, 'current.1.tmp'), 'left');
    const dry = JSON.parse(lotlake('vacuum', '--dry-run', '--json').out);
    expect(dry.removals.map(({ kind }: { kind: string }) => kind).sort()).toEqual([
      'leftover',
      'pass',
      'snapshot',
      'snapshot',
    ]);
    const used = diskUse(folder.path);
    expect(existsSync(join(layout.lake, 'current.1.tmp'))).toBe(true);
    const done = JSON.parse(lotlake('vacuum', '--json').out);
    expect(done).toEqual({ ...dry, dry_run: false });
    expect(used - diskUse(folder.path)).toBe(done.freed);
    expect(done.freed).toBeLessThan(sum(done.removals.map(({ bytes }: { bytes: number }) => bytes)));
    expect(listSnapshots(layout).map(({ id }) => id)).toEqual(snapshots.slice(-2).map(({ id }) => id));
    expect(lotlake('vacuum').out).toContain('nothing to remove');
    expect(lotlake('verify').code).toBe(0);
  });

  it('leaves a landing from which a rebuild gives every row as it was', async () => {
    expect(readdirSync(join(layout.landing, 'cars')).length).toBe(3);
    await rebuild(jobAt(START + 2 * NIGHT));
    expectSameLake(await readLake(layout.current), before);
    expect(lotlake('verify').code).toBe(0);
  });
});
