import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import sentences from '../../site/settings.json' with { type: 'json' };
import { readSettings } from '../../src/base/config/config.js';
import { allSettings } from '../../src/base/config/settings.js';
import { config, settingsPage } from '../../src/cli/commands/config.js';
import { init } from '../../src/cli/commands/init.js';
import { effectsIn } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
const path = join(folder.path, 'lotlake.config.json');
afterAll(() => folder.remove());

const NONE = { json: false };

describe('lotlake init', () => {
  it('writes a file that sets nothing', () => {
    const before = readSettings({}, { env: {}, cwd: folder.path });
    const { effects, out } = effectsIn(folder.path);
    init.run({ all: true, force: false, ...NONE }, effects);
    expect(out()).toContain(path);
    expect(readSettings({}, { env: {}, cwd: folder.path })).toEqual(before);
  });

  it('holds every setting except the key, with its default', () => {
    const { inForce } = readSettings({}, { env: {}, cwd: folder.path });
    const text = readFileSync(path, 'utf8');
    // Uncommented, without those that have no default, and what is of no use without one of them.
    writeFileSync(path, text.replaceAll(/^ *\/\/ ("(?!publish.catalog)[\w.]+": (?!"").*,)$/gm, '$1'));
    const now = readSettings({}, { env: {}, cwd: folder.path }).inForce;
    const changed = now.filter(({ value }, i) => JSON.stringify(value) !== JSON.stringify(inForce[i]?.value));
    expect(changed.map(({ name }) => name)).toEqual(['baseUrl', 'origin']);
    for (const { name } of inForce.filter(({ name }) => name !== 'apiKey'))
      expect(text).toContain(`  // "${name}": `);
    expect(now.find(({ name }) => name === 'rate')?.from).toBe(path);
  });

  it('replaces a file only on request', () => {
    writeFileSync(path, '{"rate": 5}');
    const { effects } = effectsIn(folder.path);
    expect(() => init.run({ all: false, force: false, ...NONE }, effects)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/exists; it stays as it is/),
      }),
    );
    expect(readFileSync(path, 'utf8')).toBe('{"rate": 5}');
    init.run({ all: false, force: true, ...NONE }, effects);
    const names = readFileSync(path, 'utf8').matchAll(/^ {2}\/\/ "([\w.]+)": /gm);
    expect([...names].map(([, name]) => name)).toEqual([
      ...['baseUrl', 'output', 'rate', 'sources', 'publish.to', 'notify.url'],
    ]);
  });
});

describe('lotlake config', () => {
  it('prints each setting in force and its origin', async () => {
    const { effects, out } = effectsIn(folder.path, { LOTLAKE_API_KEY: 'hidden', LOTLAKE_SOURCES: '1,3' });
    const given = { markdown: false, output: 'here' };
    await config.run({ ...given, json: false }, effects);
    expect(out()).toMatch(/│ sources +│ \[1,3\] +│ LOTLAKE_SOURCES +│/);
    expect(out()).toMatch(new RegExp(`│ output +│ ${join(folder.path, 'here')} +│ --output +│`));
    expect(out()).toMatch(/│ apiKey +│ set +│ LOTLAKE_API_KEY +│/);
    const json = effectsIn(folder.path, { LOTLAKE_API_KEY: 'hidden' });
    await config.run({ ...given, json: true }, json.effects);
    expect(JSON.parse(json.out())).toContainEqual({ name: 'rate', value: 1, from: 'default' });
    expect(out() + json.out()).not.toContain('hidden');
  });
});

describe('docs/run/settings.md', () => {
  it('has a sentence for each setting', () => {
    expect(allSettings.map(({ name }) => name)).toEqual(Object.keys(sentences));
  });

  it('names settings with their flags', async () => {
    const page = await settingsPage();
    expect(page).toContain('| `LOTLAKE_OUTPUT` | `--output` |');
    expect(page).toContain('| `LOTLAKE_ALLOW_SHRINK` | `--allow-shrink` of `run` |');
    expect(page).toContain('| `LOTLAKE_PUBLISH_PATH_STYLE` | `--path-style` of `push` |');
    expect(page).toContain('| `LOTLAKE_PUBLISH_CONCURRENCY` |  | `8` |');
  });
});
