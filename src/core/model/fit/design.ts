/** Factors with one effect for each level: columns of price_inputs. */
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

/** Columns of price_inputs that have an index for each of their values, besides the index of all prices. */
export const SEGMENTS = ['domain_id', 'manufacturer_id', 'body_type', 'age_band'] as const;

/**
 * Effects that lots of one group have in common beside the factors, each shrunk towards 0. `key` is what the lots of a group
 * share, columns of price_inputs; a lot without one of them is in no group. `times` multiplies the effect: 1, or how far age
 * or mileage is from the middle, so that it is a slope of the group. Effects `within` the first column of the key have the
 * mean 0 there: the mean is the effect of the model, or of the damage.
 */
export const GROUPS: readonly {
  readonly name: string;
  readonly key: readonly string[];
  readonly times?: 'age' | 'mileage';
  readonly within?: true;
}[] = [
  { name: 'engine', key: ['model_id', 'engine'], within: true },
  { name: 'fuel', key: ['model_id', 'fuel'], within: true },
  { name: 'drive', key: ['model_id', 'drive'], within: true },
  { name: 'body', key: ['model_id', 'body_type'], within: true },
  { name: 'age_by_make', key: ['manufacturer_id'], times: 'age' },
  { name: 'mileage_by_make', key: ['manufacturer_id'], times: 'mileage' },
  { name: 'damage_by_age', key: ['damage_main_group', 'age_band'], within: true },
  { name: 'branch', key: ['domain_id', 'branch'] },
  { name: 'seller', key: ['domain_id', 'seller'] },
];

/** Factors whose effect is a line with bends at knots. */
const LINE_FACTORS = ['age', 'mileage', 'month'] as const;

/** Level of a factor that its other levels are compared with. For a factor not named here, the most frequent level. */
export const REFERENCES: Readonly<Record<string, string>> = {
  damage_main_group: 'normal_wear',
  damage_second_group: 'unknown',
  title_brand: 'clean',
  age: '5',
  mileage: '0',
};

/** A factor and its coefficients. */
export interface Factor {
  readonly name: string;
  /** Position of its first coefficient among all. */
  readonly offset: number;
  /** Name of the level or knot of each coefficient. */
  readonly levels: readonly string[];
  /** Where the line of its effect bends; missing for a factor with levels. */
  readonly knots?: readonly number[];
}

/** Knots of age in years, and of mileage in 10,000 km above the usual mileage at that age. */
const AGES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20, 25, 30, 40];
const MILEAGES = [-15, -10, -7.5, -5, -2.5, 0, 2.5, 5, 7.5, 10, 15, 20];

/**
 * The factors with their coefficients, which follow the intercept: one for each level, and one for each knot. Between two
 * knots the effect is a straight line.
 * @param levels levels of each of LEVEL_FACTORS
 * @param months such as 2026-11
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

/** Whether all lots have the only level of a factor. */
export const isShared = ({ levels, knots }: Factor): boolean => knots === undefined && levels.length === 1;

/** The coefficients that all lots have: the intercept, and the level of each factor that has only one. */
export const sharedOf = (factors: readonly Factor[]): number[] => [
  0,
  ...factors.filter(isShared).map(({ offset }) => offset),
];

/** Number of coefficients, with the intercept. */
export function sizeOf(factors: readonly Factor[]): number {
  return factors.reduce((size, { levels }) => size + levels.length, 1);
}
