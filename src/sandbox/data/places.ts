/** A place where lots stand. */
export interface Place {
  readonly id: number;
  readonly country: { readonly iso: string; readonly name: string };
  readonly state: { readonly id: number; readonly code: string; readonly name: string } | null;
  readonly city: { readonly id: number; readonly name: string };
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly postalCode: string | null;
}

const usa = { iso: 'us', name: 'USA' };
const canada = { iso: 'ca', name: 'Canada' };
/** Written as the service writes it: the code also stands in the place of the name. */
const republic = { iso: 'kr', name: 'kr' };

const rows = `az|115|arizona|41|phoenix|33.4404|-112.167|85043 4706
ky|89|kentucky|88|earlington|37.27214|-87.49315|42410
tn|97|tennessee|30|lebanon|36.2081|-86.2911|37090
ma|33|massachusetts|3|templeton|42.5556|-72.0676|01468
tx|44|texas|12|dallas|32.7767|-96.797|75236
tx|44|texas|13|houston|29.7604|-95.3698|77073
tx|44|texas|14|san antonio|29.4241|-98.4936|78224
ca|5|california|21|los angeles|34.0522|-118.2437|90001
ca|5|california|22|sacramento|38.5816|-121.4944|95828
ca|5|california|23|san diego|32.7157|-117.1611|92154
fl|10|florida|31|miami|25.7617|-80.1918|33012
fl|10|florida|32|orlando|28.5384|-81.3789|32824
ga|11|georgia|42|atlanta|33.749|-84.388|30349
ny|35|new york|52|long island|40.7891|-73.135|11719
nj|31|new jersey|61|trenton|40.2206|-74.7597|08561
pa|39|pennsylvania|71|philadelphia|39.9526|-75.1652|18073
oh|36|ohio|81|columbus|39.9612|-82.9988|43207
il|14|illinois|91|chicago|41.8781|-87.6298|60411
mi|23|michigan|101|detroit|42.3314|-83.0458|48183
nc|34|north carolina|111|raleigh|35.7796|-78.6382|27520
wa|48|washington|121|graham|47.0529|-122.2943|98338
co|6|colorado|131|denver|39.7392|-104.9903|80022
mo|26|missouri|141|st. louis|38.627|-90.1994|63125
va|47|virginia|151|richmond|37.5407|-77.436|23237
MN|24|Minnesota|161|st. cloud|45.5579|-94.1632|56301`;

const provinces = `on|201|ontario|301|toronto|43.6532|-79.3832|L5T 2N7
qc|202|quebec|311|montreal|45.5019|-73.5674|J7C 5V8
ab|203|alberta|321|calgary|51.0447|-114.0719|T2C 5C5`;

const cities = ['Incheon', 'Seoul', 'Suwon ', 'Busan', 'Daegu', 'Gwangju', 'Ansan', 'Gimpo'];

const read = (text: string, country: Place['country'], first: number): Place[] =>
  text.split('\n').map((line, place) => {
    const [code, state, stateName, city, cityName, latitude, longitude, postalCode] = line.split('|');
    return {
      id: first + place,
      country,
      state: { id: Number(state), code: code ?? '', name: stateName ?? '' },
      city: { id: Number(city), name: cityName ?? '' },
      latitude: Number(latitude),
      longitude: Number(longitude),
      postalCode: postalCode ?? null,
    };
  });

const seoul: Place = {
  id: 900,
  country: republic,
  state: null,
  city: { id: 1750, name: 'Seoul' },
  latitude: null,
  longitude: null,
  postalCode: null,
};

/** Yards in the United States. */
export const americanPlaces = read(rows, usa, 57);

/** Yards in Canada. */
export const canadianPlaces = read(provinces, canada, 501);

/** Cities of source 12: no state, no coordinates. */
export const koreanPlaces = cities.map((name, place) => ({
  ...seoul,
  id: 900 + place,
  city: { id: 1750 + place, name },
}));

/** A state of the United States or a province of Canada. */
interface StateRow {
  readonly id: number;
  readonly code: string;
  readonly name: string;
}

const readStates = (text: string): StateRow[] =>
  text.split(' ').map((entry) => {
    const [id, code = '', name = ''] = entry.split('|');
    return { id: Number(id), code, name: name.replaceAll('_', ' ') };
  });

/** States in which no yard stands. */
const quietStates = readStates(
  '1|al|alabama 2|ak|alaska 4|ar|arkansas 7|ct|connecticut 8|de|delaware 9|dc|district_of_columbia 12|hi|hawaii ' +
    '13|id|idaho 15|in|indiana 16|ia|iowa 17|ks|kansas 19|la|louisiana 20|me|maine 21|md|maryland 25|ms|mississippi ' +
    '27|mt|montana 28|ne|nebraska 29|nv|nevada 30|nh|new_hampshire 32|nm|new_mexico 37|ok|oklahoma 38|or|oregon ' +
    '40|ri|rhode_island 41|sc|south_carolina 42|sd|south_dakota 45|ut|utah 46|vt|vermont 49|wv|west_virginia ' +
    '50|wi|wisconsin 51|wy|wyoming 52|nd|north_dakota',
);
const quietProvinces = readStates(
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
export function citiesOf(stateId: number): readonly Place['city'][] {
  const known = [...states.us, ...states.ca].some((state) => state.id === stateId);
  const yards = places.filter((place) => place.state?.id === stateId).map((place) => place.city);
  return known ? [...yards, ...common.map((name, place) => ({ id: 5000 + stateId * 10 + place, name }))] : [];
}
