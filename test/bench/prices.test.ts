import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../pipelines/support.js';
import { fitMany } from './prices.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

it('gives the fit all relations that it reads', async () => {
  expect(await fitMany(folder.path, 2_000)).toBeGreaterThan(0);
});
