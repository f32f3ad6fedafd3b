import { describe, expect, it } from 'vitest';
import { LotlakeError } from '../../src/base/config/lotlake-error.js';
import { errorFromAnswer, isFailure, messageOfBody, ServiceError } from '../../src/core/service/errors.js';

const facts = { url: 'https://service.example/api/cars?page=3' };
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
    const error = errorFromAnswer({ ...facts, status: 400, detail: 'per_page is too large' });
    expect(error.message).toBe(
      'bad request (400) from GET https://service.example/api/cars?page=3: per_page is too large',
    );
    expect(errorFromAnswer({ ...facts, status: 500, detail: '' }).message).toMatch(/page=3$/);
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
