import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config/config.js';
import { createClient } from '../../src/extract/client.js';
import { temporaryFolder } from '../pipelines/support.js';

const folders: ReturnType<typeof temporaryFolder>[] = [];
function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text);
  return folder.path;
}
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

describe('the configuration', () => {
  it('takes flags over environment over file over defaults', () => {
    const cwd = folderWith({ 'lotlake.config.json': '{"rate": 2, "perPage": 100, "output": "from-file"}' });
    const env = { LOTLAKE_RATE: '3', LOTLAKE_OUTPUT: 'from-env' };
    const config = readConfig({ output: 'from-flag' }, { env, cwd });
    expect(config).toMatchObject({ output: join(cwd, 'from-flag'), rate: 3, perPage: 100, concurrency: 4 });
  });

  it('names what is wrong and where', () => {
    const cwd = folderWith({ 'lotlake.config.json': '{"perpage": 5}' });
    expect(() => readConfig({}, { env: {}, cwd })).toThrow(/perpage/);
    expect(() => readConfig({}, { env: { LOTLAKE_RATE: 'fast' }, cwd: folderWith({}) })).toThrow(/rate/);
    expect(() => readConfig({}, { env: { LOTLAKE_MEMORY: 'much' }, cwd: folderWith({}) })).toThrow(/memory/);
    expect(() => readConfig({}, { env: {}, cwd: folderWith({ 'lotlake.config.json': '{' }) })).toThrow(
      /no JSON/,
    );
  });

  it('takes the key from the environment or a file of its own, never from the settings file', () => {
    const cwd = folderWith({ key: 'secret\n', 'lotlake.config.json': '{}' });
    expect(readConfig({}, { env: { LOTLAKE_API_KEY: 'a' }, cwd }).apiKey).toBe('a');
    expect(readConfig({}, { env: { LOTLAKE_API_KEY_FILE: 'key' }, cwd }).apiKey).toBe('secret');
    expect(() => readConfig({}, { env: { LOTLAKE_API_KEY_FILE: 'none' }, cwd })).toThrow(/cannot be read/);
    const withKey = folderWith({ 'lotlake.config.json': '{"apiKey": "secret"}' });
    expect(() => readConfig({}, { env: {}, cwd: withKey })).toThrow(/holds the key/);
  });

  it('sends the key over https alone, but for this machine', () => {
    const client = (baseUrl: string) => createClient({ baseUrl, apiKey: 'k', timeout: 1, retryBudget: 1 });
    expect(() => client('http://service.example/api')).toThrow(/not https/);
    expect(() => client('https://user:password@service.example/api')).toThrow(/credentials/);
    for (const url of ['https://service.example/api', 'http://127.0.0.1:1/api', 'http://localhost:1'])
      expect(() => client(url)).not.toThrow();
  });
});
