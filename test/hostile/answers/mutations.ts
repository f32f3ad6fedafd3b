import fc from 'fast-check';

/** The answer that replaces a good page. */
interface Sent {
  readonly body: Buffer;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Milliseconds before the answer. */
  readonly delay?: number;
  /** How the body ends: complete, stalled, or with a reset connection. */
  readonly ending?: 'whole' | 'stall' | 'reset';
}

/** Turns the text of a good page into a wrong answer. */
export type Mutation = (page: string) => Sent;

/** Mutations leave ids of vehicles alone, since nothing could tell a changed id from the right one. */
const ID = /\{"id":\d+,"year"/g;

/** Offsets of a text outside of the ids of vehicles. */
function placesIn(text: string): number[] {
  const taken = new Set<number>();
  for (const { index, 0: found } of text.matchAll(ID))
    for (let i = index; i < index + found.length; i++) taken.add(i);
  return Array.from({ length: text.length }, (_, i) => i).filter((i) => !taken.has(i));
}

const at = (text: string, share: number): number => {
  const places = placesIn(text);
  return places[Math.floor(share * places.length)] ?? 0;
};

const share = fc.double({ min: 0, max: 0.999, noNaN: true });
const sent = (body: string | Buffer, rest: Omit<Sent, 'body'> = {}): Sent => ({
  body: typeof body === 'string' ? Buffer.from(body) : body,
  ...rest,
});

const bytes: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(share, fc.integer({ min: 0, max: 255 })).map(
    ([where, byte]): Mutation =>
      (text) => {
        const body = Buffer.from(text);
        body[at(text, where)] = byte;
        return sent(body);
      },
  ),
  fc.tuple(share, fc.uint8Array({ minLength: 1, maxLength: 20 })).map(
    ([where, added]): Mutation =>
      (text) => {
        const place = at(text, where);
        return sent(
          Buffer.concat([Buffer.from(text.slice(0, place)), added, Buffer.from(text.slice(place))]),
        );
      },
  ),
  share.map(
    (where): Mutation =>
      (text) =>
        sent(text.slice(0, at(text, where))),
  ),
  fc.uint8Array({ maxLength: 200 }).map(
    (garbage): Mutation =>
      () =>
        sent(Buffer.from(garbage)),
  ),
);

type Envelope = Record<string, unknown> & { data: unknown[]; meta: Record<string, unknown> };

const structure: fc.Arbitrary<Mutation> = fc
  .oneof(
    fc.tuple(share, fc.integer({ min: 1, max: 20 })).map(([where, count]) => (envelope: Envelope) => {
      envelope.data.splice(Math.floor(where * envelope.data.length), count);
    }),
    share.map((where) => (envelope: Envelope) => {
      const i = Math.floor(where * envelope.data.length);
      envelope.data.splice(i, 0, envelope.data[i]);
    }),
    fc.tuple(share, fc.jsonValue()).map(([where, value]) => (envelope: Envelope) => {
      envelope.data[Math.floor(where * envelope.data.length)] = value;
    }),
    fc.constantFrom('data', 'links', 'meta').map((name) => (envelope: Envelope) => {
      delete envelope[name];
    }),
    fc
      .tuple(fc.constantFrom('data', 'links', 'meta'), fc.jsonValue())
      .map(([name, value]) => (envelope: Envelope) => {
        Reflect.set(envelope, name, value);
      }),
    fc.constant((envelope: Envelope) => {
      envelope.data.reverse();
    }),
  )
  .map(
    (change): Mutation =>
      (text) => {
        const envelope = JSON.parse(text);
        change(envelope);
        return sent(JSON.stringify(envelope));
      },
  );

const members = ['current_page', 'from', 'to', 'per_page', 'total', 'last_page'];
const wrong = fc.constantFrom<unknown>(
  0,
  -1,
  1,
  7,
  0.5,
  2 ** 31,
  2 ** 53 - 1,
  2 ** 53,
  null,
  '7',
  'x',
  [],
  true,
);

const numbers: fc.Arbitrary<Mutation> = fc
  .dictionary(fc.constantFrom(...members), wrong, { minKeys: 1, maxKeys: 3 })
  .map(
    (changed): Mutation =>
      (text) => {
        const envelope: Envelope = JSON.parse(text);
        return sent(JSON.stringify({ ...envelope, meta: { ...envelope.meta, ...changed } }));
      },
  );

const headers: fc.Arbitrary<Mutation> = fc.oneof(
  fc.constantFrom('gzip', 'br', 'deflate', 'zstd', 'nonsense').map(
    (encoding): Mutation =>
      (text) =>
        sent(text, { headers: { 'content-encoding': encoding } }),
  ),
  fc.constantFrom(201, 204, 206, 301, 304, 400, 404, 418, 429, 500, 503).map(
    (status): Mutation =>
      (text) =>
        sent(status === 204 || status === 304 ? '' : text, { status }),
  ),
  fc.constantFrom('0', '0.01', '-1', 'tomorrow', 'Fri, 31 Dec 1999 23:59:59 GMT').map(
    (wait): Mutation =>
      () =>
        sent('', { status: 429, headers: { 'retry-after': wait } }),
  ),
);

const timing: fc.Arbitrary<Mutation> = fc.oneof(
  fc.nat(150).map(
    (delay): Mutation =>
      (text) =>
        sent(text, { delay }),
  ),
  fc.tuple(share, fc.constantFrom('stall' as const, 'reset' as const)).map(
    ([where, ending]): Mutation =>
      (text) =>
        sent(text.slice(0, Math.floor(where * text.length)), { ending }),
  ),
);

/** Every kind of wrong answer, all equally likely. */
export const mutation: fc.Arbitrary<Mutation> = fc.oneof(bytes, structure, numbers, headers, timing);
