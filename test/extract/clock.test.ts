import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { assertAfter, openClock } from '../../src/core/job/clock.js';
import { aheadText, compareClocks } from '../../src/core/service/compare-clocks.js';

const NOW = Date.parse('2026-11-20T02:00:00Z');
const HOUR = 3600;

/** Headers of an answer that was dated so many seconds ago; `age` as a cache that is honest gives it. */
const dated = (secondsAgo: number, at = NOW, age?: number) => ({
  date: new Date(at - secondsAgo * 1000).toUTCString(),
  ...(age === undefined ? {} : { age: String(age) }),
});

/** What answers tell, one every three seconds. `'again'` is the answer before, from a cache. */
function told(ago: readonly (number | 'again' | undefined)[]): (number | undefined | 'unsure')[] {
  const clocks = compareClocks();
  let before: ReturnType<typeof dated> | Record<string, never> = {};
  return ago.map((seconds, i) => {
    const at = NOW + i * 3000;
    before = seconds === 'again' ? before : seconds === undefined ? {} : dated(seconds, at);
    clocks.hear(before, new Date(at));
    return clocks.isUnsure ? 'unsure' : clocks.ahead;
  });
}

describe('the clock of this machine, compared with answers', () => {
  it.each<readonly [string, Parameters<typeof told>[0], ReturnType<typeof told>]>([
    ['is right by the first that agrees with it', [0], [0]],
    ['is off by seconds', [30], [30]],
    ['is off by hours if two say so', [3 * HOUR, 3 * HOUR], ['unsure', 3 * HOUR]],
    ['is behind by hours if two say so', [-3 * HOUR, -3 * HOUR], ['unsure', -3 * HOUR]],
    ['is off by minutes if two say so', [600, 598], ['unsure', 598]],
    ['is not off by the age of a cached answer', [5 * HOUR, 0], ['unsure', 0]],
    ['is not off by that of an answer that comes twice', [5 * HOUR, 'again', 0], ['unsure', 'unsure', 0]],
    ['is not known from a cache alone', [5 * HOUR, 'again', 'again'], ['unsure', 'unsure', 'unsure']],
    ['is not known from several caches', [5 * HOUR, 2 * HOUR, 9 * HOUR], ['unsure', 'unsure', 'unsure']],
    [
      'is known once two live answers come between',
      [5 * HOUR, 600, 7 * HOUR, 600],
      ['unsure', 'unsure', 'unsure', 600],
    ],
    ['is right if one proxy dates its answers in the future', [-9 * HOUR, 0], ['unsure', 0]],
    ['follows the newest of small differences', [100, 20, 60, 0], [100, 20, 20, 0]],
    ['follows a newer answer that agrees with it', [HOUR, HOUR, 0], ['unsure', HOUR, 0]],
    ['is not known without a date', [undefined, undefined], [undefined, undefined]],
    ['is known after an answer without a date', [undefined, 0], [undefined, 0]],
    ['keeps what it knows, whatever a cache says later', [0, 5 * HOUR, 5 * HOUR], [0, 0, 0]],
  ])('%s', (_, answers, expected) => {
    expect(told(answers)).toEqual(expected);
  });

  it('takes the age of a cached answer into account', () => {
    const clocks = compareClocks();
    expect(clocks.hear(dated(5 * HOUR, NOW, 5 * HOUR), new Date(NOW))).toBe(0);
    expect(aheadText(5 * HOUR)).toBe('the clock of this machine is 5 hours ahead of the one of the service');
  });
});

/** A run whose requests are answered one after the other; it sends one again as the client does. */
async function runOver(ago: readonly (number | 'again')[], { allowSkew = false, off = 0 } = {}) {
  let at = NOW;
  const clock = openClock(() => new Date(at + off * 1000), { allowSkew });
  const warnings: string[] = [];
  let started = clock.now().getTime();
  clock.whenKnown((_, late) => {
    started -= late;
  });
  let before = {};
  const left = [...ago];
  const answer = (): void => {
    at += 3000;
    const next = left.shift();
    if (next !== 'again') before = dated(next ?? 0, at);
    clock.hear(before, (text) => warnings.push(text));
  };
  const work = async (): Promise<void> => {
    while (left.length > 0) {
      try {
        answer();
      } catch (error) {
        if (!(error instanceof LotlakeError) || !error.retryable) throw error;
      }
    }
  };
  const error: unknown = await work().catch((thrown: unknown) => thrown);
  return {
    error,
    warnings,
    startedLate: (started - NOW) / 1000,
    nowLate: (clock.now().getTime() - at) / 1000,
  };
}

describe('the clock of a run', () => {
  it.each<readonly [string, Parameters<typeof runOver>[0]]>([
    ['the first answer comes from a cache', [5 * HOUR, 0, 0]],
    ['the first answer comes from a cache twice', [5 * HOUR, 'again', 0]],
    ['every answer comes from a cache', [5 * HOUR, 'again', 'again', 2 * HOUR]],
    ['a later answer comes from a cache', [0, 5 * HOUR, 5 * HOUR]],
    ['the first answer is a little old', [100, 0]],
    ['a proxy in between is ahead', [-9 * HOUR, 0]],
  ])('stays that of the machine if %s', async (_, answers) => {
    for (const allowSkew of [false, true]) {
      const { error, startedLate, nowLate } = await runOver(answers, { allowSkew });
      expect([error, startedLate, nowLate]).toEqual([undefined, 0, 0]);
    }
  });

  it('warns if no answer agrees with another', async () => {
    const { warnings } = await runOver([5 * HOUR, 'again', 'again', 'again']);
    expect(warnings).toEqual([expect.stringContaining('as if a cache had kept them')]);
  });

  it('is refused if it is more than an hour before the last snapshot', () => {
    const last = '2026-11-28T02:00:00.000Z';
    const at = (seconds: number) => () => assertAfter(last, new Date(Date.parse(last) + seconds * 1000));
    for (const later of [24 * HOUR, 0, -HOUR]) expect(at(later)).not.toThrow();
    for (const later of [-HOUR - 1, -200 * HOUR])
      expect(at(later)).toThrow(expect.objectContaining({ code: 'RUN_CLOCK', outcome: 'held' }));
  });

  it.each([3, -3])('is refused if two answers say that it is off by %d hours', async (hours) => {
    const answers = [0, 0, 0];
    const { error } = await runOver(answers, { off: hours * HOUR });
    expect(error).toMatchObject({ code: 'RUN_CLOCK', outcome: 'held', retryable: false });
    const allowed = await runOver(answers, { off: hours * HOUR, allowSkew: true });
    expect([allowed.error, allowed.startedLate, allowed.nowLate]).toEqual([undefined, 0, 0]);
    expect(allowed.warnings).toEqual([expect.stringContaining('3 hours')]);
  });
});
