import type { Place } from '../data/places.js';

/** A place as a lot gives it; state and yard may be unknown. */
export function locationOf(place: Place, unknown: { readonly state: boolean; readonly yard: boolean }) {
  const label = place.state === null ? null : `${place.state.code} - ${place.city.name}`;
  return {
    country: place.country,
    state: unknown.state ? null : place.state,
    city: place.city,
    location: unknown.yard || label === null ? null : { id: place.id, name: label },
    latitude: place.latitude,
    longitude: place.longitude,
    postal_code: place.postalCode,
    is_offsite: null,
    raw: label,
    offsite: null,
  };
}
