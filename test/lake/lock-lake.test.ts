import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lockLake } from '../../src/core/job/lock-lake.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { temporaryFolder } from '../pipelines/support.js';

let root: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  root = temporaryFolder();
});
afterEach(() => root.remove());

const at = (name: string): string => join(root.path, name);
const lock = (name: string) =>
  lockLake(layoutOf(at(name)), { pipeline: 'vacuum', now: new Date('2026-11-20T02:00:00Z') });

/** Locks a lake and lets it go. Returns its id. */
async function visit(name: string): Promise<string> {
  const { lakeId, release } = await lock(name);
  release();
  return lakeId;
}

/** Makes a lake with something in it. */
async function makeLake(name: string): Promise<string> {
  mkdirSync(at(name));
  const id = await visit(name);
  const { snapshots, landing, current } = layoutOf(at(name));
  mkdirSync(join(snapshots, '20261120T020000Z-00000a'), { recursive: true });
  mkdirSync(join(landing, 'cars', '20261120T020000Z-00000a'), { recursive: true });
  symlinkSync('snapshots/20261120T020000Z-00000a', current);
  return id;
}

/** Moves a part of a lake to another disk, and leaves a link. */
function moveAway(name: string, part: string): void {
  mkdirSync(at('disk'), { recursive: true });
  renameSync(join(at(name), part), at(`disk/${part.replace('/', '-')}`));
  symlinkSync(at(`disk/${part.replace('/', '-')}`), join(at(name), part));
}

/** Copies an output folder with its links. */
const copy = (from: string, to: string): void =>
  cpSync(at(from), at(to), { recursive: true, verbatimSymlinks: true });

describe('the lock of a lake', () => {
  it.each(['lake', 'landing'])('is seen from another output folder over the same %s', async (part) => {
    await makeLake('a');
    const held = await lock('a');
    mkdirSync(at('b'));
    symlinkSync(join(at('a'), part), join(at('b'), part));
    await expect(lock('b')).rejects.toMatchObject({ code: 'LAKE_LOCKED' });
    held.release();
  });

  it('is lost if any part of it is', async () => {
    await makeLake('a');
    const held = await lock('a');
    expect(held.isHeld()).toBe(true);
    rmSync(join(layoutOf(at('a')).landing, 'lotlake.lock'));
    expect(held.isHeld()).toBe(false);
    held.release();
  });

  it('leaves nothing if a part of it is held by another', async () => {
    await makeLake('a');
    const held = await lock('a');
    mkdirSync(at('b'));
    symlinkSync(layoutOf(at('a')).landing, layoutOf(at('b')).landing);
    await expect(lock('b')).rejects.toMatchObject({ code: 'LAKE_LOCKED' });
    held.release();
    rmSync(layoutOf(at('b')).landing);
    await expect(visit('b')).resolves.toBeDefined();
  });

  it.each(['work', 'runs', 'failed-tests', 'models', 'lake/.trash', 'landing/.trash', 'landing/cars'])(
    'is refused if %s is a link',
    async (name) => {
      await makeLake('a');
      mkdirSync(at('elsewhere'));
      rmSync(join(at('a'), name), { recursive: true, force: true });
      symlinkSync(at('elsewhere'), join(at('a'), name));
      await expect(lock('a')).rejects.toMatchObject({ code: 'LAKE_NOT_OWNED' });
    },
  );
});

describe('snapshots and landing', () => {
  it.each(['lake', 'lake/snapshots', 'landing'])('may be on another disk: %s', async (part) => {
    const id = await makeLake('a');
    moveAway('a', part);
    expect(await visit('a')).toBe(id);
    expect(await visit('a')).toBe(id);
  });

  it.each(['lake/snapshots', 'landing'])('are refused to a copy that shares them: %s', async (part) => {
    const id = await makeLake('a');
    moveAway('a', part);
    await visit('a');
    copy('a', 'b');
    await expect(lock('b')).rejects.toMatchObject({ code: 'LAKE_OF_OTHERS', outcome: 'usage' });
    expect(await visit('a')).toBe(id);
    rmSync(at('a'), { recursive: true });
    expect(await visit('b')).toBe(id);
  });

  it('are refused if they lie in the folder of another lake', async () => {
    await makeLake('a');
    await makeLake('b');
    rmSync(layoutOf(at('b')).snapshots, { recursive: true });
    symlinkSync(layoutOf(at('a')).snapshots, layoutOf(at('b')).snapshots);
    await expect(lock('b')).rejects.toMatchObject({ code: 'LAKE_OF_OTHERS' });
  });

  it('are taken along by a lake that is moved or copied whole', async () => {
    const id = await makeLake('a');
    copy('a', 'b');
    expect(await visit('b')).toBe(id);
    renameSync(at('a'), at('c'));
    expect(await visit('c')).toBe(id);
  });
});

describe('the landing of another lake', () => {
  it('is refused by a lake that has published', async () => {
    await makeLake('a');
    await makeLake('b');
    rmSync(layoutOf(at('b')).landing, { recursive: true });
    cpSync(layoutOf(at('a')).landing, layoutOf(at('b')).landing, { recursive: true });
    await expect(lock('b')).rejects.toMatchObject({ code: 'LAKE_OF_OTHERS' });
  });

  it('gives its id to a lake that is made from it', async () => {
    const id = await makeLake('a');
    mkdirSync(at('b'));
    cpSync(layoutOf(at('a')).landing, layoutOf(at('b')).landing, { recursive: true });
    expect(await visit('b')).toBe(id);
    const note = JSON.parse(readFileSync(join(layoutOf(at('b')).lake, '.lake.json'), 'utf8'));
    expect(note).toEqual({ lake_id: id });
  });
});
