import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import type { Command } from '../../src/cli/command.js';
import { LOADERS, usages } from '../../src/cli/commands.js';
import { lakeOptions } from '../../src/cli/options.js';
import { createParser } from '../../src/cli/parser.js';
import { WAREHOUSE } from '../../src/core/lake/layout.js';
import { printedBy } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';
import { pageFiles } from './own-models-page.js';
import { smallLake } from './small-lake.js';
import { blocksOf, callsIn, inlineOf, PAGES, shownIn } from './typed/blocks.js';
import { idle, whyNotRun } from './typed/not-run.js';

const blocks = PAGES.flatMap(blocksOf);
const named = blocks.map((block) => ({ ...block, at: `${block.page}:${block.line}` }));

/** Words that begin a command of a shell on our pages. */
const COMMAND = /^\s*(\$ |(npx|npm|lotlake|duckdb|export|cd|python3?) )/m;

describe('the blocks of README and docs', () => {
  it('say that they are commands where they are', () => {
    const hidden = named.filter(({ language, text }) => language === '' && COMMAND.test(text));
    expect(hidden.map(({ at }) => at)).toEqual([]);
  });

  it('are run, or there is a reason', () => {
    expect(idle(blocks)).toEqual([]);
  });
});

/** The words behind `lotlake` in the blocks of commands, run or not. */
const calls = named.flatMap((block) =>
  shownIn(block).flatMap(({ command }) => callsIn(command).map((words) => [block.at, words] as const)),
);

describe('a command of README and docs', () => {
  it.each(calls)('is understood: %s lotlake %s', async (_, words) => {
    const understood: Command[] = [];
    const screen = { width: 80, env: {}, cwd: packageRoot };
    const cli = await createParser(words, screen, (command) => void understood.push(command));
    await cli.parseAsync();
    expect(understood).toHaveLength(1);
  });

  it('is one that README, or a page for installed lotlake, can show', () => {
    // `npx` finds lotlake in a clone alone; the other pages are for those who installed it, too.
    const cloned = named.filter(({ page, text }) => page !== 'README.md' && /\bnpx lotlake\b/.test(text));
    expect(cloned.map(({ at }) => at)).toEqual([]);
  });
});

/** Inline code that names a command of lotlake, such as `lotlake test --kept`. */
const mentions = [
  ...new Set(PAGES.flatMap(inlineOf).filter((code) => /^(npx )?lotlake [a-z]/.test(code))),
].map((code) => [code, callsIn(code)] as const);

describe('inline code of README and docs', () => {
  it.each(mentions)('names commands and options that exist: %s', async (_, [words = []]) => {
    const usage = usages.find((each) => each.split(' ')[0] === words[0]);
    expect(usage, words[0]).toBeDefined();
    const options = usage === undefined ? {} : (await LOADERS[usage]()).options;
    const known = Object.keys({ ...options, ...lakeOptions, help: 0 });
    const given = words.filter((word) => word.startsWith('--')).map((word) => word.slice(2));
    expect(given.filter((option) => !known.includes(option))).toEqual([]);
  });

  it('names scripts that exist', () => {
    const { scripts } = JSON.parse(readFileSync(join(packageRoot, 'package.json'), 'utf8'));
    const called = PAGES.flatMap(inlineOf).flatMap((code) => /^npm run (\S+)/.exec(code)?.[1] ?? []);
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((name) => !(name in scripts))).toEqual([]);
  });
});

/** Queries: blocks of SQL that are no files of models, and inline code that selects. */
const files = Object.values(pageFiles());
const queries = [
  ...named
    .filter((block) => block.language === 'sql' && whyNotRun(block) === undefined)
    .filter(({ text }) => !files.includes(text))
    .map(({ at, text }) => [at, text] as const),
  ...PAGES.flatMap((page) =>
    inlineOf(page)
      .filter((code) => /^(select|from|with) .*\bfrom\b|^from ['\w]/.test(code))
      .map((code) => [page, code] as const),
  ),
];

describe('a query of README and docs', () => {
  const folder = temporaryFolder();
  const output = join(folder.path, 'output', 'sandbox');
  beforeAll(() => smallLake(output));
  afterAll(() => folder.remove());
  /** A query as it is typed in the folder that holds `output`. */
  const typed = (sql: string): string => sql.replaceAll("'output/", `'${folder.path}/output/`);

  it.each(queries)('runs in lotlake query: %s', async (_, sql) => {
    expect(String(await printedBy(output, 'query', typed(sql)))).toMatch(/\(\d+ rows?\)\n$/);
  });

  it.each(queries)('runs in a bare DuckDB on warehouse.duckdb: %s', async (_, sql) => {
    const instance = await DuckDBInstance.create(join(output, 'lake', 'current', WAREHOUSE), {
      access_mode: 'READ_ONLY',
    });
    const connection = await instance.connect();
    await connection.run(typed(sql));
    connection.closeSync();
    instance.closeSync();
  });
});
