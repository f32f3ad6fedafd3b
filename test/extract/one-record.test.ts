import { expect, it } from 'vitest';
import { asPage, recordIn } from '../../src/core/extract/one-record.js';

const url = 'http://127.0.0.1/cars/7';

it.each([{ id: 7 }, { data: { id: 7 } }, { data: [{ id: 7 }] }, [{ id: 7 }]])(
  'an answer counts as its record: %j',
  (body) => {
    expect(recordIn(body, url)).toEqual({ id: 7 });
  },
);

it.each([
  [{ error: 'try later' }, 'SERVICE_UNEXPECTED', 'the service says "try later"'],
  [{ vehicle: { id: 7 } }, 'SERVICE_UNEXPECTED', 'an object with vehicle'],
  [{}, 'SERVICE_UNEXPECTED', 'no members'],
  [{ data: null }, 'SERVICE_UNEXPECTED', 'null'],
  [{ data: [{ id: 7 }, { id: 8 }] }, 'SERVICE_UNEXPECTED', 'a list of 2 records'],
  [{ data: [] }, 'SERVICE_NOT_FOUND', 'empty'],
  ['text', 'SERVICE_UNEXPECTED', 'string'],
])('any other answer is an error at once: %j', (body, code, message) => {
  expect(() => recordIn(body, url)).toThrow(
    expect.objectContaining({ code, retryable: false, message: expect.stringContaining(message) }),
  );
});

it.each([
  ['{"id": 12345678901234567890}', '{"data":{"id": 12345678901234567890}}'],
  ['{"data": [{"id": 7}]}', '{"data": [{"id": 7}]}'],
  ['{"data": {"id"', '{"data": {"id"'],
])('a body is landed byte for byte: %s', async (given, expected) => {
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(given);
  }
  const page = await asPage({ url, body: body() });
  const chunks: Uint8Array[] = [];
  for await (const chunk of page.body) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe(expected);
});
