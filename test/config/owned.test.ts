import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  append,
  copyNew,
  makeFolder,
  makeHardLink,
  makeLink,
  makeNewFolder,
  move,
  openNew,
  own,
  ownNamed,
  realPlace,
  remove,
  removeEmpty,
  removeLarge,
  replaceFile,
  streamNew,
  touchLink,
  writeNew,
} from '../../src/base/config/owned.js';
import { temporaryFolder } from '../pipelines/support.js';

let folder: ReturnType<typeof temporaryFolder>;
let lake: string;
let victim: string;
beforeEach(() => {
  folder = temporaryFolder();
  lake = own(join(folder.path, 'lake'));
  victim = join(folder.path, 'victim');
  for (const path of [lake, victim, join(victim, 'docs')]) mkdirSync(path);
  writeFileSync(join(victim, 'thesis.txt'), 'a thesis');
  symlinkSync(victim, join(lake, 'out'));
});
afterEach(() => folder.remove());

const inVictim = (): string[] => readdirSync(victim, { recursive: true }).map(String).sort();
const isUntouched = (): void => {
  expect(inVictim()).toEqual(['docs', 'thesis.txt']);
  expect(readFileSync(join(victim, 'thesis.txt'), 'utf8')).toBe('a thesis');
};

/** Each function that changes a path. */
const CHANGES: readonly (readonly [name: string, change: (path: string) => unknown])[] = [
  ['makeFolder', makeFolder],
  ['makeNewFolder', makeNewFolder],
  ['writeNew', (path) => writeNew(path, '')],
  ['streamNew', streamNew],
  ['openNew', openNew],
  ['append', (path) => append(path, 'more')],
  ['replaceFile', (path) => replaceFile(path, 'other')],
  ['move from', (path) => move(path, join(lake, 'moved'))],
  ['move to', (path) => move(join(lake, 'own'), path)],
  ['makeHardLink', (path) => makeHardLink(join(lake, 'own'), path)],
  ['copyNew', (path) => copyNew(join(lake, 'own'), path)],
  ['makeLink', (path) => makeLink('text', path)],
  ['touchLink', touchLink],
  ['remove', remove],
  ['removeLarge', removeLarge],
  ['removeEmpty', removeEmpty],
];

describe('a change behind a link that leads out of the lake', () => {
  it.each(CHANGES)('is refused by %s', async (_, change) => {
    writeFileSync(join(lake, 'own'), 'own');
    for (const name of ['new', 'thesis.txt', 'docs', 'docs/new']) {
      const changed = async (): Promise<unknown> => change(join(lake, 'out', name));
      await expect(changed()).rejects.toMatchObject({ code: 'LAKE_NOT_OWNED' });
    }
    isUntouched();
  });

  it.each(CHANGES)('is refused by %s also if the link leads nowhere yet', async (_, change) => {
    symlinkSync(join(folder.path, 'elsewhere'), join(lake, 'nowhere'));
    writeFileSync(join(lake, 'own'), 'own');
    const changed = async (): Promise<unknown> => change(join(lake, 'nowhere', 'new'));
    await expect(changed()).rejects.toMatchObject({ code: 'LAKE_NOT_OWNED' });
    expect(existsSync(join(folder.path, 'elsewhere'))).toBe(false);
  });
});

describe('a name that is a link out of the lake', () => {
  it.each([
    ['writeNew', (path: string) => writeNew(path, '')],
    ['openNew', openNew],
    ['append', (path: string) => append(path, 'more')],
    ['copyNew', (path: string) => copyNew(join(lake, 'own'), path)],
  ])('is not followed by %s', (_, change) => {
    writeFileSync(join(lake, 'own'), 'own');
    symlinkSync(join(victim, 'thesis.txt'), join(lake, 'file'));
    expect(() => change(join(lake, 'file'))).toThrow(/EEXIST|ELOOP/);
    isUntouched();
  });

  it('is replaced itself', () => {
    symlinkSync(join(victim, 'thesis.txt'), join(lake, 'file'));
    replaceFile(join(lake, 'file'), 'own');
    expect(readFileSync(join(lake, 'file'), 'utf8')).toBe('own');
    isUntouched();
  });

  it('is removed itself, also within a folder', () => {
    mkdirSync(join(lake, 'deep'));
    symlinkSync(victim, join(lake, 'deep', 'docs'));
    remove(join(lake, 'deep'));
    remove(join(lake, 'out'));
    expect(readdirSync(lake)).toEqual([]);
    isUntouched();
  });

  it('is no folder to make things in', () => {
    expect(() => makeFolder(join(lake, 'out'))).toThrow('leads to');
    removeEmpty(join(lake, 'out'));
    isUntouched();
  });
});

describe('what may be a link', () => {
  it('is a folder that lotlake owns', () => {
    const disk = join(folder.path, 'disk');
    mkdirSync(disk);
    const linked = own(join(lake, 'snapshots'));
    symlinkSync(disk, linked);
    makeFolder(join(linked, 'one'));
    writeNew(join(linked, 'one', 'file'), 'text');
    expect(readdirSync(disk)).toEqual(['one']);
  });

  it('is a file that the user named, to which lines are added', () => {
    const named = join(folder.path, 'log');
    symlinkSync(join(victim, 'thesis.txt'), named);
    append(ownNamed(named), ', continued');
    expect(readFileSync(join(victim, 'thesis.txt'), 'utf8')).toBe('a thesis, continued');
  });
});

it('a place that lotlake does not own is no place for a change', () => {
  expect(() => writeNew('/nobody-owns-this', '')).toThrow('in no folder of lotlake');
});

it('a real place needs not exist', () => {
  const root = realpathSync(folder.path);
  expect(realPlace(join(lake, 'out', 'a', 'b'))).toBe(join(root, 'victim', 'a', 'b'));
  symlinkSync('nothing', join(lake, 'nowhere'));
  expect(realPlace(join(lake, 'nowhere', 'a'))).toBe(join(root, 'lake', 'nothing', 'a'));
});

/** Functions of node:fs that change no path: those that read, and those of open files. */
const READS =
  /^(existsSync|statSync|lstatSync|readFileSync|readdirSync|readlinkSync|realpathSync|accessSync|statfsSync|constants|createReadStream|openSync|open|readSync|closeSync|fsync|fsyncSync|fstatSync|readFile|stat|type Stats|writeSync)$/;

/** Files without a lake: the embedded service writes none, and this one is what all others use. */
const ELSEWHERE = ['src/base/config/owned.ts'];

it('no other module changes files', () => {
  const files = ['src', 'pipelines'].flatMap((root) =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  expect(files.length).toBeGreaterThan(200);
  const changing = files
    .filter((file) => !ELSEWHERE.includes(file))
    .flatMap((file) => {
      const text = readFileSync(file, 'utf8');
      const imports = [...text.matchAll(/import (?:\{([^}]*)\}|([^'{]*)) from 'node:fs(?:\/promises)?'/g)];
      const names = imports.flatMap(
        ([, named, all]) => named?.split(',').map((name) => name.trim()) ?? [all ?? ''],
      );
      const other = names.filter((name) => name !== '' && !READS.test(name));
      const opens = [...text.matchAll(/openSync\(.*/g)].filter(([call]) => !call.includes(", 'r')"));
      const promised = names.includes('open') ? [...text.matchAll(/(?<![.\w])open\([^)]*,[^)]*\)/g)] : [];
      return [...other, ...[...opens, ...promised].map(([found]) => found)].map((what) => `${file}: ${what}`);
    });
  expect(changing).toEqual([]);
});
