import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keep, keepQuery, readKept } from '../../src/ask/explore/kept.js';
import { readConfig } from '../../src/base/config/config.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const config = readConfig({ output: folder.path }, { env: {}, cwd: folder.path });
const path = join(folder.path, 'explore.json');

describe('what the pages keep', () => {
  it('changes one thing and leaves the others, for the owner alone', () => {
    expect(readKept(config)).toEqual({ servers: {}, pictures: [], queries: [] });
    keep(config, { pictures: ['copart_com'] });
    keepQuery(config, 'select 1');
    expect(readKept(config)).toEqual({ servers: {}, pictures: ['copart_com'], queries: ['select 1'] });
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('is the last 50 queries, each once, the newest first', () => {
    for (let i = 1; i <= 60; i++) keepQuery(config, `select ${i}`);
    keepQuery(config, 'select 20');
    keepQuery(config, `select '${'x'.repeat(100_000)}'`);
    const { queries } = readKept(config);
    expect(queries).toHaveLength(50);
    expect(queries.slice(0, 2)).toEqual(['select 20', 'select 60']);
    expect(queries.at(-1)).toBe('select 11');
  });

  it.each([
    ['{"queries": ', 'no JSON'],
    ['{"more": 1}', 'something else'],
    ['{"servers": {"8080": {"name": "example.com", "token": "a"}}}', 'a name that others resolve'],
  ])('is refused if the file is %s: %s', (text) => {
    writeFileSync(path, text);
    expect(() => readKept(config)).toThrow(`${path} is not what lotlake explore keeps`);
    expect(() => keep(config, { pictures: [] })).toThrow('is not what lotlake explore keeps');
  });
});
