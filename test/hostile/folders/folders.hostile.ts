import { createHash } from 'node:crypto';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { incremental } from '../../../pipelines/incremental.js';
import { nightly } from '../../../pipelines/nightly.js';
import { rebuild } from '../../../pipelines/rebuild.js';
import { describeError } from '../../../src/core/job/describe-error.js';
import { layoutOf } from '../../../src/core/lake/layout.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { effectsIn, runCommand } from '../../cli/support.js';
import {
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
  WITHOUT_MARTS,
} from '../../pipelines/support.js';
import { all, type Copy, ESCAPE, SECRET } from './cases.js';

/**
 * Lakes from somewhere else: names, links and texts in their folders are replaced, and every command works on them. Nothing
 * outside the lake may be created, changed, removed or shown, and every error is one of lotlake's.
 */
const NIGHT = Date.parse('2026-11-20T02:00:00Z');
const DAY = 86_400_000;

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
  ['docs', '--to', '{out}/tables.md'],
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
