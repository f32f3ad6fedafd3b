import { Buffer } from 'node:buffer';
import type { ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type Fault, faultOf } from './faults.js';

const compress = promisify(gzip);

/** An answer before it goes onto the wire. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The body in the encoding that the headers name. */
  readonly bytes: Buffer;
}

/** Encodes a JSON text, gzipped at level 1 where the client takes it. */
export async function encode(
  status: number,
  text: string,
  headers: Readonly<Record<string, string>>,
  zipped: boolean,
): Promise<Answer> {
  const plain = Buffer.from(text, 'utf8');
  const bytes = zipped ? await compress(plain, { level: 1 }) : plain;
  const encoding = zipped ? { 'content-encoding': 'gzip' } : {};
  return {
    status,
    bytes,
    headers: { 'content-type': 'application/json', vary: 'accept-encoding', ...encoding, ...headers },
  };
}

/** Sends an answer, disturbed on the wire as the faults ask. Resolves when everything that will be sent is sent. */
export async function send(
  response: ServerResponse,
  answer: Answer,
  faults: readonly Fault[],
): Promise<void> {
  const cut = faultOf(faults, 'cut-body');
  const stalled = faultOf(faults, 'stalled-body');
  const torn = cut !== undefined && (cut.ending ?? 'socket') === 'socket';
  const { bytes } =
    faultOf(faults, 'corrupt-gzip') === undefined ? answer : { bytes: corrupted(answer.bytes) };
  const short = cut?.ending === 'short-gzip' ? bytes.subarray(0, share(bytes, cut.at)) : bytes;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': String(short.length) });
  if (!torn && stalled === undefined) return await until(response, () => response.end(short));
  const part = bytes.subarray(0, share(bytes, (cut ?? stalled)?.at));
  await until(response, (done) => response.write(part, () => done()));
  // The first part has to leave before the connection does.
  if (torn) setTimeout(() => response.destroy(), 20);
}

const share = (bytes: Buffer, at = 0.5): number => Math.floor(bytes.length * at);

/** Resolves when the response says so, or when its connection is closed. */
const until = (response: ServerResponse, act: (done: () => void) => void): Promise<void> =>
  new Promise((resolve) => {
    response.once('close', resolve);
    act(resolve);
  });

/** A copy whose middle is overwritten; the header of a gzip stream stays whole. */
function corrupted(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const middle = Math.max(20, Math.floor(copy.length / 2));
  copy.fill(0xa5, Math.min(middle, copy.length), Math.min(middle + 64, copy.length));
  return copy;
}
