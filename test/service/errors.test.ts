import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { errorFromAnswer, isFailure, messageOfBody, ServiceError } from '../../src/core/service/errors.js';

const facts = { url: 'https://service.example/api/cars?page=3', body: '{"message":"no"}' };
const statuses = [301, 400, 401, 403, 404, 418, 429, 500, 502, 503, 504, 599];

describe('the message of an error body', () => {
  it.each([
    ['{"message":"The per_page is too large."}', 'The per_page is too large.'],
    ['{"error":"backend"}', 'backend'],
    ['{"message":"first","error":"second"}', 'first'],
    ['{"error":{"message":"inside","code":7}}', 'inside'],
    ['{"message":{"page":["must be a number"]}}', '{"page":["must be a number"]}'],
    ['{"message":null,"error":"second"}', 'second'],
    ['{"status":500}', undefined],
    ['"just a text"', undefined],
    ['null', undefined],
    ['', undefined],
    ['   ', undefined],
    ['  Bad Gateway \n', 'Bad Gateway'],
    ['\ufeff{"message":"marked"}', 'marked'],
  ])('of %j is %j', (body, expected) => {
    expect(messageOfBody(body)).toBe(expected);
  });

  it('is shortened if it is not JSON, or not a message', () => {
    expect(messageOfBody(`<html>${'x'.repeat(5000)}`)?.length).toBe(200);
    expect(messageOfBody(JSON.stringify({ error: { list: 'x'.repeat(5000) } }))?.length).toBe(200);
  });
});

describe('the error of a failed answer', () => {
  it('has a code and a hint for each kind', () => {
    const codes = new Set<string>();
    for (const status of statuses) {
      const error = errorFromAnswer({ ...facts, status });
      expect(error).toBeInstanceOf(LotlakeError);
      expect(error.hint, error.code).toMatch(/\w/);
      codes.add(error.code);
    }
    expect(codes.size).toBe(7);
  });

  it('is distinguished by its code', () => {
    const error = errorFromAnswer({ ...facts, status: 404 });
    expect(isFailure(error, 'SERVICE_BAD_REQUEST', 'SERVICE_NOT_FOUND')).toBe(true);
    expect(isFailure(error, 'SERVICE_BAD_REQUEST')).toBe(false);
    expect(isFailure(new LotlakeError('SERVICE_NOT_FOUND', 'other'), 'SERVICE_NOT_FOUND')).toBe(false);
  });

  it('names the request, the status and the message of the service', () => {
    const error = errorFromAnswer({ ...facts, status: 400, body: '{"message":"per_page is too large"}' });
    expect(error.message).toBe(
      'bad request (400) from GET https://service.example/api/cars?page=3: per_page is too large',
    );
    expect(errorFromAnswer({ ...facts, status: 500, body: '' }).message).toMatch(/page=3$/);
  });

  it('shows which errors a key or a wait can solve', () => {
    const outcomes = Object.fromEntries(
      statuses.map((status) => [status, errorFromAnswer({ ...facts, status }).outcome]),
    );
    expect(outcomes).toMatchObject({ 400: 'failed', 401: 'refused', 403: 'refused', 404: 'failed' });
    expect(outcomes).toMatchObject({ 429: 'unavailable', 500: 'unavailable', 503: 'unavailable' });
  });

  it('keeps its cause if there was no answer', () => {
    const cause = new Error('ECONNRESET');
    const error = new ServiceError('SERVICE_UNREACHABLE', { ...facts, detail: cause.message, cause });
    expect(error).toMatchObject({ cause, status: undefined, retryable: true });
    expect(error.message).toBe(
      'no complete answer from GET https://service.example/api/cars?page=3: ECONNRESET',
    );
  });
});

/** Bodies of answers that the service did not give. */
const FOREIGN = [
  '<!doctype html><title>Access denied</title>',
  'Forbidden',
  '',
  '{}',
  '[]',
  'null',
  '{"message":null}',
  '{"success":false,"errors":[{"code":1020}]}',
  '{"title":"Error 1020","status":403,"cloudflare_error":true}',
];

describe('an answer whose body is not the error of the service', () => {
  it.each(FOREIGN)('refuses nothing, and may pass: %j', (body) => {
    for (const status of [300, 302, 400, 401, 403, 404, 405, 407, 408, 410, 421, 425, 451, 499, 511, 600]) {
      const headers = { 'content-type': 'text/html; charset=utf-8' };
      const error = errorFromAnswer({ url: facts.url, status: status === 600 ? 205 : status, body, headers });
      expect(error, String(status)).toMatchObject({
        ...{ code: 'SERVICE_FOREIGN', outcome: 'unavailable', retryable: true },
      });
      expect(error.message).toContain('text/html) from GET');
      expect(error.message).toContain(body.slice(0, 30));
      expect(error.hint, String(status)).toMatch(/what has landed is kept$/);
    }
  });

  it.each([429, 500, 502, 520, 530])('with status %i passes as the own one does', (status) => {
    for (const body of FOREIGN) {
      const [own, other] = [facts.body, body].map((each) =>
        errorFromAnswer({ ...facts, status, body: each }),
      );
      expect(other?.code).toBe(own?.code);
    }
  });

  it('says what to check, where it stays', () => {
    const hint = (status: number) => errorFromAnswer({ url: facts.url, status }).hint;
    expect([401, 403].map(hint).join()).toMatch(/LOTLAKE_API_KEY.*LOTLAKE_API_KEY/);
    expect(hint(404)).toContain('LOTLAKE_BASE_URL');
    const own = (path: string) =>
      errorFromAnswer({ url: `https://host/api${path}`, status: 404, body: '{"message":"Not found"}' }).hint;
    for (const path of ['/cars', '/statistics', '/usa/states'])
      expect(own(path), path).toContain('check LOTLAKE_BASE_URL');
    for (const path of [
      '/cars/17',
      '/cars/17?prices_history=1',
      '/search-vin/1HGCM82633A004352',
      '/listing/3/12',
      '/models/3/cars',
    ])
      expect(own(path), path).toBe('check the id');
    // Some answers are named by their path alone.
    expect(errorFromAnswer({ url: '/cars/7', status: 404, body: '{"message":"Not found"}' }).hint).toBe(
      'check the id',
    );
    expect(hint(407)).toContain('HTTPS_PROXY');
    expect(hint(511)).toContain('log in');
  });

  it('leads elsewhere for good only before the service has answered', () => {
    const headers = { location: 'https://other.example/' };
    for (const status of [301, 308]) {
      const first = errorFromAnswer({ url: facts.url, status, headers });
      expect(first).toMatchObject({ code: 'SERVICE_UNEXPECTED', retryable: false });
      expect(first.message).toContain('it leads to https://other.example/');
      const later = errorFromAnswer({ url: facts.url, status, headers, isReached: true });
      expect(later).toMatchObject({ code: 'SERVICE_FOREIGN', retryable: true });
    }
  });
});

describe('an error of the service itself', () => {
  it.each([
    '{"error":"no"}',
    '\ufeff{"message":"no"}',
    `{"message":"${'x'.repeat(70_000)}`,
    '{"message":""}',
  ])('counts, also with a mark, cut, or without a word: %.30s', (body) => {
    expect(errorFromAnswer({ ...facts, status: 403, body }).code).toBe('SERVICE_KEY_REFUSED');
  });

  it.each([408, 421, 423, 425, 499])('of status %i may pass', (status) => {
    expect(errorFromAnswer({ ...facts, status })).toMatchObject({ code: 'SERVICE_FAILED', retryable: true });
  });

  it.each([405, 422, 451])('of status %i does not', (status) => {
    expect(errorFromAnswer({ ...facts, status })).toMatchObject({
      ...{ code: 'SERVICE_UNEXPECTED', retryable: false },
    });
  });
});
