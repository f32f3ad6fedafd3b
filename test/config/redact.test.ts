import { beforeAll, describe, expect, it } from 'vitest';
import { LotlakeError, messageOf } from '../../src/base/config/lotlake-error.js';
import { hideKey, redacted, redactedBody } from '../../src/base/config/redact.js';

const KEY = 'abc/defg+hij"KLMNOP';

describe('the key', () => {
  beforeAll(() => {
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
    for (let size = 1; size <= body.length; size++) expect(await cutEvery(size, body)).toBe(expected);
  });

  it.each(disguisesOf(KEY))('appears in no disguise: $name', async ({ disguise, left }) => {
    for (const around of ['', '"', 'x=', '\ud55c\uad6d \u00e9']) {
      const text = `{"a":"${around}${disguise}${around}"}`;
      for (const size of [1, 3, 7, 64, 1000]) {
        const body = await cutEvery(size, text);
        expect(body.length).toBe(text.length);
        expect(body.replaceAll(/\*+/g, '*')).toMatch(
          new RegExp(`^\\{"a":"${escaped(around)}.{0,${left}}\\*.{0,${left}}${escaped(around)}"\\}$`),
        );
      }
      const message = redacted(`${text} and ${text}`);
      expect(message.length).toBeLessThan(2 * (9 + 2 * around.length + 2 * left) + 10);
      expect(message).toContain('…');
    }
  });

  it('leaves everything else as it is', async () => {
    const others = [
      '{"a":"\\u00e9\\u0061bc 100 % of %41 %zz \\\\ \\/ \\" \\u00"}',
      '\ud55c\uad6d\uc5b4 \u00e9\u00e8 \ud83d\ude97',
      KEY.slice(1),
      KEY.toLowerCase(),
      '%',
      '\\u00',
      '\\',
    ];
    for (const text of others) for (const size of [1, 2, 1000]) expect(await cutEvery(size, text)).toBe(text);
    expect(redacted(others.slice(0, 2).join())).toBe(others.slice(0, 2).join());
  });
});

describe('a key of less than 8 characters', () => {
  beforeAll(() => hideKey('zq'));

  it.each([
    ['the key zq is off', 'the key … is off'],
    ['x-api-key: zq', 'x-api-key: …'],
    ['?key=zq&page=2', '?key=…&page=2'],
    ['{"message":"zq"}', '{"message":"…"}'],
    ['zqa azq a_zq zq1', 'zqa azq a_zq zq1'],
  ])('is hidden in a text where it stands alone: %s', (text, expected) => {
    expect(redacted(text)).toBe(expected);
  });

  it.each([
    ['{"api_key":"zq"}', '{"api_key":"**"}'],
    ['{"x-api-key" : "zq","a":1}', '{"x-api-key" : "**","a":1}'],
    ['{"next":"/cars?api_key=zq&page=2"}', '{"next":"/cars?api_key=**&page=2"}'],
    ['{"token":"zqa","iso":"zq","title":"the zq"}', '{"token":"zqa","iso":"zq","title":"the zq"}'],
  ])('is hidden in a body only behind its name, since it may be data: %s', async (text, expected) => {
    for (let size = 1; size <= text.length; size++) expect(await cutEvery(size, text)).toBe(expected);
  });
});

/** A text with everything that means something in a pattern escaped. */
const escaped = (text: string): string => text.replaceAll(/[^\w]/g, '\\$&');

/** Forms in which a service may send a key back, and how many characters at either end may stay. */
function disguisesOf(key: string) {
  const bytes = Buffer.from(key);
  const hex = (code: number): string => code.toString(16).padStart(2, '0');
  const each = (write: (character: string, code: number, place: number) => string): string =>
    [...key].map((character, place) => write(character, character.charCodeAt(0), place)).join('');
  const json = (character: string): string => JSON.stringify(character).slice(1, -1);
  const base64 = [0, 1, 2].flatMap((before) =>
    [0, 1, 2].map((behind) => {
      const text = Buffer.concat([Buffer.alloc(before, 'u'), bytes, Buffer.alloc(behind, ':')]).toString(
        'base64',
      );
      return { name: `base64 behind ${before} and before ${behind} bytes`, disguise: text, left: 7 };
    }),
  );
  return [
    ...base64,
    ...base64.map(({ name, disguise, left }) => ({
      ...{ name: `${name}, for addresses`, left },
      disguise: disguise.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
    })),
    { name: 'base64, escaped for JSON', disguise: bytes.toString('base64').replaceAll('/', '\\/'), left: 7 },
    { name: 'base64 in an address', disguise: encodeURIComponent(bytes.toString('base64')), left: 9 },
    {
      name: 'base64 in an address in lower case',
      disguise: encodeURIComponent(bytes.toString('base64')).replaceAll(/%../g, (each) => each.toLowerCase()),
      left: 9,
    },
    { name: 'hexadecimal digits', disguise: bytes.toString('hex'), left: 0 },
    { name: 'hexadecimal digits in upper case', disguise: bytes.toString('hex').toUpperCase(), left: 0 },
    { name: 'every character escaped', disguise: each((_, code) => `\\u00${hex(code)}`), left: 0 },
    { name: 'in upper case', disguise: each((_, code) => `\\u00${hex(code).toUpperCase()}`), left: 0 },
    {
      name: 'every third character escaped',
      disguise: each((character, code, place) => (place % 3 === 0 ? `\\u00${hex(code)}` : json(character))),
      left: 0,
    },
    {
      name: 'one character escaped',
      disguise: each((character, code, place) => (place === 9 ? `\\u00${hex(code)}` : json(character))),
      left: 0,
    },
    { name: 'escaped twice', disguise: each((_, code) => `\\\\u00${hex(code)}`), left: 0 },
    { name: 'every character for an address', disguise: each((_, code) => `%${hex(code)}`), left: 0 },
    {
      name: 'some characters for an address',
      disguise: each((character, code, place) =>
        place % 2 === 0 || !/\w/.test(character) ? `%${hex(code).toUpperCase()}` : character,
      ),
      left: 0,
    },
    {
      name: 'an address in lower case',
      disguise: encodeURIComponent(key)
        .toLowerCase()
        .replace(/klmnop$/, 'KLMNOP'),
      left: 0,
    },
  ];
}

/** A body in chunks of one size, redacted. */
async function cutEvery(size: number, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
    Buffer.from(bytes.subarray(i * size, (i + 1) * size)),
  );
  const parts: Uint8Array[] = [];
  for await (const part of redactedBody(streamOf(chunks))) parts.push(part);
  return Buffer.concat(parts).toString();
}

async function* streamOf(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}
