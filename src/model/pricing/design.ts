/** Factors with one effect a level: columns of price_inputs. */
export const LEVEL_FACTORS = [
  'domain_id',
  'sold_by',
  'odometer',
  'damage_main_group',
  'damage_second_group',
  'title_brand',
  'condition',
  'has_keys',
  'seller_group',
  'country',
  'state',
] as const;

/** Columns of price_inputs by which there is an index, beside that of all. */
export const SEGMENTS = ['domain_id', 'manufacturer_id', 'body_type', 'age_band'] as const;

/** Factors whose effect is a line with bends at knots. */
export const LINE_FACTORS = ['age', 'mileage', 'month'] as const;

/** Levels with which the others of their factor are compared; of other factors it is the most frequent one. */
export const REFERENCES: Readonly<Record<string, string>> = {
  damage_main_group: 'normal_wear',
  damage_second_group: 'unknown',
  title_brand: 'clean',
  age: '5',
  mileage: '0',
};

/** A factor and the places of its coefficients among all. */
export interface Factor {
  readonly name: string;
  readonly offset: number;
  /** What each coefficient stands for. */
  readonly levels: readonly string[];
  /** Where the line of its effect bends; missing for a factor with levels. */
  readonly knots?: readonly number[];
}

/** Knots of age in years, and of mileage in 10,000 km above the usual one of the age. */
const AGES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 40];
const MILEAGES = [-15, -10, -7.5, -5, -2.5, 0, 2.5, 5, 7.5, 10, 15, 20];

/**
 * The factors with their coefficients, behind the intercept: one for each level, and one for each knot, between which the
 * effect is a straight line.
 * @param levels of each of LEVEL_FACTORS
 * @param months as texts
 */
export function factorsOf(
  levels: ReadonlyMap<string, readonly string[]>,
  months: readonly string[],
): readonly Factor[] {
  const lines = {
    age: { knots: AGES, levels: AGES.map(String) },
    mileage: { knots: MILEAGES, levels: MILEAGES.map((knot) => String(knot * 10_000)) },
    month: { knots: [...months.keys()], levels: months },
  };
  let end = 1;
  return [
    ...LEVEL_FACTORS.map((name) => ({ name, levels: levels.get(name) ?? [] })),
    ...LINE_FACTORS.map((name) => ({ name, ...lines[name] })),
  ].map((factor) => {
    const offset = end;
    end += factor.levels.length;
    return { ...factor, offset };
  });
}

/** Number of coefficients, the intercept among them. */
export function sizeOf(factors: readonly Factor[]): number {
  return factors.reduce((size, { levels }) => size + levels.length, 1);
}
