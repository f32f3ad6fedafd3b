import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CLI } from './support.js';

const folder = dirname(CLI);

/** The files of the bundle that are loaded with one of them, itself among them. */
function loadedWith(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  const text = readFileSync(join(folder, file), 'utf8');
  for (const [, name = ''] of text.matchAll(/^(?:import|export)\b[^'"]*["']\.\/([^"']+)["']/gm))
    loadedWith(name, found);
  return found;
}

/** The files that a command loads before it does anything. */
function filesOf(command: string): readonly string[] {
  const names = readdirSync(folder);
  const starts = ['main', 'parser', command].map((start) =>
    names.filter((name) => new RegExp(`^${start}(-[\\w-]{8})?\\.js$`).test(name)),
  );
  return [...new Set(starts.flat().flatMap((name) => [...loadedWith(name)]))];
}

// What a command loads decides how long it takes to start, on any machine and under any load.
describe('the start of', () => {
  it.each([
    ['--help', 'parser', 300_000],
    // 410,000 of them are DuckDB's package, which took longer in its 120 files.
    ['query', 'query', 1_090_000],
  ])('%s loads little', (_, command, most) => {
    const files = filesOf(command);
    const bytes = files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);
    expect(bytes).toBeLessThan(most);
  });
});
