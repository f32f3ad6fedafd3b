import { beforeAll, describe, expect, it } from 'vitest';
import { LotlakeError, messageOf } from '../../src/base/config/lotlake-error.js';
import { hideKey, redacted, redactedBody } from '../../src/base/config/redact.js';

const KEY = 'abc/defg+hij"KLMNOP';

describe('the key', () => {
  beforeAll(() => {
    hideKey('short');
    expect(redacted('short')).toBe('short');
    hideKey(KEY);
  });

  it.each([
    [`the key ${KEY} is off`, 'the key … is off'],
    [KEY, '…'],
    [`${KEY}${KEY}`, '…'],
    [`${KEY},${KEY}`, '…,…'],
    ['the key abc/defg… is off', 'the key …… is off'],
    ['the key abc/def… is off', 'the key abc/def… is off'],
    ['x"KLMNOPy', 'x"KLMNOPy'],
    ['j"KLMNOPy', '…y'],
    ['see ?key=abc%2Fdefg%2Bhij%22KLMNOP', 'see ?key=…'],
    [JSON.stringify({ key: KEY }), '{"key":"…"}'],
    ['{"key":"abc\\/defg+hij\\"KLMNOP"}', '{"key":"…"}'],
    ['', ''],
  ])('appears in no text, neither whole nor in parts of 8 characters: %s', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it('is hidden beside the keys of other runs', () => {
    hideKey('tokens-of-a-catalog');
    hideKey('key-of-another-run');
    expect(redacted(`${KEY}, tokens-of-a-catalog, key-of-another-run`)).toBe('…, …, …');
  });

  it('is hidden whole where a part of another key lies in it', () => {
    hideKey('one-between-two');
    hideKey('all-between-us');
    hideKey('one-between-us');
    expect(redacted('one-between-two, all-between-us')).toBe('…, …');
  });

  it('appears in no error message, whose length is limited', () => {
    const message = `${'x'.repeat(3990)}${KEY}${'y'.repeat(1e7)}`;
    const error = new LotlakeError('LAND_FAILED', message, { hint: `try ${KEY}` });
    expect([error.message, error.hint]).toEqual([`${'x'.repeat(3990)}……`, 'try …']);
    expect(error.stack).not.toContain('abc/defg');
    expect(messageOf(new Error(KEY))).toBe('…');
  });

  it('appears in no error body, wherever the body is cut', async () => {
    const body = `{"a":"${JSON.stringify(KEY).slice(1, -1)}","b":"abc/defg","c":"${encodeURIComponent(KEY)}","d":"abc`;
    const expected = `{"a":"${'*'.repeat(KEY.length + 1)}","b":"abc/defg","c":"${'*'.repeat(encodeURIComponent(KEY).length)}","d":"abc`;
    for (let size = 1; size <= body.length; size++) {
      const chunks = Array.from({ length: Math.ceil(body.length / size) }, (_, i) =>
        Buffer.from(body.slice(i * size, (i + 1) * size)),
      );
      const parts: Uint8Array[] = [];
      for await (const part of redactedBody(streamOf(chunks))) parts.push(part);
      expect(Buffer.concat(parts).toString()).toBe(expected);
    }
  });
});

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
