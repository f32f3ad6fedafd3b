import { pipeline, Readable } from 'node:stream';
import { constants, createGzip } from 'node:zlib';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context } from 'hono';
import { accepts } from 'hono/accepts';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { type Html, raw } from '../page/html.js';
import { problem } from './page-frame.js';

/** Seconds in which a reader gets a piece of an answer, and takes it. */
const SECONDS = 120;

/** Bytes of an answer that wait for its reader. A page is shorter, so that a slow reader keeps nobody waiting. */
const WAITING = 1 << 20;

/** The time of one answer. */
export interface Ending {
  /** Aborts when the reader leaves, when the time is over, and when the server closes. */
  readonly signal: AbortSignal;
  /** Begins the time anew. */
  renew(): void;
  /** Ends the watch. */
  end(): void;
}

/** The answers that are under way. */
export interface Endings {
  /** Watches over the answer to a request. */
  begin(c: Context): Ending;
  /** Ends all answers, and those to come. */
  close(): void;
}

export function endings(): Endings {
  const open = new Set<AbortController>();
  let closed: LotlakeError | undefined;
  return {
    begin(c) {
      const ending = new AbortController();
      const reader = c.req.raw.signal;
      const leave = (): void => ending.abort(reader.reason);
      reader.addEventListener('abort', leave, { once: true });
      if (reader.aborted) leave();
      if (closed !== undefined) ending.abort(closed);
      open.add(ending);
      const timer = setTimeout(() => ending.abort(tooLong()), SECONDS * 1000);
      return {
        signal: ending.signal,
        renew: () => void timer.refresh(),
        end: () => {
          clearTimeout(timer);
          open.delete(ending);
        },
      };
    },
    close() {
      closed = new LotlakeError('EXPLORE_ENDED', 'the server ends');
      for (const ending of open) ending.abort(closed);
    },
  };
}

const tooLong = (): LotlakeError =>
  new LotlakeError('EXPLORE_ENDED', `it took longer than ${SECONDS} s, and was ended`, {
    outcome: 'usage',
    hint: 'ask for less, or run it by lotlake query, which may take any time',
  });

/**
 * Sends an answer piece by piece, as its reader takes them; text is compressed if its browser takes that.
 * @param release called once: when all is sent, the reader is gone, or the time is over
 */
export function send(
  c: Context,
  pieces: AsyncIterable<string | Uint8Array>,
  { signal, renew }: Ending,
  release: () => void,
): Response {
  const timed = async function* (): AsyncGenerator<string | Uint8Array> {
    for await (const piece of pieces) {
      yield piece;
      renew();
    }
  };
  const source = Readable.from(timed(), { objectMode: false, highWaterMark: WAITING });
  const leave = (): void => void source.destroy();
  signal.addEventListener('abort', leave, { once: true });
  source.once('close', () => {
    signal.removeEventListener('abort', leave);
    release();
  });
  if (signal.aborted) leave();
  const { outgoing } = c.env as HttpBindings;
  const headers = Object.fromEntries(c.res.headers);
  const isText = headers['content-type']?.startsWith('text/') === true;
  if (isText) headers.vary = 'Accept-Encoding';
  const isPacked =
    isText && accepts(c, { header: 'Accept-Encoding', supports: ['gzip'], default: '' }) === 'gzip';
  if (isPacked) headers['content-encoding'] = 'gzip';
  outgoing.writeHead(200, headers);
  // Each piece leaves at once, so that a page is seen while the rest of it is computed.
  const packing = isPacked ? [createGzip({ flush: constants.Z_SYNC_FLUSH })] : [];
  // An answer that fails is cut off, so that nobody takes it for whole.
  pipeline([source, ...packing, outgoing], () => undefined);
  return RESPONSE_ALREADY_SENT;
}

/** Pieces of HTML as parts of a page, and an error in place of what it ends. */
export async function* partsOf(pieces: AsyncIterable<string | Uint8Array>): AsyncGenerator<Html> {
  try {
    for await (const piece of pieces) yield raw(String(piece));
  } catch (error) {
    yield problem(error);
  }
}

/** All pieces, as texts. */
export async function textsOf(pieces: AsyncIterable<string | Uint8Array>): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const piece of pieces) texts.push(String(piece));
  return texts;
}
