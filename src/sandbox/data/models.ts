import document from './models.json' with { type: 'json' };

/** An engine of a model: name as the sources write it, cylinders, and id of the fuel. */
interface EngineRow {
  readonly id: number;
  readonly name: string;
  readonly cylinders: number | null;
  readonly fuel: number;
}

/** A generation of a model; `to` is the last model year, null while it is built. */
export interface GenerationRow {
  readonly id: number;
  readonly name: string;
  readonly from: number;
  readonly to: number | null;
}

/** A model of the planted market. */
export interface ModelRow {
  readonly id: number;
  readonly name: string;
  readonly manufacturer: { readonly id: number; readonly name: string };
  /** Price when new, USD; the start of every fair value. */
  readonly newPrice: number;
  readonly body: number;
  readonly vehicleType: number;
  /** Share among the vehicles of its market, relative to the others. */
  readonly weight: number;
  /** The oldest first. */
  readonly generations: readonly GenerationRow[];
  readonly engines: readonly EngineRow[];
}

type Written = Omit<ModelRow, 'engines'> & { readonly engines: readonly string[] };

const engines: Readonly<Record<string, Omit<EngineRow, 'name'>>> = document.engines;

const withEngines = (rows: readonly Written[]): readonly ModelRow[] =>
  rows.map((row) => ({
    ...row,
    engines: row.engines.map((name) => ({ id: 0, cylinders: null, fuel: 0, ...engines[name], name })),
  }));

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
