import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { summarize } from '../../src/cli/summary.js';
import { lakeTables } from '../../src/core/lake/tables.js';
import type { RunResult } from '../../src/core/publish/step.js';
import { bareDuckDb } from './support.js';
import { type Stage, setUp } from './world-oracle.js';

const CLOCK = new Date('2026-11-09T02:00:00Z');
const NIGHTS = 7;

/** A file of a snapshot. For tables that the feed fills, it has the rows as text. */
interface KeptFile {
  readonly inode: number;
  readonly bytes: number;
  readonly rows: string | undefined;
}

interface WeekNight {
  readonly result: RunResult;
  readonly files: ReadonlyMap<string, KeptFile>;
}

/** Rows of each file of the tables that the feed fills. */
async function rowsByFile(snapshot: string): Promise<Map<string, string>> {
  const duck = await bareDuckDb();
  const found = new Map<string, string[]>();
  for (const { name } of lakeTables()) {
    const glob = join(snapshot, name, '**', '*.parquet');
    const sql = `select filename, t::varchar as text from read_parquet('${glob}', filename = true) as t order by all`;
    for (const { filename, text } of await duck.query(sql)) {
      const path = relative(snapshot, String(filename));
      const rows = found.get(path);
      // The name of the file is one of the columns.
      const row = String(text).replaceAll(snapshot, '');
      if (rows === undefined) found.set(path, [row]);
      else rows.push(row);
    }
  }
  duck.close();
  return new Map([...found].map(([path, rows]) => [path, rows.join('\n')]));
}

async function filesOf(snapshot: string): Promise<Map<string, KeptFile>> {
  const rows = await rowsByFile(snapshot);
  const entries = readdirSync(snapshot, { recursive: true, withFileTypes: true });
  return new Map(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name);
        const { ino, size } = statSync(path);
        const name = relative(snapshot, path);
        return [name, { inode: ino, bytes: size, rows: rows.get(name) }];
      }),
  );
}

describe('a week of nights in which part of the world changes', () => {
  let stage: Stage;
  const week: WeekNight[] = [];

  beforeAll(async () => {
    stage = await setUp({ vehicles: 100, seed: 11, clock: CLOCK }, { perPage: 100, referenceDays: 1000 });
    for (let night = 0; night < NIGHTS; night++) {
      stage.sandbox.setClock(new Date(CLOCK.getTime() + night * 86_400_000));
      const { result } = await stage.night();
      week.push({ result, files: await filesOf(result.snapshot) });
    }
  }, 60_000);
  afterAll(() => stage.close());

  /** Each night except the first, with the night before it. */
  const pairs = (): readonly (readonly [WeekNight, WeekNight])[] =>
    week.slice(1).flatMap((night, i) => {
      const before = week[i];
      return before === undefined ? [] : [[night, before] as const];
    });

  it('keeps every file of a partition without a change', () => {
    for (const [night, before] of pairs()) {
      const same = [...night.files].filter(
        ([path, { rows }]) => rows !== undefined && before.files.get(path)?.rows === rows,
      );
      const again = same.filter(([path, { inode }]) => before.files.get(path)?.inode !== inode);
      expect(again.map(([path]) => path)).toEqual([]);
      expect(same.length).toBeGreaterThan(15);
    }
  });

  it('writes the files of partitions with a change, and none of the night before in place', () => {
    const written = pairs().map(
      ([night, before]) =>
        [...night.files].filter(
          ([path, { rows, inode }]) => rows !== undefined && before.files.get(path)?.inode !== inode,
        ).length,
    );
    for (const count of written) expect(count).toBeGreaterThan(0);
    for (const { result, files } of week)
      for (const [path, { inode, bytes }] of files) {
        const file = join(result.snapshot, path);
        expect(existsSync(file) && [statSync(file).ino, statSync(file).size], path).toEqual([inode, bytes]);
      }
  });

  it('prints the files and bytes that it wrote and linked', () => {
    for (const [i, { result, files }] of week.entries()) {
      const known = new Set([...(week[i - 1]?.files.values() ?? [])].map(({ inode }) => inode));
      const linked = [...files.values()].filter(({ inode }) => known.has(inode));
      const written = [...files.values()].filter(({ inode }) => !known.has(inode));
      const bytes = (of: readonly KeptFile[]): number => of.reduce((sum, file) => sum + file.bytes, 0);
      expect(result.files).toEqual({
        writtenFiles: written.length,
        writtenBytes: bytes(written),
        linkedFiles: linked.length,
        linkedBytes: bytes(linked),
      });
      const megabytes = (of: readonly KeptFile[]): string => (bytes(of) / 1e6).toFixed(1);
      expect(summarize(result, { cwd: '/', called: 'lotlake', length: 'long' })).toContain(
        `files: ${written.length} written (${megabytes(written)} MB), ${linked.length} linked (${megabytes(linked)} MB)`,
      );
    }
  });
});
