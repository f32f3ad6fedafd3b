import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../pipelines/support.js';
import { type Ended, runLotlake } from './support.js';

const folder = temporaryFolder();
const lotlake = (...args: string[]): Ended => runLotlake(folder.path, ...args, '--json');
const SANDBOX = ['--sandbox', '--vehicles', '40', '--clock', '2026-11-20T00:00:00Z'];
let nightly: Ended;

beforeAll(() => {
  nightly = lotlake('run', 'nightly', ...SANDBOX);
  expect(nightly.code, nightly.err).toBe(0);
}, 60_000);
const backup = temporaryFolder();
afterAll(() => {
  folder.remove();
  backup.remove();
});

/** Names of members, at any depth, that are not in snake case. */
function foreignNames(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value).filter((name) => !/^[a-z0-9_:]+$/.test(name));
  return [...own, ...Object.values(value).flatMap(foreignNames)];
}

const parsed = (text: string): unknown[] =>
  text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

describe('the JSON of', () => {
  it('a run, its log and its result, has names in snake case', () => {
    expect(parsed(nightly.out)).toHaveLength(1);
    expect(foreignNames(parsed(nightly.out))).toEqual([]);
    expect(foreignNames(parsed(nightly.err))).toEqual([]);
  });

  it.each([
    ['tables'],
    ['describe', 'lots'],
    ['status'],
    ['runs'],
    ['rejects'],
    ['test', '--show'],
    ['test', '--kept'],
    ['verify'],
    ['vacuum', '--dry-run'],
    ['report'],
    ['docs'],
    ['query', 'select * from lots limit 1'],
    ['export', 'lots', '--to', join(backup.path, 'export')],
    ['backup', '--to', join(backup.path, 'copy')],
  ])('%s has names in snake case', (...args) => {
    const { code, out, err } = lotlake(...args);
    expect(code, err).toBe(0);
    expect(foreignNames(parsed(out))).toEqual([]);
  });

  it.each([
    [['describe', 'lotz'], 'QUERY_NO_TABLE'],
    [['runs', '--limt', '3'], 'USAGE_INVALID'],
    [['run', 'nightly'], 'CONFIG_INVALID'],
    [['nothing'], 'USAGE_INVALID'],
  ])('the error of %j has message, code, stage and hint', (args, code) => {
    const ended = lotlake(...args);
    expect(ended.code).toBe(2);
    const [printed] = parsed(ended.err);
    const text = expect.any(String);
    expect(printed).toEqual({ error: { message: text, code, stage: text, hint: text } });
  });
});
