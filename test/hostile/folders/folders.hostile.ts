import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../../pipelines/incremental.js';
import { nightly } from '../../../pipelines/nightly.js';
import { rebuild } from '../../../pipelines/rebuild.js';
import { layoutOf } from '../../../src/lake/layout.js';
import { describeError } from '../../../src/run/describe-error.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { effectsIn, runCommand } from '../../cli/support.js';
import {
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
  WITHOUT_MARTS,
} from '../../pipelines/support.js';

/**
 * Lakes from somewhere else: names, links and texts in their folders are replaced, and every command works on them. Nothing
 * outside the lake may be created, changed, removed or shown, and every error is one of lotlake's.
 */
const NIGHT = Date.parse('2026-11-20T02:00:00Z');
const DAY = 86_400_000;
const SECRET = 'a sentence of the thesis';
const ESCAPE = '\u001b[31m';

const base = temporaryFolder();
const original = join(base.path, 'original');
let sandbox: Sandbox;
let made = 0;

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 60, seed: 3, clock: new Date(NIGHT), faults: WITHOUT_CATALOG });
  mkdirSync(join(original, 'models'), { recursive: true });
  writeFileSync(join(original, 'models', 'mine.sql'), 'select lot_id from lots');
  writeFileSync(
    join(original, 'models', 'mine.yml'),
    'description: mine\ngrain: one row a lot\nkey: [lot_id]\ncolumns:\n  lot_id: {description: the lot}\n',
  );
  const output = join(original, 'lake');
  for (const night of [0, 1]) {
    const now = new Date(NIGHT + night * DAY);
    sandbox.setClock(now);
    const config = configFor(sandbox.url, output, {
      ...{ referenceDays: 1000, apiKey: sandbox.apiKey },
      models: join(original, 'models'),
    });
    await nightly({ config, reporter: silentReporter(), now: () => now });
  }
  const failed = layoutOf(output).failedTests;
  mkdirSync(failed);
  const run_id = readdirSync(layoutOf(output).runs)[0];
  const tests = [
    { model: 'lots', test: 'unique', severity: 'error', failures: 1, kept: 1, file: '001-lots.parquet' },
  ];
  const kept = { run_id, pipeline: 'nightly', started_at: new Date(NIGHT).toISOString(), tests };
  writeFileSync(join(failed, 'failed-tests.json'), JSON.stringify(kept));
  const victim = join(original, 'victim');
  mkdirSync(join(victim, 'docs', '.ssh'), { recursive: true });
  writeFileSync(join(victim, 'thesis.txt'), SECRET);
  writeFileSync(join(victim, 'docs', '.ssh', 'id'), SECRET);
  const instance = await DuckDBInstance.create(':memory:');
  const connection = await instance.connect();
  for (const path of [join(victim, 'docs', 'data_0.parquet'), join(failed, '001-lots.parquet')])
    await connection.run(
      `copy (select 1 as lot_id, ${path.startsWith(victim) ? `'${SECRET}'` : "'a row'"} as found) to '${path}' (format parquet)`,
    );
  connection.closeSync();
  instance.closeSync();
}, 120_000);
afterAll(async () => {
  await sandbox.close();
  base.remove();
});

/** The parts of a copy of the lake. */
interface Copy {
  /** Folder of all that belongs to the copy. */
  readonly top: string;
  /** Folder of the output folder, a victim, and what commands write. */
  readonly root: string;
  readonly output: string;
  readonly victim: string;
  readonly snapshot: string;
  readonly older: string;
  readonly pass: string;
  readonly run: string;
}

/** Folders above the lake that belong to the copy: a name that leads out by some steps is seen there, too. */
const ABOVE = 'a/b/c';

function copy(): Copy {
  const top = join(base.path, `copy-${made++}`);
  const root = join(top, ABOVE);
  cpSync(original, root, { recursive: true, verbatimSymlinks: true });
  for (let at = dirname(root); at !== base.path; at = dirname(at))
    cpSync(join(original, 'victim'), join(at, 'victim'), { recursive: true });
  const output = join(root, 'lake');
  const { snapshots, landing, runs } = layoutOf(output);
  const [older = '', newer = ''] = readdirSync(snapshots)
    .filter((name) => !name.startsWith('.'))
    .sort();
  const [, pass = ''] = readdirSync(join(landing, 'cars')).sort();
  const [, run = ''] = readdirSync(runs).sort();
  return {
    ...{ top, root, output, victim: join(root, 'victim') },
    ...{ snapshot: join(snapshots, newer), older: join(snapshots, older) },
    ...{ pass: join(landing, 'cars', pass), run: join(runs, run) },
  };
}

/** What lies outside of the lake: every path with its kind and content. */
function outside({ top, root, output }: Copy): string[] {
  const made = [output, join(root, 'out'), join(root, 'cwd')];
  return readdirSync(top, { recursive: true, withFileTypes: true })
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !made.some((folder) => path === folder || path.startsWith(`${folder}/`)))
    .map((path) => {
      const { mode, mtimeMs } = lstatSync(path);
      const found = lstatSync(path);
      const content = found.isSymbolicLink() ? readlinkSync(path) : found.isFile() ? hashOf(path) : 'folder';
      return `${relative(top, path)} ${mode} ${found.isDirectory() ? '' : mtimeMs} ${content}`;
    })
    .sort();
}

const hashOf = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

/** Every other command that reads or changes a lake. */
const COMMANDS: readonly (readonly string[])[] = [
  ['status'],
  ['runs'],
  ['tables'],
  ['describe', 'lots'],
  ['query', 'select * from lots limit 3'],
  ['query', 'select * from mine limit 3'],
  ['query', 'select * from vehicle_timeline limit 3'],
  ['rejects'],
  ['test', '--kept', '--show', '3'],
  ['test', '--model', 'mine'],
  ['verify'],
  ['report', '--to', '{out}/report.html'],
  ['docs', '--to', '{out}/docs'],
  ['export', 'lots', '--to', '{out}/lots'],
  ['diff', '{older}', 'current'],
  ['doctor', '--offline'],
  ['vacuum', '--dry-run'],
  ['backup', '--to', '{out}/backup'],
  ['vacuum'],
];

/** The pipelines that work on what is there. They run without marts, which take most of their time. */
const PIPELINES = { incremental, rebuild } as const;

/** Runs every command and pipeline on a copy. Returns the codes of the errors. */
async function workOn(made: Copy): Promise<Record<string, string>> {
  const out = join(made.root, 'out');
  const cwd = join(made.root, 'cwd');
  for (const folder of [out, cwd]) mkdirSync(folder, { recursive: true });
  const codes: Record<string, string> = {};
  /** Does some work, and looks at its error and at what it printed. */
  const attempt = async (
    name: string,
    work: () => Promise<unknown>,
    printed: () => string,
  ): Promise<void> => {
    let message = '';
    try {
      await work();
    } catch (error) {
      const described = describeError(error);
      codes[name] = described.code;
      message = described.message;
      const stack = error instanceof Error ? error.stack : '';
      expect(described.code, `${name}: ${message}\n${stack}`).not.toBe('INTERNAL_ERROR');
    }
    const text = printed() + message;
    expect(text.includes(SECRET), `${name} shows a file of others: ${text}`).toBe(false);
    expect(printed().includes(ESCAPE), `${name} prints an escape code`).toBe(false);
  };
  for (const command of COMMANDS) {
    const args = command.map((word) => word.replace('{out}', out).replace('{older}', basename(made.older)));
    const printed = effectsIn(cwd, {
      LOTLAKE_OUTPUT: made.output,
      LOTLAKE_MEMORY: '700MB',
      LOTLAKE_ORIGIN: 'test',
    });
    const effects = { ...printed.effects, now: () => sandbox.clock };
    const name = args.slice(0, 2).join(' ').replace(` ${out}`, '');
    await attempt(
      name,
      () => runCommand(effects, ...args),
      () => printed.out() + printed.err(),
    );
  }
  for (const [name, pipeline] of Object.entries(PIPELINES)) {
    const reporter = silentReporter();
    const config = configFor(sandbox.url, made.output, { apiKey: sandbox.apiKey, retryBudget: 1 });
    const options = { config, reporter, now: () => sandbox.clock, ...WITHOUT_MARTS };
    await attempt(
      name,
      () => pipeline(options),
      () => reporter.warnings.join(),
    );
  }
  for (const path of readdirSync(out, { recursive: true }).map(String)) {
    expect(/[\u0000-\u001f]/.test(path), `a file is named ${JSON.stringify(path)}`).toBe(false);
    const full = join(out, path);
    if (lstatSync(full).isFile() && /\.(html|csv|md|json|js)$/.test(path))
      expect(readFileSync(full, 'utf8').includes(SECRET), path).toBe(false);
  }
  return codes;
}

type Change = (made: Copy) => void | Promise<void>;

/** What is changed in a lake, and the commands that have to succeed all the same. */
type Case = [name: string, change: Change, succeeding?: readonly string[]];

/** Changes the JSON of a file. */
const changed =
  (fileOf: (made: Copy) => string, change: (content: Record<string, never>, made: Copy) => void): Change =>
  (made) => {
    const path = fileOf(made);
    const content = JSON.parse(readFileSync(path, 'utf8'));
    change(content, made);
    writeFileSync(path, JSON.stringify(content));
  };

/** Sets a member at a path such as `tables.lots.files.0.path`. */
function setAt(content: unknown, path: string, value: unknown): void {
  const steps = path.split('.');
  const last = steps.pop() ?? '';
  const parent = steps.reduce<unknown>((at, step) => Reflect.get(Object(at), step), content);
  Reflect.set(Object(parent), last, value);
}

/** Puts a link in place of a file or folder. Its content goes to the victim. */
const linked =
  (placeOf: (made: Copy) => string, target: 'file' | 'folder' | 'moved'): Change =>
  (made) => {
    const place = placeOf(made);
    const isParquet = place.endsWith('.parquet');
    const moved = join(made.victim, 'moved');
    mkdirSync(dirname(place), { recursive: true });
    if (existsSync(place)) target === 'moved' ? cpSync(place, moved, { recursive: true }) : undefined;
    rmSync(place, { recursive: true, force: true });
    symlinkSync(
      {
        file: join(made.victim, isParquet ? 'docs/data_0.parquet' : 'thesis.txt'),
        folder: made.victim,
        moved,
      }[target],
      place,
    );
  };

/** The places of a lake whose names or contents are believed. */
const PLACES: Readonly<Record<string, (made: Copy) => string>> = {
  'the trash of the lake': ({ output }) => join(output, 'lake', '.trash'),
  'the trash of landing': ({ output }) => join(output, 'landing', '.trash'),
  work: ({ output }) => join(output, 'work'),
  runs: ({ output }) => join(output, 'runs'),
  'a run': ({ run }) => run,
  'the record of a run': ({ run }) => join(run, 'run.json'),
  'failed-tests': ({ output }) => join(output, 'failed-tests'),
  'the list of failed tests': ({ output }) => join(output, 'failed-tests', 'failed-tests.json'),
  'the rows of a failed test': ({ output }) => join(output, 'failed-tests', '001-lots.parquet'),
  models: ({ output }) => join(output, 'models'),
  current: ({ output }) => join(output, 'lake', 'current'),
  'the note of the lake': ({ output }) => join(output, 'lake', '.lake.json'),
  'the note of landing': ({ output }) => join(output, 'landing', '.lake.json'),
  'a snapshot': ({ snapshot }) => snapshot,
  'an older snapshot': ({ older }) => older,
  'a manifest': ({ snapshot }) => join(snapshot, 'manifest.json'),
  'a warehouse': ({ snapshot }) => join(snapshot, 'warehouse.duckdb'),
  fingerprints: ({ snapshot }) => join(snapshot, 'fingerprints.bin'),
  'a table': ({ snapshot }) => join(snapshot, 'lots'),
  'a mart': ({ snapshot }) => join(snapshot, 'sales'),
  'the file of a mart': ({ snapshot }) => join(snapshot, 'mine', 'data_0.parquet'),
  'a stray file of a mart': ({ snapshot }) => join(snapshot, 'mine', 'more.parquet'),
  'a stream': ({ output }) => join(output, 'landing', 'cars'),
  'a pass': ({ pass }) => pass,
  'a pass.json': ({ pass }) => join(pass, 'pass.json'),
  'the scratch of a pass.json': ({ pass }) => join(pass, 'pass.json.tmp'),
  'a ledger': ({ pass }) => join(pass, 'pages.ndjson'),
  'the scratch of a warehouse': ({ output }) => join(output, 'lake', `warehouse.${process.pid}.tmp`),
};

const links = Object.entries(PLACES).flatMap(([name, place]) =>
  (['file', 'folder', 'moved'] as const).map(
    (target): Case => [
      `${name} is a link to ${target === 'moved' ? 'its own content outside' : `a ${target} outside`}`,
      linked(place, target),
    ],
  ),
);

/** Texts in place of names, ids and paths. */
const TEXTS: readonly (readonly [what: string, value: unknown])[] = [
  ['leads out by two steps', '../../victim/docs'],
  ['leads out by three steps', '../../../victim/docs'],
  ['leads out by four steps', '../../../../victim/docs'],
  ['is an absolute path', ({ victim }: Copy) => join(victim, 'docs')],
  ['has a line break', 'a\nb'],
  ['has an escape code', `${ESCAPE}<b>red</b>`],
  ['has 300 characters', 'x'.repeat(300)],
  ['is a number', 5],
  ['is an object', { a: 1 }],
];

/** Members by file whose values become names of files, or parts of SQL. */
const MEMBERS: readonly (readonly [
  file: string,
  place: (made: Copy) => string,
  members: readonly string[],
])[] = [
  [
    'manifest.json',
    ({ snapshot }) => join(snapshot, 'manifest.json'),
    [
      'snapshot_id',
      'run_id',
      'tables.lots.files.0.path',
      'marts.mine.files.0.path',
      'own.models.0.name',
      'tables.lots.columns.0.name',
      'pass_ids.0',
      'created_at',
    ],
  ],
  ['run.json', ({ run }) => join(run, 'run.json'), ['run_id', 'snapshot_id', 'pipeline', 'error']],
  ['pass.json', ({ pass }) => join(pass, 'pass.json'), ['pass_id', 'run_id', 'stream', 'origin']],
  [
    'failed-tests.json',
    ({ output }) => join(output, 'failed-tests', 'failed-tests.json'),
    ['run_id', 'tests.0.file', 'tests.0.model'],
  ],
  ['.lake.json', ({ output }) => join(output, 'landing', '.lake.json'), ['lake_id', 'at', 'output']],
];

const texts = MEMBERS.flatMap(([file, place, members]) =>
  members.flatMap((member, i) =>
    // Each text for the first member of a file, and one in turn for the others.
    TEXTS.filter((_, t) => i === 0 || t === i % TEXTS.length).map(
      ([what, value]): Case => [
        `${member} in ${file} ${what}`,
        changed(place, (content, made) =>
          setAt(content, member, typeof value === 'function' ? value(made) : value),
        ),
      ],
    ),
  ),
);

/** Lakes that need more than a link or a text. */
const others: readonly Case[] = [
  [
    'a mart is named as a path',
    changed(
      ({ snapshot }) => join(snapshot, 'manifest.json'),
      (content) => {
        const marts = Object(Reflect.get(content, 'marts'));
        setAt(content, 'marts', { ...marts, '../../../victim/docs/pwn': marts.sales });
      },
    ),
  ],
  [
    'a model of the user is named as a path',
    changed(
      ({ snapshot }) => join(snapshot, 'manifest.json'),
      (content) => setAt(content, 'own.models.0.name', '../../../victim/docs/pwn'),
    ),
  ],
  [
    'a check reads a file of others',
    (made) => {
      const sql = `select content from read_text('${join(made.victim, 'thesis.txt')}')`;
      const check = { model: 'checks', test: 'mine', description: 'mine', severity: 'error', sql };
      changed(
        ({ snapshot }) => join(snapshot, 'manifest.json'),
        (content) => setAt(content, 'own.checks', [check]),
      )(made);
    },
  ],
  [
    'a view of the warehouse reads a file of others',
    async ({ snapshot, victim }) => {
      const instance = await DuckDBInstance.create(join(snapshot, 'warehouse.duckdb'));
      const connection = await instance.connect();
      const found = `read_text('${join(victim, 'thesis.txt')}')`;
      await connection.run(`create or replace view lots as from ${found} where content::int = 1`);
      connection.closeSync();
      instance.closeSync();
    },
  ],
  [
    'a view of the manifest reads a file of others',
    (made) =>
      changed(
        ({ snapshot }) => join(snapshot, 'manifest.json'),
        (content) =>
          setAt(
            content,
            'views.vehicle_timeline.sql',
            `select content from read_text('${join(made.victim, 'thesis.txt')}')`,
          ),
      )(made),
  ],
  [
    'a view of the manifest holds a second statement',
    (made) =>
      changed(
        ({ snapshot }) => join(snapshot, 'manifest.json'),
        (content) =>
          setAt(
            content,
            'views.vehicle_timeline.sql',
            `select 1; copy (select 1) to '${join(made.victim, 'copied.csv')}'`,
          ),
      )(made),
  ],
  [
    'a page of a pass is named as a path',
    ({ pass }) => {
      const path = join(pass, 'pages.ndjson');
      const [first = ''] = readFileSync(path, 'utf8').split('\n');
      writeFileSync(
        path,
        JSON.stringify({
          ...JSON.parse(first),
          file: '../../../../victim/thesis.txt',
          fileBytes: SECRET.length,
        }),
      );
    },
  ],
  [
    'a run is renamed, and old',
    ({ run }) => {
      const old = new Date(Date.now() - 500 * DAY);
      utimesSync(join(run, 'run.json'), old, old);
      renameSync(run, `${run}.old`);
    },
    ['vacuum', 'vacuum --dry-run', 'runs', 'status', 'rebuild'],
  ],
  [
    'an old run names a folder of others',
    (made) => {
      changed(
        ({ run }) => join(run, 'run.json'),
        (content) => setAt(content, 'run_id', '../../victim/docs'),
      )(made);
      const old = new Date(Date.now() - 500 * DAY);
      utimesSync(join(made.run, 'run.json'), old, old);
    },
  ],
  [
    'a run that is at work names a folder of others',
    changed(
      ({ run }) => join(run, 'run.json'),
      (content) =>
        Object.assign(content, {
          run_id: '../../victim/docs',
          outcome: 'running',
          exit_code: null,
          ended_at: null,
        }),
    ),
  ],
  [
    'landing is that of another lake',
    changed(
      ({ output }) => join(output, 'landing', '.lake.json'),
      (content) => Object.assign(content, { lake_id: '0123456789abcdef' }),
    ),
  ],
];

const all: readonly Case[] = [...others, ...links, ...texts];

/** All lakes, or some of each kind. */
const share = Number(process.env.LOTLAKE_LAKES ?? all.length) / all.length;
const cases = all.filter((_, i) => Math.floor((i + 1) * share) > Math.floor(i * share));

describe(`every command on ${cases.length} lakes from somewhere else`, () => {
  it('succeeds on the lake as it was made', { timeout: 120_000 }, async () => {
    const made = copy();
    const before = outside(made);
    expect(await workOn(made)).toEqual({});
    expect(outside(made)).toEqual(before);
  });

  it.each(cases)('%s', { timeout: 120_000 }, async (_, change, succeeding = []) => {
    const made = copy();
    await change(made);
    const before = outside(made);
    const codes = await workOn(made);
    expect(Object.keys(codes).filter((name) => succeeding.includes(name))).toEqual([]);
    expect(outside(made)).toEqual(before);
    rmSync(made.top, { recursive: true, force: true });
  });
});
