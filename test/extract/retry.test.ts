import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { errorFromAnswer } from '../../src/core/service/errors.js';
import { parseRetryAfter, waitBefore, withRetry } from '../../src/core/service/pacing.js';

const facts = { url: 'https://service.example/api/cars' };
const failed = () => errorFromAnswer({ ...facts, status: 500 });
const limited = (retryAfter?: number) => errorFromAnswer({ ...facts, status: 429, retryAfter });

/** Work that fails with these errors, one after the other, and then succeeds. */
function failing(...errors: readonly unknown[]) {
  const attempts: number[] = [];
  const work = async (): Promise<string> => {
    const attempt = attempts.push(attempts.length + 1);
    if (attempt <= errors.length) throw errors[attempt - 1];
    return 'done';
  };
  return { work, attempts };
}

describe('a failure that may pass', () => {
  it('is retried until it passes', async () => {
    const { work, attempts } = failing(failed(), limited(), failed());
    expect(await withRetry(work, { budget: 60, firstWait: 1 })).toBe('done');
    expect(attempts).toEqual([1, 2, 3, 4]);
  });

  it('is reported before each wait', async () => {
    const retries: unknown[] = [];
    const errors = [failed(), limited(6)];
    await withRetry(failing(...errors).work, {
      budget: 60,
      firstWait: 2,
      random: () => 1,
      onRetry: (error, attempt, wait) => retries.push([error, attempt, wait]),
    });
    expect(retries).toEqual([
      [errors[0], 1, 2],
      [errors[1], 2, 6],
    ]);
  });

  it('is thrown unchanged when the budget ends, counted from the first failure', async () => {
    // Each attempt takes ten seconds of a clock that only the attempts move.
    let clock = 1_000_000;
    const errors = Array.from({ length: 9 }, failed);
    const { work, attempts } = failing(...errors);
    const slow = (): Promise<string> => {
      clock += 10_000;
      return work();
    };
    const result = withRetry(slow, { budget: 35, firstWait: 1, random: () => 0, now: () => clock });
    await expect(result).rejects.toBe(errors[4]);
    expect(attempts).toEqual([1, 2, 3, 4, 5]);
  });

  it('is thrown at once if the service asks for a longer wait than the budget', async () => {
    const error = limited(3_600_000);
    const { work, attempts } = failing(error);
    await expect(withRetry(work, { budget: 900 })).rejects.toBe(error);
    expect(attempts).toEqual([1]);
  });

  it('ends at once when the run is interrupted, even during a wait', async () => {
    const stop = new AbortController();
    const { work, attempts } = failing(limited(60_000));
    const result = withRetry(work, { budget: 900, signal: stop.signal, onRetry: () => stop.abort() });
    await expect(result).rejects.toMatchObject({ name: 'AbortError' });
    expect(attempts).toEqual([1]);
    const error = failed();
    await expect(withRetry(failing(error).work, { budget: 900, signal: stop.signal })).rejects.toBe(error);
  });
});

describe('a failure that will not pass', () => {
  it.each([
    ['an error that says so', errorFromAnswer({ ...facts, status: 400, body: '{"message":"no"}' })],
    ['an error of lotlake without a word on it', new LotlakeError('LAND_FAILED', 'none')],
    ['an error of the program', new TypeError('undefined is not a function')],
    ['something that is not an error', 'text'],
  ])('is thrown after one attempt: %s', async (_, error) => {
    const { work, attempts } = failing(error);
    await expect(withRetry(work, { budget: 900, firstWait: 1 })).rejects.toBe(error);
    expect(attempts).toEqual([1]);
  });
});

describe('the wait before an attempt', () => {
  const options = { budget: 900, firstWait: 500 };

  it('doubles up to a limit', () => {
    const waits = [1, 2, 3, 7, 8, 9, 60].map((n) => waitBefore(n, { ...options, random: () => 1 }));
    expect(waits).toEqual([500, 1000, 2000, 32_000, 60_000, 60_000, 60_000]);
  });

  it('is random between half and all of that, and at least what the service asks for', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 40 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.option(fc.nat(600_000), { nil: undefined }),
        (attempt, chance, retryAfter) => {
          const full = waitBefore(attempt, { ...options, random: () => 1 });
          const wait = waitBefore(attempt, { ...options, random: () => chance }, retryAfter);
          expect(wait).toBeGreaterThanOrEqual(Math.max(full / 2, retryAfter ?? 0));
          expect(wait).toBeLessThanOrEqual(Math.max(full, retryAfter ?? 0));
        },
      ),
    );
    expect(waitBefore(3, { ...options, random: () => 0 })).toBe(1000);
  });
});

describe('a Retry-After header', () => {
  const now = Date.parse('2026-11-20T10:00:00Z');

  it.each([
    ['30', 30_000],
    [' 5 ', 5000],
    ['0', 0],
    ['1.5', 1500],
    ['Fri, 20 Nov 2026 10:01:30 GMT', 90_000],
    ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
    ['soon', undefined],
    ['', undefined],
    ['  ', undefined],
    [undefined, undefined],
  ])('of %j asks for %j milliseconds', (value, expected) => {
    expect(parseRetryAfter(value, now)).toBe(expected);
  });
});
