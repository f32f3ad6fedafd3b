import { afterEach, describe, expect, it } from 'vitest';
import { envelopeSchema } from '../../src/core/service/contract/envelope.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { type Got, get, idsOf } from './support.js';

let sandbox: Sandbox;
const start = async (options: SandboxOptions = {}): Promise<void> => {
  sandbox = await startSandbox({ vehicles: 300, ...options });
};
afterEach(() => sandbox.close());

const ask = (query: string): Promise<Got> => get(sandbox, `/cars?${query}`);
const scrollId = (got: Got): string => String(got.body.scroll_id);
const minutes = (count: number): Date => new Date(sandbox.clock.getTime() + count * 60_000);

/** Follows a scroll until its next_url or an answer is empty. */
async function walked(query: string, between: () => void = () => {}): Promise<Got[]> {
  const pages = [await ask(query)];
  for (let last = pages[0]; last?.body.next_url && last.body.data?.length !== 0; ) {
    between();
    last = await ask(`scroll_id=${scrollId(last)}`);
    pages.push(last);
  }
  return pages;
}

describe('the scroll form of /cars', () => {
  it('gives every vehicle once and ends with an empty next_url', async () => {
    await start();
    const pages = await walked('limit=70&prices_history=1');
    expect(pages.flatMap((page) => idsOf(page))).toEqual(sandbox.world.activeIds());
    expect(pages.map((page) => page.body.data?.length)).toEqual([
      70,
      70,
      70,
      70,
      sandbox.world.activeIds().length - 280,
    ]);
    expect(pages.map((page) => page.body.next_url !== '')).toEqual([true, true, true, true, false]);
    expect(
      pages.every((page) => envelopeSchema.safeParse(page.body).success && !('links' in page.body)),
    ).toBe(true);
    expect(pages[3]?.text).toContain('"prices":[{');
    const url = new URL(String(pages[0]?.body.next_url));
    expect([url.host, url.searchParams.get('scroll_id'), url.searchParams.get('scroll_time')]).toEqual([
      'service.example',
      scrollId(pages[0] as Got),
      '10',
    ]);
  });

  it('ends with empty data if the last answer was full', async () => {
    await start();
    const count = sandbox.world.activeIds().length;
    const pages = await walked(`limit=${count}`);
    expect(pages.map((page) => [page.body.data?.length, page.body.next_url !== ''])).toEqual([
      [count, true],
      [0, false],
    ]);
  });

  it('gives 1000 records per answer by default, at most 2000', async () => {
    await start({ vehicles: 2100 });
    const ids = sandbox.world.activeIds();
    expect(idsOf(await ask('scroll_time=5'))).toEqual(ids.slice(0, 1000));
    expect(idsOf(await ask('limit=2000'))).toEqual(ids.slice(0, 2000));
    const refused = await ask('limit=2001');
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringContaining('limit')]);
  });

  it('keeps its filters and its order', async () => {
    await start();
    const wanted = idsOf(await ask('per_page=1000&body_type=5&sortDirection=desc'));
    const pages = await walked('limit=20&body_type=5&sortDirection=desc');
    expect(wanted.length).toBeGreaterThan(40);
    expect(pages.flatMap((page) => idsOf(page))).toEqual(wanted);
  });

  it('serves the feed as it was when the scroll started', async () => {
    await start();
    const { world } = sandbox;
    const pages = await walked('limit=100', () => sandbox.setClock(minutes(-30 * 24 * 60)));
    expect(sandbox.world.activeIds()).not.toEqual(world.activeIds());
    const texts = world.activeIds().map((id) => world.vehicleJson(id));
    expect(
      pages.map((page) => page.text.slice('{"data":['.length, page.text.indexOf('],"scroll_id"'))).join(','),
    ).toBe(texts.join(','));
  });

  it('gives the same answer again to the same scroll_id', async () => {
    await start();
    const first = await ask('limit=100');
    const [one, two] = [await ask(`scroll_id=${scrollId(first)}`), await ask(`scroll_id=${scrollId(first)}`)];
    expect(two.text).toBe(one.text);
  });
});

describe('a scroll that cannot go on is refused with 400:', () => {
  it('expired, after ten minutes or the requested time', async () => {
    await start();
    const [usual, short] = [await ask('limit=50'), await ask('limit=50&scroll_time=1')];
    sandbox.setClock(minutes(2));
    const refused = await ask(`scroll_id=${scrollId(short)}`);
    expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(/scroll.*expired/)]);
    expect((await ask(`scroll_id=${scrollId(usual)}`)).status).toBe(200);
    sandbox.setClock(minutes(9));
    expect((await ask(`scroll_id=${scrollId(usual)}`)).status).toBe(200);
    sandbox.setClock(minutes(11));
    expect((await ask(`scroll_id=${scrollId(usual)}`)).status).toBe(400);
  });

  it('unknown', async () => {
    await start();
    for (const id of ['nothing', 'c2Nyb2xsOjk5OjA', '%20x']) {
      const refused = await ask(`scroll_id=${id}`);
      expect([refused.status, refused.body.message]).toEqual([400, expect.stringMatching(/scroll.*unknown/)]);
    }
  });

  it('exhausted, since continuation requests are finite', async () => {
    await start({ scrollRequests: 3 });
    let got = await ask('limit=10');
    for (let request = 0; request < 3; request += 1) got = await ask(`scroll_id=${scrollId(got)}`);
    expect(got.status).toBe(200);
    const refused = await ask(`scroll_id=${scrollId(got)}`);
    expect([refused.status, refused.body.message]).toEqual([
      400,
      expect.stringMatching(/3 continuation requests/),
    ]);
  });

  it('expired on request, for good', async () => {
    await start({
      faults: [{ match: { path: '/cars', after: 2, times: 1 }, fault: { kind: 'expired-scroll' } }],
    });
    const first = await ask('limit=50');
    const second = await ask(`scroll_id=${scrollId(first)}`);
    expect((await ask(`scroll_id=${scrollId(second)}`)).status).toBe(400);
    expect((await ask(`scroll_id=${scrollId(second)}`)).status).toBe(400);
    expect((await ask('limit=50')).status).toBe(200);
  });
});

describe('parameters of a scroll', () => {
  it.each([
    ['limit', 'limit=0'],
    ['limit', 'limit=many'],
    ['scroll_time', 'scroll_time=16'],
    ['scroll_time', 'scroll_time=0'],
    ['scroll_id', 'scroll_id='],
    ['page', 'limit=10&page=2'],
    ['per_page', 'scroll_time=10&per_page=50'],
    ['color', 'limit=10&color=blue'],
  ])('%s is refused in %s', async (name, query) => {
    await start({ vehicles: 100 });
    const got = await ask(query);
    expect([got.status, got.body.message]).toEqual([400, expect.stringContaining(name)]);
  });

  it('keep to the page size of the plan', async () => {
    await start({ plan: 'demo' });
    expect((await ask('scroll_time=10')).body.data).toHaveLength(50);
    expect((await ask('limit=51')).status).toBe(400);
  });

  it('are not answered from the cache', async () => {
    await start({ cache: true });
    const [one, two] = [await ask('limit=50'), await ask('limit=50')];
    expect(scrollId(two)).not.toBe(scrollId(one));
  });
});
