import { chmodSync, chownSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readConfig, readOutput } from '../../src/base/config/config.js';
import { temporaryFolder } from '../pipelines/support.js';

const OTHER = 65_534;
const isRoot = process.getuid?.() === 0;
let folder: ReturnType<typeof temporaryFolder>;
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'lotlake.config.json');
  writeFileSync(file, JSON.stringify({ baseUrl: 'https://other.example/api' }));
});
afterEach(() => folder.remove());

const read = (more: { cwd?: string; configFile?: string; env?: NodeJS.ProcessEnv } = {}) => {
  const { cwd = folder.path, configFile, env = {} } = more;
  return readConfig(configFile === undefined ? {} : { configFile }, { env, cwd });
};
const env = (text = 'LOTLAKE_BASE_URL=https://other.example/api'): string => {
  const path = join(folder.path, '.env');
  writeFileSync(path, text, { mode: 0o600 });
  return path;
};
const models = (): string => {
  const path = join(folder.path, 'models');
  mkdirSync(path);
  writeFileSync(join(path, 'mine.sql'), 'select 1 as one');
  return path;
};

describe.runIf(isRoot)('settings of another user', () => {
  it('are refused in the working folder and above it, and are read if they are named', () => {
    const below = join(folder.path, 'a', 'b');
    mkdirSync(below, { recursive: true });
    chownSync(file, OTHER, OTHER);
    for (const cwd of [folder.path, below])
      expect(() => read({ cwd })).toThrow('belongs to another user (uid 65534)');
    expect(read({ configFile: file }).baseUrl).toBe('https://other.example/api');
  });

  it('do not say where the record of a refused run is written', () => {
    chownSync(file, OTHER, OTHER);
    expect(() => readOutput({}, { env: {}, cwd: folder.path })).toThrow('belongs to another user');
  });

  it('are refused if only the link to them is theirs', () => {
    const mine = join(folder.path, 'mine.json');
    writeFileSync(mine, '{}');
    const linked = join(folder.path, 'linked');
    mkdirSync(linked);
    symlinkSync(mine, join(linked, 'lotlake.config.json'));
    expect(read({ cwd: linked }).baseUrl).toBeUndefined();
    chownSync(mine, OTHER, OTHER);
    expect(() => read({ cwd: linked })).toThrow('belongs to another user');
  });

  it('are refused in .env, also if the file of settings is trusted', () => {
    chownSync(env(), OTHER, OTHER);
    expect(() => read()).toThrow(/\.env was found, and it belongs to another user/);
    expect(read({ configFile: file }).baseUrl).toBe('https://other.example/api');
  });

  it('are refused as models, also one file of them', () => {
    const path = models();
    expect(read().models).toBe(path);
    chownSync(join(path, 'mine.sql'), OTHER, OTHER);
    expect(() => read()).toThrow(/mine\.sql was found, and it belongs to another user/);
    expect(read({ env: { LOTLAKE_MODELS: path } }).models).toBe(path);
    expect(read({ configFile: file }).models).toBe(path);
  });

  it('count as those of root if sudo was called by their owner', () => {
    chownSync(file, OTHER, OTHER);
    expect(read({ env: { SUDO_UID: String(OTHER) } }).baseUrl).toBe('https://other.example/api');
  });
});

describe('settings that everyone can write', () => {
  it('are refused', () => {
    chmodSync(file, 0o666);
    expect(() => read()).toThrow('lotlake.config.json was found, and it can be written by everyone');
    expect(read({ configFile: file }).baseUrl).toBe('https://other.example/api');
  });

  it('are refused in .env and in models', () => {
    const path = env();
    chmodSync(path, 0o602);
    expect(() => read()).toThrow('.env was found, and it can be written by everyone');
    chmodSync(path, 0o600);
    chmodSync(models(), 0o777);
    expect(() => read()).toThrow('models was found, and it can be written by everyone');
  });

  it('are refused in a folder that everyone can write to, but not in one like /tmp', () => {
    chmodSync(folder.path, 0o777);
    expect(() => read()).toThrow('it lies in a folder that everyone can write to');
    chmodSync(folder.path, 0o1777);
    expect(read().baseUrl).toBe('https://other.example/api');
  });

  it('may be written by a group', () => {
    chmodSync(file, 0o664);
    expect(read().baseUrl).toBe('https://other.example/api');
  });
});
