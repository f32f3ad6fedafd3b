import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { envelopeSchema } from '../../src/core/service/contract/envelope.js';
import { PageScanner } from '../../src/core/service/scan/scan-page.js';
import { type StreamName, streams } from '../../src/core/service/streams.js';

/** Records in the shapes of the real ones, with values of our own. */
const samples = join(import.meta.dirname, '..', 'records');

/** The records of a sample, and its text. */
function sample(file: string): { text: string; records: unknown[] } {
  const text = readFileSync(join(samples, file), 'utf8');
  const body: unknown = JSON.parse(text);
  const data: unknown = z.object({ data: z.unknown() }).safeParse(body).data?.data ?? body;
  return { text, records: Array.isArray(data) ? data : [data] };
}

function scan(text: string, name: StreamName) {
  const scanner = new PageScanner(streams[name].contract);
  const lines = Buffer.concat([scanner.push(Buffer.from(text)), scanner.flush()]).toString('utf8');
  return { lines, ...scanner.finish() };
}

describe.each([
  ['cars-page-domain3.json', 'cars', 3],
  ['car-domain1-abridged.json', 'cars', 1],
  ['search-lot-domain12.json', 'cars', 1],
  ['prices-history-domain1.json', 'cars', 1],
  ['archived-lots-page.json', 'archived_lots', 3],
] as const)('real records in %s', (file, name, count) => {
  const { records } = sample(file);

  it('satisfy the contract', () => {
    expect(records.length).toBe(count);
    for (const record of records)
      expect(z.safeParse(streams[name].schema, record).error?.issues ?? []).toEqual([]);
  });

  it('have no unknown member and no value that needs a closer look', () => {
    for (const space of [0, 1]) {
      const { drift, misfits, utf8, lines, ids } = scan(JSON.stringify({ data: records }, null, space), name);
      expect({ drift, misfits, utf8 }).toEqual({ drift: [], misfits: [], utf8: true });
      expect(lines).toBe(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      expect(ids.every((id) => Number.isInteger(id))).toBe(true);
    }
  });
});

describe('a real page', () => {
  it.each([
    ['cars-page-domain3.json', 'cars'],
    ['archived-lots-page.json', 'archived_lots'],
  ] as const)('is read byte for byte, with its envelope: %s', (file, name) => {
    const { text, records } = sample(file);
    const { lines, envelope } = scan(text, name);
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(records);
    const { links, meta } = envelopeSchema.parse(envelope);
    expect(links?.next).toMatch(/^http:.*[?&]page=2/);
    expect({ total: meta?.total, last: meta?.last_page, perPage: meta?.per_page }).toEqual({ perPage: 3 });
  });

  it('of source 12 keeps the escapes that the service writes', () => {
    const { text } = sample('search-lot-domain12.json');
    const record = text.trim().slice('{"data":'.length, -1);
    expect(scan(`[${record}]`, 'cars').lines).toBe(`${record}\n`);
  });
});
