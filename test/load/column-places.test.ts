import { describe, expect, it } from 'vitest';
import { columnPlaces } from '../../src/core/lake/rows/column-places.js';
import { walkContract } from '../../src/core/service/contract/node.js';
import { streamNames, streams } from '../../src/core/service/streams.js';
import { schemasOf } from './support.js';

const placesOf = async (name: (typeof streamNames)[number]) => {
  return { contract: streams[name].contract, places: columnPlaces(streams[name], await schemasOf(name)) };
};

describe('a place of the contract', () => {
  it.each(streamNames)('fills a column of a table, in every stream: %s', async (name) => {
    const { contract, places } = await placesOf(name);
    const leaves = [...walkContract(contract)].filter(
      (node) => node.members.size === 0 && node.element === undefined && !node.opaque,
    );
    expect(leaves.length).toBeGreaterThan(1);
    expect(leaves.map(({ path }) => path).filter((path) => places.filledBy(path).length === 0)).toEqual([]);
  });

  it.each([
    ['lots[].odometer.mi', 'lots lots[]: odometer_mi, odometer_out_of_range, odometer_unit_uncertain'],
    [
      'lots[].seller',
      'lots lots[]: seller_id, seller_name, seller_logo, seller_is_insurance, seller_is_rental, seller_is_credit_company',
    ],
    ['lots[].created_at', 'lots lots[]: created_at; lot_images lots[].images: month'],
    ['lots[].images.small[]', 'lot_images lots[].images: small'],
    ['inspections[].files[].extension', 'report_media inspections[].files[]: extension'],
  ])('fills %s', async (path, expected) => {
    const { places } = await placesOf('cars');
    const filled = places
      .filledBy(path)
      .map(({ table, entity, columns }) => `${table.name} ${entity}: ${columns.join(', ')}`);
    expect(filled.join('; ')).toBe(expected);
  });

  it.each([
    ['bid.value', 'bid'],
    ['bid.updated_at', 'bid_updated_at'],
    ['final_bid.updated_at', 'final_bid_updated_at'],
    ['car_id', 'vehicle_id'],
  ])('of an archived lot fills the column of its name: %s', async (path, column) => {
    const { places } = await placesOf('archived_lots');
    expect(places.filledBy(path).map(({ columns }) => columns)).toEqual([[column]]);
  });

  it.each([
    ['id', true],
    ['lots[].id', true],
    ['inspections[].vehicle_ref', true],
    ['inspections[].vehicle_ref.listing_id', true],
    ['inspections[].vehicle_ref.vin', false],
    ['lots[].domain.id', false],
  ])('is known to hold a key or not: %s %s', async (path, holds) => {
    const { places } = await placesOf('cars');
    expect(places.holdsKey(path)).toBe(holds);
  });
});
