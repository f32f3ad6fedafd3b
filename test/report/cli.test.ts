import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runLotlake } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const lotlake = (...args: string[]) => runLotlake(folder.path, ...args);
const night = (clock: string, ...more: string[]) =>
  lotlake('run', 'nightly', '--sandbox', '--vehicles', '60', '--clock', clock, ...more);
const path = join(folder.path, 'report.html');

beforeAll(() => {
  const run = night('2026-11-20T04:00:00Z');
  expect(run.code, run.err).toBe(0);
  expect(run.out.trimEnd().split('\n').at(-1)).toBe('Report: report.html');
});
afterAll(() => folder.remove());

describe('lotlake report', () => {
  it('writes the report again, to its default path or another', () => {
    const before = readFileSync(path, 'utf8');
    rmSync(path);
    expect(lotlake('report').out).toBe('report.html\n');
    expect(readFileSync(path, 'utf8')).toBe(before);
    const other = join('handed', 'over.html');
    const answer = JSON.parse(lotlake('report', '--to', other, '--json').out);
    expect(readFileSync(answer.report, 'utf8')).toBe(before);
  });

  it('reports that there is no snapshot if nothing is published', () => {
    const empty = temporaryFolder();
    const { code, err } = runLotlake(empty.path, 'report');
    expect(code).toBe(1);
    expect(err).toContain('QUERY_NO_SNAPSHOT');
    empty.remove();
  });
});

describe('a run whose report cannot be written', () => {
  it('is published, warns, and names no report', () => {
    rmSync(path);
    mkdirSync(path);
    writeFileSync(join(path, 'in-the-way'), '');
    const { code, out, err } = night('2026-11-21T04:00:00Z', '--json');
    expect(code, err).toBe(0);
    expect(err).toContain('its report could not be written');
    const result = JSON.parse(out);
    expect(result.report).toBe(null);
    expect(JSON.parse(lotlake('status', '--json').out).current.snapshot_id).toBe(result.snapshot_id);
    expect(statSync(path).isDirectory()).toBe(true);
  });
});
