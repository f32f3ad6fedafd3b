import { expect, it } from 'vitest';
import { temporaryFolder } from '../pipelines/support.js';
import { runLotlake } from './support.js';

it('lotlake vacuum refuses a mirror without --remote', () => {
  const folder = temporaryFolder();
  const { code, err } = runLotlake(folder.path, 'vacuum', '--to', 's3://bucket/lake');
  expect(err).toContain('stand without --remote');
  expect(code).toBe(2);
  folder.remove();
});
