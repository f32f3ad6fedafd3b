import { byWeight } from '../world/random.js';

/** A title document with its planted factor on the price. */
export interface TitleRow {
  readonly id: number;
  readonly code: string | null;
  readonly name: string;
  readonly detailed: { readonly id: number; readonly code: string | null; readonly name: string };
  readonly factor: number;
  readonly weight: number;
}

const row = (
  id: number,
  name: string,
  factor: number,
  weight: number,
  detailed: string,
  code: string | null = null,
): TitleRow => ({ id, code, name, detailed: { id: id + 1000, code, name: detailed }, factor, weight });

/** Titles with the share of the clean-title price that is left. */
export const titles: readonly TitleRow[] = [
  row(4240, 'Rs - Clean Title', 1, 180, 'Az - Cert Of Title-Restored Salvage'),
  row(4241, 'Ct - Clean Title', 1, 160, 'Tx - Certificate Of Title', 'CT'),
  row(4245, 'St - Salvage Title', 0.6, 330, 'In - Cert Of Title-Salvage Title'),
  row(4242, 'Sc - Salvage Title', 0.6, 220, 'Id - Salvage Certificate Of Title', 'SC'),
  row(55, 'Rebuilt', 0.72, 60, 'Oh - Rebuilt Salvage'),
  row(51, 'Non-Repairable', 0.32, 50, 'Ga - Certificate Of Destruction', 'nr'),
  row(61, ' Parts Only', 0.25, 15, ' parts only bill of sale'),
  row(72, 'Permit', 0.5, 10, 'On - Vehicle Permit'),
];

/** Titles in the shares in which they are drawn. */
export const titleDraw = byWeight(titles, (title) => title.weight);

/** Factor of the title on the price; a lot without a title counts as clean. */
export const titleFactors: ReadonlyMap<number, number> = new Map(titles.map((t) => [t.id, t.factor]));
