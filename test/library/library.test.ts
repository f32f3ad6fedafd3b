import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { ConfigError, LotlakeError, openLake, runNightly } from '../../src/index.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const SERVICE = { baseUrl: 'http://127.0.0.1:1/api', apiKey: 'no-such-key' };

describe('the library', () => {
  it('does nothing when it is imported', () => {
    const entry = pathToFileURL(join(packageRoot, 'dist', 'src', 'index.js')).href;
    const script = `
      import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const calls = [];
      for (const name of ['readFileSync', 'existsSync', 'statSync', 'mkdirSync', 'writeFileSync']) {
        const real = fs[name];
        fs[name] = (...given) => { calls.push(name + ' ' + given[0]); return real(...given); };
      }
      syncBuiltinESMExports();
      const before = process.eventNames().length;
      const { openLake } = await import(${JSON.stringify(entry)});
      console.log(JSON.stringify({ kind: typeof openLake, calls, handlers: process.eventNames().length - before }));`;
    const out = execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(JSON.parse(out)).toEqual({ kind: 'function', calls: [], handlers: 0 });
  });

  it('refuses a wrong setting by its name, and leaves nothing behind', async () => {
    const settings = { ...SERVICE, output: join(folder.path, 'lake'), rate: 0 };
    const error = await runNightly(settings).catch((given) => given);
    expect(error).toBeInstanceOf(ConfigError);
    expect(error.message).toContain('the setting rate is 0');
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('rejects with the reason of a signal that was aborted before', async () => {
    const reason = new Error('the user left');
    const signal = AbortSignal.abort(reason);
    const settings = { ...SERVICE, output: join(folder.path, 'lake') };
    await expect(runNightly(settings, { signal })).rejects.toBe(reason);
    await expect(openLake(settings, { signal })).rejects.toBe(reason);
    expect(readdirSync(folder.path)).toEqual([]);
  });

  it('throws errors with a code', async () => {
    const error = await openLake({ output: folder.path }).catch((given) => given);
    expect(error).toBeInstanceOf(LotlakeError);
    expect(error).toMatchObject({ code: 'QUERY_NO_SNAPSHOT', stage: 'query', retryable: false });
  });
});
