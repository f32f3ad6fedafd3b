import { isObject, jsonIn } from '../../base/config/json.js';
import { type Answer, readBody } from '../service/client.js';
import { ServiceError } from '../service/errors.js';

const FORMS = 'a record, {data: {…}} and {data: [{…}]} with one record are known';

/**
 * The record in the answer of an endpoint that gives one. The envelope of `/cars/{id}` and `/listing/…` is not
 * documented: a bare record, `{data: {…}}` and `{data: [{…}]}` are taken. Throws SERVICE_NOT_FOUND for an empty list, and
 * SERVICE_UNEXPECTED for another shape.
 */
export function recordIn(body: unknown, url: string): object {
  const data = isObject(body) && 'data' in body ? body.data : body;
  const [record, ...others] = Array.isArray(data) ? data : [data];
  if (Array.isArray(data) && data.length === 0)
    throw new ServiceError('SERVICE_NOT_FOUND', { url, status: 200, detail: 'the list is empty' });
  if (others.length > 0) throw unexpected(url, `a list of ${others.length + 1} records`);
  if (!isObject(record)) throw unexpected(url, kindOf(record));
  // An envelope with neither data nor a record, such as one with an error.
  if (record === body && !('id' in record)) throw unexpected(url, description(record));
  return record;
}

/**
 * The answer as a page with the record below `data`, its bytes unchanged. Throws as `recordIn` does, and SERVICE_OTHER_RECORD if
 * the record has another id than the one that was asked for.
 */
export async function asPage(answer: Answer, id?: number): Promise<Answer> {
  const bytes = await readBody(answer);
  const body = jsonIn(bytes.toString('utf8'));
  // Landing says what is wrong with a text that is not JSON.
  const record = body === undefined ? undefined : recordIn(body, answer.url);
  const isBare = record !== undefined && record === body;
  const found = record === undefined ? undefined : Reflect.get(record, 'id');
  if (id !== undefined && found !== undefined && found !== null && Number(found) !== id)
    throw new ServiceError('SERVICE_OTHER_RECORD', {
      url: answer.url,
      status: 200,
      detail: `the record of ${id} was asked for, and that of ${JSON.stringify(found).slice(0, 100)} came`,
    });
  const parts = isBare ? [Buffer.from('{"data":'), bytes, Buffer.from('}')] : [bytes];
  return { ...answer, body: streamOf(parts) };
}

async function* streamOf(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

function unexpected(url: string, what: string): ServiceError {
  const detail = `${what} stands where one record belongs; ${FORMS}`;
  return new ServiceError('SERVICE_UNEXPECTED', { url, status: 200, detail });
}

const kindOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : typeof value;

/** What an envelope holds instead of a record, in a few words. */
function description(envelope: Record<string, unknown>): string {
  const message = envelope.error ?? envelope.message;
  if (message !== undefined) return `the service says ${JSON.stringify(message).slice(0, 200)}, which`;
  return `an object with ${Object.keys(envelope).slice(0, 8).join(', ') || 'no members'}`;
}
