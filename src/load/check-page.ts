import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { pipeline } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { z } from 'zod';
import { kindNames } from '../land/kinds.js';
import { PageScanner } from '../land/scan-page.js';
import type { ContractNode } from '../service/contract/node.js';
import type { Stream } from '../service/streams.js';
import { nodeAt } from './types.js';

/** A record that breaks the contract, with its place and its raw text. */
export interface Reject {
  readonly stream: string;
  readonly pass_id: string;
  /** The list of the stream that the page is of; empty where there is one. */
  readonly list: string;
  /** Number of the page in its list. */
  readonly page: number;
  /** Position of the record in its page, from 0. */
  readonly position: number;
  readonly record_id: string | null;
  readonly path: string;
  readonly expected: string;
  readonly found: string;
  readonly raw: string;
}

/** Where a page is and what it belongs to. */
export interface PagePlace {
  readonly file: string;
  readonly passId: string;
  /** The list of the stream that the page is of. */
  readonly list: string;
  readonly page: number;
  /** Whether some record of the page is JSON that DuckDB does not take. */
  readonly irregular: boolean;
}

/**
 * Looks at each record of a page that does not fit the contract as a whole. Writes the records that do to `target`
 * (newline-delimited JSON) and returns the others.
 */
export async function checkPage(
  place: PagePlace,
  stream: Stream,
  contract: ContractNode,
  target: string,
): Promise<{ readonly kept: number; readonly rejects: readonly Reject[] }> {
  const rejects: Reject[] = [];
  let position = 0;
  let kept = 0;
  const out = await open(target, 'w');
  try {
    for await (const line of linesOf(place.file)) {
      const fault = examine(line, stream, contract);
      if (fault === undefined) {
        const record = place.irregular ? regular(line, stream, contract) : line;
        await out.write(Buffer.concat([record, NEWLINE]));
        kept++;
      } else {
        rejects.push({
          stream: stream.name,
          pass_id: place.passId,
          list: place.list,
          page: place.page,
          position,
          raw: line.toString('utf8'),
          ...fault,
        });
      }
      position++;
    }
  } finally {
    await out.close();
  }
  return { kept, rejects };
}

const NEWLINE = Buffer.from('\n');

async function* linesOf(file: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const gunzip = createGunzip();
  pipeline(createReadStream(file), gunzip, () => undefined);
  for await (const chunk of gunzip) {
    let buffer = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    for (let cut = buffer.indexOf(0x0a); cut >= 0; cut = buffer.indexOf(0x0a)) {
      yield buffer.subarray(0, cut);
      buffer = buffer.subarray(cut + 1);
    }
    rest = buffer;
  }
  if (rest.length > 0) yield rest;
}

/**
 * A record as DuckDB takes it. Of a member that stands twice the last value counts, as in JSON.parse; half of a
 * surrogate pair, which no UTF-8 text can hold, becomes U+FFFD. Landing keeps the record as it came.
 */
function regular(line: Buffer, stream: Stream, contract: ContractNode): Buffer {
  const scanner = new PageScanner(contract, stream.idField);
  scanner.push(Buffer.concat([Buffer.from('['), line, Buffer.from(']')]));
  scanner.flush();
  if (!scanner.finish().irregular) return line;
  const written = JSON.stringify(JSON.parse(line.toString('utf8')));
  return Buffer.from(written.replaceAll(ESCAPE, (found) => (HALF_PAIR.test(found) ? '\\ufffd' : found)));
}

const ESCAPE = /\\(?:u[0-9a-f]{4}|.)/g;
const HALF_PAIR = /^\\ud[89a-f]/;

type Fault = Pick<Reject, 'record_id' | 'path' | 'expected' | 'found'>;

function examine(line: Buffer, stream: Stream, contract: ContractNode): Fault | undefined {
  let record: unknown;
  try {
    record = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(line));
  } catch (error) {
    return { record_id: readableId(line, stream), path: '', expected: 'JSON in UTF-8', found: String(error) };
  }
  const parsed = z.safeParse(stream.schema, record);
  if (parsed.success) return undefined;
  const [issue] = parsed.error.issues;
  const path = issue === undefined ? [] : deepest(issue);
  const value = valueAt(record, path);
  const node = nodeAt(contract, pathText(path, false));
  return {
    record_id: idOf(record, stream.idField),
    path: pathText(path, true),
    expected: node === undefined ? (issue?.message ?? '') : expectation(node),
    found: describe(value),
  };
}

/** The path of an issue; inside a union the path of the alternative that came furthest. */
function deepest(issue: z.core.$ZodIssue): PropertyKey[] {
  if (issue.code !== 'invalid_union') return issue.path;
  const inner = issue.errors.flatMap((issues) => issues.map(deepest));
  const longest = inner.reduce<PropertyKey[]>((most, path) => (path.length > most.length ? path : most), []);
  return [...issue.path, ...longest];
}

function valueAt(record: unknown, path: readonly PropertyKey[]): unknown {
  let value: unknown = record;
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}

function pathText(path: readonly PropertyKey[], positions: boolean): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${positions ? step : ''}]`;
    return text === '' ? String(step) : `${text}.${String(step)}`;
  }, '');
}

function expectation(node: ContractNode): string {
  const kinds = kindNames(node.accepts).join(', ');
  return node.required ? `${kinds} (required)` : kinds;
}

function describe(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  const text = JSON.stringify(value);
  const kind = Array.isArray(value) ? 'array' : typeof value === 'string' ? 'text' : typeof value;
  return `${kind} ${text.length > 200 ? `${text.slice(0, 200)}…` : text}`;
}

/** The id of a record that is not valid UTF-8: ids are ASCII, so that the vehicle still counts as present. */
function readableId(line: Buffer, stream: Stream): string | null {
  try {
    return idOf(JSON.parse(line.toString('latin1')), stream.idField);
  } catch {
    return null;
  }
}

function idOf(record: unknown, field: string): string | null {
  const value = valueAt(record, [field]);
  return typeof value === 'number' || typeof value === 'string' ? String(value) : null;
}
