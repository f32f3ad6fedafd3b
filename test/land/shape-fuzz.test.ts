import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { createWorld } from '../../src/sandbox/index.js';
import { scanText } from './support.js';

const world = createWorld({ vehicles: 300 });
const sampled = <T>(list: readonly T[], count: number): T[] =>
  list.filter((_, place) => place % Math.ceil(list.length / count) === 0);

const streams = [
  {
    name: 'cars',
    schema: schemas.vehicle,
    texts: sampled(world.activeIds(), 60).map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? ''),
  },
  {
    name: 'archived lots',
    schema: schemas.archived_lot,
    texts: sampled(world.archivedLotIds(), 40).map((id) => JSON.stringify(world.archivedLot(id))),
  },
  {
    name: 'statistics',
    schema: schemas.statistic,
    texts: sampled(world.statistics(), 40).map((record) => JSON.stringify(record)),
  },
] as const;

/** JSON tokens to replace a value with. */
const tokens = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    '0',
    '-0',
    '1',
    '12.5',
    '1e3',
    '1.0',
    '"12"',
    '"1.5"',
    '""',
    '"text"',
    '" 7"',
  ),
  fc.constantFrom('123456789012345', '1234567890123456', '9007199254740993', '"1234567890123456"', '"+5"'),
  fc.constantFrom('-5', '"-5"', '"-0"', '-12.5', '"-12.5"'),
  fc.constantFrom(
    '{}',
    '[]',
    '[null]',
    '[{}]',
    '{"id":1}',
    '{"id":null}',
    '{"id":"x"}',
    '[{"id":1}]',
    '["a"]',
  ),
  fc.constantFrom('"2026-02-30"', '"2026-02-28"', '"2026-09-09T19:44:38.000000Z"', '"2026-09-09 25:00:00"'),
  fc.constantFrom('{"value":1}', '{"value":"x","updated_at":"x"}', '{"id":1,"is_rental":2}', '{"name":{}}'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.string().map((text) => JSON.stringify(text)),
);

const MARK = '\u0001mark\u0001';

/** Every position in a record that has a value, as the steps that lead to it. */
function placesOf(value: unknown, steps: readonly PropertyKey[] = []): (readonly PropertyKey[])[] {
  if (typeof value !== 'object' || value === null) return [steps];
  return [steps, ...Object.entries(value).flatMap(([name, member]) => placesOf(member, [...steps, name]))];
}

/** The text of a record with one of its values replaced by a token. */
function replaced(text: string, choose: number, token: string): string {
  const record: unknown = JSON.parse(text);
  const places = placesOf(record).slice(1);
  const steps = places[choose % places.length] ?? [];
  const owner = steps.slice(0, -1).reduce<unknown>((value, step) => Reflect.get(Object(value), step), record);
  Reflect.set(Object(owner), steps.at(-1) ?? '', MARK);
  return JSON.stringify(record).replace(JSON.stringify(MARK), () => token);
}

const accepts = (schema: z.core.$ZodType & z.ZodType, text: string): boolean =>
  schema.safeParse(JSON.parse(text)).success;

/** The schema of an archived lot accepts amounts only as numbers, so its tokens include no texts of digits. */
const tokensFor = (name: string): fc.Arbitrary<string> =>
  name === 'archived lots' ? tokens.filter((token) => !/^"-?\d+(\.\d+)?"$/.test(token)) : tokens;

describe.each(streams)('records of $name', ({ name, schema, texts }) => {
  const contract = contractOf(schema);
  const scanned = (text: string) => scanText(`[${text}]`, contract).scan;

  it('fit as the sandbox writes them', () => {
    const { scan, lines } = scanText(`{"data":[${texts.join(',')}]}`, contract);
    expect(scan).toMatchObject({ misfits: [], drift: [], records: texts.length });
    expect(lines).toBe(texts.map((text) => `${text}\n`).join(''));
  });

  it('satisfy the schema if their shape fits', () => {
    const seen = { fit: 0, not: 0 };
    const mutation = fc.tuple(fc.nat(), tokensFor(name));
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(mutation, { minLength: 1, maxLength: 2 }),
        (text, changes) => {
          const changed = changes.reduce((now, [choose, token]) => replaced(now, choose, token), text);
          const fits = scanned(changed).misfits.length === 0;
          if (fits) seen.fit++;
          else seen.not++;
          if (fits) expect(accepts(schema, changed)).toBe(true);
        },
      ),
      { numRuns: 500 },
    );
    expect(Math.min(seen.fit, seen.not)).toBeGreaterThan(40);
  });

  it('are marked for a closer look if the schema refuses them', () => {
    const text = texts[0] ?? '';
    for (let place = 0; place < placesOf(JSON.parse(text)).length - 1; place++) {
      for (const token of ['{}', '[]', '"text"', 'true', '1.5']) {
        const changed = replaced(text, place, token);
        if (!accepts(schema, changed)) expect(scanned(changed).misfits, changed).not.toEqual([]);
      }
    }
  });
});
