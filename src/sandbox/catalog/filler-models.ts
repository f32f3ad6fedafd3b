import { hash } from '../world/random.js';
import type { CatalogModel } from './catalog.js';

const FIRST_ID = 10_000;
const IDS_A_MAKER = 1_000;
const names = [
  'Ranger',
  'Tourer',
  'Cruiser',
  'Scout',
  'Voyager',
  'Pioneer',
  'Sprint',
  'Nomad',
  'Summit',
  'Pilot',
];

/** Models that the catalogue lists though no vehicle of them is offered (invented names). */
export const fillerModels = (maker: number, count: number, motorcycle: boolean): CatalogModel[] =>
  Array.from({ length: count }, (_, place) => {
    const id = FIRST_ID + maker * IDS_A_MAKER + place;
    const draw = hash(maker, place, 0);
    return {
      id,
      name: `${names[draw % names.length]} ${100 + place * 10}`,
      maker,
      motorcycle,
      generations: Array.from({ length: draw % 3 }, (_, number) => {
        const from = 1985 + (draw % 25) + number * 8;
        const last = number + 1 === draw % 3;
        return {
          id: id * 10 + number,
          name: 'I'.repeat(number + 1),
          from,
          to: last && draw % 5 === 0 ? null : from + 7,
        };
      }),
    };
  });
