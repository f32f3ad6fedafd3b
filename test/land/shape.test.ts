import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { text } from '../../src/core/service/contract/field.js';
import * as Kind from '../../src/core/service/contract/kinds.js';
import { contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { kindNames } from '../../src/core/service/scan/shape.js';
import { cut, pageOf, scanChunks, scanText } from './support.js';

const plain = { id: 1, lots: [{ id: 2, updated_at: '2026-09-09 19:37:39' }] };

/** Scans records given as JSON text, so that numbers keep their form. */
const scanRaw = (...records: readonly string[]) => scanText(`{"data":[${records.join(',')}]}`).scan;

/** A vehicle with one more member, or with a lot that has one. */
const vehicle = (member: string): string => `{"id":1,${member}}`;
const withLot = (member: string): string => `{"id":1,"lots":[{"id":2,${member}}]}`;
const withImages = (member: string): string => withLot(`"images":{${member}}`);
const withPrice = (member: string): string => withLot(`"prices":[{${member}}]`);

describe('members that the contract does not know', () => {
  it.each([
    ['market_score', vehicle('"market_score":0.5'), Kind.REAL],
    ['manufacturer.country', vehicle('"manufacturer":{"country":"de"}'), Kind.TEXT],
    ['lots[].seller_rating', withLot('"seller_rating":"A+"'), Kind.TEXT],
    ['lots[].odometer.source', withLot('"odometer":{"source":null}'), Kind.NULL],
    ['lots[].location.country.area', withLot('"location":{"country":{"area":true}}'), Kind.BOOLEAN],
    ['lots[].prices[].channel', withPrice('"id":3,"channel":[1]'), Kind.ARRAY],
    ['lots[].seller.rating', withLot('"seller":{"id":1,"rating":{"of":5}}'), Kind.OBJECT],
    [
      'inspections[].checked_items[].hue',
      vehicle('"inspections":[{"report_id":"a","checked_items":[{"hue":"x"}]}]'),
      Kind.TEXT,
    ],
    ['', `{"id":1,"":"x"}`, Kind.TEXT],
    ['ключ "с" 🚗', vehicle('"ключ \\"с\\" \\ud83d\\ude97":1'), Kind.REAL],
  ])('are drift with their path: %s', (path, record, kinds) => {
    for (const size of [1, 7, 100_000]) {
      const body = Buffer.from(`[${JSON.stringify(plain)},${record},${record}]`);
      const { scan } = scanChunks(cut(body, [size]));
      expect(scan.drift).toEqual([{ path, kinds, firstRecord: 1 }]);
      expect(scan.misfits).toEqual([]);
    }
  });

  it('are reported once per page with every kind that was seen', () => {
    const { drift } = scanRaw(vehicle('"score":null'), vehicle('"score":"a"'), vehicle('"score":[]'));
    expect(drift).toEqual([{ path: 'score', kinds: Kind.NULL | Kind.TEXT | Kind.ARRAY, firstRecord: 0 }]);
    expect(kindNames(drift[0]?.kinds ?? 0)).toEqual(['null', 'text', 'array']);
  });

  it('are not inspected further', () => {
    expect(scanRaw(vehicle('"score":{"of":{"id":1}}')).drift.map(({ path }) => path)).toEqual(['score']);
  });

  it('may have any shape if the contract keeps the value whole', () => {
    const details = '"details":{"a key with spaces":{"x":[1,{"y":1e9}]},"id":"text"}';
    expect(scanRaw(withLot(details), withLot('"details":7'))).toMatchObject({ drift: [], misfits: [] });
  });

  it('differ from known ones by case', () => {
    expect(scanRaw(vehicle('"VIN":"a"')).drift.map(({ path }) => path)).toEqual(['VIN']);
  });

  it('do not depend on the order of members', () => {
    const orders = [
      '{"id":1,"vin":"a","title":"b","year":2020}',
      '{"year":2020,"title":"b","vin":"a","id":1}',
      '{"vin":"a","id":1,"extra":1,"year":2020}',
      '{"id":1,"year":2020,"vin":"a","title":"b"}',
    ];
    expect(scanRaw(...orders, ...orders).drift).toEqual([
      { path: 'extra', kinds: Kind.REAL, firstRecord: 2 },
    ]);
  });

  it('are reported by path in any other contract', () => {
    const contract = contractOf(z.looseObject({ name: text('Name.') }));
    const { drift } = scanText('[{"name":"a","b":1},{"c":2,"b":3}]', contract).scan;
    expect(drift).toEqual([
      { path: 'b', kinds: Kind.REAL, firstRecord: 0 },
      { path: 'c', kinds: Kind.REAL, firstRecord: 1 },
    ]);
  });
});

describe('values that need a closer look', () => {
  it.each([
    ['an object for a number', 'lots[].bid', withLot('"bid":{"amount":1}')],
    ['a list for a number', 'lots[].bid', withLot('"bid":[1]')],
    ['a flag for a number', 'lots[].bid', withLot('"bid":true')],
    ['a text that is not a number', 'lots[].bid', withLot('"bid":"1,200"')],
    ['an empty text for a number', 'lots[].bid', withLot('"bid":""')],
    ['a number with an exponent', 'lots[].bid', withLot('"bid":1e3')],
    ['an id that is not a number', 'id', '{"id":"no-1"}'],
    ['an id in hexadecimal', 'id', '{"id":"0x10"}'],
    ['an id that is empty', 'id', '{"id":""}'],
    ['an id with a fraction', 'id', '{"id":1.5}'],
    ['an id of 16 digits', 'id', '{"id":1234567890123456}'],
    ['an id of 16 digits as text', 'id', '{"id":"1234567890123456"}'],
    ['an id that is null', 'id', '{"id":null}'],
    ['an id that is missing', '', '{"year":2020}'],
    ['a lot without an id', 'lots[]', '{"id":1,"lots":[{"lot":"a"}]}'],
    ['a report without an id', 'inspections[]', vehicle('"inspections":[{}]')],
    ['a year with a fraction', 'year', vehicle('"year":2020.5')],
    ['a whole number written with a fraction', 'year', vehicle('"year":2020.0')],
    ['a text for a year', 'year', vehicle('"year":"about 2020"')],
    ['a fraction as text for a whole number', 'year', vehicle('"year":"2020.5"')],
    ['a fraction for a text', 'title', vehicle('"title":1.5')],
    ['an object for a text', 'title', vehicle('"title":{}')],
    ['a text for a flag', 'has_inspections', vehicle('"has_inspections":"yes"')],
    ['a number for a flag', 'has_inspections', vehicle('"has_inspections":1')],
    ['a text for an object', 'manufacturer', vehicle('"manufacturer":"BMW"')],
    ['a list for an object', 'manufacturer', vehicle('"manufacturer":[]')],
    ['an object for a list', 'lots', vehicle('"lots":{}')],
    ['null in a list of objects', 'lots[]', vehicle('"lots":[null]')],
    ['a number in a list of objects', 'lots[]', vehicle('"lots":[1]')],
    ['an object in a list of texts', 'lots[].images.small[]', withImages('"small":[{}]')],
    ['a list for a name or an object', 'lots[].seller', withLot('"seller":[]')],
    ['a text in the object form', 'lots[].seller.id', withLot('"seller":{"id":"x"}')],
    ['a record that is not an object', '', '7'],
    ['a record that is a list', '', '[]'],
    ['a record that is null', '', 'null'],
  ])('are misfits with their path: %s', (_, path, record) => {
    for (const size of [1, 100_000]) {
      const body = Buffer.from(`[${JSON.stringify(plain)},${record}]`);
      const { misfits, drift } = scanChunks(cut(body, [size])).scan;
      expect({ misfits: misfits.map((misfit) => misfit.path), drift }).toEqual({
        misfits: [path],
        drift: [],
      });
    }
  });

  it.each([
    ['whole numbers as text', vehicle('"year":"2020"')],
    ['an id as text', '{"id":"17"}'],
    ['a negative number as text', withLot('"bid":"-12.50"')],
    ['an amount of 15 digits and one of 20', withLot('"bid":123456789012345,"buy_now":12345678901234567890')],
    ['a number for a text', vehicle('"title":3008,"vin":123456789012345')],
    ['members that are null', vehicle('"year":null,"title":null,"manufacturer":null,"lots":null')],
    ['members that are missing', '{"id":1}'],
    ['empty lists and objects', vehicle('"lots":[],"manufacturer":{},"listings":[{}]')],
    ['null in a list of texts', withImages('"small":[null,"a",5]')],
    ['each form of a seller', withLot('"seller":"x","seller_type":{"id":1,"name":"insurance"}')],
    ['each form of a grade', `${withLot('"grade_iaai":0')},${withLot('"grade_iaai":"4.5"')}`],
    [
      'each form of tags',
      `${withLot('"tags":"a"')},${withLot('"tags":["a",1,{}]')},${withLot('"tags":null')}`,
    ],
    ['images in any form', withImages('"exterior":["a"],"interior":"b","small":null')],
    ['members under an escaped name', '{"\\u0069d":1,"y\\u0065ar":2020}'],
  ])('are not found among %s', (_, record) => {
    expect(scanRaw(record)).toMatchObject({ misfits: [], drift: [] });
  });

  it('are found in each form of an archived lot', () => {
    const contract = contractOf(schemas.archived_lot);
    const paths = (record: object): string[] =>
      scanText(pageOf([{ lot_id: 1, ...record }]), contract).scan.misfits.map(({ path }) => path);
    expect(
      paths({ bid: { value: 100, updated_at: '2026-09-04 06:17:53' }, sale_date: '2026-09-04' }),
    ).toEqual([]);
    expect(paths({ bid: 100, sale_date: { value: null, updated_at: null } })).toEqual([]);
    expect(paths({ bid: 'none', sale_date: 'soon' })).toEqual(['bid', 'sale_date']);
    expect(paths({ bid: { value: [] }, sale_date: { value: 'soon' } })).toEqual([
      'bid.value',
      'sale_date.value',
    ]);
  });
});
