import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { explain, isTemporary } from '../../src/beyond/mirror/s3-error.js';

const place = { to: 's3://bucket/lake', pathStyle: true, concurrency: 1, landing: false };
const { signal } = new AbortController();
const SECRET = 'wJalrXUtnFEMIK7MDENG';
const error = (name: string, httpStatusCode?: number, more: object = {}) =>
  Object.assign(new Error(`said with ${SECRET}`), {
    name,
    $metadata: { httpStatusCode },
    Secret: SECRET,
    ...more,
  });

describe('an error of the SDK', () => {
  it.each([
    ['AccessDenied', 403, 'MIRROR_REFUSED', 'refused'],
    ['InvalidAccessKeyId', 403, 'MIRROR_REFUSED', 'refused'],
    ['CredentialsProviderError', undefined, 'MIRROR_REFUSED', 'refused'],
    ['SlowDown', 503, 'MIRROR_UNREACHABLE', 'unavailable'],
    ['TimeoutError', undefined, 'MIRROR_UNREACHABLE', 'unavailable'],
    ['NoSuchBucket', 404, 'MIRROR_NOT_FOUND', 'usage'],
    ['PermanentRedirect', 301, 'MIRROR_FAILED', 'failed'],
    ['XAdminUserNotFound', 404, 'MIRROR_REFUSED', 'refused'],
    ['NoSuchUpload', 404, 'MIRROR_UNREACHABLE', 'unavailable'],
    ['UnknownError', 404, 'MIRROR_FAILED', 'failed'],
    ['XAmzContentChecksumMismatch', 400, 'MIRROR_FAILED', 'failed'],
  ])('%s with status %s is %s, and its text is not reported', (name, status, code, outcome) => {
    const found = explain(error(name, status), place, signal);
    expect(found).toMatchObject({ code, outcome });
    expect(found).toBeInstanceOf(LotlakeError);
    const { message, hint, stack, cause } = found as LotlakeError;
    expect(message).toContain(name);
    expect(`${message} ${hint} ${stack} ${cause}`).not.toContain(SECRET);
  });

  it.each([
    ['InvalidAccessKeyId', 403, /^the service does not know the access key: .*AWS_ACCESS_KEY_ID/],
    ['XAdminUserNotFound', 404, /^the service does not know the access key: .*AWS_ACCESS_KEY_ID/],
    ['SignatureDoesNotMatch', 403, /^the service knows the access key, and the secret is .*another one/],
    ['RequestTimeTooSkewed', 403, /^set the clock/],
    ['ExpiredToken', 400, /^the credentials have expired/],
    ['AccessDenied', 403, /^check the credentials .* rights/],
    ['UnknownError', 404, /publish.endpoint/],
  ])('%s has a hint of its own', (name, status, hint) => {
    expect(explain(error(name, status), place, signal)).toMatchObject({
      hint: expect.stringMatching(hint),
    });
  });

  it('without a name of its own is identified by its code', () => {
    const refused = Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' });
    const found = explain(refused, { ...place, endpoint: 'http://127.0.0.1:9' }, signal);
    expect(found).toMatchObject({ message: 's3://bucket/lake at http://127.0.0.1:9: ECONNREFUSED' });
    expect(explain(error(`a name with ${SECRET}`), place, signal)).toMatchObject({
      message: 's3://bucket/lake: Error',
    });
  });

  it.each(['BadDigest', 'XAmzContentChecksumMismatch'])('%s names the file that was sent', (name) => {
    const found = explain(error(name, 400), place, signal, '/lake/file');
    expect(found).toMatchObject({ code: 'LAKE_UNSOUND', message: expect.stringContaining('/lake/file') });
    expect(String(Reflect.get(Object(found), 'message'))).not.toContain(SECRET);
  });

  it('stays unchanged if it is about a local file', () => {
    const missing = Object.assign(new Error('gone'), { code: 'ENOENT', path: '/lake/file' });
    expect(explain(missing, place, signal)).toBe(missing);
    expect(isTemporary(missing)).toBe(false);
  });
});
