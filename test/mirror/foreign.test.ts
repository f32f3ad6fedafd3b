import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { openMirrored } from '../../src/beyond/mirror/open.js';
import { vacuumMirror } from '../../src/beyond/mirror/vacuum-mirror.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type MemoryStore, memoryStore } from './memory-store.js';
import { lakeOf, makeSnapshot, pushTo } from './support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const nights = [18, 19].map((night) =>
  makeSnapshot(folder.path, `202611${night}T020000Z-00000a`, { 'a.parquet': `night ${night}` }),
);
const METADATA = 'tables/lots/metadata';
let store: MemoryStore;

/** What a program does that deletes rows through a writable catalog: the next version, and the hint. */
async function commitForeign(version: number): Promise<void> {
  await store.send(`${METADATA}/v${version}.metadata.json`, '{"deleted": "rows"}');
  await store.send(`${METADATA}/version-hint.text`, String(version));
  store.sent.length = 0;
}
const textOf = (name: string) => store.objects.get(name)?.body.toString();
const push = (kept = nights, more: object = {}) => pushTo(store, lakeOf(kept), undefined, more);

beforeEach(async () => {
  store = memoryStore();
  await push(nights.slice(0, 1));
});

describe('metadata that another program wrote', () => {
  it.each([
    ['if there is nothing to send', nights.slice(0, 1)],
    ['if there is a new snapshot', nights],
  ])('is refused with its table, version and object, %s', async (_, kept) => {
    await commitForeign(2);
    await expect(push(kept)).rejects.toMatchObject({
      code: 'MIRROR_FOREIGN',
      message: expect.stringContaining(`lots v2 (${METADATA}/v2.metadata.json), lots hint 2`),
    });
    expect(store.sent).toEqual([]);
    expect(textOf(`${METADATA}/version-hint.text`)).toBe('2');
  });

  it('is removed if the push is told so, and the table goes on', async () => {
    await commitForeign(2);
    expect(await push(nights, { discardForeign: true })).toMatchObject({
      pushed: ['20261119T020000Z-00000a'],
      discarded: [
        { table: 'lots', version: 'v2' },
        { table: 'lots', version: 'hint 2' },
      ],
    });
    expect(textOf(`${METADATA}/version-hint.text`)).toBe('2');
    expect(textOf(`${METADATA}/v2.metadata.json`)).toContain('20261119T020000Z-00000a');
    expect(await push()).toMatchObject({ discarded: [], finished: 0 });
  });

  it('is found under the name of a version of lotlake, too', async () => {
    const name = `${METADATA}/v1.metadata.json`;
    const own = textOf(name);
    await store.send(name, '{}');
    await expect(push()).rejects.toMatchObject({ code: 'MIRROR_FOREIGN' });
    await push(nights.slice(0, 1), { discardForeign: true });
    expect(textOf(name)).toBe(own);
  });

  it.each(['tables/mine/metadata/v1.metadata.json', `${METADATA}/v5.gz.metadata.json`])(
    'is found in %s',
    async (name) => {
      await store.send(name, '{}');
      await expect(push()).rejects.toMatchObject({ code: 'MIRROR_FOREIGN' });
      await push(nights, { discardForeign: true });
      expect(store.objects.has(name)).toBe(false);
    },
  );

  it('is found below a place where no mirror is', async () => {
    store.objects.delete('current.json');
    await expect(push()).rejects.toMatchObject({ code: 'MIRROR_FOREIGN' });
  });

  it('is not overwritten if it comes between the listing and the switch, and other objects are', async () => {
    store.before = async (call) => {
      if (call !== 'replace current.json') return;
      store.before = () => undefined;
      await commitForeign(2);
    };
    await expect(push()).rejects.toMatchObject({
      ...{ code: 'MIRROR_FOREIGN', message: expect.stringContaining('lots v2') },
      hint: expect.stringContaining('has snapshot 20261119T020000Z-00000a except'),
    });
    expect(textOf(`${METADATA}/v2.metadata.json`)).toBe('{"deleted": "rows"}');
    await expect(push()).rejects.toMatchObject({ code: 'MIRROR_FOREIGN' });
    await push(nights, { discardForeign: true });
    expect(textOf(`${METADATA}/v2.metadata.json`)).toContain('20261119T020000Z-00000a');
  });

  it('keeps a vacuum from removing anything', async () => {
    await commitForeign(2);
    const keep = { keepSnapshots: 1, keepDays: 0 };
    const warn = (): void => undefined;
    const vacuumed = vacuumMirror({ store, keep, now: () => store.now, warn, isDryRun: false });
    await expect(vacuumed).rejects.toMatchObject({ code: 'MIRROR_FOREIGN' });
    expect(store.sent).toEqual([]);
  });

  it('is left as it is by a command that reads, which warns', async () => {
    await commitForeign(2);
    const warn = vi.fn();
    const { mirror } = await openMirrored(store, { isWriter: false, warn });
    expect(mirror?.current.snapshot_id).toBe('20261118T020000Z-00000a');
    expect(warn).toHaveBeenCalledWith(expect.stringContaining('[MIRROR_FOREIGN]'));
    expect(store.sent).toEqual([]);
  });

  it('is not what a push wrote that overtook this one', async () => {
    store.before = async (call) => {
      if (call !== 'list tables/') return;
      store.before = () => undefined;
      await push();
    };
    await expect(push()).rejects.toMatchObject({ code: 'MIRROR_OVERTAKEN' });
  });
});

describe('a mirror that a killed push left', () => {
  beforeEach(async () => {
    store.before = (call) => {
      if (call.includes('v2.metadata.json')) throw new Error('killed');
    };
    await expect(push()).rejects.toThrow('killed');
    store.before = () => undefined;
    store.sent.length = 0;
  });

  it('is finished by a command that reads', async () => {
    const { finished } = await openMirrored(store, { isWriter: false, warn: vi.fn() });
    expect(finished).toBe(2);
    expect(store.sent).toEqual([`${METADATA}/v2.metadata.json`, `${METADATA}/version-hint.text`]);
  });

  it('is read as it is with credentials that may only read', async () => {
    const { LotlakeError } = await import('../../src/base/config/lotlake-error.js');
    const warn = vi.fn();
    store.before = (call) => {
      if (/^(send|replace) /.test(call)) throw new LotlakeError('MIRROR_REFUSED', '403', {});
    };
    const { mirror } = await openMirrored(store, { isWriter: false, warn });
    expect(mirror?.current.snapshot_id).toBe('20261119T020000Z-00000a');
    expect(warn).toHaveBeenCalledOnce();
  });

  it('is finished by the next push, which says so', async () => {
    expect(await push()).toMatchObject({
      pushed: [],
      finished: 2,
      files: 0,
      metadata_bytes: expect.any(Number),
    });
    expect(store.requests.put).toBeGreaterThan(0);
    expect(await push()).toMatchObject({ finished: 0, metadata_bytes: 0 });
  });
});
