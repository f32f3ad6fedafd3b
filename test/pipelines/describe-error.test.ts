import { constants } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../src/base/config/lotlake-error.js';
import { describeError } from '../../src/core/job/describe-error.js';

/** The error that Node throws if the system refuses a call. */
function systemError(name: string): Error {
  const message = `${name}: refused by the system, open '/srv/lake/file'`;
  return Object.assign(new Error(message), {
    code: name,
    errno: -1,
    syscall: 'open',
    path: '/srv/lake/file',
  });
}

describe('an error', () => {
  it.each(Object.keys(constants.errno))('of the system, %s, has a code and a hint', (name) => {
    const isFull = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(name);
    for (const error of [systemError(name), new Error('the report failed', { cause: systemError(name) })]) {
      const { code, message, hint, outcome } = describeError(error);
      expect({ code, outcome }).toEqual({
        code: isFull ? 'LAKE_DISK_FULL' : 'SYSTEM_FAILED',
        outcome: 'failed',
      });
      expect(hint).toMatch(/^[a-z].{20,}/);
      if (!isFull) expect(message).toContain(`${name}: refused by the system, open '/srv/lake/file'`);
    }
  });

  it('of the system is reported as the lotlake error that wraps it', () => {
    const { code } = describeError(new ConfigError('the key file cannot be read'));
    expect(code).toBe('CONFIG_INVALID');
  });

  it('of DuckDB points to the lake, or to the disk if the disk is full', () => {
    const damaged = describeError(
      new Error("Invalid Input Error: No magic bytes found at end of file 'a.parquet'"),
    );
    expect(damaged).toMatchObject({ code: 'LAKE_FAILED', hint: expect.stringContaining('lotlake verify') });
    const other = describeError(new Error('Binder Error: Referenced column "is_offered" not found'));
    expect(other).toMatchObject({ code: 'LAKE_FAILED', hint: expect.stringContaining('the next run') });
    expect(describeError(new Error('IO Error: write failed: No space left on device')).code).toBe(
      'LAKE_DISK_FULL',
    );
  });

  it('of unknown origin is reported as a fault of lotlake, whatever was thrown', () => {
    for (const thrown of [
      new TypeError('x is not a function'),
      'text',
      undefined,
      Object.assign(new Error('x'), { code: 'ERR_X' }),
    ])
      expect(describeError(thrown)).toMatchObject({
        code: 'INTERNAL_ERROR',
        hint: expect.stringContaining('LOTLAKE_LOG=debug'),
      });
  });
});
