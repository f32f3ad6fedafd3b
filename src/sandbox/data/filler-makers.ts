import { rareModels } from './models.js';

/** A manufacturer that the catalogue lists though no vehicle of it is ever offered. */
export interface FillerMaker {
  readonly id: number;
  readonly name: string;
  readonly motorcycles: boolean;
  /** How many models the catalogue has of it. */
  readonly models: number;
}

const FIRST_ID = Math.max(...rareModels.map((model) => model.manufacturer.id)) + 1;

const heads =
  `Airlift Alder Anchor Badger Beacon Bluebell Boreal Cardinal Cascade Cedar Colony Comet Coyote Crescent
 Delta Eastwind Ember Falcon Forest Granite Harbor Heron Ironwood Juniper Lakeland Mesa Northway`.split(
    /\s+/,
  );
const tails = 'Coach Trailers Campers Equipment Boats Buses Carts Bodies Homes Custom Tractors Works'.split(
  ' ',
);

/** Makers of trailers, boats, buses and such (invented names), ten of motorcycles, and one for everything else. */
export const fillerMakers: readonly FillerMaker[] = [
  { id: FIRST_ID, name: 'Other / Homemade', motorcycles: false, models: 620 },
  ...heads.flatMap((head, row) =>
    tails.map((tail, column) => {
      const place = row * tails.length + column;
      const motorcycles = tail === 'Works' && row % 3 === 0;
      return {
        id: FIRST_ID + 1 + place,
        name: `${head} ${motorcycles ? 'Cycles' : tail}`,
        motorcycles,
        models: 1 + ((place * 7) % 17),
      };
    }),
  ),
];
