import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';

const DAY = 86_400_000;
/** What the file of somebody else says. No command may show it. */
export const SECRET = 'a sentence of the thesis';
export const ESCAPE = '\u001b[31m';

/** The parts of a copy of the lake. */
export interface Copy {
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

type Change = (made: Copy) => void | Promise<void>;

/** What is changed in a lake, and the commands that have to succeed all the same. */
export type Case = [name: string, change: Change, succeeding?: readonly string[]];

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

/** Gives a view of the newest snapshot other SQL. */
const withView = (sqlOf: (made: Copy) => string): Change =>
  changed(
    ({ snapshot }) => join(snapshot, 'manifest.json'),
    (content, made) => setAt(content, 'views.vehicle_timeline.sql', sqlOf(made)),
  );

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
    withView(({ victim }) => `select content from read_text('${join(victim, 'thesis.txt')}')`),
  ],
  [
    'a view of the manifest holds a second statement',
    withView(({ victim }) => `select 1; copy (select 1) to '${join(victim, 'copied.csv')}'`),
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

/** Every lake from somewhere else. */
export const all: readonly Case[] = [...others, ...links, ...texts];
