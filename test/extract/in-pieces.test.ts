import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { z } from 'zod';
import { type HostileService, ruleSchema, startService } from '../hostile/answers/service.js';
import { idsSeen, memorySink, quickClient, walked } from './support.js';

/** 600 vehicles in pages of 100. */
const IDS = Array.from({ length: 600 }, (_, i) => i + 1);

let service: HostileService;
beforeAll(async () => {
  service = await startService();
  return () => service.close();
});

/** Walks the list of a service that cannot serve some records. */
async function walkPast(poison: readonly number[], totals: boolean, cut = false, size = 100) {
  const rule = cut ? { poison: [...poison], cut } : { poison: [...poison], status: 500, body: '' };
  service.become(IDS, totals, poison.length === 0 ? [] : z.array(ruleSchema).parse([rule]));
  const client = quickClient(service.url, { retryBudget: 0.2 });
  onTestFinished(() => client.close());
  const sink = memorySink();
  const query = { per_page: size, ...(totals ? { simple_paginate: 0 } : {}) };
  const result = await walked({ client, path: '/cars', query, concurrency: 1, ascending: true, sink });
  const seen = new Set(idsSeen(sink).filter((id) => !Number.isNaN(id)));
  return {
    result,
    missing: IDS.filter((id) => !seen.has(id)),
    unserved: sink.received.flatMap(({ page, unserved = [] }) =>
      unserved.map(({ position }) => (page - 1) * size + position + 1),
    ),
    requests: service.requested.length,
  };
}

describe('records that the service cannot serve', () => {
  it.each([
    ['in the middle', [250], 100],
    ['as the first of the list, which gives the total', [1], 100],
    ['as the last of the list', [600], 100],
    ['at the border of two pages', [300, 301], 100],
    ['as three on two pages', [150, 155, 420], 100],
    ['on pages of a size that 10 does not divide', [33], 12],
    ['on pages of a prime size', [40], 13],
  ])('cost only themselves, and their places prove nothing: %s', async (_, poison, size) => {
    for (const totals of [true, false]) {
      const { result, missing, unserved } = await walkPast(poison, totals, false, size);
      expect(missing).toEqual(poison);
      expect([...unserved].sort((a, b) => a - b)).toEqual(poison);
      expect(result).toMatchObject({ complete: true, reason: null });
      for (const id of poison)
        expect(result.unproven.filter(([low, high]) => low < id && id < high)).not.toEqual([]);
    }
  });

  it('are found where bodies break off', async () => {
    const { missing, result } = await walkPast([250], true, true);
    expect({ missing, complete: result.complete }).toEqual({ missing: [250], complete: true });
  });

  it('cost few requests', async () => {
    const { requests: healthy } = await walkPast([], true);
    const { requests } = await walkPast([250], true);
    // Three for the page, one for another record, ten for each size, and one more for each piece that fails.
    expect(requests - healthy).toBeLessThanOrEqual(2 + 1 + 20 + 2);
  });
});

describe('a service of which more than single records fail', () => {
  it('is given up at a page of which most pieces fail', async () => {
    const broken = IDS.filter((id) => id > 200 && id <= 300 && id % 7 === 0);
    await expect(walkPast(broken, true)).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
    expect(service.requested.length).toBeLessThan(100);
  });

  it('is given up at a page that fails and whose pieces are empty', async () => {
    service.become([], false, z.array(ruleSchema).parse([{ page: 1, status: 500, body: '' }]));
    const client = quickClient(service.url, { retryBudget: 0.2 });
    onTestFinished(() => client.close());
    const query = { per_page: 100 };
    const walking = walked({
      client,
      path: '/cars',
      query,
      concurrency: 1,
      ascending: true,
      sink: memorySink(),
    });
    await expect(walking).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
  });

  it('is asked for no pieces while it serves nothing else', async () => {
    await expect(walkPast(IDS, true)).rejects.toMatchObject({ code: 'SERVICE_FAILED' });
    expect(new Set(service.requested)).toEqual(new Set([1, 101]));
  });
});
