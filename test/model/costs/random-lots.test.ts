import { afterAll, expect, it } from 'vitest';
import { compareLots, removeWritten } from './compare.js';

afterAll(removeWritten);

it('20,000 lots by random tables cost what the oracle says, to the cent', { timeout: 1_200_000 }, () => {
  const count = compareLots(20_000);
  console.log(JSON.stringify(count));
  expect(count.totals).toBeGreaterThan(count.missing);
  for (const [what, times] of Object.entries(count)) expect(times, what).toBeGreaterThan(100);
});
