import fc from 'fast-check';
import { type ContractNode, contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { type PageScan, PageScanner } from '../../src/core/service/scan/scan-page.js';

/** The contract of `/cars`. */
export const vehicleContract = contractOf(schemas.vehicle);

/**
 * The result of a scan: the lines as landing writes them, the size of each returned piece, and the facts of the page.
 */
export interface Scanned {
  readonly lines: string;
  readonly pieces: readonly Buffer[];
  readonly scan: PageScan;
}

/** Sends chunks through a scanner as landing does. Throws what the scanner throws. */
export function scanChunks(
  chunks: Iterable<Uint8Array>,
  options: { contract?: ContractNode; mostRecordBytes?: number } = {},
): Scanned {
  const { contract = vehicleContract, mostRecordBytes } = options;
  const scanner = new PageScanner(contract, mostRecordBytes);
  const pieces: Buffer[] = [];
  for (const chunk of chunks) pieces.push(scanner.push(chunk));
  pieces.push(scanner.flush());
  return { lines: Buffer.concat(pieces).toString('utf8'), pieces, scan: scanner.finish() };
}

/** Scans a whole text in one chunk. */
export const scanText = (text: string, contract?: ContractNode): Scanned =>
  scanChunks([Buffer.from(text)], contract === undefined ? {} : { contract });

/** The page that the service would send for these records. */
export const pageOf = (records: readonly unknown[]): string => JSON.stringify({ data: records });

/** Cuts bytes into pieces of the given sizes. Starts again with the first size until nothing is left. */
export function* cut(bytes: Uint8Array, sizes: readonly number[]): Generator<Uint8Array> {
  let at = 0;
  for (let i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length] ?? bytes.length;
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

const numberToken = fc.oneof(
  fc.constantFrom('0', '-0', '1', '-7', '0.5', '-0.0', '1e5', '1E+05', '12.5e-3', '2553571660', '15530.14'),
  fc.constantFrom('12345678901234567890', '-123456789012345', '1e400', '0.30000000000000004'),
  fc.bigInt({ min: -(10n ** 25n), max: 10n ** 25n }).map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);

const escapePiece = fc.constantFrom(
  '\\"',
  '\\\\',
  '\\/',
  '\\b\\f\\n\\r\\t',
  '\\u00e9',
  '\\u00E9',
  '\\ud83d\\ude97 is a car',
  '\\ud800 is half a pair',
  '\\u0022',
  '\\u005c',
);
const plainPiece = fc.oneof(
  fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text).slice(1, -1)),
  fc
    .constantFrom('현대 그랜저', '🚗🏎️', '{"a":[1,', '], }', '  two  spaces ', 'é', '\u2028', '\u007f')
    .map((text) => JSON.stringify(text).slice(1, -1)),
);
const textToken = fc
  .array(fc.oneof({ weight: 3, arbitrary: plainPiece }, escapePiece), { maxLength: 4 })
  .map((pieces) => `"${pieces.join('')}"`);

const keyToken = fc.oneof(
  { weight: 2, arbitrary: textToken },
  fc.constantFrom('"id"', '"lots"', '"vin"', '"title"', '"odometer"', '"sale_date"', '"bid"', '"details"'),
  fc.constantFrom('"data"', '""', '"Id"', '"__proto__"', '"ID"', '"i\\u0064"'),
);

/** JSON values as lists of tokens, to put white space between any two of them. */
const {
  value: tokens,
  leaf,
  list,
} = fc.letrec<{
  value: string[];
  leaf: string[];
  list: string[];
  object: string[];
}>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('list'), tie('object')),
  leaf: fc.oneof(fc.constantFrom('null', 'true', 'false'), numberToken, textToken).map((token) => [token]),
  list: fc.array(tie('value'), { maxLength: 4 }).map((entries) => ['[', ...joined(entries), ']']),
  object: fc.array(fc.tuple(keyToken, tie('value')), { maxLength: 5 }).map(objectOf),
}));

function objectOf(members: readonly (readonly [string, string[]])[]): string[] {
  return ['{', ...joined(members.map(([key, value]) => [key, ':', ...value])), '}'];
}

function joined(entries: readonly string[][]): string[] {
  return entries.flatMap((entry, place) => (place === 0 ? entry : [',', ...entry]));
}

/** A record with at most one `id`, an integer or its digits as text, and any other members. */
const recordTokens = fc
  .tuple(
    fc.option(fc.tuple(fc.nat(), fc.boolean()).map(([id, isText]) => (isText ? `"${id}"` : String(id)))),
    fc.array(
      fc.tuple(
        keyToken.filter((key) => JSON.parse(key) !== 'id'),
        tokens,
      ),
      { maxLength: 6 },
    ),
    fc.nat(6),
  )
  .map(([id, members, place]) => {
    const all: (readonly [string, string[]])[] = [...members];
    if (id !== null) all.splice(place, 0, ['"id"', [id]]);
    return objectOf(all);
  });

/** Members of an envelope beside `data`. */
const envelopeMembers = fc.array(
  fc.tuple(
    keyToken.filter((key) => JSON.parse(key) !== 'data'),
    tokens,
  ),
  { maxLength: 3 },
);

/** A page as tokens, with its records separate. */
export interface TokenPage {
  readonly records: readonly string[][];
  readonly page: readonly string[];
  readonly isBare: boolean;
}

/** Pages in each form: members before and after `data`, or a bare array. */
export const tokenPage: fc.Arbitrary<TokenPage> = fc
  .record({
    records: fc.array(fc.oneof({ weight: 6, arbitrary: recordTokens }, leaf, list), { maxLength: 6 }),
    before: envelopeMembers,
    after: envelopeMembers,
    isBare: fc.boolean(),
  })
  .map(({ records, before, after, isBare }) => {
    const list = ['[', ...joined(records), ']'];
    const page = isBare ? list : objectOf([...before, ['"data"', list] as const, ...after]);
    return { records, page, isBare };
  });

/** White space of every kind, to put between tokens. */
export const spaces = fc.array(fc.constantFrom('', '', ' ', '\n', '\t', '\r\n', '    '), { minLength: 1 });

/** Joins tokens, with white space between, before and after them. */
export const spaced = (list: readonly string[], gaps: readonly string[]): string => {
  const gap = (place: number): string => gaps[place % gaps.length] ?? '';
  return list.map((token, place) => gap(place) + token).join('') + gap(list.length);
};
