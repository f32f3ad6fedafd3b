import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import yauzl from 'yauzl';
import { exportFrom, filesBelow, type HandMade, handMadeLake, SALES } from '../query/support.js';

let lake: HandMade;
beforeAll(async () => {
  lake = await handMadeLake({}, { sales: SALES });
});
afterAll(() => lake.remove());

/** Files of a .zip by path. */
async function unzip(path: string): Promise<Map<string, Buffer>> {
  const zip = await yauzl.openPromise(path);
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return files;
}

describe('lotlake export --zip', () => {
  it('packs the content of a folder export, and leaves nothing beside it', async () => {
    const input = { tables: ['sales'], format: 'csv' as const, maxBytes: '1KB' };
    const folder = await exportFrom(lake, { ...input, to: 'plain' });
    const { path } = await exportFrom(lake, { ...input, to: 'packed', zip: true });
    expect(path).toBe(join(lake.folder, 'packed.zip'));
    const files = await unzip(path);
    expect([...files.keys()].sort()).toEqual(filesBelow(folder.path).map((name) => `packed/${name}`));
    const sums = String(files.get('packed/SHA256SUMS')).trimEnd().split('\n');
    for (const line of sums) {
      const content = files.get(`packed/${line.slice(66)}`) ?? '';
      expect(createHash('sha256').update(content).digest('hex')).toBe(line.slice(0, 64));
    }
    const beside = filesBelow(lake.folder).filter((name) => !/^(output|plain)\//.test(name));
    expect(beside).toEqual(['packed.zip']);
  });

  it('replaces a .zip of an export with --force, and no other file', async () => {
    const input = { tables: ['sales'], to: 'again', zip: true };
    const refused = { code: 'EXPORT_EXISTS', outcome: 'usage' };
    const { path } = await exportFrom(lake, input);
    await expect(exportFrom(lake, input)).rejects.toMatchObject(refused);
    await exportFrom(lake, { ...input, force: true, columns: ['lot_id'] });
    expect(String((await unzip(path)).get('again/dictionary.md'))).not.toContain('`price`');
    writeFileSync(join(lake.folder, 'foreign.zip'), 'PK and more');
    await expect(exportFrom(lake, { ...input, to: 'foreign', force: true })).rejects.toMatchObject(refused);
    expect(basename(path)).toBe('again.zip');
  });
});
