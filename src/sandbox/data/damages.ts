import { byWeight } from '../world/random.js';

/** A damage as the service lists it, with its planted factor on the price and how often it is drawn. */
export interface DamageRow {
  readonly id: number;
  readonly name: string;
  readonly factor: number;
  readonly weight: number;
}

const row = (id: number, name: string, factor: number, weight: number): DamageRow => ({
  id,
  name,
  factor,
  weight,
});

/**
 * Damages with the share of the undamaged price that is left. Near-duplicates ("Rear", "Rear End", "Re") keep
 * their own ids and share one factor, as they mean the same (field-notes.md).
 */
export const damages: readonly DamageRow[] = [
  row(1, 'Minor Dent/Scratches', 1, 90),
  row(2, 'Normal Wear', 1, 110),
  row(3, 'Front End', 0.62, 190),
  row(85, 'Front', 0.62, 50),
  row(100, 'Fe', 0.62, 6),
  row(35, 'Rear End', 0.7, 110),
  row(45, 'Rear', 0.7, 50),
  row(131, 'Re', 0.7, 8),
  row(37, 'Side', 0.68, 80),
  row(39, 'Right Side', 0.68, 35),
  row(51, 'Left Side', 0.68, 35),
  row(4, 'Hail', 0.85, 30),
  row(22, 'Hail Damage', 0.85, 6),
  row(36, 'Undercarriage', 0.66, 30),
  row(42, 'Mechanical', 0.55, 60),
  row(41, 'Engine Damage', 0.5, 25),
  row(5, 'Water/Flood Damage', 0.42, 25),
  row(48, 'Flood', 0.42, 12),
  row(71, 'Vandalism', 0.78, 20),
  row(59, 'Theft', 0.8, 15),
  row(33, 'All Over', 0.4, 35),
  row(66, 'Rollover', 0.36, 20),
  row(12, 'Burn Damage', 0.2, 12),
  row(83, 'Burn-Engine', 0.2, 5),
  row(54, 'Strip', 0.3, 8),
  row(50, 'Frame', 0.5, 8),
];

/** Damages in the shares in which they are drawn. */
export const damageDraw = byWeight(damages, (damage) => damage.weight);

/** Factor of the main damage on the price; a lot without one counts as undamaged. */
export const damageFactors: ReadonlyMap<number, number> = new Map(damages.map((d) => [d.id, d.factor]));
