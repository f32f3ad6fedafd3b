import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { columnPlaces } from '../../src/core/lake/rows/column-places.js';
import { landPage } from '../../src/core/land/page.js';
import { checkPage } from '../../src/core/load/check-page.js';
import { streams } from '../../src/core/service/streams.js';
import { schemasOf } from '../load/support.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const { cars: stream } = streams;

/** As many elements as fit into so many bytes. */
const filled = (bytes: number, element: (i: number) => string): string => {
  const parts: string[] = [];
  for (let size = 0, i = 0; size < bytes; i++) {
    const part = element(i);
    parts.push(part);
    size += part.length + 1;
  }
  return parts.join(',');
};

const LOT = '"buy_now":"x","bid":{},"odometer":{"km":1.5,"mi":"y"}';

const SHAPES: Readonly<Record<string, (bytes: number) => string>> = {
  'wrong values in many lots': (bytes) => `"lots":[${filled(bytes, (i) => `{"id":${i},${LOT}}`)}]`,
  'wrong prices in one lot': (bytes) =>
    `"lots":[{"id":1,"prices":[${filled(bytes, (i) => `{"id":${i},"bid":"x"}`)}]}]`,
  'one text in the wrong place': (bytes) => `"year":"${'a'.repeat(bytes)}"`,
  'a list in the wrong place': (bytes) => `"year":[${filled(bytes, () => '1')}]`,
  'elements that are no rows': (bytes) => `"lots":[${filled(bytes, () => '1')}]`,
  'members that are not known': (bytes) => `"year":"x",${filled(bytes, (i) => `"m${i}":1`)}`,
  'a member that stands many times': (bytes) => filled(bytes, () => '"year":"x"'),
  'halves of surrogate pairs': (bytes) => `"lots":[${filled(bytes, (i) => `{"id":${i},"lot":"\\ud83d"}`)}]`,
};

/**
 * Seconds of work on a record from its answer to its rejects, and the longest time in which nothing else got a turn.
 */
async function secondsOf(members: string): Promise<{ seconds: number; pause: number }> {
  const places = columnPlaces(stream, await schemasOf('cars'));
  const file = join(folder.path, 'page.ndjson.gz');
  const target = { path: file, url: 'x', contract: stream.contract };
  const now = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  };
  let last = now();
  let pause = 0;
  const look = (): void => {
    pause = Math.max(pause, now() - last);
    last = now();
  };
  const timer = setInterval(look, 0);
  rmSync(`${file}.clean`, { force: true });
  const begin = now();
  async function* body(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(`[{"id":1,${members}}]`);
    for (let from = 0; from < bytes.length; from += 1 << 18) {
      yield bytes.subarray(from, from + (1 << 18));
      await new Promise(setImmediate);
    }
  }
  const { scan } = await landPage(body(), target);
  const place = { file, passId: 'p', list: '', page: 1, seq: 0, ...scan };
  await checkPage(place, { stream, places }, `${file}.clean`, (rejects) =>
    writeFileSync(`${file}.rejects`, JSON.stringify(rejects)),
  );
  const seconds = (now() - begin) / 1000;
  clearInterval(timer);
  look();
  return { seconds, pause: pause / 1000 };
}

describe('one large record', () => {
  it.each(Object.entries(SHAPES))('takes time in proportion to its size: %s', async (name, membersOf) => {
    await secondsOf(membersOf(200_000));
    const quarter = await secondsOf(membersOf(950_000));
    const whole = await secondsOf(membersOf(3_800_000));
    const times = [quarter, whole].map(({ seconds }) => seconds.toFixed(2)).join(' and ');
    console.log(`${name}: ${times} s, longest pause ${whole.pause.toFixed(2)} s`);
    // Below that, other work of the machine decides.
    const base = Math.max(quarter.seconds, 0.2);
    expect(whole.seconds / base, times).toBeLessThan(6);
    expect(whole.pause).toBeLessThan(10);
  });
});
