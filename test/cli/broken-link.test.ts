import { cpSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { type Usage, usages } from '../../src/cli/commands.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type HandMade, handMadeLake, LOTS } from '../query/support.js';
import { effectsIn, runCommand } from './support.js';

/** What copies and archives make of the link `current`. */
const BREAKS: readonly {
  readonly what: string;
  readonly says: string;
  readonly of: (current: string) => void;
}[] = [
  {
    what: 'became a folder, as with cp -rL',
    says: 'is a folder and no link',
    of: (current) => cpSync(join(current, '..', 'snapshots', newest(current)), current, { recursive: true }),
  },
  {
    what: 'became a file, as in an archive without links',
    says: 'is a file and no link',
    of: (current) => writeFileSync(current, `snapshots/${newest(current)}`),
  },
  { what: 'is lost', says: 'is not there', of: () => undefined },
  { what: 'leads elsewhere', says: 'leads to no snapshot', of: (current) => symlinkSync('/', current) },
];

const newest = (current: string): string =>
  readdirSync(join(current, '..', 'snapshots'))
    .sort()
    .at(-1) ?? '';

/** Arguments of each command that opens the lake of the output folder. */
const OPENING: Partial<Readonly<Record<Usage, readonly string[]>>> = {
  'query [sql]': ['query', 'select 1 from lots'],
  'export <tables..>': ['export', 'lots', '--to', 'exported'],
  'changes [tables..]': ['changes', 'lots'],
  report: ['report', '--to', 'report.html'],
  'lookup <kind> <id> [domain]': ['lookup', 'car', '1', '--lake'],
  'value [id]': ['value', '1'],
  tables: ['tables'],
  'describe <table>': ['describe', 'lots'],
  explore: ['explore'],
  'watch [name]': ['watch', 'mine'],
  docs: ['docs', '--to', 'tables.md'],
  status: ['status'],
  runs: ['runs'],
  rejects: ['rejects'],
  test: ['test'],
  'model [mirror]': ['model'],
  'diff <before> [after]': ['diff', 'current', 'current'],
  verify: ['verify'],
  vacuum: ['vacuum'],
  backup: ['backup', '--to', 'backup'],
  'sync [name]': ['sync'],
  mcp: ['mcp'],
  'push [to]': ['push', 's3://bucket/lake'],
};

/** Those that do not open it, or go on without it: a run and a pull make the link again, and doctor reports. */
const OTHERS: readonly Usage[] = [
  ...(['run <pipeline>', 'pull [to]', 'doctor', 'sandbox', 'init', 'config', 'completion <shell>'] as const),
];

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS });
});
afterAll(() => lake.remove());

it('every command either opens the lake, or is known not to', () => {
  expect([...Object.keys(OPENING), ...OTHERS].sort()).toEqual([...usages].sort());
});

describe.each(BREAKS)('a lake whose link to the published snapshot $what', ({ of, says }) => {
  const copy = temporaryFolder();
  const output = join(copy.path, 'output');
  const { current } = layoutOf(output);
  beforeAll(() => {
    cpSync(lake.config.output, output, { recursive: true, verbatimSymlinks: true });
    rmSync(current);
    of(current);
  });
  afterAll(copy.remove);

  const failure = async (args: readonly string[]): Promise<unknown> => {
    const { effects } = effectsIn(copy.path, {
      ...{ LOTLAKE_OUTPUT: output, LOTLAKE_MEMORY: '700MB', LOTLAKE_RETRY_BUDGET: '0.1' },
      ...{ LOTLAKE_BASE_URL: 'http://127.0.0.1:9/api', LOTLAKE_API_KEY: 'the-key-of-a-test' },
      ...{ AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' },
    });
    return runCommand(effects, ...args).then(
      () => 'no error',
      (error: unknown) => error,
    );
  };

  it.each(Object.entries(OPENING))('%s says so, and what to do', async (_, args) => {
    const before = readdirSync(copy.path);
    const error = await failure(args);
    if (!(error instanceof LotlakeError)) throw new Error(`not an error of lotlake: ${String(error)}`);
    expect(error, `${error.message} [${error.code}]`).toMatchObject({
      code: 'LAKE_UNSOUND',
      outcome: 'held',
    });
    expect(error.message).toContain(current);
    expect(error.message).toContain(says);
    expect(error.hint).toMatch(/^nothing was changed; .*the next run .*makes the link again/);
    expect(readdirSync(copy.path)).toEqual(before);
  });

  it('answers a query for a snapshot that is named', async () => {
    expect(await failure(['query', 'select count(*) from lots', '--snapshot', newest(current)])).toBe(
      'no error',
    );
  });
});
