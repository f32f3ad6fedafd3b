import type { MartRow, WorldNight } from '../night.js';

/** The night has the facts of vehicles in the form of the other oracles. */
export const rows = (night: WorldNight): MartRow[] =>
  night.cars.map(({ id }) => {
    const { manufacturer, model, generation, year = null, origin = 'unknown' } = night.vehicles.get(id) ?? {};
    return {
      vehicle_id: id,
      manufacturer_id: manufacturer?.id ?? null,
      model_id: model?.id ?? null,
      generation_id: generation?.id ?? null,
      year,
      year_origin: origin,
    };
  });
