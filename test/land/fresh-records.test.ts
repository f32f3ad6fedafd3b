import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeScratch } from '../../src/base/config/owned.js';
import { Fingerprints, printsOfPage } from '../../src/core/lake/passes/fingerprints.js';
import { landedHashes } from '../../src/core/lake/passes/group.js';
import { openPass, readPass } from '../../src/core/lake/passes/pass.js';
import { type Comparison, FreshLines } from '../../src/core/land/fresh-records.js';
import { sinksOf } from '../../src/core/land/step.js';
import { pageOf } from './support.js';

let folder: string;
beforeEach(() => {
  folder = makeScratch(join(tmpdir(), 'lotlake-fresh-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Records by a text such as `1a 2b`: an id and a letter of its content; `-` for a record without an id. */
const recordsOf = (text: string): object[] =>
  text.split(' ').map((word) => (word === '-' ? { vin: 'none' } : { id: Number(word[0]), vin: word[1] }));

/** Lands a page of records in a new pass. */
async function land(records: readonly object[], comparison?: Comparison, mostRecordBytes?: number) {
  const opening = {
    stream: 'cars',
    run_id: '20261120T020000Z-00000a',
    sequence: 1,
    origin: null,
    kind: 'full',
  } as const;
  const pass = openPass(join(folder, 'landing'), { ...opening, request: {}, contract: 'c' }, new Date());
  const fresh = comparison === undefined ? undefined : { ...comparison, folder };
  const body = (async function* () {
    yield Buffer.from(pageOf(records));
  })();
  const sink = sinksOf(pass, { fresh, mostRecordBytes })('');
  const page = await sink.land(1, { url: 'https://service.example/api/cars', body }, '2026-11-20T02:00:00Z');
  const lines = gunzipSync(readFileSync(join(pass.folder, page.file))).toString();
  const file = page.fresh?.file;
  const freshLines = file !== undefined && existsSync(file.path) ? readFileSync(file.path, 'utf8') : '';
  if (file !== undefined) rmSync(file.path, { force: true });
  return { page, pass: readPass(pass.folder), lines, freshLines };
}

/** The fingerprints of a first page with these records, and their hashes in landing. */
async function known(text: string): Promise<Required<Comparison>> {
  const { page, pass } = await land(recordsOf(text), { known: new Fingerprints() });
  return { known: page.fresh?.prints.sorted() ?? new Fingerprints(), landed: landedHashes([pass]) };
}

const asLines = (text: string): string =>
  recordsOf(text)
    .map((record) => `${JSON.stringify(record)}\n`)
    .join('');

describe('a page of a delta', () => {
  it('leaves out what the lake has and its group has landed', async () => {
    const { page, pass, lines, freshLines } = await land(
      recordsOf('1a 2x 3a - 4a'),
      await known('1a 2a 3a 4b'),
    );
    expect(lines).toBe(asLines('2x - 4a'));
    expect(freshLines).toBe(asLines('2x - 4a'));
    expect(page).toMatchObject({
      ...{ records: 5, firstId: 1, lastId: 4, held: { records: 3, bytes: lines.length } },
      fresh: { unchanged: [1, 3], file: { records: 3, lines: [0, 1, 2] } },
    });
    expect(page.bytes).toBe(asLines('1a 2x 3a - 4a').length);
    const [landed] = pass.pages;
    const [leftOut, inFile] = printsOfPage(pass.folder, landed?.prints ?? { offset: 0, records: 0 });
    expect([...leftOut.ids]).toEqual([1, 3]);
    expect([...inFile.ids]).toEqual([2, 4]);
    // The hashes of landing are those of the files alone.
    expect(landedHashes([pass])).toHaveLength(2);
  });

  it('holds what the lake has from elsewhere, which is not loaded', async () => {
    const [lake, group] = [await known('1a 2a 3a'), await known('1a 3b')];
    const { page, lines, freshLines } = await land(recordsOf('1a 2a 3a 5a'), {
      ...lake,
      landed: group.landed,
    });
    expect(lines).toBe(asLines('2a 3a 5a'));
    expect(freshLines).toBe(asLines('5a'));
    expect(page.fresh).toMatchObject({ unchanged: [1, 2, 3], file: { records: 1, lines: [2] } });
  });

  it('may hold nothing, and is read back', async () => {
    const { page, pass, lines } = await land(recordsOf('1a 2a'), await known('1a 2a'));
    expect(lines).toBe('');
    expect(pass.pages).toMatchObject([{ records: 2, held: { records: 0, bytes: 0 } }]);
    expect(page.fresh?.file?.records).toBe(0);
  });

  it('says where in the file an oversized record is', async () => {
    const large = { id: 7, vin: 'x'.repeat(200) };
    const records = [...recordsOf('1a 2a 3c'), large];
    const { page, lines } = await land(records, await known('1a 2a'), 100);
    expect(lines.split('\n')).toHaveLength(3);
    expect(page).toMatchObject({
      ...{ oversized: [{ position: 3, line: 1, id: 7 }], fits: false },
      fresh: { unchanged: [1, 2], file: { lines: [0, 1] } },
    });
  });

  it('that does not fit loads its new records alone', async () => {
    const { page, freshLines } = await land(
      [...recordsOf('1a 2b'), { id: 3, lots: 'none' }],
      await known('1a 2a'),
    );
    expect(page).toMatchObject({ fits: false, fresh: { unchanged: [1] } });
    expect(freshLines.split('\n')).toHaveLength(3);
  });
});

it('a page of a keyframe holds every record', async () => {
  const { known: lake } = await known('1a 2a');
  const { page, lines, freshLines } = await land(recordsOf('1a 2b 3a'), { known: lake });
  expect(lines).toBe(asLines('1a 2b 3a'));
  expect(freshLines).toBe(asLines('2b 3a'));
  expect(page.held).toBeUndefined();
  expect(page.fresh).toMatchObject({ unchanged: [1], file: { lines: [1, 2] } });
});

it('lines in pieces of any size end in the same files', async () => {
  const { known: lake, landed } = await known('1a 3a 4a 6a');
  const all = asLines('1a 2a 3a 4a 5a 6a 7a');
  const whole = Buffer.from(all);
  for (let first = 0; first <= 7; first++) {
    const lines = new FreshLines(join(folder, `pieces-${first}`), { known: lake, landed });
    const size = whole.length / 7;
    const take = (from: number, to: number): Buffer[] => {
      const ids = Array.from({ length: to - from }, (_, i) => from + i + 1);
      return lines.lines(
        whole.subarray(from * size, to * size),
        ids.map((_, i) => (i + 1) * size),
        ids,
      );
    };
    const written = Buffer.concat([...take(0, first), ...take(first, 7)]).toString();
    expect(written).toBe(asLines('2a 5a 7a'));
    expect(lines.held).toEqual({ records: 3, bytes: written.length });
    expect([0, 1, 2, 4, 6].map((position) => lines.lineOf(position))).toEqual([0, 0, 1, 1, 2]);
    expect(lines.end().file).toMatchObject({ records: 3, lines: [0, 1, 2] });
  }
});
