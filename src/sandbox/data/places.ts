import document from './places.json' with { type: 'json' };

const { american, canadian, korean } = document;

/** Yards in the United States and in Canada, and cities of source 12, which have no state and no coordinates. */
export const places = { american, canadian, korean } as const;

/** A place where lots stand. */
export type Place = (typeof places)[keyof typeof places][number];

/** States by the code of their country, those of the yards under the ids that lots give. */
export const states = { us: document.states, ca: document.provinces } as const;

const common = ['springfield', 'franklin', 'clinton', 'salem', ' georgetown'];

/** Cities of a state, those of the yards first; none for a state that is none. */
export function citiesOf(stateId: number): readonly Place['city'][] {
  if (![...states.us, ...states.ca].some((state) => state.id === stateId)) return [];
  const yards = [...places.american, ...places.canadian].filter((place) => place.state?.id === stateId);
  const others = common.map((name, place) => ({ id: 5000 + stateId * 10 + place, name }));
  return [...yards.map((place) => place.city), ...others];
}
