import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';

const CODE =
  /'((?:USAGE|SYSTEM|INTERNAL|CONFIG|SPARK|SERVICE|EXTRACT|LAND|LOAD|LAKE|RECONCILE|MODEL|PUBLISH|ICEBERG|MIRROR|SYNC|QUERY|EXPLORE|EXPORT|DOCS|SANDBOX|RUN)_[A-Z_]+)'/g;

function sources(folder: string): string[] {
  return readdirSync(join(packageRoot, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.c?[jt]s$/.test(entry.name))
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
}

describe('docs/run/errors.md', () => {
  it('lists every error code of the code, and no other', () => {
    const inCode = [...sources('src'), ...sources('pipelines')].flatMap((text) =>
      [...text.matchAll(CODE)].map((match) => match[1]),
    );
    const page = readFileSync(join(packageRoot, 'docs', 'run', 'errors.md'), 'utf8');
    const inPage = [...page.matchAll(/^\| ([A-Z]+_[A-Z_]+) +\|/gm)].map((match) => match[1]);
    expect(inPage.length).toBeGreaterThan(20);
    expect([...new Set(inPage)].sort()).toEqual([...new Set(inCode)].sort());
  });
});
