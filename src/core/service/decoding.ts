import { type Duplex, pipeline } from 'node:stream';
import * as zlib from 'node:zlib';
import { codeOf, messageOf } from '../../base/config/lotlake-error.js';

/** Bytes of a decoder's chunks: with 256 KB a page takes a tenth more time to land. */
const chunkSize = 1 << 19;

/** Most encodings of one body, one in the other. */
const MOST_LAYERS = 4;

/** Codes of what the decoders of Node find wrong. */
const DECODER_FAULT = /^(?:Z_|ERR__ERROR|ZSTD_)/;

/** A body is not in the encoding that its header or its first bytes name. */
export class EncodingError extends Error {
  override readonly name = 'EncodingError';
  constructor(encoding: string, cause: unknown) {
    super(`its encoding (${encoding}) cannot be read: ${messageOf(cause)}`, { cause });
  }
}

type Decoder = () => Duplex;

/** The first bytes of a gzip stream and of a zstd stream. No JSON text begins with them. */
const GZIP = Buffer.from([0x1f, 0x8b]);
const ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** Whether bytes begin as zstd does. */
export const isZstd = (bytes: Buffer): boolean => bytes.subarray(0, ZSTD.length).equals(ZSTD);

const gunzip: Decoder = () => zlib.createGunzip({ chunkSize });

/** Encodings that the first bytes of a body tell, whatever its header says: some services and proxies lose or invent it. */
const TOLD_BY_BYTES = ['gzip', 'x-gzip', 'zstd', 'identity', ''];

/**
 * The bytes of a body without its encodings. lotlake asks for gzip alone; what else comes is decoded where Node can, such as
 * `br`, or gzip within gzip. A body in another encoding stays as it is.
 * @param encodings the header `Content-Encoding`
 */
export function decoded(body: AsyncIterable<Uint8Array>, encodings = ''): AsyncIterable<Uint8Array> {
  const names = encodings.split(',').map((name) => name.trim().toLowerCase());
  const layers = names.filter((name) => name !== 'identity' && name !== '').slice(-MOST_LAYERS);
  // The last one that was put on comes off first. A body without a header may be packed all the same.
  const first = layers.length === 0 ? [''] : layers.toReversed();
  return first.reduce(
    (bytes, name) => (TOLD_BY_BYTES.includes(name) ? unpacked(bytes) : unpackedAs(name, bytes)),
    body,
  );
}

function unpackedAs(name: string, body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (name === 'br') return through(body, name, () => zlib.createBrotliDecompress({ chunkSize }));
  return name === 'deflate' ? inflated(body) : body;
}

/** A body, unpacked if its first bytes are those of gzip, or of zstd where Node knows it. */
async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { begin, whole } = await peeked(body, ZSTD.length);
  if (begin.subarray(0, GZIP.length).equals(GZIP)) return yield* through(whole, 'gzip', gunzip);
  const unzstd = isZstd(begin) ? zstdDecoder() : undefined;
  yield* unzstd === undefined ? whole : through(whole, 'zstd', unzstd);
}

/** Undefined before Node 22.15. The body then stays packed, and the client names its encoding. */
function zstdDecoder(): Decoder | undefined {
  const create: unknown = Reflect.get(zlib, 'createZstdDecompress');
  return typeof create === 'function' ? () => create({ chunkSize }) as Duplex : undefined;
}

/** `deflate` means a zlib stream (RFC 9110), and some servers send it without the header of zlib. */
async function* inflated(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const { begin, whole } = await peeked(body, 2);
  const isZlib = begin.length === 2 && ((begin[0] ?? 0) & 0x0f) === 8 && begin.readUInt16BE(0) % 31 === 0;
  yield* through(whole, 'deflate', () =>
    isZlib ? zlib.createInflate({ chunkSize }) : zlib.createInflateRaw({ chunkSize }),
  );
}

async function* through(
  body: AsyncIterable<Uint8Array>,
  name: string,
  create: Decoder,
): AsyncGenerator<Uint8Array> {
  const decoder = create();
  // A reader of the decoder gets the error.
  pipeline(body, decoder, () => undefined);
  try {
    yield* decoder;
  } catch (error) {
    if (!DECODER_FAULT.test(String(codeOf(error)))) throw error;
    throw new EncodingError(name, error);
  }
}

/** The first bytes of a body, at most so many, and the body with them. */
export async function peeked(
  body: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ readonly begin: Buffer; readonly whole: AsyncIterable<Uint8Array> }> {
  const chunks = body[Symbol.asyncIterator]();
  let begin: Buffer = Buffer.alloc(0);
  let isOver = false;
  while (!isOver && begin.length < most) {
    const next = await chunks.next();
    isOver = next.done === true;
    if (next.done !== true)
      begin =
        begin.length === 0
          ? Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length)
          : Buffer.concat([begin, next.value]);
  }
  const whole = async function* (): AsyncGenerator<Uint8Array> {
    if (begin.length > 0) yield begin;
    yield* { [Symbol.asyncIterator]: () => chunks };
  };
  return { begin: begin.subarray(0, most), whole: whole() };
}
