import { mkdirSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pageFiles } from './own-models-page.js';
import { blocksOf, inlineOf, PAGES, shownIn } from './typed/blocks.js';
import { freshClone, type Typed } from './typed/clone.js';
import { whyCommandNotRun, whyNotRun } from './typed/not-run.js';

/** README makes the lake, and the other pages use it. */
const clone = freshClone();
afterAll(() => clone.remove());

/** The command that fills the lake whose figures the pages show. */
const START = inlineOf('README.md').find((code) => code.startsWith('npm start -- '));

let started: Typed;
let snapshot: string;
beforeAll(() => {
  started = clone.type(START ?? 'false');
  snapshot = basename(readlinkSync(join(clone.path, 'output', 'sandbox', 'lake', 'current')));
  for (const [path, text] of Object.entries(pageFiles())) {
    mkdirSync(dirname(join(clone.path, 'models', path)), { recursive: true });
    writeFileSync(join(clone.path, 'models', path), text);
  }
}, 300_000);

/** Whether text is as a page shows it, which may leave out lines with `…`. */
function expectShown(out: string, shown: string): void {
  const parts = shown.trimEnd().split(/^…$/m);
  for (const part of parts) expect(out).toContain(part.trim());
}

const commands = PAGES.flatMap((page) => blocksOf(page))
  .filter((block) => whyNotRun(block) === undefined)
  .flatMap((block) => shownIn(block).map((shown) => ({ ...shown, at: `${block.page}:${block.line}` })))
  .filter(({ command }) => whyCommandNotRun(command) === undefined);

describe('npm start', () => {
  it('publishes, and names a command that works as typed', () => {
    expect(started.err).not.toContain('fail');
    expect(started.out).toContain('is published');
    const next = /^Try next: (npx lotlake .*)$/m.exec(started.out)?.[1] ?? 'false';
    expect(clone.type(next)).toMatchObject({ code: 0 });
  });
});

describe('README and docs', () => {
  it.each(commands)(
    '$at: $command',
    ({ command, output }) => {
      const { code, out, err } = clone.type(command.replaceAll('<snapshot>', snapshot));
      expect(code, err).toBe(0);
      if (output !== undefined) expectShown(out, output);
    },
    300_000,
  );
});

describe('an installed lotlake', () => {
  it('names itself in what it says to do next', () => {
    const { out } = clone.type(
      'lotlake run nightly --sandbox --clock 2026-11-21 --vehicles 20 --output small',
    );
    const next = /^Try next: (lotlake .*)$/m.exec(out)?.[1] ?? 'false';
    expect(clone.type(next)).toMatchObject({ code: 0 });
  }, 120_000);
});

describe('a lake that was moved, in a bare DuckDB', () => {
  it('finds its files as the pages say', () => {
    const moved = join(clone.path, 'moved');
    mkdirSync(moved);
    renameSync(join(clone.path, 'output'), join(moved, 'output'));
    const database = join('output', 'sandbox', 'lake', 'current', 'warehouse.duckdb');
    expect(clone.type(`duckdb ${database} "from sales limit 3"`, moved)).toMatchObject({
      code: 1,
      err: expect.stringContaining('No files found that match the pattern'),
    });
    const ways = commands.filter(({ command }) => command.includes('set variable'));
    expect(ways.map(({ at }) => at.split(':')[0])).toEqual([
      'docs/ask/commands.md',
      'docs/ask/export.md',
      'docs/run/care.md',
    ]);
    for (const { command } of ways) {
      const { code, out, err } = clone.type(command, moved);
      expect(code, err).toBe(0);
      expect(JSON.parse(out)).toHaveLength(3);
    }
  });
});
