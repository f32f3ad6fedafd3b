import { cpSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { bareDuckDb, temporaryFolder } from '../pipelines/support.js';
import { runLotlake } from './support.js';
import { fileOf, threeNights } from './three-nights.js';

const { folder, layout, lotlake, snapshots } = threeNights();

/** Overwrites a file with zeros. */
const zero = (file: string): void => writeFileSync(file, Buffer.alloc(statSync(file).size));

describe('lotlake verify', () => {
  const copies: ReturnType<typeof temporaryFolder>[] = [];
  afterAll(() => {
    for (const copy of copies) copy.remove();
  });

  /** Damages a copy of the lake. Returns what verify finds in it. */
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

  it('says of a missing file that it is missing, and counts what follows from that', () => {
    const { problems } = damaged((snapshot) => rmSync(join(snapshot, fileOf(snapshot, 'titles'))));
    expect(problems).toMatchObject([
      { table: 'titles', check: 'presence', found: 'no file' },
      { table: 'snapshot', found: expect.stringMatching(/^\d+ tables? (and|or) tests? that cannot be read/) },
    ]);
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

  it('distinguishes truncated and zeroed files from other damage', () => {
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
      const empty = { ...manifest, run_id: '20261120T020000Z-00000a', pass_ids: [], tables: {}, marts: {} };
      writeFileSync(join(snapshot, 'manifest.json'), JSON.stringify(empty));
    });
    expect(code).toBe(5);
    expect(err).toContain('LAKE_UNSOUND');
    expect(err).not.toContain('unexpected');
  });
});
