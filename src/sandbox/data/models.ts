import document from './models.json' with { type: 'json' };

type Written = (typeof document)['american' | 'korean' | 'rare' | 'unusual'][number];

/** A generation of a model; `to` is the last model year, null while it is built. */
export type GenerationRow = Readonly<Omit<Written['generations'][number], 'to'> & { to: number | null }>;

/** Engines by their name as the sources write it, with the id of the fuel. */
const engines: Readonly<Record<string, { id: number; cylinders: number | null; fuel: number }>> =
  document.engines;

/**
 * Models of the planted market. `newPrice`, in USD, is the start of every fair value; `weight` is the share among the
 * vehicles of its market, relative to the others; the oldest generation stands first.
 */
const withEngines = (rows: readonly Written[]) =>
  rows.map((row) => ({
    ...row,
    generations: row.generations as readonly GenerationRow[],
    engines: row.engines.map((name) => ({ id: 0, cylinders: null, fuel: 0, ...engines[name], name })),
  }));

/** A model of the planted market. */
export type ModelRow = Readonly<ReturnType<typeof withEngines>[number]>;

/** Models on sources 1 and 3. */
export const americanModels = withEngines(document.american);
/** Models on source 12. */
export const koreanModels = withEngines(document.korean);
/** Models of sources 1 and 3 that are each about as rare as the others. */
export const rareModels = withEngines(document.rare);
/** Boats, buses, hearses and the like, so that every vehicle type, body and fuel of the service is on offer. */
export const unusualModels = withEngines(document.unusual);

/** One vehicle of sources 1 and 3 in this many is of a rare model. */
export const RARE = 40;
/** One vehicle in this many is an unusual one, if it is of source 1 or 3. */
export const UNUSUAL = 33;
