/**
 * A factor of an amount: `digits` divided by `power`, a power of ten. Amounts are whole cents; a factor of a number of units gives
 * cents, since both have the same unit.
 */
export interface Factor {
  readonly digits: number;
  readonly power: number;
}

/** The factor that a text such as 0.075 means. */
export function factorOf(text: string): Factor {
  const [whole = '', fraction = ''] = (text === '' ? '0' : text).split('.');
  return { digits: Number(whole + fraction), power: 10 ** fraction.length };
}

/** The cents of a text such as 1250.5; '' is 0. */
export const centsOf = (text: string): number => {
  const { digits, power } = factorOf(text);
  return (digits * 100) / power;
};

/** An amount in the unit of its currency. */
export const unitsOf = (cents: number): number => cents / 100;

/** Cents times a factor, rounded to the cent, half a cent up; exact for any amount of cents that is a safe integer. */
export function times(cents: number, { digits, power }: Factor): number {
  const product = cents * digits;
  if (power === 1 && product <= SAFE) return product;
  if (product > SAFE) return timesLarge(cents, digits, power);
  // The quotient can be rounded up to a whole number that it does not reach.
  let whole = Math.floor(product / power);
  let rest = product - whole * power;
  if (rest < 0) {
    whole -= 1;
    rest += power;
  }
  return 2 * rest >= power ? whole + 1 : whole;
}

/** Products up to it are exact, and so are their doubles. */
const SAFE = Number.MAX_SAFE_INTEGER / 2;

function timesLarge(cents: number, digits: number, power: number): number {
  const divisor = BigInt(power);
  return Number((BigInt(cents) * BigInt(digits) * 2n + divisor) / (2n * divisor));
}
