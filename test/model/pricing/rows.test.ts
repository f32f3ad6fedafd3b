import { existsSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeScratch } from '../../../src/base/config/owned.js';
import { openTemporarySession } from '../../../src/base/duck/session.js';
import { writeRows } from '../../../src/core/model/fit/rows.js';

it('leaves no file if the lots cannot be read', async () => {
  const folder = makeScratch(join(tmpdir(), 'lotlake-rows-'));
  const { session, close } = await openTemporarySession({ memory: '100MB' });
  const path = join(folder, 'rows.tmp');
  await expect(writeRows(session.connection, "select error('broken')", [], path)).rejects.toThrow('broken');
  expect(existsSync(path)).toBe(false);
  close();
  rmSync(folder, { recursive: true });
});
