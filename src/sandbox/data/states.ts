import { americanPlaces, canadianPlaces, type Place } from './places.js';

/** A state of the United States or a province of Canada. */
export interface StateRow {
  readonly id: number;
  readonly code: string;
  readonly name: string;
}

/** A city that lots may stand in. */
export interface CityRow {
  readonly id: number;
  readonly name: string;
}

const read = (text: string): StateRow[] =>
  text.split(' ').map((entry) => {
    const [id, code = '', name = ''] = entry.split('|');
    return { id: Number(id), code, name: name.replaceAll('_', ' ') };
  });

/** States in which no yard stands. */
const quietStates = read(
  '1|al|alabama 2|ak|alaska 4|ar|arkansas 7|ct|connecticut 8|de|delaware 9|dc|district_of_columbia 12|hi|hawaii ' +
    '13|id|idaho 15|in|indiana 16|ia|iowa 17|ks|kansas 19|la|louisiana 20|me|maine 21|md|maryland 25|ms|mississippi ' +
    '27|mt|montana 28|ne|nebraska 29|nv|nevada 30|nh|new_hampshire 32|nm|new_mexico 37|ok|oklahoma 38|or|oregon ' +
    '40|ri|rhode_island 41|sc|south_carolina 42|sd|south_dakota 45|ut|utah 46|vt|vermont 49|wv|west_virginia ' +
    '50|wi|wisconsin 51|wy|wyoming 52|nd|north_dakota',
);
const quietProvinces = read(
  '204|bc|british_columbia 205|mb|manitoba 206|sk|saskatchewan 207|ns|nova_scotia 208|nb|new_brunswick ' +
    '209|nl|newfoundland_and_labrador 210|pe|prince_edward_island 211|yt|yukon 212|nt|northwest_territories 213|nu|nunavut',
);

const places = [...americanPlaces, ...canadianPlaces];

const statesOf = (list: readonly Place[], quiet: readonly StateRow[]): readonly StateRow[] =>
  [
    ...new Map(
      [...quiet, ...list.flatMap((place) => place.state ?? [])].map((row) => [row.id, row]),
    ).values(),
  ].sort((a, b) => a.id - b.id);

/** States by the code of their country, those of the yards under the ids that lots give. */
export const states: Readonly<Record<'us' | 'ca', readonly StateRow[]>> = {
  us: statesOf(americanPlaces, quietStates),
  ca: statesOf(canadianPlaces, quietProvinces),
};

const common = ['springfield', 'franklin', 'clinton', 'salem', ' georgetown'];

/** Cities of a state, those of the yards first; none for a state that is none. */
export function citiesOf(stateId: number): readonly CityRow[] {
  const known = [...states.us, ...states.ca].some((state) => state.id === stateId);
  const yards = places.filter((place) => place.state?.id === stateId).map((place) => place.city);
  return known ? [...yards, ...common.map((name, place) => ({ id: 5000 + stateId * 10 + place, name }))] : [];
}
